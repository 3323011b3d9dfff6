//! Allocation of the bandwidth of the BRF class to its flows.
//!
//! `corrected` is max-min fair: every flow gets the same level; a flow that cannot use it gets what it can use and
//! leaves the remainder to the others. Where all flows are below the level this is eq. 14; the printed form divides
//! by zero when every flow is limited by its application, and gives negative rates when their demands exceed the
//! capacity.
//!
//! Rates here and in the other files of this scheme are bytes/s as links count them: 1514 for a full segment.

use super::Form;

/// Demand and limits of one flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowClaim {
    /// Rate allocated until now, bytes/s.
    pub granted: f64,
    /// Minimum allocation, if there is enough capacity: it keeps the feedback going.
    pub floor: f64,
    /// Demand of the flow, as far as it is known.
    pub demand: FlowDemand,
}

/// Known demand of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FlowDemand {
    /// New, with the promised rate of eq. 10, bytes/s.
    Promised(f64),
    /// Limited by its application (`app_limited`).
    Limited {
        /// Measured rate of the flow, bytes/s.
        real: f64,
    },
    /// Not limited by its application (`app_no_limited`).
    Unlimited {
        /// Measured rate of the flow, bytes/s.
        real: f64,
    },
}

impl FlowClaim {
    /// Measured rate; a new flow uses nothing yet.
    pub fn real(&self) -> f64 {
        match self.demand {
            FlowDemand::Promised(_) => 0.0,
            FlowDemand::Limited { real } | FlowDemand::Unlimited { real } => real,
        }
    }

    /// Maximum rate that the flow can use, bytes/s, infinite without a limit.
    fn cap(&self, headroom: f64) -> f64 {
        match self.demand {
            FlowDemand::Promised(rate) => rate.max(self.floor),
            FlowDemand::Limited { real } => (headroom * real).max(self.floor),
            FlowDemand::Unlimited { .. } => f64::INFINITY,
        }
    }
}

/// Maximum grant of a limited flow as a factor on its measured rate, however much is free.
const MAX_HEADROOM: f64 = 2.0;

/// The max-min fair shares of `capacity` among flows that can use `caps`: the level is raised until the capacity is
/// used up or every flow has its cap. Their sum exceeds the capacity by rounding at most.
pub fn fill(capacity: f64, caps: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..caps.len()).collect();
    // In the order of their caps one pass suffices: a flow at its cap leaves its rest to all later ones.
    order.sort_by(|left, right| caps[*left].total_cmp(&caps[*right]));
    let mut shares = vec![0.0; caps.len()];
    let mut rest = capacity.max(0.0);
    for (place, flow) in order.into_iter().enumerate() {
        let level = rest / (caps.len() - place) as f64;
        shares[flow] = caps[flow].min(level);
        // Rounding could make it slightly negative.
        rest = (rest - shares[flow]).max(0.0);
    }
    shares
}

/// Rates of the flows out of `capacity` after a round of measurement (eq. 14), bytes/s. `headroom` is β of the paper,
/// 1 or more.
pub fn share_out(form: Form, capacity: f64, headroom: f64, claims: &[FlowClaim]) -> Vec<f64> {
    match form {
        Form::Corrected => share_out_corrected(capacity, headroom, claims),
        Form::Literal => share_out_literal(capacity, headroom, claims),
    }
}

fn share_out_corrected(capacity: f64, headroom: f64, claims: &[FlowClaim]) -> Vec<f64> {
    let caps: Vec<f64> = claims.iter().map(|claim| claim.cap(headroom)).collect();
    let mut shares = fill(capacity, &caps);
    let spare = capacity - shares.iter().sum::<f64>();
    if spare > 0.0 {
        hand_out_spare(spare, claims, &mut shares);
    }
    shares
}

/// Distributes spare capacity in proportion, so that a flow whose demand rises is not delayed for a round.
fn hand_out_spare(spare: f64, claims: &[FlowClaim], shares: &mut [f64]) {
    let required = |(claim, share): (&FlowClaim, &f64)| match claim.demand {
        FlowDemand::Limited { real } => (MAX_HEADROOM * real - share).max(0.0),
        FlowDemand::Promised(_) | FlowDemand::Unlimited { .. } => 0.0,
    };
    let wants: Vec<f64> = claims.iter().zip(&*shares).map(required).collect();
    let total: f64 = wants.iter().sum();
    if total > 0.0 {
        let part = (spare / total).min(1.0);
        shares.iter_mut().zip(wants).for_each(|(share, need)| *share += part * need);
    }
}

/// eq. 14 as printed, with two guards: with limited flows only, the quotient has no divisor and no flow to receive
/// it; limited flows whose demand exceeds the capacity are scaled down together.
fn share_out_literal(capacity: f64, headroom: f64, claims: &[FlowClaim]) -> Vec<f64> {
    let limited = |claim: &FlowClaim| match claim.demand {
        FlowDemand::Limited { real } => Some(headroom * real),
        FlowDemand::Promised(rate) => Some(rate),
        FlowDemand::Unlimited { .. } => None,
    };
    let taken: f64 = claims.iter().filter_map(limited).sum();
    let others = claims.iter().filter(|claim| limited(claim).is_none()).count();
    let scale = if taken > capacity { capacity / taken } else { 1.0 };
    let level = ((capacity - taken).max(0.0)) / others.max(1) as f64;
    claims.iter().map(|claim| limited(claim).map_or(level, |rate| rate * scale)).collect()
}

/// eq. 11 to 13: the rates of all flows when `newcomer`, a place in `claims`, is admitted at its promised rate,
/// bytes/s.
///
/// Corrected: the free capacity is computed from the grants of the others, not from their measured rates, and only
/// flows above the level are reduced. As printed, flows keep grants that they do not use, and the rule of three of
/// eq. 13 divides by measured rates, so that the sum of the grants exceeds the capacity.
pub fn admit(form: Form, capacity: f64, claims: &[FlowClaim], newcomer: usize) -> Vec<f64> {
    let mut rates: Vec<f64> = claims.iter().map(|claim| claim.granted).collect();
    let Some(FlowDemand::Promised(promised)) = claims.get(newcomer).map(|claim| claim.demand) else {
        return rates;
    };
    rates[newcomer] = promised;
    match form {
        // eq. 12: with enough room the others keep their grants.
        Form::Corrected if rates.iter().sum::<f64>() <= capacity => rates,
        Form::Corrected => fill(capacity, &rates),
        Form::Literal => {
            let real: f64 = claims.iter().map(FlowClaim::real).sum();
            // Without any measured rate nothing can be scaled.
            if capacity - real < promised && real > 0.0 {
                let factor = (capacity - promised).max(0.0) / real;
                let others = rates.iter_mut().enumerate().filter(|(place, _)| *place != newcomer);
                // Measured rates may be far below the grants, so the printed factor can exceed 1.
                others.for_each(|(_, rate)| *rate = (*rate * factor).min(capacity));
            }
            rates
        }
    }
}

#[cfg(test)]
mod convergence;
#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::prelude::*;

    const C: f64 = 12e6;

    fn claim(demand: FlowDemand) -> FlowClaim {
        FlowClaim { granted: 0.0, floor: 0.0, demand }
    }

    fn limited(real: f64) -> FlowClaim {
        claim(FlowDemand::Limited { real })
    }

    fn unlimited() -> FlowClaim {
        claim(FlowDemand::Unlimited { real: 1e6 })
    }

    /// Max-min fair shares by bisection of the level: slow, and made in another way.
    fn reference(capacity: f64, caps: &[f64]) -> Vec<f64> {
        let at = |level: f64| caps.iter().map(|cap| cap.min(level)).collect::<Vec<f64>>();
        if caps.iter().sum::<f64>() <= capacity {
            return caps.to_vec();
        }
        let (mut low, mut high) = (0.0, capacity);
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            if at(middle).iter().sum::<f64>() > capacity { high = middle } else { low = middle }
        }
        at(low)
    }

    #[test]
    fn filling_gives_the_max_min_fair_shares() {
        let mut rng = Rng::stream(Seed(1), "fill");
        for case in 0..2_000 {
            let capacity = rng.uniform() * 1e7;
            let cap = |rng: &mut Rng| if rng.chance(0.2) { f64::INFINITY } else { rng.exponential() * 1e6 };
            let caps: Vec<f64> = (0..1 + rng.below(30)).map(|_| cap(&mut rng)).collect();
            let (ours, theirs) = (fill(capacity, &caps), reference(capacity, &caps));
            for (our, their) in ours.iter().zip(&theirs) {
                assert!((our - their).abs() <= 1e-9 * capacity.max(1.0), "case {case}: {ours:?} {theirs:?}");
            }
            assert!(ours.iter().sum::<f64>() <= capacity * (1.0 + 1e-12), "case {case}");
        }
        assert_eq!((fill(-1.0, &[5.0]), fill(9.0, &[])), (vec![0.0], vec![]));
    }

    #[test]
    fn where_nobody_is_above_the_level_both_forms_are_equation_14() {
        let claims = [limited(1e6), unlimited(), limited(2e6), unlimited()];
        let by_hand = [1.1e6, (C - 3.3e6) / 2.0, 2.2e6, (C - 3.3e6) / 2.0];
        for form in [Form::Corrected, Form::Literal] {
            let shares = share_out(form, C, 1.1, &claims);
            assert!(shares.iter().zip(by_hand).all(|(a, b)| (a - b).abs() < 1e-6), "{form:?} {shares:?}");
        }
    }

    #[test]
    fn a_limited_flow_above_the_level_does_not_take_more_than_it() {
        let claims = [limited(11e6), unlimited(), unlimited()];
        assert_eq!(share_out(Form::Corrected, C, 1.1, &claims), [4e6, 4e6, 4e6]);
        // As printed the others would get (12 - 12.1) / 2.
        assert_eq!(share_out(Form::Literal, C, 1.1, &claims), [C, 0.0, 0.0]);
    }

    #[test]
    fn when_all_are_limited_the_rest_is_headroom_up_to_twice_what_is_used() {
        let claims = [limited(1e6), limited(3e6)];
        assert_eq!(share_out(Form::Corrected, C, 1.1, &claims), [2e6, 6e6]);
        // 7 Mbyte/s: 4.4 are used, 3.6 would be wanted, 2.6 are there.
        let part = 2.6 / 3.6;
        let shares = share_out(Form::Corrected, 7e6, 1.1, &claims);
        assert!((shares[0] - (1.1e6 + part * 0.9e6)).abs() < 1.0 && (shares[1] - (3.3e6 + part * 2.7e6)).abs() < 1.0);
        let literal = share_out(Form::Literal, C, 1.1, &claims);
        assert!((literal.iter().sum::<f64>() - 4.4e6).abs() < 1e-6, "left unused as printed");
    }

    #[test]
    fn the_floor_raises_what_a_limited_flow_may_use_but_not_the_sum() {
        let idle = FlowClaim { floor: 2e5, ..limited(0.0) };
        assert_eq!(share_out(Form::Corrected, C, 1.1, &[idle, unlimited()]), [2e5, C - 2e5]);
        let shares = share_out(Form::Corrected, 1e5, 1.1, &[idle, idle]);
        assert_eq!(shares, [5e4, 5e4]);
    }

    fn granted(rate: f64, real: f64) -> FlowClaim {
        FlowClaim { granted: rate, floor: 0.0, demand: FlowDemand::Unlimited { real } }
    }

    #[test]
    fn a_newcomer_that_finds_room_changes_nobody() {
        let claims = [granted(4e6, 4e6), claim(FlowDemand::Promised(5e6))];
        for form in [Form::Corrected, Form::Literal] {
            assert_eq!(admit(form, C, &claims, 1), [4e6, 5e6], "{form:?}");
        }
    }

    #[test]
    fn only_flows_above_the_level_give_way_to_a_newcomer() {
        let claims = [granted(10e6, 10e6), granted(2e6, 2e6), claim(FlowDemand::Promised(4e6))];
        assert_eq!(admit(Form::Corrected, C, &claims, 2), [6e6, 2e6, 4e6]);
        // Everybody in the ratio (12 - 4) / 12 as printed.
        let literal = admit(Form::Literal, C, &claims, 2);
        assert!((literal[0] - 10e6 * 8.0 / 12.0).abs() < 1e-6 && (literal[1] - 2e6 * 8.0 / 12.0).abs() < 1e-6);
    }

    #[test]
    fn the_printed_admission_exceeds_the_capacity_by_the_grants_that_are_not_used() {
        // Limited flows are granted 1.1 of what they use: eq. 13 gives away (C - w) · 1.1.
        let claims = [granted(11e6, 10e6), claim(FlowDemand::Promised(6e6))];
        let literal: f64 = admit(Form::Literal, C, &claims, 1).iter().sum();
        let corrected: f64 = admit(Form::Corrected, C, &claims, 1).iter().sum();
        assert!(literal > 1.04 * C && corrected <= C, "{literal} {corrected}");
    }

    #[test]
    fn sums_stay_within_the_capacity_whatever_flows_there_are() {
        let mut rng = Rng::stream(Seed(2), "claims");
        for case in 0..2_000 {
            let demand = |rng: &mut Rng| match rng.below(3) {
                0 => FlowDemand::Promised(rng.exponential() * 3e6),
                1 => FlowDemand::Limited { real: rng.exponential() * 3e6 },
                _ => FlowDemand::Unlimited { real: rng.exponential() * 3e6 },
            };
            let one = |rng: &mut Rng| FlowClaim {
                granted: rng.exponential() * 3e6,
                floor: rng.uniform() * 1e6,
                demand: demand(rng),
            };
            let mut claims: Vec<FlowClaim> = (0..1 + rng.below(12)).map(|_| one(&mut rng)).collect();
            claims[0].demand = FlowDemand::Promised(rng.uniform() * C);
            for rates in [share_out(Form::Corrected, C, 1.1, &claims), admit(Form::Corrected, C, &claims, 0)] {
                let sum: f64 = rates.iter().sum();
                assert!(sum <= C * (1.0 + 1e-12) && rates.iter().all(|rate| *rate >= 0.0), "case {case}");
            }
            let literal = share_out(Form::Literal, C, 1.1, &claims);
            assert!(literal.iter().all(|rate| (0.0..=C * 1.000_001).contains(rate)), "case {case}");
        }
    }
}
