//! Acknowledged frames of applications that use UDP directly (NDNLPv2 reliability).

use tidegate_core::scheme::Scheme;
use tidegate_core::scheme::params::Settings;
use tidegate_live::client::{Client, Reliability};
use tidegate_live::uplink::Uplink;
use tidegate_live::uri::FaceUri;

use crate::Session;
use crate::exit::Failure;

/// The scheme that acknowledges frames.
const SCHEME: &str = "belrp";

/// Lets a client over UDP acknowledge the numbered frames that it receives, and number its own with `--reliability`.
pub(crate) fn set(session: &Session, client: &mut Client, is_requested: bool) {
    let reliability = if is_requested { Reliability::Both } else { Reliability::Acknowledging };
    let scheme = tidegate_schemes::find(&session.schemes, SCHEME);
    if let Some(make) = scheme.and_then(|scheme: &Scheme| scheme.link_service) {
        client.set_reliability(reliability, Box::new(move || make(&Settings::default()).ok()));
    }
}

/// Refuses `--reliability` for streams, which lose no frames.
pub(crate) fn check(uplink: &Uplink, is_requested: bool) -> Result<(), Failure> {
    match uplink.uri {
        FaceUri::Udp(_) => Ok(()),
        _ if !is_requested => Ok(()),
        _ => Err(Failure::usage(format!(
            "--reliability: {} is no UDP address; a stream loses no frames",
            uplink.uri
        ))),
    }
}
