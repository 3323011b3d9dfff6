//! Bound on the signatures that are verified in vain. Verification takes 0.2 ms with P-256 and more with RSA, and everybody
//! can state the name of a known key.

use std::collections::BTreeMap;

use super::authority::CommandSource;

/// Maximum number of wrong signatures of one source in a second; further ones are not verified.
const MAX_OF_SOURCE: u32 = 8;

/// Maximum number of wrong signatures of all sources in a second, and so of sources in the table.
const MAX_OF_ALL: u32 = 512;

/// Wrong signatures in the present second, by source.
#[derive(Clone, Debug, Default)]
pub(super) struct WrongSignatures {
    /// The present second, since 1970.
    second: u64,
    by_source: BTreeMap<CommandSource, u32>,
    all: u32,
}

impl WrongSignatures {
    /// Whether a signature from `source` is to be verified, at a time in seconds since 1970.
    pub fn may_verify(&mut self, source: CommandSource, second: u64) -> bool {
        if self.second != second {
            *self = Self { second, ..Self::default() };
        }
        self.all < MAX_OF_ALL && self.by_source.get(&source).is_none_or(|count| *count < MAX_OF_SOURCE)
    }

    /// Counts a wrong signature in the second of the last call to [`may_verify`](Self::may_verify).
    pub fn record(&mut self, source: CommandSource) {
        self.all += 1;
        *self.by_source.entry(source).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_with_many_wrong_signatures_is_refused_until_the_next_second_and_others_are_not() {
        let (mut wrong, [a, b]) =
            (WrongSignatures::default(), [1, 2].map(|uid| CommandSource::User(Some(uid))));
        for _ in 0..MAX_OF_SOURCE {
            assert!(wrong.may_verify(a, 7));
            wrong.record(a);
        }
        assert!(!wrong.may_verify(a, 7) && wrong.may_verify(b, 7) && wrong.may_verify(a, 8));
    }

    #[test]
    fn all_sources_together_have_a_bound() {
        let mut wrong = WrongSignatures::default();
        for uid in 0..MAX_OF_ALL {
            assert!(wrong.may_verify(CommandSource::User(Some(uid)), 7));
            wrong.record(CommandSource::User(Some(uid)));
        }
        assert!(!wrong.may_verify(CommandSource::User(None), 7));
        assert_eq!(wrong.by_source.len(), MAX_OF_ALL as usize);
    }
}
