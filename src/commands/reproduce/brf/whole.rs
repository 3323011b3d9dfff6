//! All claims again under what the paper leaves open.

use tidegate_report::claims::Paper;
use tidegate_report::stats::Estimate;
use tidegate_report::text::{Align, TextTable, short};
use tidegate_sim::plan::Plan;

use super::kept::Kept;
use super::measure::{self, PATH_RTT_MS};
use super::runs::{Cell, Scheme, loss_of};
use super::tables::Titled;
use super::{Bench, Results};
use crate::exit::Failure;

/// Seeds of all these runs.
const SEEDS: usize = 3;
/// Segments that a buffer of segmentation offload holds: at most, and in the millisecond at 100 Mbit/s for which Linux fills
/// those of paced senders.
const OFFLOADED: u32 = 44;
const OFFLOADED_PACED: u32 = 8;
/// Packets under way in the 20 ms of delay that netem counts as waiting.
const DELAYED: u32 = 165;

/// What differs from the assumed way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Under {
    /// The delay holds for each way.
    Longer,
    /// Losses behind the queue in place of before it.
    Behind,
    /// Segments leave and are lost by bursts.
    Bursts,
    /// Packets that the delay holds count as waiting.
    Limit,
    /// As an emulated network has it: longer, ACKs lost, too, by bursts, the delay part of the queue.
    Emulated,
}

impl Under {
    pub(super) const ALL: [Self; 5] = [Self::Longer, Self::Behind, Self::Bursts, Self::Limit, Self::Emulated];

    const fn name(self) -> &'static str {
        match self {
            Self::Longer => "round trips doubled",
            Self::Behind => "losses behind the queue",
            Self::Bursts => "bursts lost together",
            Self::Limit => "delay counts as queue",
            Self::Emulated => "emulated: all but the second",
        }
    }

    const fn is_longer(self) -> bool {
        matches!(self, Self::Longer | Self::Emulated)
    }

    /// The values that make it so.
    pub(super) fn set(self, cell: Cell) -> Vec<(&'static str, String)> {
        let mut set = Vec::new();
        if self.is_longer() {
            set.extend(delays(cell));
        }
        if matches!(self, Self::Limit | Self::Emulated) {
            set.extend(limits(cell));
        }
        if matches!(self, Self::Bursts | Self::Emulated) {
            set.extend(bursts(cell));
        }
        if let Cell::Path { loss, .. } = cell {
            let part = f64::from(loss) / 1e3;
            match self {
                Self::Behind => {
                    set.push(("link.1.forward.loss", "\"none\"".to_owned()));
                    set.push(("link.2.forward.loss", loss_of(part)));
                }
                Self::Bursts | Self::Emulated => {
                    set.push(("link.1.forward.loss", lost_together(part, OFFLOADED)))
                }
                Self::Longer | Self::Limit => {}
            }
            if self == Self::Emulated {
                set.push(("link.2.backward", format!("{{ loss = {} }}", loss_of(part))));
            }
        }
        set
    }
}

/// Losses of bursts of up to so many segments, as TOML.
pub(super) fn lost_together(part: f64, most: u32) -> String {
    format!("{{ model = \"bursts\", probability = {part}, most = {most} }}")
}

fn delays(cell: Cell) -> Vec<(&'static str, String)> {
    let doubled = |key, millis: u32| (key, format!("\"{millis}ms\""));
    match cell {
        Cell::Path { .. } | Cell::Five { .. } => vec![doubled("link.2.delay", 20)],
        Cell::RoundTrips { .. } => vec![doubled("link.2.delay", 100), doubled("link.3.delay", 20)],
        Cell::Shared { .. } => vec![doubled("link.3.delay", 20)],
    }
}

fn limits(cell: Cell) -> Vec<(&'static str, String)> {
    let limit = |key, buffer: u32| vec![(key, format!("\"{}pkt\"", buffer - DELAYED))];
    match cell {
        Cell::Path { buffer, .. } | Cell::Five { buffer, .. } => limit("link.2.queue.limit", buffer),
        Cell::Shared { buffer, .. } => limit("link.3.queue.limit", buffer),
        Cell::RoundTrips { .. } => Vec::new(),
    }
}

fn bursts(cell: Cell) -> Vec<(&'static str, String)> {
    let of = |scheme| if scheme == Scheme::Cubic { OFFLOADED } else { OFFLOADED_PACED };
    let burst = |key, scheme| (key, of(scheme).to_string());
    let scheme = cell.scheme();
    match cell {
        Cell::Path { .. } | Cell::Five { .. } => vec![burst("tcp.0.burst", scheme)],
        Cell::RoundTrips { .. } => vec![burst("tcp.0.burst", scheme), burst("tcp.1.burst", scheme)],
        Cell::Shared { .. } => vec![burst("tcp.0.burst", scheme), burst("tcp.1.burst", Scheme::Cubic)],
    }
}

/// The paper's schemes alone.
fn cells() -> Vec<Cell> {
    let mut cells = Cell::all();
    cells.retain(|cell| Scheme::PAPER.contains(&cell.scheme()));
    cells
}

pub(super) fn plans(bench: &Bench<'_>) -> Result<Vec<Plan>, Failure> {
    let each = Under::ALL.into_iter().flat_map(|under| cells().into_iter().map(move |cell| (under, cell)));
    each.map(|(under, cell)| {
        let set = under.set(cell);
        let set: Vec<(&str, &str)> = set.iter().map(|(key, value)| (*key, value.as_str())).collect();
        let mut plan = cell.plan(bench, &set)?;
        plan.seeds.truncate(SEEDS);
        Ok(plan)
    })
    .collect()
}

/// Every claim's quantity under each of them, beside the assumed way.
pub(super) fn table(bench: &Bench<'_>, paper: &Paper, assumed: &Results) -> Result<Titled, Failure> {
    let mut kept = bench.run(&plans(bench)?, Kept::of)?.into_iter();
    let all = Under::ALL.map(|under| Results {
        cells: cells().into_iter().zip(kept.by_ref()).collect(),
        further_ms: if under.is_longer() { PATH_RTT_MS } else { 0.0 },
    });
    let mut columns = vec![("claim", Align::Left), ("quantity", Align::Left), ("as assumed", Align::Right)];
    columns.extend(Under::ALL.map(|under| (under.name(), Align::Right)));
    let mut table = TextTable::new(&columns);
    for claim in &paper.claims {
        let of = |results: &Results| {
            measure::samples(results, &claim.id)
                .filter(|samples| !samples.is_empty())
                .map(|samples| short(&Estimate::of(&samples)))
        };
        let under: Vec<Option<String>> = all.iter().map(of).collect();
        if under.iter().all(Option::is_none) {
            continue;
        }
        let cells = [of(assumed)].into_iter().chain(under).map(|cell| cell.unwrap_or_else(|| "-".to_owned()));
        table.row([claim.id.clone(), claim.quantity.clone()].into_iter().chain(cells));
    }
    Ok(("All claims under what the paper leaves open".to_owned(), table))
}

#[cfg(test)]
mod tests {
    use super::super::runs::BUFFERS;
    use super::*;

    #[test]
    fn each_condition_changes_what_it_names_and_nothing_else() {
        let cell = Cell::Path { scheme: Scheme::Cubic, buffer: BUFFERS[0], loss: 20 };
        let keys = |under: Under| under.set(cell).into_iter().map(|(key, _)| key).collect::<Vec<&str>>();
        assert_eq!(keys(Under::Longer), ["link.2.delay"]);
        assert_eq!(keys(Under::Behind), ["link.1.forward.loss", "link.2.forward.loss"]);
        assert_eq!(keys(Under::Bursts), ["tcp.0.burst", "link.1.forward.loss"]);
        assert_eq!(keys(Under::Limit), ["link.2.queue.limit"]);
        let all =
            ["link.2.delay", "link.2.queue.limit", "tcp.0.burst", "link.1.forward.loss", "link.2.backward"];
        assert_eq!(keys(Under::Emulated), all);
        assert!(Under::Limit.set(cell)[0].1.contains("835"));
    }
}
