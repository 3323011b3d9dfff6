//! Loss on a line: independent, in bursts, or as recorded.

use std::sync::Arc;

use crate::rng::Rng;

/// Loss on a line, drawn per packet.
#[derive(Clone, Debug, PartialEq)]
pub enum LossPlan {
    /// No loss.
    None,
    /// Each packet with this probability.
    Bernoulli {
        /// Probability, 0..=1.
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
    /// `true` loses the packet; the pattern has at least one and starts again at its end.
    Trace(Arc<[bool]>),
}

/// A loss process; one draw per packet, so that compared schemes meet the same losses.
#[derive(Debug)]
pub(super) enum Loss {
    Bernoulli { probability: f64, rng: Rng },
    GilbertElliott { to_bad: f64, to_good: f64, loss: [f64; 2], is_bad: bool, rng: Rng },
    Trace { pattern: Arc<[bool]>, next: usize },
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
            LossPlan::Trace(pattern) if pattern.is_empty() => None,
            LossPlan::Trace(pattern) => Some(Self::Trace { pattern: pattern.clone(), next: 0 }),
        }
    }

    /// Whether the next packet is lost.
    pub(super) fn draw(&mut self) -> bool {
        match self {
            Self::Bernoulli { probability, rng } => rng.chance(*probability),
            Self::GilbertElliott { to_bad, to_good, loss, is_bad, rng } => {
                let change = if *is_bad { *to_good } else { *to_bad };
                if rng.chance(change) {
                    *is_bad = !*is_bad;
                }
                rng.chance(loss[usize::from(*is_bad)])
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
        (0..draws).map(|_| loss.draw()).collect()
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

    #[test]
    fn a_trace_repeats() {
        let lost = losses(&LossPlan::Trace([false, true, false].into()), 6);
        assert_eq!(lost, [false, true, false, false, true, false]);
    }
}
