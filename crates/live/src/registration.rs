//! Registration of prefixes at a forwarder: signed Interests to `/localhost/nfd/rib` (NFD's management
//! protocol).

use tidegate_core::ndn::packet::{Millis, NackReason};
use tidegate_wire::name::push_component;
use tidegate_wire::{DataView, DecodeError, InterestBuilder, InterestStamp, Signer};

use crate::client::{Answer, Client, ClientError};
use crate::nfd::{ControlParameters, ControlResponse, FLAG_CHILD_INHERIT, ORIGIN_APP};

/// Timeout of a command.
const PATIENCE: Millis = Millis(4_000);

/// TLV-TYPE of a generic component.
const GENERIC: u16 = 8;

/// Reason why a prefix was not registered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistrationError {
    /// The connection cannot be used.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The forwarder refuses Interests for its management.
    #[error("the forwarder does not support management commands: Nack {0:?}")]
    Refused(NackReason),
    /// The forwarder refuses the command.
    #[error("the forwarder refused to register the prefix: {code} {text}")]
    Denied {
        /// Status code as in HTTP, 4xx or 5xx.
        code: u64,
        /// Explanation for human readers.
        text: String,
    },
    /// The answer cannot be read.
    #[error("the forwarder's response to the registration is malformed: {0}")]
    Answer(DecodeError),
    /// No answer arrived in time.
    #[error("the forwarder does not respond to the registration of the prefix{}", restriction(*is_local))]
    Timeout {
        /// Whether commands are accepted over this connection at all: the forwarder is on this machine, and
        /// not over UDP.
        is_local: bool,
    },
}

/// End of the message after a timeout.
fn restriction(is_local: bool) -> &'static str {
    if is_local {
        return "";
    }
    "; it accepts commands only from this machine, over a Unix socket or TCP"
}

/// Registers `prefix` (concatenated components), so that the forwarder sends its Interests here; `signer` signs the command.
///
/// # Errors
/// If the forwarder does not confirm it.
pub fn register(
    client: &mut Client,
    prefix: &[u8],
    signer: &Signer,
) -> Result<ControlParameters, RegistrationError> {
    let parameters = ControlParameters {
        name: Some(prefix.to_vec()),
        origin: Some(ORIGIN_APP),
        cost: Some(0),
        flags: Some(FLAG_CHILD_INHERIT),
        ..ControlParameters::default()
    };
    command(client, b"register", &parameters, signer)
}

/// Removes a registration; `signer` signs the command.
///
/// # Errors
/// If the forwarder does not confirm it; the end of the connection removes it as well.
pub fn unregister(
    client: &mut Client,
    prefix: &[u8],
    signer: &Signer,
) -> Result<ControlParameters, RegistrationError> {
    let parameters = ControlParameters {
        name: Some(prefix.to_vec()),
        origin: Some(ORIGIN_APP),
        ..ControlParameters::default()
    };
    command(client, b"unregister", &parameters, signer)
}

fn command(
    client: &mut Client,
    verb: &[u8],
    parameters: &ControlParameters,
    signer: &Signer,
) -> Result<ControlParameters, RegistrationError> {
    let mut name = Vec::new();
    for component in [b"localhost", &b"nfd"[..], b"rib", verb, &parameters.encode()] {
        push_component(&mut name, GENERIC, component);
    }
    let nonce = client.nonces().bits().to_be_bytes();
    let time_ms = Some(client.next_command_time());
    let stamp = InterestStamp { nonce: Some(&nonce), time_ms, sequence: None };
    let interest = InterestBuilder {
        name: &name,
        must_be_fresh: true,
        lifetime: Some(PATIENCE),
        ..InterestBuilder::default()
    };
    let interest = interest.sign(signer, &stamp);
    let interest = interest.map_err(|why| ClientError::Packet(why.to_string()))?;
    match client.express(interest, PATIENCE.span())? {
        Answer::Data(data) => read_response(&data.body),
        Answer::Nack(reason) => Err(RegistrationError::Refused(reason)),
        Answer::Timeout => Err(RegistrationError::Timeout { is_local: client.is_local() }),
    }
}

/// Reads the Data that answers a command; returns the parameters as the forwarder applied them.
///
/// The forwarder signs with its own key, without a certificate: clients trust it by its local socket.
///
/// # Errors
/// If the forwarder refuses, or the bytes are no Data with a ControlResponse.
pub fn read_response(data: &[u8]) -> Result<ControlParameters, RegistrationError> {
    let data = DataView::parse(data).map_err(RegistrationError::Answer)?;
    let response = ControlResponse::decode(data.content).map_err(RegistrationError::Answer)?;
    if response.is_ok() {
        Ok(response.parameters.unwrap_or_default())
    } else {
        Err(RegistrationError::Denied { code: response.code, text: response.text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::StreamFace;
    use crate::transport::Transport;
    use std::thread;
    use tidegate_core::ndn::packet::{Kind, Packet};
    use tidegate_wire::{DataBuilder, InterestView, Verifier};

    const PREFIX: &[u8] = &[8, 1, b'a'];

    /// Registers at a forwarder that answers the one command with `response`.
    fn register_at(response: Option<ControlResponse>) -> Result<ControlParameters, RegistrationError> {
        let (near, far) = StreamFace::pair().expect("sockets");
        let mut near = Client::over(Transport::Stream(near))?;
        let mut far = Client::over(Transport::Stream(far))?;
        let forwarder = thread::spawn(move || -> Result<(), ClientError> {
            let mut inbox: Vec<Packet<_>> = Vec::new();
            while inbox.is_empty() {
                far.exchange(None, &mut inbox)?;
            }
            let command = InterestView::parse(&inbox[0].body).expect("an Interest");
            assert_eq!(Verifier::Digest.verify_interest(&command), Ok(()));
            let stamp = command.signature.expect("signed");
            assert!(stamp.nonce.is_some() && stamp.time_ms.is_some());
            let parts: Vec<&[u8]> = command.name.iter().map(|part| part.value).collect();
            assert_eq!(parts[..4], [b"localhost", &b"nfd"[..], b"rib", b"register"]);
            let requested = ControlParameters::decode(parts[4]).expect("parameters");
            assert_eq!(
                (requested.name.as_deref(), requested.flags),
                (Some(PREFIX), Some(FLAG_CHILD_INHERIT))
            );
            let Some(response) = response else { return Ok(()) };
            let content = response.encode();
            let name = command.name.components();
            let data = DataBuilder { name, content: &content, ..DataBuilder::default() };
            let data = far.packet(data.sign(&Signer::Digest).expect("small"))?;
            assert!(matches!(data.header.kind, Kind::Data(_)));
            far.send(&data);
            far.exchange(Some(far.now()), &mut inbox)
        });
        let outcome = register(&mut near, PREFIX, &Signer::Digest);
        forwarder.join().expect("the forwarder's checks hold")?;
        outcome
    }

    #[test]
    fn a_registration_is_signed_and_its_answer_is_read() {
        let given = ControlParameters { face_id: Some(7), ..ControlParameters::default() };
        let response = ControlResponse::new(200, "OK", Some(given.clone()));
        assert_eq!(register_at(Some(response)).ok(), Some(given));
    }

    #[test]
    fn what_a_forwarder_says_against_a_registration_is_reported() {
        let response = ControlResponse::new(403, "not here", None);
        let why = register_at(Some(response)).expect_err("denied").to_string();
        assert_eq!(why, "the forwarder refused to register the prefix: 403 not here");
    }

    #[test]
    fn a_forwarder_that_leaves_ends_the_registration() {
        let why = register_at(None).expect_err("no answer").to_string();
        assert_eq!(why, "the forwarder ended the connection");
    }
}
