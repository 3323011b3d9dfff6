// A hash over files, shared by the build script and its tests. Rust's own hasher may change with the compiler.

/// FNV-1a with 128 bits over paths and contents, in the order in which they are added.
pub struct Digest(u128);

impl Digest {
    pub fn new() -> Self {
        Self(0x6C62_272E_07BB_0142_62B8_2175_6295_C58D)
    }

    /// Adds a file. A carriage return before a line feed is left out, since checkouts differ in it.
    pub fn add(&mut self, path: &str, content: &[u8]) {
        self.bytes(path.as_bytes());
        self.bytes(&[0]);
        for (at, byte) in content.iter().enumerate() {
            if *byte != b'\r' || content.get(at + 1) != Some(&b'\n') {
                self.bytes(&[*byte]);
            }
        }
        self.bytes(&[0]);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013B);
        }
    }

    /// Returns the digest as 32 hexadecimal digits.
    pub fn finish(&self) -> String {
        format!("{:032x}", self.0)
    }
}

/// Whether the file at `path` (with `/`) decides what a simulation computes: sources and manifests, no tests.
pub fn is_counted(path: &str) -> bool {
    let is_test = path.split('/').any(|part| part == "tests" || part == "tests.rs");
    (path.ends_with(".rs") || path.ends_with(".toml")) && !is_test
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(is_counted("crates/core/src/ndn/pit/mod.rs") && is_counted("crates/core/Cargo.toml"));
        for path in [
            "crates/core/src/ndn/pit/tests.rs",
            "crates/core/src/tcp/tests/losses.rs",
            "crates/core/src/a.txt",
        ] {
            assert!(!is_counted(path), "{path}");
        }
    }
}
