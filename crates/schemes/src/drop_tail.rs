//! A queue that drops what does not fit, and nothing else.
//!
//! Paper: none; the queue itself does the work, so this only gives it a name.

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
