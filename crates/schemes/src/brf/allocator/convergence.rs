//! Switches that know nothing of each other, and flows that go by the least of their grants: what comes out is max-min fair.

use tidegate_core::prelude::*;

use super::*;

const SWITCHES: usize = 3;
/// Little headroom: a flow keeps that much more where it is not held back. By less a flow would rise too slowly in `ROUNDS`.
const HEADROOM: f64 = 1.001;
const LIMITED_BELOW: f64 = 0.9995;
/// A flow that two switches hold back in turns rises by the headroom a round: twofold in 700.
const ROUNDS: usize = 2000;

/// A parking lot: switches in a row, flows over some of them.
struct Lot {
    capacities: [f64; SWITCHES],
    /// First and last switch, and what the application wants.
    flows: Vec<(usize, usize, f64)>,
}

impl Lot {
    fn draw(rng: &mut Rng) -> Self {
        let flow = |rng: &mut Rng| {
            let first = rng.below(SWITCHES as u32) as usize;
            let last = first + rng.below((SWITCHES - first) as u32) as usize;
            let demand = if rng.chance(0.4) { f64::INFINITY } else { 1e4 + rng.exponential() * 2e6 };
            (first, last, demand)
        };
        let capacities = std::array::from_fn(|_| 1e6 + rng.uniform() * 1e7);
        Self { capacities, flows: (0..1 + rng.below(12)).map(|_| flow(rng)).collect() }
    }

    fn passes(&self, flow: usize, switch: usize) -> bool {
        (self.flows[flow].0..=self.flows[flow].1).contains(&switch)
    }

    /// What flows send after so many rounds of eq. 14 at each switch, which takes so many rounds below its grant to take a flow
    /// for limited.
    fn iterate(&self, rounds: usize, confirmations: u32) -> Vec<f64> {
        let count = self.flows.len();
        let mut granted = [(); SWITCHES].map(|()| vec![0.0; count]);
        let mut below = [(); SWITCHES].map(|()| vec![0; count]);
        let mut real = vec![0.0; count];
        for _ in 0..rounds {
            for (switch, (granted, below)) in granted.iter_mut().zip(&mut below).enumerate() {
                let here: Vec<usize> = (0..count).filter(|flow| self.passes(*flow, switch)).collect();
                let claim = |flow: &usize| {
                    let (granted, real) = (granted[*flow], real[*flow]);
                    below[*flow] = if real < LIMITED_BELOW * granted { below[*flow] + 1 } else { 0 };
                    let is_limited = below[*flow] >= confirmations;
                    let demand = if is_limited { FlowDemand::Limited { real } } else { FlowDemand::Unlimited { real } };
                    FlowClaim { granted, floor: 0.0, demand }
                };
                let claims: Vec<FlowClaim> = here.iter().map(claim).collect();
                let shares = share_out(Form::Corrected, self.capacities[switch], HEADROOM, &claims);
                here.iter().zip(shares).for_each(|(flow, share)| granted[*flow] = share);
            }
            for (flow, real) in real.iter_mut().enumerate() {
                let path = (0..SWITCHES).filter(|switch| self.passes(flow, *switch));
                *real = path.map(|switch| granted[switch][flow]).fold(self.flows[flow].2, f64::min);
            }
        }
        real
    }

    /// Max-min fair rates by raising all rates together: at each step the flows stop that have what they want or pass a
    /// switch that is full.
    fn fair(&self) -> Vec<f64> {
        let count = self.flows.len();
        let mut rates = vec![0.0; count];
        let mut open: Vec<usize> = (0..count).collect();
        while !open.is_empty() {
            let left = |switch: usize| {
                let used: f64 = (0..count).filter(|flow| self.passes(*flow, switch)).map(|flow| rates[flow]).sum();
                let growing = open.iter().filter(|flow| self.passes(**flow, switch)).count();
                if growing == 0 { f64::INFINITY } else { (self.capacities[switch] - used) / growing as f64 }
            };
            let room = (0..SWITCHES).map(left).fold(f64::INFINITY, f64::min);
            let request = open.iter().map(|flow| self.flows[*flow].2 - rates[*flow]).fold(f64::INFINITY, f64::min);
            let step = room.min(request);
            let full: Vec<usize> = (0..SWITCHES).filter(|switch| left(*switch) - step <= 1e-6).collect();
            open.iter().for_each(|flow| rates[*flow] += step);
            open.retain(|flow| {
                let is_held = full.iter().any(|switch| self.passes(*flow, *switch));
                !is_held && self.flows[*flow].2 - rates[*flow] > 1e-6
            });
        }
        rates
    }
}

/// Two switches that see a flow below their grants in turns each hold it back to what it sends, so that for a while it rises by
/// the headroom only. It gets past that; what headroom is kept for flows that are held back elsewhere stays away from the others.
#[test]
fn the_least_of_what_switches_grant_becomes_max_min_fair_but_for_headroom_on_any_parking_lot() {
    let mut rng = Rng::stream(Seed(3), "parking lots");
    for case in 0..500 {
        let lot = Lot::draw(&mut rng);
        for confirmations in [1, 2] {
            let (ours, fair) = (lot.iterate(ROUNDS, confirmations), lot.fair());
            // A thousandth at each of three switches, and what flows of several of them keep from one flow.
            let is_near = |(our, fair): (&f64, &f64)| (our / fair - 1.0).abs() <= 0.005;
            assert!(ours.iter().zip(&fair).all(is_near), "case {case}, {confirmations}:\n{ours:?}\n{fair:?}");
        }
    }
}

#[test]
fn a_limit_that_is_lifted_elsewhere_costs_two_rounds() {
    let lot = Lot { capacities: [9e6, 9e6, 9e6], flows: vec![(0, 0, 2e6), (0, 0, f64::INFINITY)] };
    assert!((lot.iterate(9, 2)[1] - (9e6 - HEADROOM * 2e6)).abs() < 1.0);
    // The first flow is limited no longer: its grant of 1.1 · 2e6 is used up, then it has its share.
    let limited = |granted, real| FlowClaim { granted, floor: 0.0, demand: FlowDemand::Limited { real } };
    let free = |granted, real| FlowClaim { granted, floor: 0.0, demand: FlowDemand::Unlimited { real } };
    let first = share_out(Form::Corrected, 9e6, 1.1, &[limited(2.2e6, 2e6), free(6.8e6, 6.8e6)]);
    assert!((first[0] - 2.2e6).abs() < 1.0, "it sends what it is granted in this round");
    let second = share_out(Form::Corrected, 9e6, 1.1, &[free(first[0], first[0]), free(first[1], first[1])]);
    assert_eq!(second, [4.5e6, 4.5e6]);
}
