//! All cells as numbers: throughput, fairness, drops (Table 4), convergence and delay.

use tidegate_report::stats::{Estimate, mean};
use tidegate_report::text::{Align, TextTable, short};

use super::Results;
use super::kept::Kept;
use super::measure::{self, Delays, FAIR, PATH_RTT_MS, SAMPLED_S, WINDOW_S, most, settled_drops};
use super::runs::{BUFFERS, Cell, LOSSES, MANY, Scheme};

/// A table with its title.
pub(super) type Titled = (String, TextTable);

pub(super) fn all(results: &Results) -> Vec<Titled> {
    vec![
        throughput(results),
        gains(results),
        fairness(results),
        drops(results),
        convergence(results),
        joins(results),
        delay(results),
    ]
}

/// Mean and interval of a measure.
pub(super) fn estimate(runs: &[Kept], of: impl Fn(&Kept) -> f64) -> String {
    short(&Estimate::of(&runs.iter().map(of).collect::<Vec<f64>>()))
}

/// Every buffer and scheme; the printed form was run with the smaller buffer alone.
fn rows() -> impl Iterator<Item = (u32, Scheme)> {
    let all = BUFFERS.into_iter().flat_map(|buffer| Scheme::ALL.map(|scheme| (buffer, scheme)));
    all.filter(|(buffer, scheme)| *scheme != Scheme::Literal || *buffer == BUFFERS[0])
}

fn percents() -> [String; LOSSES.len()] {
    LOSSES.map(|loss| format!("{} %", f64::from(loss) / 10.0))
}

fn by_loss(first: &[&str], rows: impl Iterator<Item = Vec<String>>) -> TextTable {
    let heads = percents();
    let mut columns: Vec<(&str, Align)> = first.iter().map(|head| (*head, Align::Left)).collect();
    columns.extend(heads.iter().map(|head| (head.as_str(), Align::Right)));
    let mut table = TextTable::new(&columns);
    rows.for_each(|row| table.row(row));
    table
}

fn throughput(results: &Results) -> Titled {
    let rows = rows();
    let row = |(buffer, scheme): (u32, Scheme)| {
        let cells =
            LOSSES.map(|loss| short(&Estimate::of(&measure::throughputs(results, scheme, buffer, loss))));
        let names = [buffer.to_string(), scheme.name().to_owned()];
        names.into_iter().chain(cells).collect()
    };
    (
        "Figure 8: throughput by losses, Mbit/s".to_owned(),
        by_loss(&["buffer", "scheme"], rows.chain([(BUFFERS[0], Scheme::Rfc)]).map(row)),
    )
}

fn gains(results: &Results) -> Titled {
    let rows =
        BUFFERS.into_iter().flat_map(|buffer| [Scheme::Bbr, Scheme::Cubic].map(|other| (buffer, other)));
    let row = |(buffer, other): (u32, Scheme)| {
        let cells = LOSSES.map(|loss| short(&Estimate::of(&measure::gains(results, other, buffer, loss))));
        let names = [buffer.to_string(), format!("BRF over {}", other.name())];
        names.into_iter().chain(cells).collect()
    };
    let title = "Throughput of BRF over others; published with 100,000 packets and 2 %: 1.256 over BBR, 10.12 over CUBIC";
    (title.to_owned(), by_loss(&["buffer", ""], rows.map(row)))
}

fn fairness(results: &Results) -> Titled {
    let mut table = TextTable::new(&[
        ("flows", Align::Left),
        ("buffer", Align::Right),
        ("first [Mbit/s]", Align::Right),
        ("second", Align::Right),
        ("Jain's index", Align::Right),
        ("from 1 s on", Align::Right),
        ("longest queue [packets]", Align::Right),
    ]);
    let mut row = |name: String, buffer: &str, cell: Cell| {
        let runs = results.of(cell);
        table.row([
            name,
            buffer.to_owned(),
            estimate(runs, |run| run.throughput_mbps(0)),
            estimate(runs, |run| run.throughput_mbps(1)),
            estimate(runs, |run| run.jain(0.0, run.end_s())),
            estimate(runs, |run| run.jain(1.0, run.end_s())),
            estimate(runs, |run| run.peak_packets as f64),
        ]);
    };
    for scheme in Scheme::ALL {
        row(format!("{} of 100 ms and of 20 ms", scheme.name()), "10000", Cell::RoundTrips { scheme });
    }
    for (buffer, scheme) in rows().filter(|(_, scheme)| *scheme != Scheme::Cubic) {
        row(format!("{} and CUBIC", scheme.name()), &buffer.to_string(), Cell::Shared { scheme, buffer });
    }
    ("Figures 9 and 10: fairness".to_owned(), table)
}

fn drops(results: &Results) -> Titled {
    let mut table = TextTable::new(&[
        ("scheme", Align::Left),
        ("buffer", Align::Right),
        ("published [%]", Align::Right),
        ("one flow", Align::Right),
        ("five flows", Align::Right),
        ("five, from 1 s after the last start", Align::Right),
    ]);
    for (buffer, scheme) in rows() {
        let published = match (scheme, buffer) {
            (Scheme::Literal, _) => "",
            (Scheme::Bbr, 1_000) => "≈ 1.1",
            _ => "≈ 0",
        };
        let five = results.of(Cell::Five { scheme, buffer });
        table.row([
            scheme.name().to_owned(),
            buffer.to_string(),
            published.to_owned(),
            estimate(results.of(Cell::Path { scheme, buffer, loss: 0 }), |run| run.dropped_percent(0.0)),
            estimate(five, |run| run.dropped_percent(0.0)),
            estimate(five, settled_drops),
        ]);
    }
    ("Table 4: packets that routers drop, %".to_owned(), table)
}

fn convergence(results: &Results) -> Titled {
    let mut table = TextTable::new(&[
        ("scheme", Align::Left),
        ("buffer", Align::Right),
        ("to an index of 0.95, s", Align::Right),
        ("of 0.9", Align::Right),
        ("of 0.8", Align::Right),
        ("index of the last 10 s", Align::Right),
        ("goodput of all from 10 s on, Mbit/s", Align::Right),
        ("longest queue [packets]", Align::Right),
    ]);
    for (buffer, scheme) in rows() {
        let runs = results.of(Cell::Five { scheme, buffer });
        table.row([
            scheme.name().to_owned(),
            buffer.to_string(),
            short(&Estimate::of(&measure::converged_s(results, scheme, buffer))),
            estimate(runs, |run| run.converged_s(0.9, WINDOW_S)),
            estimate(runs, |run| run.converged_s(0.8, WINDOW_S)),
            estimate(runs, |run| run.jain(run.end_s() - 10.0, run.end_s())),
            estimate(runs, |run| run.total_mbps(10.0, run.end_s())),
            estimate(runs, |run| run.peak_packets as f64),
        ]);
    }
    let title = format!(
        "Figure 11: time from the fifth start to the first {WINDOW_S} s with Jain's index at {FAIR}; 49 s is never"
    );
    (title, table)
}

/// How fast BRF's rates agree at each join.
fn joins(results: &Results) -> Titled {
    let names: Vec<String> = (1..MANY).map(|flow| format!("flow {}", flow + 1)).collect();
    let mut columns = vec![("", Align::Left), ("buffer", Align::Right)];
    columns.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    let mut table = TextTable::new(&columns);
    for (scheme, buffer) in
        [(Scheme::Brf, BUFFERS[0]), (Scheme::Brf, BUFFERS[1]), (Scheme::Literal, BUFFERS[0])]
    {
        let runs = results.of(Cell::Five { scheme, buffer });
        let times = (1..MANY).map(|flow| estimate(runs, |run| run.agreed_ms(flow, PATH_RTT_MS / 1e3)));
        table.row([scheme.name().to_owned(), buffer.to_string()].into_iter().chain(times));
    }
    let title =
        "From a newcomer's SYN-ACK until all paced rates are within 10 % for 1 s, ms; a round trip is 20 ms";
    (title.to_owned(), table)
}

fn delay(results: &Results) -> Titled {
    let mut table = TextTable::new(&[
        ("scheme", Align::Left),
        ("buffer", Align::Right),
        ("mean of 30 s, ms", Align::Right),
        ("most", Align::Right),
        ("mean from 30 s on", Align::Right),
        ("most", Align::Right),
    ]);
    for (buffer, scheme) in rows() {
        let runs = results.of(Cell::Path { scheme, buffer, loss: 0 });
        let empty_ms = measure::empty_ms(scheme);
        let early = |run: &Kept| Delays { run, empty_ms }.all(0.0, SAMPLED_S);
        let late = |run: &Kept| Delays { run, empty_ms }.all(SAMPLED_S, run.end_s());
        table.row([
            scheme.name().to_owned(),
            buffer.to_string(),
            estimate(runs, |run| mean(&early(run))),
            estimate(runs, |run| most(&early(run))),
            estimate(runs, |run| mean(&late(run))),
            estimate(runs, |run| most(&late(run))),
        ]);
    }
    ("Figure 12: queueing delay of one flow, smoothed round trip above the empty one".to_owned(), table)
}
