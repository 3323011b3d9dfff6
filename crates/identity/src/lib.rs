//! A hash of the sources that decide what a simulation computes, taken when this crate is built.
//!
//! Stored runs are named by it, so a changed scheme never finds runs of its earlier self. Programs built from the
//! same sources have the same hash, on any machine and in any profile.
#![forbid(unsafe_code)]

/// 32 hexadecimal digits: FNV-1a over the sources of `core`, `schemes`, `settings`, `sim` and of the tables with the
/// measures in them, without their tests, over the manifests of these crates and of the workspace, and over the
/// lockfile, where they lie beside this crate. Versions and features of dependencies are in the manifests and the
/// lockfile; the crates themselves have no features.
pub const CODE: &str = env!("TIDEGATE_CODE");

/// 32 hexadecimal digits: the same hash over what `reproduce` runs and keeps, the scenarios of the papers and the code
/// of their experiments. Runs of a paper depend on [`CODE`] too.
pub const EXPERIMENTS: &str = env!("TIDEGATE_EXPERIMENTS");

#[cfg(test)]
mod digest;
#[cfg(test)]
mod sources;
#[cfg(test)]
mod sources_tests;

#[cfg(test)]
mod tests {
    use super::digest::Digest;

    fn of(files: &[(&str, &str)]) -> String {
        let mut digest = Digest::new();
        files.iter().for_each(|(path, text)| digest.add(path, text.as_bytes()));
        digest.finish()
    }

    #[test]
    fn every_byte_and_every_path_counts() {
        let base = of(&[("a.rs", "fn f() {}"), ("b.rs", "")]);
        assert_eq!(base.len(), 32);
        for other in [
            of(&[("a.rs", "fn f() { }"), ("b.rs", "")]),
            of(&[("a.rs", "fn f() {}"), ("c.rs", "")]),
            of(&[("a.rs", "fn f() {}")]),
            of(&[("a.rs", ""), ("b.rs", "fn f() {}")]),
        ] {
            assert_ne!(other, base);
        }
    }

    #[test]
    fn line_ends_of_a_checkout_do_not_count() {
        assert_eq!(of(&[("a.rs", "a\r\nb\r\n")]), of(&[("a.rs", "a\nb\n")]));
    }

    #[test]
    fn tests_do_not_count() {
        use super::digest::is_counted;
        assert!(is_counted("crates/core/src/pit.rs") && is_counted("crates/core/Cargo.toml"));
        for path in
            ["crates/core/src/pit/tests.rs", "crates/core/src/tcp/tests/losses.rs", "crates/core/src/a.txt"]
        {
            assert!(!is_counted(path), "{path}");
        }
    }

    #[test]
    fn this_checkout_has_a_hash() {
        let nothing = of(&[("version", env!("CARGO_PKG_VERSION"))]);
        for hash in [super::CODE, super::EXPERIMENTS] {
            assert_eq!(hash.len(), 32);
            assert_ne!(hash, nothing, "no sources were found beside this crate");
        }
        assert_ne!(super::CODE, super::EXPERIMENTS);
    }
}
