//! Discovery of the newest version of a name: RDR metadata under `32=metadata`.

use tidegate_core::ndn::packet::{Millis, NackReason};
use tidegate_core::units::Span;
use tidegate_wire::{DataView, InterestBuilder, rdr};

use super::{FetchError, Trust};
use crate::client::{Answer, Client};

/// Lifetimes of the Interests: a lost one is soon repeated, and the last allows for a long path. Together
/// less than 5 s, the time within which a missing producer must be reported.
const LIFETIMES: [Millis; 3] = [Millis(1_000), Millis(1_000), Millis(2_500)];

/// Pause before an Interest that was refused is sent again: its producer may be about to register.
const PAUSE: Span = Span::from_millis(500);

/// The name of the newest version of `name` (both as concatenated components).
///
/// # Errors
/// When there is no answer, only Nacks, or an answer that is not verified or no metadata.
pub(super) fn newest_version(client: &mut Client, name: &[u8], trust: &Trust) -> Result<Vec<u8>, FetchError> {
    let mut requested = name.to_vec();
    rdr::push_metadata(&mut requested);
    let mut fault = FetchError::NoAnswer { refusals: client.faults().refused };
    for lifetime in LIFETIMES {
        let nonce = (client.nonces().bits() >> 32) as u32;
        let interest = InterestBuilder {
            name: &requested,
            can_be_prefix: true,
            must_be_fresh: true,
            nonce: Some(nonce),
            lifetime: Some(lifetime),
            ..InterestBuilder::default()
        };
        let interest = interest.build().map_err(|why| FetchError::Name(why.to_string()))?;
        fault = match client.express(interest, lifetime.span())? {
            Answer::Data(data) => match read(&data.body, name, trust) {
                Ok(versioned) => return Ok(versioned),
                Err(why @ FetchError::Unverifiable { .. }) => return Err(why),
                Err(why) => why,
            },
            // A producer may be about to register its prefix; a pause is cheaper than an error.
            Answer::Nack(reason) => {
                pause(client)?;
                refusal(reason)
            }
            Answer::Timeout => FetchError::NoAnswer { refusals: client.faults().refused },
        };
    }
    Err(fault)
}

fn refusal(reason: NackReason) -> FetchError {
    match reason {
        NackReason::NoRoute => FetchError::NoRoute,
        other => FetchError::Refused(other),
    }
}

fn pause(client: &mut Client) -> Result<(), FetchError> {
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
