//! Detection of needless recoveries by reports of duplicates (RFC 2883; RFC 3708 on their meaning).

use std::collections::BTreeMap;

/// Retransmissions of the last recovery that have not been reported as duplicates. When all have been,
/// nothing had been lost, and the recovery is undone, as in Linux, even after its end.
///
/// Time stamps mostly show the same earlier ([`Eifel`](super::recovery::Eifel)), but not within a
/// millisecond, nor if the ACK of the late original was lost. A retransmission that the network duplicates is
/// taken for a needless one.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeats {
    /// Whether a recovery began and was not undone since.
    is_watching: bool,
    /// Number of retransmissions by the segment's end.
    open: BTreeMap<u64, u32>,
}

impl Repeats {
    /// Starts to watch the retransmissions of a recovery.
    pub(super) fn begin(&mut self) {
        self.is_watching = true;
        self.open.clear();
    }

    /// The recovery was undone; it is not undone a second time.
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

    /// Data that ends at `end` was reported as a duplicate; returns whether this completes the list of all
    /// retransmissions.
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
