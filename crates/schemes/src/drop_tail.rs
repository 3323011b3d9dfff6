//! A queue that drops packets that do not fit, and no others.
//!
//! Paper: none; the queue itself drops packets at its limit, so this only names the discipline.

use tidegate_core::prelude::*;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "drop-tail",
    summary: "drops packets that arrive at a full queue",
    paper: "none: baseline",
    provenance: Provenance::Source,
    params: Params::TABLE,
    discipline: Some(|settings, _| {
        Params::from_settings(settings)?;
        Ok(Box::new(DropTail))
    }),
    ..Scheme::NONE
};

params! {}

#[derive(Debug)]
struct DropTail;

impl QueueDiscipline for DropTail {
    fn sees_arrivals(&self) -> bool {
        false
    }

    fn sees_departures(&self) -> bool {
        false
    }
}
