//! Decodes Interests to the forwarder itself, and decides whether they are permitted.
//!
//! Commands are those of NFD's RIB management: `/localhost/nfd/rib/register` and `unregister`, as a signed
//! Interest of packet format 0.3 or, from older programs, with the signature in the name. Commands are accepted from
//! every face that may use `/localhost`; a digest signature is verified, others are not.

use tidegate_wire::tlv::{Element, types};
use tidegate_wire::{InterestView, Verifier, VerifyError, signature_type};

use crate::nfd::ControlParameters;

/// Error of a command: a status code as in HTTP, and a message.
pub type CommandError = (u64, &'static str);

/// A management request, decoded from its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Registers a route: `/localhost/nfd/rib/register`.
    Register(Box<ControlParameters>),
    /// Removes a route: `/localhost/nfd/rib/unregister`.
    Unregister(Box<ControlParameters>),
    /// Status of the forwarder: `/localhost/tidegate/status`.
    Status,
}

impl Command {
    /// Reads the Interest by its name; the first component is not checked, since only `/localhost` is routed
    /// here.
    ///
    /// # Errors
    /// 501 for a command that is not known, 403 for one that is not signed as it should be, 400 when the
    /// component behind the verb is no ControlParameters.
    pub fn read(interest: &InterestView<'_>) -> Result<Self, CommandError> {
        let mut components = interest.name.iter().skip(1);
        let mut word = || components.next().map(|component| component.value).unwrap_or_default();
        let make = match (word(), word(), word()) {
            (b"tidegate", b"status", _) => return Ok(Self::Status),
            (b"nfd", b"rib", b"register") => Self::Register,
            (b"nfd", b"rib", b"unregister") => Self::Unregister,
            _ => return Err(UNKNOWN),
        };
        let parameters = components.next().ok_or(UNKNOWN)?;
        check_signature(interest)?;
        let parameters = ControlParameters::decode(parameters.value)
            .map_err(|_| (400, "the component behind the verb is no ControlParameters"))?;
        Ok(make(Box::new(parameters)))
    }
}

const UNKNOWN: CommandError = (501, "this forwarder does not support the command");

/// Components of a command in the older format: four for the verb, the parameters, then time, nonce,
/// SignatureInfo and SignatureValue.
const OLD_COMMAND: usize = 9;

fn check_signature(interest: &InterestView<'_>) -> Result<(), CommandError> {
    let Some(signature) = &interest.signature else {
        // Packet format 0.2 (NFD's Signed Interest v0.2) puts time, nonce, SignatureInfo and SignatureValue
        // behind the parameters as components of the name; only their presence is checked, since such a
        // digest covers no key.
        let last_two: Vec<Element<'_>> = interest.name.iter().skip(OLD_COMMAND - 2).collect();
        let is_signed = last_two.len() == 2
            && last_two[0].value.first() == Some(&(types::SIGNATURE_INFO as u8))
            && last_two[1].value.first() == Some(&(types::SIGNATURE_VALUE as u8));
        return if is_signed { Ok(()) } else { Err((403, "the command is not signed")) };
    };
    if !tidegate_wire::parameters_digest_holds(interest) {
        return Err((403, "the ParametersSha256Digest is wrong"));
    }
    // No trust schema exists here, so a key cannot be checked. Whoever may use /localhost is trusted; the
    // digest is verified because it finds damaged commands.
    if signature.kind != signature_type::DIGEST_SHA256 {
        return Ok(());
    }
    let checked: Result<(), VerifyError> = Verifier::Digest.verify_interest(interest);
    checked.map_err(|_| (403, "the digest in the signature is wrong"))
}
