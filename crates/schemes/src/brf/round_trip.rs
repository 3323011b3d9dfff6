//! RTT of a flow, measured by a switch on its path: the halves of the handshake, then data and its ACK.

use tidegate_core::prelude::*;

/// Round-trip time at a switch: its parts towards sender and receiver, smoothed.
#[derive(Clone, Debug, Default)]
pub struct RoundTrip {
    syn_at: Option<Time>,
    syn_ack_at: Option<Time>,
    /// Switch to sender and back.
    up: Option<Span>,
    /// Switch to receiver and back.
    down: Option<Span>,
    smoothed: Option<Span>,
    /// End of a data segment that passed, a byte number, with its time; its ACK gives the lower half.
    probe: Option<(u32, Time)>,
    /// Highest byte number acknowledged; `None` before the first ACK.
    acknowledged: Option<u32>,
}

impl RoundTrip {
    /// Records the SYN, or its retransmission.
    pub fn on_syn(&mut self, now: Time) {
        self.syn_at = Some(now);
    }

    /// Records the SYN-ACK of the receiver.
    pub fn on_syn_ack(&mut self, now: Time) {
        self.down = self.syn_at.map(|syn| now.since(syn)).or(self.down);
        self.syn_ack_at = Some(now);
    }

    /// Records the first segment of the sender after the SYN: it answers the SYN-ACK, which may have taken another
    /// path.
    pub fn on_answer(&mut self, now: Time) {
        if let Some(syn_ack) = self.syn_ack_at.take() {
            self.up = Some(now.since(syn_ack));
        } else if self.smoothed.is_none()
            && let Some(syn) = self.syn_at
        {
            // The SYN-ACK did not pass here: the halves are unknown, but their sum is known.
            self.smoothed = Some(now.since(syn));
        }
        // Only the first segment after the SYN answers the handshake.
        self.syn_at = None;
        if let (Some(up), Some(down)) = (self.up, self.down) {
            self.smoothed = self.smoothed.or(Some(up + down));
        }
    }

    /// Records data up to byte number `end`. Data that was seen before may be a retransmission, whose ACK gives no
    /// sample (Karn).
    pub fn on_data(&mut self, now: Time, start: u32, end: u32) {
        match self.probe {
            Some((probe, _)) if is_before(start, probe) => self.probe = None,
            None if self.acknowledged.is_none_or(|ack| !is_before(start, ack)) => self.probe = Some((end, now)),
            _ => {}
        }
    }

    /// Records an ACK of all bytes below `ack`. A duplicate ACK indicates a loss, which delays the ACK of the probe.
    pub fn on_ack(&mut self, now: Time, ack: u32) {
        // A duplicate ACK, or an older one that was overtaken.
        let before = self.acknowledged.filter(|before| !is_before(*before, ack));
        if before.is_some() {
            self.probe = None;
            return;
        }
        self.acknowledged = Some(ack);
        let Some((_, at)) = self.probe.filter(|(end, _)| !is_before(ack, *end)) else { return };
        self.probe = None;
        let down = now.since(at);
        // Without the handshake the upper half is unknown; the path is then assumed to be symmetric.
        let sample = down + self.up.unwrap_or(down);
        self.smoothed = Some(self.smoothed.map_or(sample, |old| old * 7 / 8 + sample / 8));
    }

    /// Smoothed RTT; `None` before the first sample.
    pub fn smoothed(&self) -> Option<Span> {
        self.smoothed
    }
}

/// Order of byte numbers, which wrap around (RFC 9293, section 3.4).
fn is_before(left: u32, right: u32) -> bool {
    (left.wrapping_sub(right) as i32) < 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// 30 ms to the receiver and back, 10 ms to the sender and back.
    fn opened() -> RoundTrip {
        let mut trip = RoundTrip::default();
        trip.on_syn(at(0));
        trip.on_syn_ack(at(30));
        trip.on_answer(at(40));
        trip
    }

    #[test]
    fn the_halves_of_the_handshake_make_the_round_trip() {
        assert_eq!(opened().smoothed(), Some(Span::from_millis(40)));
    }

    #[test]
    fn a_handshake_whose_answer_takes_another_way_gives_the_sum() {
        let mut trip = RoundTrip::default();
        trip.on_syn(at(0));
        trip.on_answer(at(40));
        trip.on_answer(at(90));
        assert_eq!(trip.smoothed(), Some(Span::from_millis(40)));
    }

    #[test]
    fn data_and_its_ack_renew_the_lower_half() {
        let mut trip = opened();
        trip.on_data(at(100), 1, 1449);
        trip.on_data(at(101), 1449, 2897);
        trip.on_ack(at(170), 1449);
        assert_eq!(trip.smoothed(), Some(Span::from_millis(45)), "an eighth of 70 + 10 ms");
        trip.on_ack(at(999), 2897);
        assert_eq!(trip.smoothed(), Some(Span::from_millis(45)), "only the probe is timed");
    }

    #[test]
    fn retransmissions_and_losses_are_not_timed() {
        let mut trip = opened();
        trip.on_data(at(100), 1, 1449);
        trip.on_data(at(300), 1, 1449);
        trip.on_ack(at(330), 1449);
        trip.on_data(at(400), 1449, 2897);
        trip.on_ack(at(410), 1449);
        trip.on_ack(at(800), 2897);
        assert_eq!(trip.smoothed(), Some(Span::from_millis(40)));
    }

    #[test]
    fn byte_numbers_wrap_around() {
        let mut trip = opened();
        let start = u32::MAX - 100;
        trip.on_ack(at(90), start);
        trip.on_data(at(100), start, start.wrapping_add(1448));
        trip.on_ack(at(130), start.wrapping_add(1448));
        assert_eq!(trip.smoothed(), Some(Span::from_millis(40)));
        assert!(trip.acknowledged < Some(2000));
    }
}
