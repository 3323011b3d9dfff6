//! Which code computes this program's runs: part of the name of every stored run.

use std::fs::File;
use std::io::{self, Read};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

/// Bytes of the program's file that are read at once.
const PART: usize = 1 << 16;

static HAS_OUTSIDE_SCHEMES: AtomicBool = AtomicBool::new(false);

/// Call before anything is run if the program has schemes from outside this repository: their sources are not
/// known, so the executable as a whole counts too.
pub(crate) fn count_executable() {
    HAS_OUTSIDE_SCHEMES.store(true, Ordering::Relaxed);
}

/// The hash of the simulation's sources, behind it that of the executable where schemes from outside are in it.
pub(crate) fn code() -> &'static str {
    static CODE: OnceLock<String> = OnceLock::new();
    CODE.get_or_init(|| match HAS_OUTSIDE_SCHEMES.load(Ordering::Relaxed) {
        false => tidegate_identity::CODE.to_owned(),
        true => {
            // A file that cannot be read is like no other, so that no run is found by it.
            let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            let hash =
                executable().unwrap_or_else(|_| format!("{}-{}", std::process::id(), now().as_nanos()));
            format!("{}-{hash}", tidegate_identity::CODE)
        }
    })
}

/// The first digits, enough to tell two codes apart in messages.
pub(crate) fn short(code: &str) -> String {
    code.split('-').map(|part| part.get(..8).unwrap_or(part)).collect::<Vec<_>>().join("-")
}

/// 32 hexadecimal digits of the BLAKE3 hash of this program's file.
///
/// # Errors
/// When the system does not let a program read its own file.
pub(crate) fn executable() -> io::Result<String> {
    let mut file = std::env::current_exe().and_then(File::open)?;
    let (mut hash, mut part) = (blake3::Hasher::new(), vec![0; PART]);
    loop {
        match file.read(&mut part)? {
            0 => return Ok(hash.finalize().to_hex()[..32].to_owned()),
            length => hash.update(&part[..length]),
        };
    }
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
