//! Interruption of a batch by the user: finished runs are kept, unfinished ones are discarded.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::exit::Failure;

/// Whether SIGINT (Ctrl-C) or SIGTERM has arrived. A second one ends the process at once.
#[derive(Clone, Debug)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Installs the signal handlers.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let requested = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order the first request only sets the flag, which makes the second one end the process.
            flag::register_conditional_default(signal, requested.clone())
                .and_then(|_| flag::register(signal, requested.clone()))
                .map_err(|why| Failure::error(format!("signals: {why}")))?;
        }
        Ok(Self(requested))
    }

    /// Whether the user has interrupted the program.
    pub(crate) fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
