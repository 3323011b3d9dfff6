//! SIRC: Interests are paced by the gaps between Data, slightly faster while nothing is lost.
//!
//! Paper: Amadeo et al. (SIRC), as described in the evaluation of BBR-CD (MILCOM 2021), our only source: AIMD until
//! ten gaps between Data were seen, then Interests paced by these gaps, and one flow per file. All numbers but the
//! ten are ours.

use tidegate_core::prelude::*;

use crate::toolbox::reaction::congestion_loss::is_congestion;
use crate::toolbox::reaction::once_per_round_trip::OncePerRoundTrip;
use crate::toolbox::window::aimd::{AimdRule, AimdWindow};
use crate::toolbox::window::rule::WindowRule;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "sirc-like",
    summary: "paces Interests by the gaps between Data packets, slightly faster while there is no loss",
    paper: "Amadeo et al.: SIRC, as BBR-CD's evaluation (MILCOM 2021) describes it",
    provenance: Provenance::Reconstruction,
    deviations: &[
        "One control loop per flow, as in that evaluation; the original has one for each node that returns Data.",
        "The averaging and filtering of gaps, the probing, the reaction to losses and the limit on outstanding \
         Interests are ours.",
        "After many losses or an outage the gap is long, up to a second, and shrinks by half a percent with each Data \
         packet: recovery takes minutes.",
        "The initial AIMD phase is that of ndn-tools with slow start; in it a loss decreases the window once per RTT, \
         and later each loss widens the gap.",
    ],
    params: Params::TABLE,
    profile: ConsumerProfile::NdnTools,
    consumer: Some(|settings| Ok(Box::new(Sirc::new(Params::from_settings(settings)?)))),
    ..Scheme::NONE
};

params! {
    /// Initial congestion window of the AIMD phase.
    initial_window: f64 = 2.0, "packets", 1.0..=1_000_000.0;
    /// Number of gap samples that end the AIMD phase.
    samples: u32 = 10, "count", 1..=1_000_000;
    /// Weight of the latest gap in the moving average.
    weight: f64 = 0.1, "of the gap", 0.001..=1.0;
    /// Gaps longer than this multiple of the mean are ignored, because no Interest was outstanding in between.
    outlier: f64 = 5.0, "means", 1.0..=1_000_000.0;
    /// Whether only gaps between Data of successive segments count. A gap across a lost Data packet is longer than the
    /// path causes; with all gaps, a flow that loses more than it probes for slows down indefinitely.
    successive: bool = true;
    /// Fraction by which the Interest gap is shorter than the Data gap while there is no loss.
    probing: f64 = 0.05, "of the gap", 0.0..=0.9;
    /// Factor by which a loss increases the mean gap.
    backoff: f64 = 1.25, "of the gap", 1.0..=16.0;
    /// Maximum number of outstanding Interests, in RTTs at the rate of Data.
    limit: f64 = 2.0, "round trips", 1.0..=1_000.0;
}

/// Minimum gap, which bounds the rate when Data arrive back to back.
const SHORTEST: Span = Span::from_micros(1);
/// Maximum gap: a flow with many losses still sends Interests.
const LONGEST: Span = Span::from_secs(1);

#[derive(Debug)]
struct Sirc {
    params: Params,
    /// Window that applies while there are too few gap samples.
    start: AimdWindow,
    gate: OncePerRoundTrip,
    gaps: u32,
    /// Mean gap; `None` before the first.
    gap: Option<Span>,
    /// Time and segment of the last Data.
    last_data: Option<(Time, u32)>,
    round_trip: Span,
    /// Time of the last loss; no probing until Data arrives whose Interest was sent after it.
    lost_at: Option<Time>,
}

impl Sirc {
    fn new(params: Params) -> Self {
        let rule = AimdRule {
            initial: params.initial_window,
            ssthresh: f64::INFINITY,
            step: 1.0,
            keep: 0.5,
            min: 1.0,
            divides_by_whole_window: false,
            restarts: false,
        };
        Self {
            params,
            start: AimdWindow::new(rule),
            gate: OncePerRoundTrip::default(),
            gaps: 0,
            gap: None,
            last_data: None,
            round_trip: Span::ZERO,
            lost_at: None,
        }
    }

    /// Mean gap, once there are enough samples; `None` before.
    fn paced(&self) -> Option<Span> {
        self.gap.filter(|_| self.gaps >= self.params.samples)
    }

    fn sample(&mut self, gap: Span) {
        let mean = match self.gap {
            None => gap,
            // Such a gap does not count as a sample either: it is the time in which nothing was requested,
            // not the speed of the path.
            Some(mean) if gap > mean.scale(self.params.outlier) => return,
            Some(mean) => mean.scale(1.0 - self.params.weight) + gap.scale(self.params.weight),
        };
        self.gap = Some(mean.clamp(SHORTEST, LONGEST));
        self.gaps = self.gaps.saturating_add(1);
    }
}

impl CongestionController for Sirc {
    fn window(&self) -> f64 {
        let Some(gap) = self.paced() else { return self.start.window() };
        // The number of Interests that keep the pipe full at this gap; pacing sets the rate, the window only
        // stops it when Data stop arriving.
        let in_a_round_trip = (self.round_trip.as_secs_f64() / gap.as_secs_f64()).ceil();
        self.params.limit * in_a_round_trip.max(1.0)
    }

    fn pacing(&self) -> Pacing {
        let Some(gap) = self.paced() else { return Pacing::Unpaced };
        // Probing while a loss is unresolved would send faster than the rate that has just caused it.
        let probing = if self.lost_at.is_none() { self.params.probing } else { 0.0 };
        Pacing::Gap(gap.scale(1.0 - probing))
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        if self.paced().is_none() {
            self.start.increase(cx.now, None);
        }
        if let Some((at, segment)) = self.last_data.replace((cx.now, delivery.segment))
            && (!self.params.successive || delivery.segment == segment.wrapping_add(1))
        {
            self.sample(cx.now.since(at));
        }
        // The last estimate stays where none is available, or the limit would collapse to its minimum.
        self.round_trip = flow.smoothed_rtt.unwrap_or(self.round_trip);
        self.lost_at = self.lost_at.filter(|lost_at| delivery.sent_at < *lost_at);
    }

    fn on_loss(&mut self, cx: &mut Context<'_>, loss: &Loss, flow: &FlowView) {
        if !is_congestion(loss.signal) {
            return;
        }
        match self.paced() {
            Some(gap) => {
                self.gap = Some(gap.scale(self.params.backoff).min(LONGEST));
                self.lost_at = Some(cx.now);
            }
            None if self.gate.admits(loss.segment, flow) => self.start.decrease(cx.now),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::ndn::packet::NackReason::{Congestion, Duplicate};
    use tidegate_core::scheme::congestion::LossSignal::{Nack, Timeout};
    use tidegate_testkit::driver::Driver;
    use tidegate_testkit::steps::{data, data_after, follow, lost, marked};

    fn micros(driver: &Driver) -> Option<u64> {
        match driver.controller.pacing() {
            Pacing::Gap(gap) => Some(gap.as_nanos() / 1_000),
            _ => None,
        }
    }

    fn sirc(given: &[(&str, f64)]) -> Driver {
        let given: Vec<_> = given.iter().map(|(name, value)| (*name, Setting::Number(*value))).collect();
        Driver::new(&SCHEME, &given)
    }

    /// Data `gap_ms` apart until there are as many gaps as asked for.
    fn after_gaps(driver: &mut Driver, gaps: u32, gap_ms: u64) {
        for segment in 0..=gaps {
            driver.handle(data(100 + u64::from(segment) * gap_ms, segment, segment + 9));
        }
    }

    #[test]
    fn a_gap_across_a_lost_data_counts_only_if_all_do() {
        for (successive, gap) in [(true, 3_800), (false, 4_180)] {
            let mut driver = Driver::new(&SCHEME, &[("successive", Setting::Bool(successive))]);
            after_gaps(&mut driver, 10, 4);
            // Segment 11 is lost, 12 comes 8 ms after 10: 0.95 of 4 ms, or of 0.9 * 4 + 0.1 * 8 ms.
            driver.handle(data(148, 12, 21));
            assert_eq!(micros(&driver), Some(gap));
        }
    }

    #[test]
    fn aimd_rules_until_ten_gaps_are_there() {
        // 2 + 1 + 1; half once per round trip; 2 + 1/2, marked or not.
        let mut driver = sirc(&[]);
        let steps = [
            (data(40, 0, 4), 3.0),
            (data(50, 1, 6), 4.0),
            (lost(60, 2, 8, Timeout), 2.0),
            (lost(61, 7, 8, Timeout), 2.0),
            (lost(62, 8, 9, Nack(Duplicate)), 2.0),
            (marked(70, 3, 9), 2.5),
        ];
        follow(&mut driver, &steps);
        assert_eq!(micros(&driver), None);
        let mut driver = sirc(&[]);
        after_gaps(&mut driver, 9, 4);
        assert_eq!((micros(&driver), driver.controller.window()), (None, 12.0));
        // 0.95 of 4 ms; twice the 40/4 of a round trip.
        let mut driver = sirc(&[]);
        after_gaps(&mut driver, 10, 4);
        assert_eq!((micros(&driver), driver.controller.window()), (Some(3_800), 20.0));
    }

    #[test]
    fn the_mean_follows_gaps_and_leaves_long_ones_out() {
        let mut driver = sirc(&[("samples", 2.0), ("probing", 0.0)]);
        after_gaps(&mut driver, 2, 10);
        assert_eq!(micros(&driver), Some(10_000));
        let mut arrive = |at, segment| {
            driver.handle(data(at, segment, 20));
            micros(&driver)
        };
        // 0.9 * 10 + 0.1 * 20; 56 > 5 * 11; 0.9 * 11 + 0.1 * 51 = 15.
        assert_eq!(arrive(140, 3), Some(11_000));
        assert_eq!(arrive(196, 4), Some(11_000));
        assert_eq!(arrive(247, 5), Some(15_000));
    }

    #[test]
    fn a_loss_widens_the_gap_and_ends_probing_until_what_was_requested_afterwards_comes() {
        let mut driver = sirc(&[("samples", 2.0), ("weight", 0.001)]);
        after_gaps(&mut driver, 2, 8);
        assert_eq!(micros(&driver), Some(7_600));
        driver.handle(lost(120, 5, 20, Timeout));
        assert_eq!(micros(&driver), Some(10_000));
        driver.handle(lost(121, 6, 20, Nack(Congestion)));
        assert_eq!(micros(&driver), Some(12_500));
        driver.handle(lost(121, 7, 20, Nack(Duplicate)));
        assert_eq!(micros(&driver), Some(12_500));
        driver.handle(data_after(126, 7, 20, Some(6)));
        let old = micros(&driver).expect("paced");
        driver.handle(data_after(138, 8, 20, Some(17)));
        let probing = micros(&driver).expect("paced");
        assert!((12_480..=12_500).contains(&old) && (11_850..=11_875).contains(&probing), "{old} {probing}");
    }

    #[test]
    fn a_gap_lies_between_a_microsecond_and_a_second() {
        let mut driver = sirc(&[("samples", 1.0), ("probing", 0.0)]);
        after_gaps(&mut driver, 1, 0);
        assert_eq!(micros(&driver), Some(1));
        for number in 0..100_u64 {
            driver.handle(lost(200 + number, 5, 20, Timeout));
        }
        assert_eq!((micros(&driver), driver.controller.window()), (Some(1_000_000), 2.0));
    }
}
