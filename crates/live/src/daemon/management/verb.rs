//! Commands of the management protocol: their names, and the fields of their parameters.

/// A command of NFD's management protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Adds or changes a route.
    RibRegister,
    /// Removes a single route.
    RibUnregister,
}

/// Module and verb of each command, as components of its name.
const VERBS: [(&[u8], &[u8], Verb); 2] =
    [(b"rib", b"register", Verb::RibRegister), (b"rib", b"unregister", Verb::RibUnregister)];

impl Verb {
    /// The command of these components of a name; `None` for an unknown one.
    pub(super) fn find(module: &[u8], verb: &[u8]) -> Option<Self> {
        VERBS.iter().find(|known| (known.0, known.1) == (module, verb)).map(|known| known.2)
    }
}
