//! Discovery of the newest version of a name: RDR metadata under `32=metadata`.

use bytes::Bytes;
use tidegate_core::ndn::packet::{Millis, NackReason};
use tidegate_core::units::Span;
use tidegate_wire::{DataView, InterestBuilder, rdr};

use super::{FetchError, Trust};
use crate::client::{Answer, Client};

/// Lifetimes of the Interests: a lost one is soon repeated, and the last allows for a long path. Together
/// less than 5 s, the time within which a missing producer must be reported.
pub(super) const LIFETIMES: [Millis; 3] = [Millis(1_000), Millis(1_000), Millis(2_500)];

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
    let mut lifetimes = LIFETIMES.into_iter();
    let mut lifetime = lifetimes.next();
    while let Some(present) = lifetime {
        let interest = interest(client.nonces().bits(), &requested, present)?;
        fault = match client.express(interest, present.span())? {
            Answer::Data(data) => match read(&data.body, name, trust) {
                Ok(versioned) => return Ok(versioned),
                Err(why @ FetchError::Unverifiable { .. }) => return Err(why),
                Err(why) => why,
            },
            Answer::Nack(NackReason::NoRoute) if client.now() >= until => return Err(FetchError::NoRoute),
            Answer::Nack(NackReason::NoRoute) => {
                pause(client)?;
                continue;
            }
            Answer::Nack(reason) => {
                pause(client)?;
                FetchError::Refused(reason)
            }
            Answer::Timeout => FetchError::NoAnswer { refusals: client.faults().refused },
        };
        lifetime = lifetimes.next();
    }
    Err(fault)
}

/// The Interest for the metadata.
fn interest(nonce: u64, name: &[u8], lifetime: Millis) -> Result<Bytes, FetchError> {
    let interest = InterestBuilder {
        name,
        can_be_prefix: true,
        must_be_fresh: true,
        nonce: Some((nonce >> 32) as u32),
        lifetime: Some(lifetime),
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
