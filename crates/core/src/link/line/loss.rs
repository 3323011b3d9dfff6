//! Loss on a line: independent, in bursts or spells, or as recorded.

use std::sync::Arc;

use crate::rng::Rng;
use crate::units::{Span, Time};

/// Loss on a line, drawn per packet.
#[derive(Clone, Debug, PartialEq)]
// Exhaustive: `check` describes every kind of loss, and the variation that it causes.
pub enum LossPlan {
    /// Every packet arrives at the other end.
    None,
    /// Each packet with this probability.
    Bernoulli {
        /// Loss probability of each packet, 0..=1.
        probability: f64,
    },
    /// Two states; the state changes before each packet's draw (Gilbert 1960, Elliott 1963).
    GilbertElliott {
        /// Good to bad, per packet.
        to_bad: f64,
        /// Bad to good, per packet.
        to_good: f64,
        /// Loss probability in the good state.
        loss_good: f64,
        /// Loss probability in the bad state.
        loss_bad: f64,
    },
    /// Everything is lost in spells. Spells and the times between them are exponentially distributed
    /// (Gilbert's model in continuous time), so that a sender that waits outlasts a spell.
    Spells {
        /// Mean time between spells.
        good: Span,
        /// Mean length of a spell.
        bad: Span,
    },
    /// Packets that follow each other without a gap are lost together, as where one buffer of segmentation
    /// offload holds them.
    Bursts {
        /// Probability of each burst, 0..=1.
        probability: f64,
        /// Maximum number of packets in one burst, from 1.
        max: u32,
    },
    /// A recorded pattern: `true` loses the packet. It starts again at its end.
    Trace(Arc<[bool]>),
}

/// A loss process with one draw per packet, burst or spell, so that compared schemes have the same losses.
#[derive(Debug)]
pub(super) enum Loss {
    Bernoulli { probability: f64, rng: Rng },
    GilbertElliott { to_bad: f64, to_good: f64, loss: [f64; 2], is_bad: bool, rng: Rng },
    Spells { means: [Span; 2], is_bad: bool, until: Time, rng: Rng },
    Bursts { probability: f64, max: u32, burst: Burst, rng: Rng },
    Trace { pattern: Arc<[bool]>, next: usize },
}

/// Packets that follow each other without a gap.
#[derive(Debug, Default)]
pub(super) struct Burst {
    /// End of the last transmission.
    ended: Time,
    /// Number of further packets that may belong to it.
    left: u32,
    is_lost: bool,
}

impl Loss {
    /// A process that draws from `rng`; `None` for one that loses nothing.
    pub(super) fn new(plan: &LossPlan, rng: Rng) -> Option<Self> {
        match plan {
            LossPlan::None => None,
            LossPlan::Bernoulli { probability } => Some(Self::Bernoulli { probability: *probability, rng }),
            LossPlan::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => {
                let loss = [*loss_good, *loss_bad];
                Some(Self::GilbertElliott { to_bad: *to_bad, to_good: *to_good, loss, is_bad: false, rng })
            }
            LossPlan::Spells { good, bad } => {
                // It begins with the end of a spell of no length.
                let (means, until) = ([*good, *bad], Time::ZERO);
                Some(Self::Spells { means, is_bad: true, until, rng })
            }
            LossPlan::Bursts { probability, max } => {
                let burst = Burst::default();
                Some(Self::Bursts { probability: *probability, max: *max, burst, rng })
            }
            LossPlan::Trace(pattern) if pattern.is_empty() => None,
            LossPlan::Trace(pattern) => Some(Self::Trace { pattern: pattern.clone(), next: 0 }),
        }
    }

    /// Whether the next packet, which is sent between the two instants, is lost.
    pub(super) fn draw(&mut self, from: Time, until: Time) -> bool {
        match self {
            Self::Bernoulli { probability, rng } => rng.chance(*probability),
            Self::GilbertElliott { to_bad, to_good, loss, is_bad, rng } => {
                let change = if *is_bad { *to_good } else { *to_bad };
                // Before the loss is drawn, as Gilbert and Elliott define it: two draws per packet in every
                // state.
                if rng.chance(change) {
                    *is_bad = !*is_bad;
                }
                rng.chance(loss[usize::from(*is_bad)])
            }
            Self::Spells { means, is_bad, until: changes, rng } => {
                // Up to the end of the transmission: a packet is lost if it ends within a spell.
                while *changes <= until {
                    *is_bad = !*is_bad;
                    // At least a microsecond, so that means of zero do not loop forever.
                    let length = means[usize::from(*is_bad)].scale(rng.exponential());
                    *changes += length.max(Span::from_micros(1));
                }
                *is_bad
            }
            Self::Bursts { probability, max, burst, rng } => {
                // A gap or a full buffer ends a burst; only a new burst draws.
                if burst.left == 0 || from > burst.ended {
                    *burst = Burst { ended: until, left: *max, is_lost: rng.chance(*probability) };
                }
                (burst.ended, burst.left) = (until, burst.left.saturating_sub(1));
                burst.is_lost
            }
            Self::Trace { pattern, next } => {
                let lost = pattern[*next];
                *next = (*next + 1) % pattern.len();
                lost
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Seed;

    fn losses(plan: &LossPlan, draws: usize) -> Vec<bool> {
        let mut loss = Loss::new(plan, Rng::stream(Seed(5), "loss")).expect("lossy");
        (0..draws).map(|_| loss.draw(Time::ZERO, Time::ZERO)).collect()
    }

    fn share(lost: &[bool]) -> f64 {
        lost.iter().filter(|lost| **lost).count() as f64 / lost.len() as f64
    }

    #[test]
    fn bernoulli_loses_its_share() {
        let lost = losses(&LossPlan::Bernoulli { probability: 0.03 }, 200_000);
        assert!((share(&lost) - 0.03).abs() < 0.002, "{}", share(&lost));
    }

    #[test]
    fn gilbert_elliott_has_the_stationary_loss_and_bursts() {
        // Stationary share of the bad state: 0.01 / (0.01 + 0.19) = 0.05; bursts last 1 / 0.19 packets.
        let plan = LossPlan::GilbertElliott { to_bad: 0.01, to_good: 0.19, loss_good: 0.0, loss_bad: 1.0 };
        let lost = losses(&plan, 400_000);
        assert!((share(&lost) - 0.05).abs() < 0.004, "{}", share(&lost));
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        let length = lost.iter().filter(|lost| **lost).count() as f64 / bursts;
        assert!((length - 1.0 / 0.19).abs() < 0.3, "{length}");
    }

    fn at(micros: u64) -> Time {
        Time::from_nanos(micros * 1000)
    }

    #[test]
    fn spells_lose_their_part_of_time_whether_much_or_little_is_sent_in_them() {
        let plan = LossPlan::Spells { good: Span::from_millis(90), bad: Span::from_millis(10) };
        let lost_each = |micros: u64| -> Vec<bool> {
            let mut loss = Loss::new(&plan, Rng::stream(Seed(5), "loss")).expect("lossy");
            (0..400_000_000 / micros).map(|turn| loss.draw(at(turn * micros), at(turn * micros))).collect()
        };
        let (often, seldom) = (lost_each(100), lost_each(1_000));
        for lost in [&often, &seldom] {
            assert!((share(lost) - 0.1).abs() < 0.01, "{}", share(lost));
        }
        // The same spells, whatever is sent.
        assert!(seldom.iter().enumerate().all(|(turn, lost)| often[10 * turn] == *lost));
        let spells = often.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        let mean_ms = often.iter().filter(|lost| **lost).count() as f64 * 0.1 / spells;
        assert!((mean_ms - 10.0).abs() < 0.5, "{mean_ms}");
    }

    #[test]
    fn what_follows_without_a_pause_is_lost_together_up_to_a_burst() {
        let plan = LossPlan::Bursts { probability: 0.3, max: 4 };
        let mut loss = Loss::new(&plan, Rng::stream(Seed(5), "loss")).expect("lossy");
        let mut bursts = [0, 0];
        for group in 0..20_000 {
            let from = group * 1_000;
            // Six packets of 12 us in a row: four and two.
            let lost: Vec<bool> =
                (0..6).map(|place| loss.draw(at(from + 12 * place), at(from + 12 * (place + 1)))).collect();
            for (count, burst) in bursts.iter_mut().zip([&lost[..4], &lost[4..]]) {
                assert!(burst.iter().all(|one| *one == burst[0]), "{lost:?}");
                *count += u32::from(burst[0]);
            }
        }
        for count in bursts {
            assert!((f64::from(count) / 20_000.0 - 0.3).abs() < 0.01, "{count}");
        }
    }

    #[test]
    fn a_trace_repeats() {
        let lost = losses(&LossPlan::Trace([false, true, false].into()), 6);
        assert_eq!(lost, [false, true, false, false, true, false]);
    }
}
