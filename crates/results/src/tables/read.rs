//! Reads the record of one run from its tables.

use std::path::Path;

use tidegate_core::observe::records::{
    DelaySummary, FlowRecord, FlowSamples, LinkRecord, LinkSamples, MediumRecord, NodeRecord, RunRecord,
};
use tidegate_core::units::{BitRate, ByteCount, Span, Time};

use super::RunContext;
use super::decode::TableFile;
use super::folder::{Checksums, FolderFault};

/// The run whose tables are in `dir`; building its tables again gives the same bytes.
///
/// Times, spans and rates come back exact up to 2^52 ns (52 days) and 2^52 bit/s, beyond that to the
/// nearest that the tables contain. Four things are not in the tables as they were recorded:
/// - events are left out;
/// - a smoothed round-trip time has the 24 significant bits of its column;
/// - a window that is not finite is read as infinite;
/// - the number of delays is what the record defines it to be: the flow's delivered segments or the link's
///   packets sent (at least one where there are delays).
///
/// # Errors
/// The file, and what is wrong with it, when the folder is unfinished, damaged, of another results schema,
/// or does not hold exactly one run.
pub fn read_run(dir: &Path) -> Result<RunRecord, FolderFault> {
    let sums = Checksums::read(dir)?;
    Ok(RunRecord {
        flow_samples: read_flow_samples(&sums.open(dir, "flow_samples")?)?,
        link_samples: read_link_samples(&sums.open(dir, "link_samples")?)?,
        ..read_summary(dir, &sums)?
    })
}

/// As [`read_run`], without the samples, whose files are not opened.
///
/// # Errors
/// As [`read_run`].
pub fn read_run_summary(dir: &Path) -> Result<RunRecord, FolderFault> {
    read_summary(dir, &Checksums::read(dir)?)
}

/// Origin of the tables in `dir`: scenario, semantics, code and number of the first run; zero
/// without runs. Names of nodes and prefixes are not in the tables and left out.
///
/// # Errors
/// As [`read_run`], for a folder of any number of runs.
pub fn read_context(dir: &Path) -> Result<RunContext, FolderFault> {
    let runs = Checksums::read(dir)?.open(dir, "runs")?;
    let semantics = runs.metadata("semantics")?;
    Ok(RunContext {
        scenario_text: runs.metadata("scenario")?.to_owned(),
        semantics: semantics
            .parse()
            .map_err(|_| runs.fault(format!("semantics {semantics:?} is not a whole number")))?,
        code: runs.metadata("code").unwrap_or_default().to_owned(),
        first_run: runs.u32("run")?.first().copied().unwrap_or(0),
        ..RunContext::default()
    })
}

fn read_summary(dir: &Path, sums: &Checksums) -> Result<RunRecord, FolderFault> {
    let runs = sums.open(dir, "runs")?;
    if runs.rows() != 1 {
        return Err(runs.fault(format!("holds {} runs; expected one", runs.rows())));
    }
    let run = RunRecord {
        scenario: runs.text("scenario")?.remove(0),
        seed: runs.u64("seed")?[0],
        ended: times(&runs, "ended_s")?[0],
        packet_hops: runs.u64("packet_hops")?[0],
        flows: read_flows(&sums.open(dir, "flows")?)?,
        links: read_links(&sums.open(dir, "links")?)?,
        nodes: read_nodes(&sums.open(dir, "nodes")?)?,
        media: read_media(&sums.open(dir, "media")?)?,
        ..RunRecord::default()
    };
    let flows = runs.u64("flows")?[0];
    if flows != run.flows.len() as u64 {
        return Err(runs.fault(format!("states {flows} flows; the table of flows has {}", run.flows.len())));
    }
    Ok(run)
}

/// Reads the columns of these counts into the fields of the same name.
macro_rules! set_counts {
    ($records:ident, $table:ident; $($field:ident),*) => {
        $(set(&mut $records, $table.u64(stringify!($field))?, |record, value| record.$field = value);)*
    };
}

fn read_flows(table: &TableFile) -> Result<Vec<FlowRecord>, FolderFault> {
    let mut flows = vec![FlowRecord::default(); table.rows()];
    let delivered = table.u64("delivered_segments")?;
    let full = delays(table, "full_delay", &delivered)?;
    let last = delays(table, "last_delay", &delivered)?;
    set(&mut flows, table.text("name")?, |flow, value| flow.name = value);
    set(&mut flows, table.text("consumer")?, |flow, value| flow.consumer = value);
    set(&mut flows, table.text("producer")?, |flow, value| flow.producer = value);
    set(&mut flows, table.text("prefix")?, |flow, value| flow.prefix = value);
    set(&mut flows, table.text("scheme")?, |flow, value| flow.scheme = value);
    set(&mut flows, times(table, "start_s")?, |flow, value| flow.start = value);
    set(&mut flows, maybe_times(table, "completed_s")?, |flow, value| flow.completed = value);
    set(&mut flows, maybe_times(table, "stopped_s")?, |flow, value| flow.stopped = value);
    set(&mut flows, table.maybe_u64("segments")?, |flow, value| flow.segments = value);
    set(&mut flows, delivered, |flow, value| flow.delivered_segments = value);
    let payload = table.u64("delivered_bytes")?;
    set(&mut flows, payload, |flow, value| flow.delivered_payload = ByteCount::new(value));
    set_counts!(flows, table; interests, retransmissions, timeouts, duplicates, nacks, marks, loss_notices, abandoned);
    let windows = table.f64("final_window_packets", |value| Some(value.unwrap_or(f64::INFINITY)))?;
    set(&mut flows, windows, |flow, value| flow.final_window_packets = value);
    set(&mut flows, full, |flow, value| flow.full_delay = value);
    set(&mut flows, last, |flow, value| flow.last_delay = value);
    Ok(flows)
}

fn read_links(table: &TableFile) -> Result<Vec<LinkRecord>, FolderFault> {
    let mut links = vec![LinkRecord::default(); table.rows()];
    let sent = table.u64("sent_packets")?;
    let waiting = delays(table, "queue_delay", &sent)?;
    set(&mut links, table.text("from")?, |link, value| link.from = value);
    set(&mut links, table.text("to")?, |link, value| link.to = value);
    let rates = table.f64("rate_mbps", |value| whole(value?, 1e6).map(BitRate::from_bps))?;
    set(&mut links, rates, |link, value| link.rate = value);
    let rates = table.f64("mean_rate_mbps", |value| whole(value?, 1e6).map(BitRate::from_bps))?;
    set(&mut links, rates, |link, value| link.mean_rate = value);
    set(&mut links, table.f64("delay_ms", |value| millis(value?))?, |link, value| link.delay = value);
    set(&mut links, table.u64("offered_packets")?, |link, value| link.offered_packets = value);
    set(&mut links, sent, |link, value| link.sent_packets = value);
    let bytes = table.u64("sent_bytes")?;
    set(&mut links, bytes, |link, value| link.sent_bytes = ByteCount::new(value));
    set_counts!(links, table; delivered_packets, dropped_packets, lost_packets, sent_frames, lost_frames, resent_frames, marked_packets, stored_packets, released_packets, notices, peak_queue_packets);
    set(&mut links, waiting, |link, value| link.queue_delay = value);
    Ok(links)
}

fn read_nodes(table: &TableFile) -> Result<Vec<NodeRecord>, FolderFault> {
    let mut nodes = vec![NodeRecord::default(); table.rows()];
    set(&mut nodes, table.text("node")?, |node, value| node.name = value);
    set_counts!(nodes, table; cache_hits, cache_misses, cached_packets, service_drops, pit_peak_entries);
    set(&mut nodes, table.u64("timer_wakeups")?, |node, value| node.wakeups = value);
    Ok(nodes)
}

fn read_media(table: &TableFile) -> Result<Vec<MediumRecord>, FolderFault> {
    let mut media = vec![MediumRecord::default(); table.rows()];
    let busy = table.f64("busy_s", |value| whole(value?, 1e9).map(Span::from_nanos))?;
    set(&mut media, table.text("medium")?, |medium, value| medium.name = value);
    set(&mut media, busy, |medium, value| medium.busy = value);
    set_counts!(media, table; transmissions, collisions, retries, delivered_frames, given_up_frames);
    Ok(media)
}

fn read_flow_samples(table: &TableFile) -> Result<FlowSamples, FolderFault> {
    Ok(FlowSamples {
        time: times(table, "time_s")?,
        flow: table.u32("flow")?,
        window_packets: table.f32("window_packets", |value| Some(value.unwrap_or(f32::INFINITY)))?,
        in_flight_packets: table.u32("in_flight_packets")?,
        delivered_segments: table.u64("delivered_segments")?,
        smoothed_rtt: table.f32("smoothed_rtt_ms", |value| match value {
            None => Some(Span::ZERO),
            Some(value) => short_millis(value),
        })?,
        pacing_per_second: table.f32("pacing_per_second", |value| Some(value.unwrap_or(f32::INFINITY)))?,
        marks: table.u32("marks")?,
        retransmissions: table.u32("retransmissions")?,
    })
}

fn read_link_samples(table: &TableFile) -> Result<LinkSamples, FolderFault> {
    Ok(LinkSamples {
        time: times(table, "time_s")?,
        link: table.u32("link")?,
        queue_packets: table.u32("queue_packets")?,
        queue_bytes: table.u32("queue_bytes")?,
        sent_bytes: table.u64("sent_bytes")?,
        dropped_packets: table.u32("dropped_packets")?,
        stored_packets: table.u32("side_store_packets")?,
        marked_packets: table.u32("marked_packets")?,
        lost_packets: table.u32("lost_packets")?,
    })
}

/// Puts one column into the records, row by row.
fn set<R, V>(records: &mut [R], values: Vec<V>, put: impl Fn(&mut R, V)) {
    for (record, value) in records.iter_mut().zip(values) {
        put(record, value);
    }
}

/// The six columns of a delay; `counts` are the numbers of delays behind them.
fn delays(table: &TableFile, stem: &str, counts: &[u64]) -> Result<Vec<DelaySummary>, FolderFault> {
    let part = |part: &str| {
        table.f64(&format!("{stem}_{part}_ms"), |value| match value {
            None => Some(None),
            Some(value) => millis(value).map(Some),
        })
    };
    let [mean, min, p50, p95, p99, max] =
        [part("mean")?, part("min")?, part("p50")?, part("p95")?, part("p99")?, part("max")?];
    let delay = |row: usize| {
        Some(DelaySummary {
            // A record with delays has at least one of them, whatever the count of packets sent.
            count: counts[row].max(1),
            mean: mean[row]?,
            min: min[row]?,
            p50: p50[row]?,
            p95: p95[row]?,
            p99: p99[row]?,
            max: max[row]?,
        })
    };
    Ok((0..counts.len()).map(|row| delay(row).unwrap_or_default()).collect())
}

fn times(table: &TableFile, column: &str) -> Result<Vec<Time>, FolderFault> {
    table.f64(column, |value| seconds(value?))
}

fn maybe_times(table: &TableFile, column: &str) -> Result<Vec<Option<Time>>, FolderFault> {
    table.f64(column, |value| match value {
        None => Some(None),
        Some(value) => seconds(value).map(Some),
    })
}

fn seconds(value: f64) -> Option<Time> {
    whole(value, 1e9).map(Time::from_nanos)
}

fn millis(value: f64) -> Option<Span> {
    whole(value, 1e6).map(Span::from_nanos)
}

fn short_millis(value: f32) -> Option<Span> {
    let is_same = |nanos: u64| (nanos as f64 / 1e6) as f32 == value;
    nearest(f64::from(value) * 1e6, is_same).map(Span::from_nanos)
}

/// The integer that, divided by `scale`, is exactly `value`; `None` if there is none.
fn whole(value: f64, scale: f64) -> Option<u64> {
    nearest(value * scale, |number| (number as f64 / scale).to_bits() == value.to_bits())
}

/// The integer nearest to `estimate` that passes `is_same`.
///
/// Division and multiplication round by half a unit in the last place each, so at most two steps are
/// needed: of one below 2^53, of a unit in the last place above.
fn nearest(estimate: f64, is_same: impl Fn(u64) -> bool) -> Option<u64> {
    let middle = estimate.round();
    let (up, down) = (middle.next_up(), middle.next_down());
    let candidates = [
        middle,
        middle - 1.0,
        middle + 1.0,
        middle - 2.0,
        middle + 2.0,
        up,
        down,
        up.next_up(),
        down.next_down(),
    ];
    let whole = candidates.into_iter().filter(|number| *number >= 0.0).map(|number| number.round() as u64);
    whole.into_iter().find(|number| is_same(*number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::folder::{table_path, write_folder};
    use parquet::file::reader::FileReader;

    #[test]
    fn a_forged_file_whose_checksum_holds_is_an_error_and_no_panic() -> Result<(), Box<dyn std::error::Error>>
    {
        let dir = std::env::temp_dir().join(format!("tidegate-forged-{}", std::process::id()));
        let names = ["one", "two", "one", "three"];
        let flow = |name: &str| FlowRecord { name: name.to_owned(), ..FlowRecord::default() };
        let run = RunRecord { flows: names.map(flow).to_vec(), ..RunRecord::default() };
        write_folder(&dir, &[run], &RunContext::default())?;
        let path = table_path(&dir, "flows");
        let sound = std::fs::read(&path)?;
        let table = TableFile::open(path.clone(), "flows")?;
        let columns = table.reader.metadata().row_group(0).columns();
        let column =
            columns.iter().find(|column| column.column_descr().name() == "name").ok_or("no names")?;
        // Its pages: first that of the dictionary.
        let (start, len) = column.byte_range();
        let (mut read, mut refused) = (0, 0);
        for at in start as usize..(start + len) as usize {
            for value in [0, 1, 2, 6, 24, 0x7F, 0xFF, sound[at] ^ 1, sound[at].wrapping_add(2)] {
                let mut forged = sound.clone();
                forged[at] = value;
                std::fs::write(&path, forged)?;
                match TableFile::open(path.clone(), "flows").and_then(|table| table.text("name")) {
                    Ok(found) => read += usize::from(found.len() == names.len()),
                    Err(why) => refused += usize::from(!why.to_string().is_empty()),
                }
            }
        }
        std::fs::remove_dir_all(dir)?;
        assert!(read > 20 && refused > 100, "{read} read, {refused} refused");
        Ok(())
    }

    #[test]
    fn nanoseconds_survive_seconds_and_milliseconds_up_to_52_days() {
        let mut state = 1u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let nanos = (state >> 12) >> (state % 52);
            assert_eq!(whole(nanos as f64 / 1e9, 1e9), Some(nanos));
            assert_eq!(whole(nanos as f64 / 1e6, 1e6), Some(nanos));
        }
        assert_eq!(whole((1u64 << 52) as f64 / 1e9, 1e9), Some(1 << 52));
    }

    #[test]
    fn longer_times_come_back_as_the_same_number_in_the_table() {
        for nanos in [u64::MAX, u64::MAX - 4096, (1 << 63) + 12_345, (1 << 53) + 1, (1 << 54) - 1] {
            for scale in [1e9, 1e6] {
                let value = nanos as f64 / scale;
                let back = whole(value, scale).unwrap_or_else(|| panic!("{nanos} / {scale}"));
                assert_eq!(back as f64 / scale, value);
            }
        }
    }

    #[test]
    fn a_number_that_no_record_makes_is_refused() {
        for value in [-1.0, -0.0, f64::NAN, f64::INFINITY, 1e300, 0.1 + 1e-12] {
            assert_eq!(whole(value, 1e9), None, "{value}");
        }
    }
}
