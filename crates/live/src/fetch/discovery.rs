//! Discovery of the newest version of a name: RDR metadata under `32=metadata`.

use bytes::Bytes;
use tidegate_core::ndn::packet::{Millis, NackReason};
use tidegate_core::units::{Span, Time};
use tidegate_wire::{DataView, InterestBuilder, rdr};

use super::{FetchError, Trust};
use crate::client::{Answer, Client};

/// Lifetime of an Interest, so that an answer over a long path still counts when the Interest has been repeated.
pub(super) const LIFETIME: Millis = Millis(2_500);

/// Time after which an Interest is repeated: longer than forwarders suppress repetitions, at most 250 ms in NFD, and so short
/// that one of them is answered where half of them are lost.
const REPETITION: Span = Span::from_millis(270);

/// Time for an answer to any of them: less than 5 s, within which a missing producer must be reported.
const PATIENCE: Span = Span::from_millis(4_500);

/// Times to wait for an answer to one Interest after another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempts {
    until: Time,
}

impl Attempts {
    pub(super) fn new(now: Time) -> Self {
        Self { until: now + PATIENCE }
    }

    /// Time to wait for the answer to an Interest that leaves now; the last one is waited for longer. `None` if none may leave
    /// any more.
    pub(super) fn next(self, now: Time) -> Option<Span> {
        let left = self.until.since(now);
        let wait = if left < REPETITION * 3 { left } else { REPETITION };
        (wait > Span::ZERO).then_some(wait)
    }
}

/// Pause before an Interest that was refused is sent again: its producer may be about to register.
const PAUSE: Span = Span::from_millis(500);

/// The name of the newest version of `name` (both as concatenated components). A forwarder that has no route to it may get one
/// for the time `wait`.
///
/// # Errors
/// When there is no answer, only Nacks, or an answer that is not verified or no metadata.
pub(super) fn newest_version(
    client: &mut Client,
    name: &[u8],
    trust: &Trust,
    wait: Span,
) -> Result<Vec<u8>, FetchError> {
    let mut requested = name.to_vec();
    rdr::push_metadata(&mut requested);
    let until = client.now() + wait;
    let mut fault = FetchError::NoAnswer { refusals: client.faults().refused };
    let mut attempts = Attempts::new(client.now());
    while let Some(wait) = attempts.next(client.now()) {
        let interest = interest(client.nonces().bits(), &requested)?;
        fault = match client.express(interest, wait)? {
            Answer::Data(data) => match read(&data.body, name, trust) {
                Ok(versioned) => return Ok(versioned),
                Err(why @ FetchError::Unverifiable { .. }) => return Err(why),
                Err(why) => why,
            },
            Answer::Nack(NackReason::NoRoute) if client.now() >= until => return Err(FetchError::NoRoute),
            Answer::Nack(NackReason::NoRoute) => {
                pause(client)?;
                attempts = Attempts::new(client.now());
                continue;
            }
            Answer::Nack(reason) => {
                pause(client)?;
                FetchError::Refused(reason)
            }
            Answer::Timeout => FetchError::NoAnswer { refusals: client.faults().refused },
        };
    }
    Err(fault)
}

/// The Interest for the metadata.
fn interest(nonce: u64, name: &[u8]) -> Result<Bytes, FetchError> {
    let interest = InterestBuilder {
        name,
        can_be_prefix: true,
        must_be_fresh: true,
        nonce: Some((nonce >> 32) as u32),
        lifetime: Some(LIFETIME),
        ..InterestBuilder::default()
    };
    interest.build().map_err(|why| FetchError::Name(why.to_string()))
}

pub(super) fn pause(client: &mut Client) -> Result<(), FetchError> {
    let until = client.now() + PAUSE;
    let mut inbox = Vec::new();
    while client.now() < until {
        client.exchange(Some(until), &mut inbox)?;
        inbox.clear();
    }
    Ok(())
}

fn read(data: &[u8], name: &[u8], trust: &Trust) -> Result<Vec<u8>, FetchError> {
    let view = DataView::parse(data).map_err(|why| FetchError::Metadata(why.to_string()))?;
    if !trust.can_verify(&view) {
        return Err(FetchError::Unverifiable { kind: view.signature.kind });
    }
    if !trust.holds(&view) {
        return Err(FetchError::Metadata("its signature is invalid".to_owned()));
    }
    let found = rdr::versioned_name(view.content).map_err(|why| FetchError::Metadata(why.to_string()))?;
    // Otherwise a producer could make this consumer fetch any name of its choice.
    if !found.components().starts_with(name) {
        return Err(FetchError::Metadata("its name is not under the requested name".to_owned()));
    }
    Ok(found.components().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifteen_interests_leave_within_four_and_a_half_seconds_and_the_last_is_waited_for_longest() {
        let attempts = Attempts::new(Time::ZERO);
        let mut now = Time::ZERO;
        let mut waits = Vec::new();
        while let Some(wait) = attempts.next(now) {
            (now, waits) = (now + wait, [waits, vec![wait]].concat());
        }
        assert_eq!((waits.len(), now), (15, Time::ZERO + Span::from_millis(4_500)));
        assert_eq!(waits.last(), Some(&Span::from_millis(720)));
    }
}
