//! Whether a recovery was needed, told by what came twice (RFC 2883, and RFC 3708 for what it means).

use std::collections::BTreeMap;

/// What was sent again in the last recovery and did not turn out to be a repetition. When all of it did, nothing had been
/// lost, and the recovery is undone, as in Linux, even after its end.
///
/// Time stamps tell the same mostly, and earlier ([`Eifel`](super::recovery::Eifel)); not within a millisecond, nor when the
/// ACK that the late original brought was lost. A retransmission that the network repeats is taken for a needless one.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeats {
    /// A recovery began and was not undone since.
    is_watching: bool,
    /// Of each segment its end and how often it was sent again.
    open: BTreeMap<u64, u32>,
}

impl Repeats {
    /// A recovery begins.
    pub(super) fn begin(&mut self) {
        self.is_watching = true;
        self.open.clear();
    }

    /// The recovery was undone: once is enough.
    pub(super) fn forget(&mut self) {
        self.is_watching = false;
        self.open.clear();
    }

    /// The segment that ends at the position `end` is sent again in a recovery.
    pub(super) fn on_retransmission(&mut self, end: u64) {
        if self.is_watching {
            *self.open.entry(end).or_default() += 1;
        }
    }

    /// What ends at the position `end` came twice. Whether every retransmission has turned out to be a repetition.
    pub(super) fn on_dsack(&mut self, end: u64) -> bool {
        let Some(count) = self.open.get_mut(&end) else { return false };
        *count -= 1;
        if *count == 0 {
            self.open.remove(&end);
        }
        self.open.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_retransmission_has_to_be_reported_as_often_as_it_left() {
        let mut repeats = Repeats::default();
        repeats.on_retransmission(100);
        assert!(!repeats.on_dsack(100), "a probe outside of recovery");
        repeats.begin();
        [100, 200, 100].into_iter().for_each(|end| repeats.on_retransmission(end));
        assert_eq!(
            [100, 300, 200, 200, 100].map(|end| repeats.on_dsack(end)),
            [false, false, false, false, true]
        );
        assert!(!repeats.on_dsack(100));
        repeats.on_retransmission(400);
        repeats.begin();
        repeats.on_retransmission(500);
        assert!(repeats.on_dsack(500), "the recovery before does not count");
    }
}
