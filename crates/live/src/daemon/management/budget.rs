//! Bound on the work that neighbours and members of groups cause by commands: a route to a short prefix changes the next hops of
//! every prefix below it.

use std::collections::BTreeMap;

use tidegate_core::units::Time;

use super::super::Daemon;
use super::authority::{CommandSender, CommandSource};
use super::request::RequestRefusal;
use crate::nfd::ControlParameters;

/// FIB entries that commands of one source may write in a second, over a long time.
const RATE: u64 = 2_000;

/// FIB entries that its commands may write at once.
const BURST: u64 = 20_000;

/// As [`RATE`], for all other machines together: whoever forges addresses has as many sources as it likes.
const RATE_OF_ADDRESSES: u64 = 20_000;

/// As [`BURST`], for all other machines together.
const BURST_OF_ADDRESSES: u64 = 100_000;

/// Maximum number of FIB entries that are counted for one command, so that a default route in a large table delays the next
/// commands of its neighbour by a few seconds at most.
const MAX_COUNTED: u64 = 10_000;

/// Maximum number of sources whose work is counted.
const MAX_SOURCES: usize = 4_096;

/// Work of a source that counts at a time.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    /// Number of FIB entries written by `at`, less those forgiven.
    entries: u64,
    at: Time,
}

impl Work {
    /// The entries that still count at `now`, where `rate` of them are forgiven in a second.
    fn left(self, now: Time, rate: u64) -> u64 {
        let forgiven = u128::from(now.since(self.at).as_nanos()) * u128::from(rate) / 1_000_000_000;
        self.entries.saturating_sub(u64::try_from(forgiven).unwrap_or(u64::MAX))
    }
}

/// Work that commands have caused, by source.
#[derive(Debug, Default)]
pub(in super::super) struct CommandBudgets {
    work: BTreeMap<CommandSource, Work>,
    /// The same of all other machines.
    of_addresses: Work,
}

impl CommandBudgets {
    fn has_left(&mut self, source: CommandSource, now: Time) -> bool {
        if self.work.len() >= MAX_SOURCES {
            self.work.retain(|_, work| work.left(now, RATE) > 0);
        }
        if source.is_remote() && self.of_addresses.left(now, RATE_OF_ADDRESSES) >= BURST_OF_ADDRESSES {
            return false;
        }
        match self.work.get(&source) {
            Some(work) => work.left(now, RATE) < BURST,
            None => self.work.len() < MAX_SOURCES,
        }
    }

    /// Counts a command that has written `written` entries.
    fn count(&mut self, source: CommandSource, written: u64, now: Time) {
        let before = self.work.get(&source).map_or(0, |work| work.left(now, RATE));
        let entries = before + (1 + written).min(MAX_COUNTED);
        self.work.insert(source, Work { entries, at: now });
        if source.is_remote() {
            let entries = self.of_addresses.left(now, RATE_OF_ADDRESSES) + 1 + written;
            self.of_addresses = Work { entries, at: now };
        }
    }
}

impl Daemon {
    /// Carries out a command of a neighbour or a member of a group within its budget; others have none.
    ///
    /// # Errors
    /// 503 if earlier commands of the source have used it up, and the errors of the command.
    pub(super) fn within_budget(
        &mut self,
        sender: CommandSender,
        command: impl FnOnce(&mut Self) -> Result<ControlParameters, RequestRefusal>,
    ) -> Result<ControlParameters, RequestRefusal> {
        let Some(source) = sender.budget else { return command(self) };
        if !self.budgets.has_left(source, self.now) {
            let text = "commands have changed too many routes; try again later";
            return Err(RequestRefusal::new(503, text));
        }
        let before = self.rib.written();
        let outcome = command(self);
        self.budgets.count(source, self.rib.written() - before, self.now);
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::places::PeerNetwork;
    use super::*;
    use std::net::Ipv4Addr;
    use tidegate_core::units::Span;

    const SOURCE: CommandSource = CommandSource::User(Some(1));

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn other_machines_have_a_budget_together_which_does_not_concern_this_one() {
        let mut budgets = CommandBudgets::default();
        let address = |number: u32| {
            CommandSource::Address(PeerNetwork::of(Ipv4Addr::from_bits(0x0A00_0000 + number).into()))
        };
        for number in 0..3 {
            assert!(budgets.has_left(address(number), at(0)));
            budgets.count(address(number), 40_000, at(0));
        }
        assert!(!budgets.has_left(address(3), at(900)));
        assert!(budgets.has_left(SOURCE, at(0)) && budgets.has_left(address(3), at(1_100)));
    }

    #[test]
    fn a_source_that_changes_many_routes_is_refused_until_its_budget_is_there_again() {
        let mut budgets = CommandBudgets::default();
        for _ in 0..2 {
            assert!(budgets.has_left(SOURCE, at(0)));
            budgets.count(SOURCE, 1_000_000, at(0));
        }
        assert!(!budgets.has_left(SOURCE, at(0)));
        assert!(budgets.has_left(CommandSource::User(Some(2)), at(0)), "another source");
        assert!(budgets.has_left(SOURCE, at(1)));
        budgets.count(SOURCE, 3_999, at(1_000));
        assert_eq!(budgets.work[&SOURCE].left(at(2_000), RATE), 20_000);
        assert!(!budgets.has_left(SOURCE, at(2_000)) && budgets.has_left(SOURCE, at(2_001)));
    }

    #[test]
    fn a_neighbour_registers_all_its_prefixes_at_once() {
        let mut budgets = CommandBudgets::default();
        for _ in 0..2_000 {
            assert!(budgets.has_left(SOURCE, at(0)));
            budgets.count(SOURCE, 1, at(0));
        }
    }

    #[test]
    fn the_table_of_sources_has_a_bound() {
        let mut budgets = CommandBudgets::default();
        for uid in 0..MAX_SOURCES as u32 {
            let source = CommandSource::User(Some(uid));
            assert!(budgets.has_left(source, at(0)));
            budgets.count(source, 1, at(0));
        }
        let other = CommandSource::User(None);
        assert!(!budgets.has_left(other, at(0)) && budgets.has_left(SOURCE, at(0)));
        assert!(budgets.has_left(other, at(1_000)) && budgets.work.is_empty());
    }
}
