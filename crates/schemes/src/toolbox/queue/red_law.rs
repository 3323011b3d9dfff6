//! Law of RED: the probability with which a packet is chosen at an average queue, spread so that gaps are uniform.
//!
//! Source: Floyd & Jacobson 1993, figure 2, queues counted in packets; `gentle` is Floyd's note of 2000.

use tidegate_core::rng::Rng;

/// The thresholds and the probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedLaw {
    /// Average queue below which no packet is chosen, packets (min_th).
    pub min_threshold: f64,
    /// Average queue above which every packet is chosen, or with `gentle` the probability rises to 1, packets
    /// (max_th).
    pub max_threshold: f64,
    /// Probability at the upper threshold, before the spreading, 0..=1 (max_p).
    pub max_probability: f64,
    /// Whether the probability rises on to 1 between the upper threshold and twice that.
    pub gentle: bool,
}

/// Zone of the average queue for an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Zone {
    /// No packet is chosen, because the queue is short.
    Quiet,
    /// Chosen with this probability, before the spreading.
    Early(f64),
    /// Every packet is chosen, because the queue is long.
    Full,
}

impl RedLaw {
    /// Zone of an average queue of `average` packets.
    pub fn zone(&self, average: f64) -> Zone {
        let Self { min_threshold, max_threshold, max_probability, gentle } = *self;
        if average < min_threshold {
            Zone::Quiet
        } else if average < max_threshold {
            Zone::Early(max_probability * (average - min_threshold) / (max_threshold - min_threshold))
        } else if gentle && average < 2.0 * max_threshold {
            let beyond = (average - max_threshold) / max_threshold;
            Zone::Early(max_probability + beyond * (1.0 - max_probability))
        } else {
            Zone::Full
        }
    }
}

/// Chooses packets by the law, the gaps between them spread evenly.
#[derive(Clone, Debug, Default)]
pub struct RedChooser {
    /// Packets since the last one that was chosen; `None` below the lower threshold.
    count: Option<u32>,
}

/// Part of the law that selected a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// By probability, between the thresholds.
    Early,
    /// By the average above the upper threshold.
    Above,
}

impl RedChooser {
    /// Returns whether a packet that arrives in `zone` is chosen, and by which part of the law.
    pub fn arrive(&mut self, zone: Zone, draws: &mut Rng) -> Option<Chosen> {
        match zone {
            // Figure 2 sets the count to -1: packets below the lower threshold are not part of any gap.
            Zone::Quiet => {
                self.count = None;
                None
            }
            Zone::Early(probability) => self.is_chosen(probability, draws).then_some(Chosen::Early),
            Zone::Full => {
                // A packet above the upper threshold ends a gap like a chosen one.
                self.count = Some(0);
                Some(Chosen::Above)
            }
        }
    }

    /// Chooses a packet with `probability`, spread evenly: it rises with the number of packets since the last choice,
    /// so that the gaps between choices are uniform and not geometric.
    fn is_chosen(&mut self, probability: f64, draws: &mut Rng) -> bool {
        let passed = self.count.map_or(0, |count| count.saturating_add(1));
        let rest = 1.0 - f64::from(passed) * probability;
        // At rest <= 0 the gap has reached its maximum of 1/p packets; the division would also lose its
        // meaning.
        let is_chosen = rest <= 0.0 || draws.chance(probability / rest);
        self.count = Some(if is_chosen { 0 } else { passed });
        is_chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::rng::Seed;

    fn law(gentle: bool) -> RedLaw {
        RedLaw { min_threshold: 5.0, max_threshold: 15.0, max_probability: 0.1, gentle }
    }

    #[test]
    fn the_probability_rises_in_a_line_between_the_thresholds() {
        let zones = [4.99, 5.0, 7.5, 10.0, 14.0, 15.0, 40.0].map(|average| law(false).zone(average));
        let early = [0.0, 0.025, 0.05, 0.09].map(Zone::Early);
        assert_eq!(zones, [Zone::Quiet, early[0], early[1], early[2], early[3], Zone::Full, Zone::Full]);
    }

    #[test]
    fn the_gentle_variant_rises_on_to_one_at_twice_the_upper_threshold() {
        let law = law(true);
        // 0.1 at 15, then (average - 15)/15 of the way to 1: 0.1 + 0.9/3 = 0.4 at 20.
        for (average, expected) in [(15.0, 0.1), (20.0, 0.4), (22.5, 0.55), (25.0, 0.7)] {
            let Zone::Early(found) = law.zone(average) else { panic!("no longer early at {average}") };
            assert!((found - expected).abs() < 1e-12, "{average}: {found}");
        }
        assert_eq!(law.zone(30.0), Zone::Full);
    }

    /// Packets from one choice to the next at a steady probability.
    fn gaps(probability: f64, choices: usize) -> Vec<u32> {
        let (mut chooser, mut draws) = (RedChooser::default(), Rng::stream(Seed(1), "red"));
        let mut is_chosen = move || chooser.arrive(Zone::Early(probability), &mut draws).is_some();
        // From the first choice on the count starts over each time.
        while !is_chosen() {}
        let gap = |_| 1 + (0..).take_while(|_| !is_chosen()).count() as u32;
        (0..choices).map(gap).collect()
    }

    #[test]
    fn gaps_between_choices_are_uniform_below_the_inverse_of_the_probability() {
        // p_a = p_b/(1 - count p_b) and a count of 1 for the first packet after a choice: uniform in 1..1/p_b.
        // (Section 7 counts that packet as 0 and so reaches 1/p_b; figure 2 does not.)
        let gaps = gaps(0.1, 18_000);
        let mut counts = [0_u32; 9];
        gaps.iter().for_each(|gap| counts[*gap as usize - 1] += 1);
        let chi_square: f64 =
            counts.iter().map(|count| (f64::from(*count) - 2_000.0).powi(2) / 2_000.0).sum();
        // 8 degrees of freedom: 26.12 is exceeded once in a thousand.
        assert!(chi_square < 26.12, "{chi_square}: {counts:?}");
    }
}
