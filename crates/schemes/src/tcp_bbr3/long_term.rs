//! Upper bound of the flight without excessive losses, measured by probes (ProbeBW Algorithm Details).

/// inflight_longterm and its growth while a probe lasts.
#[derive(Debug)]
pub(super) struct LongTerm {
    /// The bound, segments; infinite before a probe has had excessive losses.
    pub(super) in_flight: f64,
    /// Segments to be acknowledged for one more (probe_up_acked_per_inc); infinite outside of ProbeBW_UP.
    per_segment: f64,
    acked: f64,
    /// Rounds of this probe (bw_probe_up_rounds).
    rounds: u32,
}

impl Default for LongTerm {
    fn default() -> Self {
        Self { in_flight: f64::INFINITY, per_segment: f64::INFINITY, acked: 0.0, rounds: 0 }
    }
}

impl LongTerm {
    /// Prepares for a probe.
    pub(super) fn begin(&mut self) {
        (self.rounds, self.acked) = (0, 0.0);
    }

    /// Stops the growth, as the probe is over.
    pub(super) fn stop(&mut self) {
        self.per_segment = f64::INFINITY;
    }

    /// Begins a round of the probe, whose growth is twice that of the last one, spread over the ACKs of a window of
    /// `window` segments.
    pub(super) fn steepen(&mut self, window: f64) {
        let growth = f64::from(1_u32 << self.rounds);
        // At most 30 keeps the shift above within 32 bits.
        self.rounds = (self.rounds + 1).min(30);
        // At most one segment per segment acknowledged, as in slow start.
        self.per_segment = (window / growth).max(1.0);
    }

    /// Raises the bound after `newly` segments were acknowledged while it limited the sender.
    pub(super) fn grow(&mut self, newly: f64) {
        self.acked += newly;
        if self.acked >= self.per_segment {
            let more = (self.acked / self.per_segment).floor();
            self.acked -= more * self.per_segment;
            self.in_flight += more;
        }
    }

    /// The bound less the headroom for other flows, segments.
    pub(super) fn with_headroom(&self, headroom: f64, min: f64) -> f64 {
        if self.in_flight.is_infinite() {
            return f64::INFINITY;
        }
        // At least one segment is left free, or a small bound would leave none.
        (self.in_flight - (headroom * self.in_flight).max(1.0)).max(min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_adds_one_two_four_segments_per_window_acknowledged() {
        let mut bound = LongTerm { in_flight: 100.0, ..LongTerm::default() };
        bound.grow(1_000.0);
        assert_eq!(bound.in_flight, 100.0, "no probe");
        bound.begin();
        let mut course = Vec::new();
        for _ in 0..4 {
            bound.steepen(100.0);
            (0..100).for_each(|_| bound.grow(1.0));
            course.push(bound.in_flight);
        }
        assert_eq!(course, [101.0, 103.0, 107.0, 115.0]);
        (0..40).for_each(|_| bound.steepen(100.0));
        bound.grow(5.0);
        assert_eq!(bound.in_flight, 120.0, "one per segment at most");
        bound.stop();
        bound.grow(1_000.0);
        assert_eq!(bound.in_flight, 120.0);
    }

    #[test]
    fn headroom_is_a_part_of_the_bound_and_a_segment_at_least() {
        let left = |in_flight| LongTerm { in_flight, ..LongTerm::default() }.with_headroom(0.15, 4.0);
        assert_eq!([left(100.0), left(6.0), left(4.0), left(f64::INFINITY)], [85.0, 5.0, 4.0, f64::INFINITY]);
    }
}
