//! How the results depend on what the paper leaves open.

use tidegate_report::text::{Align, TextTable};
use tidegate_sim::plan::Plan;

use super::Bench;
use super::kept::Kept;
use super::runs::{BUFFERS, Cell, LOSSES, Scheme, loss_of};
use super::tables::{Titled, estimate};
use super::whole::lost_together;
use crate::exit::Failure;

/// What differs from the assumed way; losses are a part of all packets.
struct Variant {
    name: &'static str,
    set: fn(f64) -> Vec<(&'static str, String)>,
}

const VARIANTS: [Variant; 9] = [
    Variant { name: "as assumed", set: |_| Vec::new() },
    Variant { name: "round trip of 40 ms", set: |_| vec![("link.2.delay", "\"20ms\"".to_owned())] },
    Variant { name: "losses behind the queue", set: |loss| behind(loss_of(loss)) },
    Variant {
        name: "40 ms, losses of ACKs too",
        set: |loss| {
            let both = vec![
                ("link.2.delay", "\"20ms\"".to_owned()),
                ("link.2.backward", format!("{{ loss = {} }}", loss_of(loss))),
            ];
            behind(loss_of(loss)).into_iter().chain(both).collect()
        },
    },
    Variant { name: "bursts of 8, lost one by one", set: |_| vec![("tcp.0.burst", "8".to_owned())] },
    Variant { name: "bursts of 3 lost together", set: |loss| offloaded(loss, 3) },
    Variant { name: "bursts of 8 lost together", set: |loss| offloaded(loss, 8) },
    Variant { name: "bursts of 44 lost together", set: |loss| offloaded(loss, 44) },
    Variant { name: "found by RFC 6675", set: |_| vec![("tcp.0.detection", "\"sack\"".to_owned())] },
];

/// Losses behind the queue under test in place of before it.
fn behind(loss: String) -> Vec<(&'static str, String)> {
    vec![("link.1.forward.loss", "\"none\"".to_owned()), ("link.2.forward.loss", loss)]
}

fn offloaded(loss: f64, segments: u32) -> Vec<(&'static str, String)> {
    vec![("tcp.0.burst", segments.to_string()), ("link.1.forward.loss", lost_together(loss, segments))]
}

/// Seeds of all these runs.
const SEEDS: usize = 4;
/// Length of the longer runs, and what is left out at their start, s.
const LONG_S: f64 = 240.0;
const WARM_UP_S: f64 = 60.0;
/// A buffer of one product of bandwidth and delay, packets.
const ONE_PRODUCT: u32 = 165;

/// The throughput of Figure 8 in every variant, and fairness over 240 s.
pub(super) fn study(bench: &Bench<'_>) -> Result<Vec<Titled>, Failure> {
    let mut kept = bench.run(&plans(bench)?, Kept::of).into_iter();
    let mut next = || kept.next().unwrap_or_default();
    Ok(vec![throughputs(&mut next), fairness(&mut next)])
}

pub(super) fn plans(bench: &Bench<'_>) -> Result<Vec<Plan>, Failure> {
    let mut plans = Vec::new();
    for (variant, scheme) in variants() {
        for loss in LOSSES {
            plans.push(plan(bench, variant, scheme, loss)?);
        }
    }
    for (scheme, buffer) in shares() {
        plans.push(long(Cell::Shared { scheme, buffer }, bench)?);
    }
    for scheme in Scheme::ALL {
        plans.push(long(Cell::RoundTrips { scheme }, bench)?);
    }
    Ok(plans)
}

fn variants() -> impl Iterator<Item = (&'static Variant, Scheme)> {
    let schemes = Scheme::PAPER.into_iter().chain([Scheme::Rfc]);
    VARIANTS.iter().flat_map(move |variant| schemes.clone().map(move |scheme| (variant, scheme)))
}

fn shares() -> impl Iterator<Item = (Scheme, u32)> {
    let buffers = [ONE_PRODUCT, BUFFERS[0], BUFFERS[1]];
    buffers
        .into_iter()
        .flat_map(|buffer| [Scheme::Bbr, Scheme::Brf, Scheme::Literal].map(|scheme| (scheme, buffer)))
}

fn aside(mut plan: Plan) -> Plan {
    plan.seeds.truncate(SEEDS);
    plan
}

fn plan(bench: &Bench<'_>, variant: &Variant, scheme: Scheme, loss: u32) -> Result<Plan, Failure> {
    let set = (variant.set)(f64::from(loss) / 1e3);
    let set: Vec<(&str, &str)> = set.iter().map(|(key, value)| (*key, value.as_str())).collect();
    Cell::Path { scheme, buffer: BUFFERS[0], loss }.plan(bench, &set).map(aside)
}

fn long(cell: Cell, bench: &Bench<'_>) -> Result<Plan, Failure> {
    let length = format!("\"{LONG_S}s\"");
    cell.plan(bench, &[("scenario.duration", &length), ("scenario.sample", "\"100ms\"")]).map(aside)
}

fn throughputs(next: &mut impl FnMut() -> Vec<Kept>) -> Titled {
    let heads = LOSSES.map(|loss| format!("{} %", f64::from(loss) / 10.0));
    let mut columns = vec![("variant", Align::Left), ("scheme", Align::Left)];
    columns.extend(heads.iter().map(|head| (head.as_str(), Align::Right)));
    let mut table = TextTable::new(&columns);
    let mut row = |variant: &str, scheme: &str| {
        let cells = LOSSES.map(|_| estimate(&next(), |run| run.throughput_mbps(0)));
        table.row([variant.to_owned(), scheme.to_owned()].into_iter().chain(cells));
    };
    for (variant, scheme) in variants() {
        row(variant.name, scheme.name());
    }
    ("Throughput by losses, Mbit/s, buffer 1000, where the paper leaves values open".to_owned(), table)
}

fn fairness(next: &mut impl FnMut() -> Vec<Kept>) -> Titled {
    let mut table = TextTable::new(&[
        ("flows", Align::Left),
        ("first [Mbit/s]", Align::Right),
        ("second", Align::Right),
        ("Jain's index", Align::Right),
        ("dropped [%]", Align::Right),
    ]);
    let shared = shares().map(|(scheme, buffer)| format!("{} and CUBIC, buffer {buffer}", scheme.name()));
    let round_trips = Scheme::ALL.map(|scheme| format!("{} of 100 ms and of 20 ms", scheme.name()));
    for name in shared.chain(round_trips) {
        let runs = next();
        table.row([
            name,
            estimate(&runs, |run| run.goodput_mbps(0, WARM_UP_S, run.end_s())),
            estimate(&runs, |run| run.goodput_mbps(1, WARM_UP_S, run.end_s())),
            estimate(&runs, |run| run.jain(WARM_UP_S, run.end_s())),
            estimate(&runs, |run| run.dropped_percent(WARM_UP_S)),
        ]);
    }
    (format!("Fairness from {WARM_UP_S} to {LONG_S} s"), table)
}
