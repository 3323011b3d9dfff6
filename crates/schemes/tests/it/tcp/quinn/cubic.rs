//! CUBIC (RFC 9438) and quinn's (RFC 8312) stay as close as their differences let them.
//!
//! Of the differences these are taken out of the histories:
//! - t counts from the loss for quinn, from the first ACK after the recovery for ours: our clock is put forward then;
//! - with fast convergence quinn takes K from the plateau alone, and W_est begins below the window: quinn waits until its law
//!   reaches the window, and so both rest for that time;
//! - the time that the source is the limit counts for quinn and not for ours: only our clock goes on meanwhile;
//! - quinn reduces twice when congestion persists: ours is told of a loss and of a timeout;
//! - after a timeout ours grows from one segment, quinn from two: ours hears of one ACK more;
//! - slow start ends by losses alone, at any window: HyStart++ is off, the limit per ACK out of reach.
//!
//! The others make the bounds. Unit of all windows: segments.

use quinn_proto::congestion::CubicConfig;
use tidegate_core::prelude::*;

use super::pair::{INITIAL, Pair, SEGMENT};
use crate::tcp::*;

/// RFC 9438 §5, §4.6 and what follows for Reno's pace (§4.3).
const C: f64 = 0.4;
const BETA: f64 = 0.7;
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// The law that sets the pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Region {
    /// The curve: round trips of 200 ms and more, windows of 100 segments and more when one is lost.
    Curve,
    /// Reno's window: round trips of 20 ms at most and windows of 40 segments at most.
    Reno,
}

/// The congestion avoidance under way.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// Since the start, as quinn has it.
    lost: Span,
    /// Time from there to the plateau, seconds.
    k: f64,
    /// Window of ours at the loss, and how much smaller quinn's was.
    peak: f64,
    before: f64,
    /// By how much Reno's pace from the window itself lies above the curve at most.
    head_start: f64,
}

struct Course {
    pair: Pair,
    region: Region,
    /// W_max of ours, and of quinn.
    plateaus: [f64; 2],
    epoch: Epoch,
    congestions: u32,
}

impl Course {
    fn new(region: Region, rtt: Span) -> Self {
        let mut rival = CubicConfig::default();
        rival.initial_window(INITIAL * u64::from(SEGMENT));
        let given = [("hystart", on(false)), ("limit", Setting::Number(1e6)), ("ecn", on(true))];
        let epoch = Epoch { lost: Span::ZERO, k: 0.0, peak: 0.0, before: 0.0, head_start: 0.0 };
        let pair = Pair::new("tcp-cubic", &given, rival, rtt);
        Self { pair, region, plateaus: [0.0; 2], epoch, congestions: 0 }
    }

    /// Slow start up to `window`.
    fn start(&mut self, window: f64) {
        self.pair.now += self.pair.rtt;
        while self.pair.ours.window() < window {
            self.pair.wait_for(1);
            self.pair.ack(1, false);
            assert_eq!(self.pair.lead(), 0.0);
        }
    }

    fn windows(&self) -> [f64; 2] {
        [self.pair.ours.window(), self.pair.theirs()]
    }

    /// Whether both would converge fast or neither, and not by a hair.
    fn agrees_on_the_plateau(&self) -> bool {
        let above = |n: usize| self.windows()[n] - self.plateaus[n];
        above(0).min(above(1)) > 0.01 || above(0).max(above(1)) < -0.01
    }

    /// A loss, or a mark, and what follows up to the first ACK that counts.
    fn congest(&mut self, is_marked: bool) {
        let ([peak, theirs], before) = (self.windows(), self.pair.lead());
        let converges = theirs < self.plateaus[1];
        self.plateaus =
            [peak, theirs].map(|peak| if converges { peak * f64::midpoint(1.0, BETA) } else { peak });
        let plateau = self.plateaus[1];
        let k = (plateau * (1.0 - BETA) / C).cbrt();
        let wait = match self.region {
            Region::Curve => k - ((plateau - BETA * theirs) / C).cbrt(),
            Region::Reno => BETA * (theirs - plateau) / ALPHA * self.pair.rtt.as_secs_f64(),
        };
        self.epoch = Epoch { lost: self.pair.now, k, peak, before, head_start: 0.0 };
        if is_marked {
            self.pair.mark();
        } else {
            self.pair.lose();
        }
        assert!((self.pair.lead() - BETA * before).abs() < 1e-3, "{}", self.pair.lead());
        self.recover(Span::from_secs_f64(wait), is_marked);
        self.congestions += 1;
    }

    /// A round trip without growth, and a rest if `wait` is longer; the epoch begins.
    fn recover(&mut self, wait: Span, is_marked: bool) {
        let pair = &mut self.pair;
        let window = pair.ours.window();
        for _ in 0..3 {
            pair.now += Span::from_nanos(pair.rtt.as_nanos() / 4);
            pair.old_ack(is_marked);
        }
        pair.now = pair.congested + pair.rtt;
        pair.recover();
        if wait > pair.rtt {
            pair.ack(1, true);
            pair.now = pair.congested + wait;
        }
        assert_eq!(pair.ours.window(), window, "nothing has grown");
        pair.ack(1, false);
        let elapsed = Span::from_nanos(pair.now.as_nanos() - pair.congested.as_nanos());
        pair.ahead += Span::from_nanos(elapsed.as_nanos() - wait.as_nanos());
        self.check();
    }

    /// A timeout, and slow start to where quinn's epoch begins.
    fn time_out(&mut self) {
        let ([ours, theirs], before) = (self.windows(), self.pair.lead());
        let thresholds = [BETA * BETA * ours, BETA * BETA * theirs];
        let pair = &mut self.pair;
        pair.lose_ours();
        pair.time_out();
        pair.now += pair.rtt;
        pair.ack_retransmission();
        pair.recover();
        while pair.ours.window() < thresholds[0] || pair.theirs() < thresholds[1] {
            pair.wait_for(1);
            pair.ack(1, false);
        }
        // quinn's goes past its threshold by less than a segment; growth of a few ACKs may have begun.
        self.plateaus = [thresholds[0], pair.theirs()];
        let past = pair.lead() - BETA * BETA * before;
        assert!((-1.0..0.05).contains(&past), "{past}");
        let pace = ALPHA / pair.rtt.as_secs_f64();
        self.epoch = Epoch {
            lost: pair.now,
            k: 0.0,
            peak: f64::INFINITY,
            before: pair.lead(),
            // The most of pace t - C t^3.
            head_start: 2.0 / 3.0 * pace * (pace / (3.0 * C)).sqrt(),
        };
        self.congestions += 1;
        self.check();
    }

    /// The source is the limit for that long.
    fn rest(&mut self, span: Span) {
        self.pair.ack(1, true);
        self.pair.ahead += span;
        self.check();
    }

    fn ack(&mut self) {
        self.pair.wait_for(1);
        self.pair.ack(1, false);
        self.check();
    }

    /// Seconds since the loss.
    fn elapsed(&self) -> f64 {
        self.pair.now.as_secs_f64() - self.epoch.lost.as_secs_f64()
    }

    #[track_caller]
    fn check(&self) {
        let (low, high) = match self.region {
            Region::Curve => self.bounds_on_the_curve(),
            Region::Reno => self.bounds_at_the_pace_of_reno(),
        };
        let (pair, lead) = (&self.pair, self.pair.lead());
        assert!(
            (low..=high).contains(&lead),
            "{:.3} s after the loss: {:.3}, quinn {:.3}; {lead:.3} is not in {low:.3} to {high:.3}: {:?}",
            self.elapsed(),
            pair.ours.window(),
            pair.theirs(),
            self.epoch
        );
    }

    /// quinn holds back growth until it is a whole segment, and then adds it at once: 1. What it has beyond one is thrown away
    /// each time, a part of one ACK's growth g / W, g times in a round trip, and made up for within one: g^2 / W; and the
    /// first ACK is one of t = 0 for ours and of a round trip later for quinn: g / W. A plateau higher by x makes the curve
    /// higher by x (1 - 0.3 (t/K - 1)^2).
    fn bounds_on_the_curve(&self) -> (f64, f64) {
        let Epoch { k, before, head_start, .. } = self.epoch;
        let steepest = k.max(self.elapsed() + self.pair.rtt.as_secs_f64() - k);
        let growth = 3.0 * C * steepest * steepest * self.pair.rtt.as_secs_f64();
        let bound = before.abs() + 1.0 + (growth + growth * growth) / self.pair.ours.window();
        (-bound, bound + head_start)
    }

    /// Ours follows W_est, to the ACK; quinn's is at most a segment above it, and below it by no more than what makes a whole
    /// segment in n ACKs, n^2 / 2 * ALPHA / W = 1. W_est of quinn grows in the round trip of the recovery as well. From the
    /// window before the loss on ours grows by 1 in place of ALPHA. The difference at the loss was reduced with the windows.
    fn bounds_at_the_pace_of_reno(&self) -> (f64, f64) {
        let Epoch { peak, before, .. } = self.epoch;
        let window = self.pair.ours.window();
        let expected = BETA * before + (1.0 - ALPHA) * (window - peak).max(0.0);
        let late = (2.0 * ALPHA / window).sqrt() + 2.0 * ALPHA / window;
        (expected - 1.0 - ALPHA, expected + late)
    }
}

fn on_the_curve(seed: u64) -> u32 {
    let mut draw = Rng::stream(Seed(seed), "curve");
    let mut course = Course::new(Region::Curve, Span::from_millis(200 + 50 * u64::from(draw.below(5))));
    course.start(f64::from(120 + draw.below(200)));
    course.congest(false);
    while course.pair.now < Span::from_secs(180) {
        let length = course.epoch.k.max(1.0) * (0.3 + 1.5 * draw.uniform());
        while course.elapsed() < length || course.pair.theirs() < 100.0 || !course.agrees_on_the_plateau() {
            course.ack();
            if draw.below(2000) == 0 {
                course.rest(Span::from_secs_f64(3.0 * draw.uniform()));
            }
        }
        match draw.below(8) {
            0 => course.time_out(),
            1 | 2 => course.congest(true),
            _ => course.congest(false),
        }
    }
    course.congestions
}

fn at_the_pace_of_reno(seed: u64) -> u32 {
    let mut draw = Rng::stream(Seed(seed), "reno's pace");
    let mut course = Course::new(Region::Reno, Span::from_millis(10 + u64::from(draw.below(11))));
    course.start(f64::from(15 + draw.below(25)));
    course.congest(false);
    while course.pair.now < Span::from_secs(120) {
        let high = if course.epoch.peak > 30.0 { 1.0 } else { 1.3 };
        let until = (0.8 + (high - 0.8) * draw.uniform()) * course.epoch.peak;
        while course.pair.ours.window() < until.max(15.0) || !course.agrees_on_the_plateau() {
            course.ack();
            if draw.below(2000) == 0 {
                course.rest(Span::from_secs_f64(3.0 * draw.uniform()));
            }
        }
        course.congest(draw.below(4) == 0);
    }
    course.congestions
}

#[test]
fn cubic_stays_within_a_segment_of_quinn_s_where_the_curve_sets_the_pace() {
    let congestions: u32 = (0..70).map(on_the_curve).sum();
    assert!(congestions > 70 * 20, "{congestions}");
}

#[test]
fn cubic_stays_within_a_segment_and_a_half_of_quinn_s_where_reno_sets_the_pace() {
    let congestions: u32 = (0..70).map(at_the_pace_of_reno).sum();
    assert!(congestions > 70 * 100, "{congestions}");
}

#[test]
fn far_beyond_the_plateau_both_follow_the_cube_of_time() {
    let mut course = Course::new(Region::Curve, Span::from_millis(200));
    course.start(100.0);
    course.congest(false);
    while course.elapsed() < 20.0 {
        course.ack();
    }
    // 0.4 (20.2 - 4.217)^3 + 100 is the target; the window is a round trip of growth behind.
    assert!(course.pair.theirs() > 0.95 * 1_700.0, "{}", course.pair.theirs());
}
