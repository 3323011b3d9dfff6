//! The paper's runs: which scheme goes through what, and the plan of each.

use tidegate_core::units::Span;
use tidegate_sim::plan::Plan;

use super::super::{Extent, REDUCED_SEEDS, checked};
use super::Bench;
use crate::exit::Failure;

/// The paper's schemes, and BRF with the equations as printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scheme {
    Brf,
    Cubic,
    Bbr,
    Literal,
    /// CUBIC by RFC 9438's rules in place of Linux'.
    Rfc,
}

impl Scheme {
    pub(super) const ALL: [Self; 4] = [Self::Brf, Self::Cubic, Self::Bbr, Self::Literal];
    /// As the paper compares them.
    pub(super) const PAPER: [Self; 3] = [Self::Brf, Self::Cubic, Self::Bbr];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Brf => "BRF",
            Self::Cubic => "CUBIC",
            Self::Bbr => "BBR",
            Self::Literal => "BRF as printed",
            Self::Rfc => "CUBIC (RFC 9438)",
        }
    }

    pub(super) fn sender(self) -> Sender {
        match self {
            Self::Brf => Sender { scheme: "brf", settings: "" },
            Self::Literal => Sender { scheme: "brf", settings: ", mode = \"literal\"" },
            Self::Bbr => Sender { scheme: "tcp-bbr1", settings: "" },
            Self::Cubic => Sender { scheme: "tcp-cubic-linux", settings: "" },
            Self::Rfc => Sender { scheme: "tcp-cubic", settings: "" },
        }
    }
}

/// A TCP sender's scheme and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sender {
    /// In the registry.
    pub(super) scheme: &'static str,
    /// As TOML, with a comma before each.
    pub(super) settings: &'static str,
}

impl Sender {
    /// As TOML, with more parameters.
    pub(super) fn value(self, more: &str) -> String {
        format!("{{ name = \"{}\"{}{more} }}", self.scheme, self.settings)
    }

    /// Whether it needs a switch that grants rates, and a controller.
    pub(super) fn has_switch(self) -> bool {
        self.scheme == "brf"
    }
}

/// A scenario of Figure 7 and the places of what differs between runs.
#[derive(Debug)]
pub(super) struct Topology {
    pub(super) file: (&'static str, &'static str),
    /// Node of BRF's switch.
    pub(super) switch: usize,
    /// Link that the switch shapes to the bottleneck's rate; `None` where the bottleneck is its own.
    shaped: Option<usize>,
    /// Links whose queue is under test: the switch's, where it shapes, and the bottleneck's.
    pub(super) queues: &'static [usize],
}

pub(super) static PATH: Topology = Topology {
    file: ("path.toml", include_str!("../../../../scenarios/papers/brf/path.toml")),
    switch: 1,
    shaped: Some(1),
    queues: &[1, 2],
};
pub(super) static ROUND_TRIPS: Topology = Topology {
    file: ("round-trips.toml", include_str!("../../../../scenarios/papers/brf/round-trips.toml")),
    switch: 4,
    shaped: None,
    queues: &[],
};
pub(super) static SHARED: Topology = Topology {
    file: ("shared.toml", include_str!("../../../../scenarios/papers/brf/shared.toml")),
    switch: 2,
    shaped: Some(2),
    queues: &[2, 3],
};

/// Losses of Figure 8, in tenths of a percent.
pub(super) const LOSSES: [u32; 6] = [1, 5, 10, 20, 50, 100];
/// Buffers, packets.
pub(super) const BUFFERS: [u32; 2] = [1_000, 100_000];
/// Flows of the test of convergence.
pub(super) const MANY: usize = 5;
/// Seeds of runs that no chance enters but that of when they start, and of what stands beside the paper's figures.
const FEW_SEEDS: usize = 2;
/// Length of a quick look.
const REDUCED: Span = Span::from_secs(12);

/// One cell of the paper's experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cell {
    /// One flow, Figures 8 and 12; losses in tenths of a percent.
    Path { scheme: Scheme, buffer: u32, loss: u32 },
    /// Five flows, Figure 11 and Table 4.
    Five { scheme: Scheme, buffer: u32 },
    /// Round trips of 100 and 20 ms, Figure 9.
    RoundTrips { scheme: Scheme },
    /// Beside CUBIC, Figure 10.
    Shared { scheme: Scheme, buffer: u32 },
}

impl Cell {
    pub(super) fn all() -> Vec<Self> {
        let [small, large] = BUFFERS;
        // The printed form differs in nothing that the larger buffer could show.
        let of_both = Scheme::PAPER.into_iter().flat_map(|scheme| BUFFERS.map(|buffer| (scheme, buffer)));
        let mut cells = Vec::new();
        for (scheme, buffer) in of_both.chain([(Scheme::Literal, small)]) {
            cells.push(Self::Path { scheme, buffer, loss: 0 });
            cells.push(Self::Five { scheme, buffer });
            cells.extend(LOSSES.map(|loss| Self::Path { scheme, buffer, loss }));
        }
        let beside_cubic =
            [(Scheme::Bbr, small), (Scheme::Bbr, large), (Scheme::Brf, small), (Scheme::Brf, large)];
        let beside_cubic = beside_cubic.into_iter().chain([(Scheme::Literal, small)]);
        cells.extend(beside_cubic.map(|(scheme, buffer)| Self::Shared { scheme, buffer }));
        cells.extend(Scheme::ALL.map(|scheme| Self::RoundTrips { scheme }));
        cells.extend(LOSSES.map(|loss| Self::Path { scheme: Scheme::Rfc, buffer: small, loss }));
        cells
    }

    fn seeds(self) -> usize {
        let has_few = match self {
            Self::Path { scheme: Scheme::Bbr, buffer, loss: 0 } | Self::Five { buffer, .. } => {
                buffer == BUFFERS[1]
            }
            Self::Path { loss, .. } => loss == 0,
            Self::RoundTrips { scheme } => scheme == Scheme::Cubic,
            Self::Shared { .. } => false,
        };
        if has_few || self.scheme() == Scheme::Literal { FEW_SEEDS } else { usize::MAX }
    }

    pub(super) fn scheme(self) -> Scheme {
        match self {
            Self::Path { scheme, .. }
            | Self::Five { scheme, .. }
            | Self::RoundTrips { scheme }
            | Self::Shared { scheme, .. } => scheme,
        }
    }

    /// Its plan, with `more` values.
    pub(super) fn plan(self, bench: &Bench<'_>, more: &[(&str, &str)]) -> Result<Plan, Failure> {
        let mut setup = match self {
            Self::Path { scheme, buffer, loss } => {
                let mut setup = Setup::new(&PATH, &[scheme.sender()]).buffer(buffer);
                setup.set("link.1.forward.loss", loss_of(f64::from(loss) / 1e3));
                setup
            }
            Self::Five { scheme, buffer } => {
                let mut setup = Setup::new(&PATH, &[scheme.sender()]).buffer(buffer);
                setup.set("tcp.0.repeat", MANY.to_string());
                // Fine enough for a quarter of a round trip.
                setup.set("scenario.sample", "\"5ms\"");
                setup
            }
            Self::RoundTrips { scheme } => Setup::new(&ROUND_TRIPS, &[scheme.sender(); 2]),
            Self::Shared { scheme, buffer } => {
                Setup::new(&SHARED, &[scheme.sender(), Scheme::Cubic.sender()]).buffer(buffer)
            }
        };
        more.iter().for_each(|(key, value)| setup.set(key, *value));
        let mut plan = setup.plan(bench)?;
        plan.seeds.truncate(self.seeds());
        Ok(plan)
    }
}

/// Independent losses of this part of all packets, as TOML.
pub(super) fn loss_of(part: f64) -> String {
    if part > 0.0 {
        format!("{{ model = \"bernoulli\", probability = {part} }}")
    } else {
        "\"none\"".to_owned()
    }
}

/// A scenario with senders, switch and controller.
#[derive(Debug)]
pub(super) struct Setup {
    topology: &'static Topology,
    has_switch: bool,
    set: Vec<(String, String)>,
}

impl Setup {
    /// The scenario with these senders, one for each of its tables of connections. BRF senders bring their switch.
    pub(super) fn new(topology: &'static Topology, senders: &[Sender]) -> Self {
        let mut setup = Self::bare(topology, senders);
        if let Some(sender) = senders.iter().find(|sender| sender.has_switch()) {
            setup.switch(topology.switch, &sender.value(""));
            if let Some(link) = topology.shaped {
                setup.set(&format!("link.{link}.rate"), "\"100Mbps\"");
            }
        }
        setup
    }

    /// The same without a switch.
    pub(super) fn bare(topology: &'static Topology, senders: &[Sender]) -> Self {
        let mut setup = Self { topology, has_switch: false, set: Vec::new() };
        for (place, sender) in senders.iter().enumerate() {
            setup.set(&format!("tcp.{place}.scheme"), sender.value(""));
        }
        setup
    }

    /// BRF's switch at `node` and its controller; `brf` is the scheme as TOML.
    pub(super) fn switch(&mut self, node: usize, brf: &str) {
        self.has_switch = true;
        self.set(&format!("node.{node}.parts"), format!("[{brf}]"));
        self.set("controller", format!("{{ scheme = {brf}, delay = \"5ms\" }}"));
    }

    pub(super) fn set(&mut self, key: &str, value: impl Into<String>) {
        self.set.push((key.to_owned(), value.into()));
    }

    /// The queue under test holds so many packets: the bottleneck's, and the switch's if there is one.
    fn buffer(mut self, packets: u32) -> Self {
        let skipped = usize::from(!self.has_switch);
        for link in self.topology.queues.iter().skip(skipped) {
            self.set(&format!("link.{link}.queue.limit"), format!("\"{packets}pkt\""));
        }
        self
    }

    pub(super) fn plan(self, bench: &Bench<'_>) -> Result<Plan, Failure> {
        let (file, text) = self.topology.file;
        let mut plan = checked(bench.session, (&format!("scenarios/papers/brf/{file}"), text), &self.set)?;
        if bench.extent == Extent::Reduced {
            plan.seeds.truncate(REDUCED_SEEDS);
            plan.duration = plan.duration.min(REDUCED);
        }
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_under_test_is_the_switchs_too_where_there_is_one() {
        let limits = |scheme: Scheme| -> Vec<String> {
            let setup = Setup::new(&PATH, &[scheme.sender()]).buffer(1000);
            setup.set.into_iter().map(|(key, _)| key).filter(|key| key.ends_with("limit")).collect()
        };
        assert_eq!(limits(Scheme::Bbr), ["link.2.queue.limit"]);
        assert_eq!(limits(Scheme::Brf), ["link.1.queue.limit", "link.2.queue.limit"]);
    }

    #[test]
    fn senders_are_written_with_their_settings() {
        assert_eq!(
            Scheme::Literal.sender().value(", x = 1"),
            "{ name = \"brf\", mode = \"literal\", x = 1 }"
        );
        assert_eq!(Scheme::Bbr.sender().value(""), "{ name = \"tcp-bbr1\" }");
    }
}
