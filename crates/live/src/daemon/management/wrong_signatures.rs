//! Bound on the signatures that are verified in vain. Verification takes 0.2 ms with P-256 and more with RSA, and everybody
//! can state the name of a known key.

use std::collections::BTreeMap;

use super::authority::CommandSource;

/// Maximum number of wrong signatures of one source in a second; further ones are not verified.
const MAX_OF_SOURCE: u32 = 8;

/// Maximum number of wrong signatures of other machines in a second. Users of this machine are few and have one source each.
const MAX_OF_ADDRESSES: u32 = 512;

/// Wrong signatures in the present second, by source.
#[derive(Clone, Debug, Default)]
pub(super) struct WrongSignatures {
    /// The present second, since 1970.
    second: u64,
    by_source: BTreeMap<CommandSource, u32>,
    of_addresses: u32,
}

impl WrongSignatures {
    /// Whether a signature from `source` is to be verified, at a time in seconds since 1970.
    pub fn may_verify(&mut self, source: CommandSource, second: u64) -> bool {
        if self.second != second {
            *self = Self { second, ..Self::default() };
        }
        let is_crowded = source.is_remote() && self.of_addresses >= MAX_OF_ADDRESSES;
        !is_crowded && self.by_source.get(&source).is_none_or(|count| *count < MAX_OF_SOURCE)
    }

    /// Counts a wrong signature in the second of the last call to [`may_verify`](Self::may_verify).
    pub fn record(&mut self, source: CommandSource) {
        self.of_addresses += u32::from(source.is_remote());
        *self.by_source.entry(source).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::places::PeerNetwork;
    use super::*;
    use std::net::Ipv4Addr;

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
    fn other_machines_together_have_a_bound_which_does_not_concern_this_one() {
        let mut wrong = WrongSignatures::default();
        let address = |number: u32| {
            CommandSource::Address(PeerNetwork::of(Ipv4Addr::from_bits(0x0A00_0000 + number).into()))
        };
        for number in 0..MAX_OF_ADDRESSES {
            assert!(wrong.may_verify(address(number), 7));
            wrong.record(address(number));
        }
        assert!(!wrong.may_verify(address(MAX_OF_ADDRESSES), 7));
        assert!(wrong.may_verify(CommandSource::User(Some(1)), 7));
    }
}
