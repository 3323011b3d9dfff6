//! The consumer's state of one path: its last round trips and its timer.

use std::collections::VecDeque;

use tidegate_core::units::Span;

/// Weight of a round trip in the timer (`TIMEOUT_SMOOTHER`).
const GAIN: f64 = 0.1;
/// Timer over smoothed RTT (`TIMEOUT_RATIO`).
const RATIO: f64 = 10.0;

/// Last RTT samples and timer of one path.
#[derive(Clone, Debug)]
pub(super) struct Path {
    /// The last round trips, newest last.
    round_trips: VecDeque<Span>,
    timer: Span,
    /// Number of the last Data of this path, among all Data of the flow.
    pub received: u64,
}

impl Path {
    /// A path without a Data.
    pub fn new(timer: Span) -> Self {
        Self { round_trips: VecDeque::new(), timer, received: 0 }
    }

    /// Time after which an Interest counts as lost.
    pub fn timer(&self) -> Span {
        self.timer
    }

    /// Adds an RTT sample. Returns its position between the minimum (0) and the maximum (1) of the last `samples`;
    /// `None` while there are fewer, and `Some(None)` if all are equal.
    pub fn sample(&mut self, round_trip: Span, samples: u32) -> Option<Option<f64>> {
        self.timer = self.timer.scale(1.0 - GAIN) + round_trip.scale(GAIN * RATIO);
        self.round_trips.push_back(round_trip);
        if self.round_trips.len() > samples as usize {
            self.round_trips.pop_front();
        }
        let is_full = self.round_trips.len() == samples as usize;
        is_full.then(|| self.place(round_trip))
    }

    fn place(&self, round_trip: Span) -> Option<f64> {
        let (min, max) = (self.round_trips.iter().min()?, self.round_trips.iter().max()?);
        let range = (*max - *min).as_secs_f64();
        (range > 0.0).then(|| (round_trip - *min).as_secs_f64() / range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(path: &mut Path, round_trip: u64) -> Option<Option<f64>> {
        path.sample(Span::from_millis(round_trip), 3)
    }

    #[test]
    fn a_round_trip_is_placed_among_the_last_ones_only() {
        let mut path = Path::new(Span::from_secs(1));
        assert_eq!([millis(&mut path, 20), millis(&mut path, 60)], [None, None]);
        assert_eq!(millis(&mut path, 30), Some(Some(0.25)));
        // 20 is forgotten: 60, 30, 30 and then 30, 30, 30.
        assert_eq!(millis(&mut path, 30), Some(Some(0.0)));
        assert_eq!(millis(&mut path, 30), Some(None));
    }

    #[test]
    fn the_timer_nears_ten_round_trips() {
        let mut path = Path::new(Span::from_secs(1));
        millis(&mut path, 40);
        assert_eq!(path.timer(), Span::from_millis(940));
        for _ in 0..200 {
            millis(&mut path, 40);
        }
        assert!((399.0..401.0).contains(&path.timer().as_millis_f64()), "{:?}", path.timer());
    }
}
