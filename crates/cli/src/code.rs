//! Identity of the code that computes this program's runs: part of the name of every stored run.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

/// File with the identity of the code that computed a run in the store, or a folder of results.
pub(crate) const CODE_FILE: &str = "code.txt";

static HAS_OUTSIDE_SCHEMES: AtomicBool = AtomicBool::new(false);

/// Includes the hash of the executable in the identity. To be called before the first run if the program has
/// schemes from outside this repository, whose sources [`tidegate_identity`] does not cover.
pub(crate) fn count_executable() {
    HAS_OUTSIDE_SCHEMES.store(true, Ordering::Relaxed);
}

/// The hash of the simulation's sources, followed by that of the executable if it has schemes from outside.
pub(crate) fn code() -> &'static str {
    static CODE: OnceLock<String> = OnceLock::new();
    CODE.get_or_init(|| match HAS_OUTSIDE_SCHEMES.load(Ordering::Relaxed) {
        false => tidegate_identity::CODE.to_owned(),
        true => format!("{}-{}", tidegate_identity::CODE, executable()),
    })
}

/// The first digits, enough to distinguish two builds in messages.
pub(crate) fn short(code: &str) -> String {
    code.split('-').map(|part| part.get(..8).unwrap_or(part)).collect::<Vec<_>>().join("-")
}

/// BLAKE3 hash of this program's file. If it cannot be read, a unique value, so that no stored run matches.
pub(crate) fn executable() -> String {
    let content = std::env::current_exe().and_then(std::fs::read);
    let content = content.unwrap_or_else(|_| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        format!("{} {}", std::process::id(), now.as_nanos()).into_bytes()
    });
    blake3::hash(&content).to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_form_keeps_both_parts_apart() {
        assert_eq!(short("0123456789abcdef0123456789abcdef"), "01234567");
        assert_eq!(short("0123456789abcdef-fedcba9876543210"), "01234567-fedcba98");
    }
}
