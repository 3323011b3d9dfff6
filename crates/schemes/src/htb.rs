//! HTB with two classes: TCP segments and all other packets have a guaranteed rate each, and lend unused rate to each
//! other.
//!
//! Paper: Devera: Hierarchical Token Bucket theory, 2002, as Linux `sch_htb` has it; the rules stand in
//! [the toolbox](crate::toolbox::shaping::htb).

use tidegate_core::ndn::face::Limit;
use tidegate_core::prelude::*;

use crate::toolbox::shaping::htb::{ClassId, Htb, Next, Shape};

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "htb",
    summary: "guarantees TCP and all other packets a rate each, and lends unused rate to the other class",
    paper: "Linux sch_htb; Devera: Hierarchical Token Bucket theory, 2002",
    provenance: Provenance::Source,
    deviations: &[
        "A class sends at most its ceiling and one burst in any interval; Linux allows one packet more.",
        "Bursts and quanta are derived from the rates: 10 ms, at least 15 kB, and 1 ms, at least 1514 bytes.",
        "Each class may fill half of the queue.",
    ],
    params: Params::TABLE,
    discipline: Some(|settings, device| Ok(Box::new(Shaper::new(checked(settings)?, device)))),
    ..Scheme::NONE
};

params! {
    /// Fraction of the link's rate guaranteed to TCP segments.
    tcp: f64 = 0.5, "of the link", 0.0..=1.0;
    /// Maximum fraction of the link's rate for TCP segments.
    tcp_ceil: f64 = 1.0, "of the link", 0.0..=1.0;
    /// Fraction of the link's rate guaranteed to all other packets.
    other: f64 = 0.5, "of the link", 0.0..=1.0;
    /// Maximum fraction of the link's rate for all other packets.
    other_ceil: f64 = 1.0, "of the link", 0.0..=1.0;
}

fn checked(settings: &Settings) -> Result<Params, Vec<ParamError>> {
    let params = Params::from_settings(settings)?;
    let fault = |name: &str, message: String| Err(vec![ParamError { name: name.to_owned(), message }]);
    if params.tcp + params.other > 1.0 {
        return fault("other", format!("other: {} and tcp, {}, are more than the line", params.other, params.tcp));
    }
    for (name, ceil, part) in
        [("tcp_ceil", params.tcp_ceil, params.tcp), ("other_ceil", params.other_ceil, params.other)]
    {
        if ceil < part {
            return fault(name, format!("{name}: {ceil} is less than the guaranteed rate of the class, {part}"));
        }
    }
    Ok(params)
}

/// The lane and leaf class of TCP segments.
const TCP: u32 = 0;
/// The lane and leaf class of everything else.
const OTHER: u32 = 1;

#[derive(Debug)]
struct Shaper {
    params: Params,
    /// Rate of the link, of which the classes have fractions.
    rate: BitRate,
    htb: Htb,
    root: ClassId,
    /// Leaf classes by lane.
    leaves: [ClassId; 2],
}

impl Shaper {
    fn new(params: Params, device: &DeviceSetup) -> Self {
        let mut htb = Htb::new();
        let [root, tcp, other] = shapes(&params, device.rate);
        let root = htb.add(None, root, 0, Time::ZERO);
        let leaves = [tcp, other].map(|shape| htb.add(Some(root), shape, 0, Time::ZERO));
        Self { params, rate: device.rate, htb, root, leaves }
    }

    fn follow(&mut self, rate: BitRate, now: Time) {
        if rate == self.rate {
            return;
        }
        self.rate = rate;
        let [root, tcp, other] = shapes(&self.params, rate);
        self.htb.reshape(self.root, root, now);
        for (leaf, shape) in self.leaves.into_iter().zip([tcp, other]) {
            self.htb.reshape(leaf, shape, now);
        }
    }
}

/// Shapes of the root and both leaves on a link of `rate`.
fn shapes(params: &Params, rate: BitRate) -> [Shape; 3] {
    let part = |part: f64| BitRate::from_bps((rate.as_bps() as f64 * part) as u64);
    [
        Shape::new(rate, rate),
        Shape::new(part(params.tcp), part(params.tcp_ceil)),
        Shape::new(part(params.other), part(params.other_ceil)),
    ]
}

impl QueueDiscipline for Shaper {
    fn sees_arrivals(&self) -> bool {
        false
    }

    fn sees_departures(&self) -> bool {
        false
    }

    fn lanes(&self) -> u32 {
        2
    }

    fn place(
        &mut self,
        _: &mut Context<'_>,
        packet: &Header,
        queue: &FaceView,
        lanes: &dyn Lanes,
    ) -> Placement {
        let lane = if matches!(packet.kind, Kind::Tcp(_)) { TCP } else { OTHER };
        // Without a limit of its own a greedy class would fill the whole queue and the other one would lose
        // arrivals; with an odd limit both classes round up.
        let is_full = match queue.limit() {
            Limit::Packets(limit) => lanes.packets(lane) >= limit.get().div_ceil(2),
            Limit::Bytes(limit) => {
                // A byte limit counts the arriving packet too, because packets differ in size.
                lanes.bytes()[lane as usize] + packet.size().get() > limit.get().div_ceil(2)
            }
        };
        if is_full { Placement::Refused(Cause("class full")) } else { Placement::Lane(lane) }
    }

    fn select(&mut self, cx: &mut Context<'_>, queue: &FaceView, lanes: &dyn Lanes) -> Selection {
        // The rate of a link can change in a run; the classes have fractions of it, so they are reshaped
        // before the choice.
        self.follow(queue.rate(), cx.now);
        let lane_of = |class: ClassId| if class == self.leaves[0] { TCP } else { OTHER };
        let next =
            self.htb.dequeue(cx.now, |class| lanes.head(lane_of(class)).map(|head| head.header.size()));
        match next {
            Next::Serve(class) => Selection::Head(lane_of(class), Verdict::Pass),
            Next::Until(at) => Selection::Until(at),
            // An arrival makes the device select again; no timer is necessary.
            Next::Empty => Selection::Until(Time::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_do_not_fit_the_line_or_their_ceiling_are_refused() {
        for (given, name) in [([("tcp", 0.6), ("other", 0.5)], "other"), ([("tcp", 0.4), ("tcp_ceil", 0.3)], "tcp_ceil")] {
            let given = given.map(|(name, value)| (name.to_owned(), Setting::Number(value)));
            let faults = checked(&Settings(given.into())).expect_err("they do not fit");
            assert_eq!(faults[0].name, name);
        }
    }
}
