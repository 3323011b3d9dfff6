//! CUBIC's controller alone against the tables of RFC 9438: regular losses, without sender and packets.

use super::*;
use alone::{Ack, Alone};

/// A model as that of RFC 9438 §5: of `period` segments one is lost, and
/// nothing else happens. An ACK tells of a 64th of the window.
struct Model {
    alone: Alone,
    now: Time,
    rtt: Span,
    period: f64,
    /// Whether the round trip after a loss passes without growth, as it does for a sender.
    recovers: bool,
    /// Segments since the last loss; sum of windows times seconds.
    sent: f64,
    area: f64,
}

impl Model {
    /// From a loss at a window of `peak`.
    fn new(rtt_ms: u64, period: f64, recovers: bool, peak: f64) -> Self {
        let [fast_convergence] = cubic::alone();
        let given = [fast_convergence, ("initial_window", Setting::Number(peak))];
        let rtt = Span::from_millis(rtt_ms);
        let alone = Alone::new(scheme("tcp-cubic"), &given, rtt);
        let mut model = Self { alone, now: Time::ZERO, rtt, period, recovers, sent: 0.0, area: 0.0 };
        model.lose();
        model
    }

    fn pass(&mut self, segments: f64) {
        let window = self.alone.window();
        let span = self.rtt.as_secs_f64() * segments / window;
        self.now += Span::from_secs_f64(span);
        self.area += window * span;
        self.sent += segments;
    }

    fn lose(&mut self) {
        self.alone.lose(self.now);
        if self.recovers {
            self.pass(self.alone.window());
        }
        self.alone.recover(self.now);
    }

    /// Up to the next loss; the window before it.
    fn climb(&mut self) -> f64 {
        while self.sent < self.period {
            let segments = (self.alone.window() / 64.0).floor().max(1.0);
            self.pass(segments);
            self.alone.ack(self.now, Ack { segments: segments as u32, ..Ack::sent_at(self.now) });
        }
        self.alone.window()
    }

    /// Up to behind the next loss; the window before it.
    fn tooth(&mut self) -> f64 {
        let peak = self.climb();
        self.sent -= self.period;
        self.lose();
        peak
    }

    /// Mean window over the time since the begin.
    fn mean(&self) -> f64 {
        self.area / self.now.since(Time::ZERO).as_secs_f64()
    }

    /// Mean window over the time of 20 losses, after `first` others.
    fn mean_window(&mut self, first: u64) -> f64 {
        (0..first).for_each(|_| _ = self.tooth());
        let (begin, area) = (self.now, self.area);
        (0..20).for_each(|_| _ = self.tooth());
        (self.area - area) / self.now.since(begin).as_secs_f64()
    }
}

/// Mean window of a tooth, from 0.7 W to W, of which each point lies on the higher of the curve and of Reno's pace, in small
/// steps; W by bisection, so that a tooth has `period` segments.
fn tooth_of_both_laws(rtt: f64, period: f64, recovers: bool) -> f64 {
    let alpha = 3.0 * 0.3 / 1.7;
    let (mut low, mut high, mut mean) = (1.0, 20_000.0, 0.0);
    while high - low > 1e-3 {
        let peak = f64::midpoint(low, high);
        let k = f64::cbrt(0.3 * peak / 0.4);
        let recovery = if recovers { rtt } else { 0.0 };
        let (mut t, mut area) = (0.0, 0.7 * peak * recovery);
        let step = rtt / 50.0;
        loop {
            let window = (peak + 0.4 * f64::powi(t - k, 3)).max(0.7 * peak + alpha * t / rtt);
            if window >= peak {
                break;
            }
            (t, area) = (t + step, area + window * step);
        }
        mean = area / (t + recovery);
        if area / rtt > period { high = peak } else { low = peak }
    }
    mean
}

/// Round trip, one segment lost in so many, mean window published (RFC 9438 §5.1, tables 1 and 2), losses that do not count.
/// From the window of RFC 6928 on; on the curve it takes many to come near.
const TABLE: [(u64, f64, f64, u64); 10] = [
    (100, 1e2, 12.0, 30),
    (100, 1e3, 38.0, 30),
    (100, 1e4, 187.0, 800),
    (100, 1e5, 1_054.0, 800),
    (100, 1e6, 5_926.0, 800),
    (10, 1e2, 12.0, 30),
    (10, 1e3, 38.0, 30),
    (10, 1e4, 120.0, 30),
    (10, 1e5, 379.0, 30),
    (10, 1e6, 1_200.0, 30),
];

/// Mean window of the tooth that ends where it began; by bisection, as a tooth from below ends higher and one from above lower.
fn steady_tooth(rtt_ms: u64, period: f64, recovers: bool) -> f64 {
    let (mut low, mut high, mut mean) = (1.0, 10_000.0, 0.0);
    while high / low > 1.0001 {
        let peak = f64::midpoint(low, high);
        let mut model = Model::new(rtt_ms, period, recovers, peak);
        if model.climb() < peak {
            high = peak;
        } else {
            low = peak;
        }
        mean = model.mean();
    }
    mean
}

#[test]
fn the_controller_alone_has_the_mean_window_of_both_laws_in_every_row_of_rfc_9438() {
    for recovers in [false, true] {
        for (rtt_ms, period, ..) in TABLE {
            let window = steady_tooth(rtt_ms, period, recovers);
            let expected = tooth_of_both_laws(rtt_ms as f64 * 1e-3, period, recovers);
            assert!(
                (window / expected - 1.0).abs() < 0.02,
                "1 in {period}, {rtt_ms} ms: {window:.2}, {expected:.2}"
            );
        }
    }
}

#[test]
fn that_is_the_published_one_but_for_two_rows_in_which_both_laws_are_near() {
    for (rtt_ms, period, published, first) in TABLE {
        // The table has the larger of two means: of the curve, 1.054 (RTT / p)^(3/4), and of Reno's pace, sqrt(1.5 / p). Where
        // they are 33 and 39, or 1054 and 1225, the curve is above at the begin or the end of each tooth: 39.9 and 1263.
        let curve = 1.054 * (rtt_ms as f64 * 1e-3 * period).powf(0.75);
        let reno = (1.5 * period).sqrt();
        let is_near = (curve / reno - 1.0).abs() < 0.2;
        let expected =
            if is_near { tooth_of_both_laws(rtt_ms as f64 * 1e-3, period, false) } else { published };
        assert!(expected / published < 1.06);
        let window = Model::new(rtt_ms, period, false, 10.0).mean_window(first);
        assert!(
            (window / expected - 1.0).abs() < 0.05,
            "1 in {period}, {rtt_ms} ms: {window:.1}, {expected:.1}"
        );
    }
}

#[test]
fn the_published_window_draws_peaks_from_both_sides() {
    for (rtt_ms, period, published, _) in [TABLE[2], TABLE[3], TABLE[4]] {
        // The mean of the curve up to a peak W is W - C K^3 / 4 = 0.925 W.
        let fixed = published / 0.925;
        for start in [0.8, 1.2] {
            let mut model = Model::new(rtt_ms, period, false, start * fixed);
            let mut distance = 0.2;
            for loss in 0..30 {
                let peak = model.tooth();
                let now = (peak / fixed - 1.0).abs();
                assert!(
                    now < distance,
                    "1 in {period}, loss {loss}: peak {peak:.0}, {fixed:.0}, {now} from {distance}"
                );
                distance = now;
            }
        }
    }
}
