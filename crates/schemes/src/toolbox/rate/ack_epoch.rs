//! ACK aggregation: how many more segments ACKs deliver at a time than the path's rate explains (BBR's extra_acked).
//!
//! Source: Linux tcp_bbr.c; draft-ietf-ccwg-bbr, BBR.extra_acked. Slotted media and delayed ACKs let segments be
//! acknowledged in lumps; a window of just the bandwidth-delay product would stop between them.

use tidegate_core::units::Time;

use crate::toolbox::rate::bbr_model::PacketRate;

/// An epoch ends after this number of segments at any rate, so that it does not last for ever (Linux).
const MAX: u64 = 1 << 20;

/// A time in which segments were acknowledged no slower than the path's rate.
#[derive(Debug, Default)]
pub struct AckEpoch {
    since: Time,
    acked: u64,
}

impl AckEpoch {
    /// Begins a new epoch at `now`.
    pub fn restart(&mut self, now: Time) {
        *self = Self { since: now, acked: 0 };
    }

    /// `newly` segments were acknowledged; returns by how many segments the epoch exceeds what `rate` explains. An
    /// epoch ends when the rate explains all segments before these.
    pub fn excess(&mut self, now: Time, rate: PacketRate, newly: u32) -> f64 {
        let newly = u64::from(newly);
        let explained = |epoch: &Self| rate.packets_in(now.since(epoch.since));
        // Without the restart a slow phase would leave credit, and later lumps would not show as an excess.
        if self.acked as f64 <= explained(self) || self.acked + newly >= MAX {
            self.restart(now);
        }
        self.acked += newly;
        self.acked as f64 - explained(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::units::Span;

    #[test]
    fn an_epoch_lasts_while_more_comes_than_the_rate_explains() {
        let (mut epoch, rate) = (AckEpoch::default(), PacketRate::over(1, Span::from_millis(1)));
        let mut at = |millis, newly| epoch.excess(Time::ZERO + Span::from_millis(millis), rate, newly);
        assert_eq!(at(100, 10), 10.0, "an ACK of its own explains nothing yet");
        assert_eq!(at(105, 10), 15.0);
        assert_eq!(at(119, 1), 2.0);
        // 21 by 121 ms are explained: a new epoch.
        assert_eq!(at(121, 3), 3.0);
        epoch.restart(Time::ZERO + Span::from_millis(121));
        assert_eq!(epoch.excess(Time::ZERO + Span::from_millis(122), rate, 2), 2.0);
    }

    #[test]
    fn an_epoch_of_a_million_segments_ends() {
        let (mut epoch, rate) = (AckEpoch::default(), PacketRate(1));
        assert_eq!(epoch.excess(Time::ZERO, rate, 1 << 19), f64::from(1 << 19));
        assert_eq!(epoch.excess(Time::ZERO, rate, 1 << 19), f64::from(1 << 19), "begun anew");
    }
}
