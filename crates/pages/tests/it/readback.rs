use std::fs;
use std::path::{Path, PathBuf};

use tidegate_core::hash;
use tidegate_core::observe::records::{
    DelaySummary, FlowRecord, LinkRecord, MediumRecord, NodeRecord, RunRecord,
};
use tidegate_core::units::{BitRate, ByteCount, Span, Time};
use tidegate_results::tables::{self, RunContext};

use crate::invented;

const NAMES: [&str; 7] = ["runs", "flows", "links", "nodes", "media", "flow_samples", "link_samples"];

/// An empty folder of the test `name`.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readback").join(name);
    if path.exists() {
        fs::remove_dir_all(&path).expect("an old folder goes");
    }
    fs::create_dir_all(&path).expect("a new folder");
    path
}

fn context(first_run: u32) -> RunContext {
    RunContext {
        scenario_text: "name = \"dumbbell\"\n".into(),
        semantics: 7,
        code: "0123abcd".into(),
        first_run,
        ..RunContext::default()
    }
}

/// Name and content of every file directly in `dir`.
fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(dir).expect("a folder").map(|entry| entry.expect("an entry"));
    let mut files: Vec<_> = entries
        .filter(|entry| entry.path().is_file())
        .map(|entry| {
            (entry.file_name().into_string().expect("UTF-8"), fs::read(entry.path()).expect("a file"))
        })
        .collect();
    files.sort();
    files
}

fn assert_same_files(left: &Path, right: &Path) {
    let (left, right) = (files(left), files(right));
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|file| file.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(&left), names(&right));
    for (left, right) in left.iter().zip(&right) {
        assert!(left.1 == right.1, "{} differs: {} and {} bytes", left.0, left.1.len(), right.1.len());
    }
}

/// Numbers that depend on the seed alone (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// 0..2^bits, small numbers as often as large ones.
    fn up_to(&mut self, bits: u64) -> u64 {
        let shift = 64 - bits + self.next() % bits;
        self.next() >> shift
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn small(&mut self) -> u32 {
        self.up_to(32) as u32
    }

    fn span(&mut self) -> Span {
        Span::from_nanos(self.up_to(52))
    }

    fn time(&mut self) -> Time {
        Time::from_nanos(self.up_to(52))
    }

    fn text(&mut self) -> String {
        ["", "c1", "p,\"1\"", "/a/b", "ü→\n", "catchunks-cubic"][self.below(6) as usize].to_owned()
    }

    fn delay(&mut self, count: u64) -> DelaySummary {
        match count {
            0 => DelaySummary::default(),
            count => DelaySummary {
                count,
                mean: self.span(),
                min: self.span(),
                p50: self.span(),
                p95: self.span(),
                p99: self.span(),
                max: self.span(),
            },
        }
    }

    fn flow(&mut self) -> FlowRecord {
        let delivered = self.up_to(64);
        FlowRecord {
            name: self.text(),
            consumer: self.text(),
            producer: self.text(),
            prefix: self.text(),
            scheme: self.text(),
            start: self.time(),
            completed: (self.below(2) == 0).then(|| self.time()),
            stopped: (self.below(2) == 0).then(|| self.time()),
            segments: (self.below(2) == 0).then(|| self.up_to(64)),
            delivered_segments: delivered,
            delivered_payload: ByteCount::new(self.up_to(64)),
            interests: self.up_to(40),
            retransmissions: self.up_to(40),
            timeouts: self.up_to(40),
            duplicates: self.up_to(64),
            nacks: self.up_to(64),
            marks: self.up_to(64),
            loss_notices: self.up_to(64),
            abandoned: self.up_to(64),
            full_delay: self.delay(delivered >> 8 << 8),
            last_delay: DelaySummary::default(),
            final_window_packets: match self.below(3) {
                0 => f64::INFINITY,
                _ => self.up_to(60) as f64 / 1e7,
            },
        }
    }

    fn link(&mut self) -> LinkRecord {
        let sent = self.up_to(40);
        LinkRecord {
            from: self.text(),
            to: self.text(),
            rate: BitRate::from_bps(self.up_to(52)),
            mean_rate: BitRate::from_bps(self.up_to(52)),
            delay: self.span(),
            offered_packets: self.up_to(64),
            sent_packets: sent,
            sent_bytes: ByteCount::new(self.up_to(64)),
            delivered_packets: self.up_to(64),
            dropped_packets: self.up_to(40),
            lost_packets: self.up_to(40),
            sent_frames: self.up_to(64),
            lost_frames: self.up_to(64),
            resent_frames: self.up_to(64),
            marked_packets: self.up_to(40),
            stored_packets: self.up_to(64),
            released_packets: self.up_to(64),
            notices: self.up_to(64),
            peak_queue_packets: self.up_to(64),
            queue_delay: self.delay(sent),
        }
    }

    fn node(&mut self) -> NodeRecord {
        NodeRecord {
            name: self.text(),
            cache_hits: self.up_to(64),
            cache_misses: self.up_to(64),
            cached_packets: self.up_to(64),
            service_drops: self.up_to(64),
            pit_peak_entries: self.up_to(64),
            wakeups: self.up_to(64),
        }
    }

    fn medium(&mut self) -> MediumRecord {
        MediumRecord {
            name: self.text(),
            busy: self.span(),
            transmissions: self.up_to(64),
            collisions: self.up_to(64),
            retries: self.up_to(64),
            delivered_frames: self.up_to(64),
            given_up_frames: self.up_to(64),
        }
    }

    /// A record that need not make sense but counts its delays as the record defines them.
    fn run(&mut self) -> RunRecord {
        let mut run = RunRecord {
            scenario: self.text(),
            seed: self.next(),
            ended: self.time(),
            packet_hops: self.up_to(64),
            flows: (0..self.below(4)).map(|_| self.flow()).collect(),
            links: (0..self.below(4)).map(|_| self.link()).collect(),
            nodes: (0..self.below(4)).map(|_| self.node()).collect(),
            media: (0..self.below(3)).map(|_| self.medium()).collect(),
            ..RunRecord::default()
        };
        for flow in &mut run.flows {
            flow.delivered_segments = flow.delivered_segments >> 8 << 8;
            flow.last_delay = self.delay(flow.delivered_segments);
        }
        for _ in 0..self.below(40) {
            let samples = &mut run.flow_samples;
            samples.time.push(self.time());
            samples.flow.push(self.small());
            samples.window_packets.push(if self.below(3) == 0 {
                f32::INFINITY
            } else {
                self.small() as f32 / 7.0
            });
            samples.in_flight_packets.push(self.small());
            samples.delivered_segments.push(self.up_to(64));
            samples.smoothed_rtt.push(self.span());
            let paced = self.small().is_multiple_of(2);
            samples.pacing_per_second.push(if paced { self.small() as f32 } else { f32::INFINITY });
            samples.marks.push(self.small());
            samples.retransmissions.push(self.small());
        }
        for _ in 0..self.below(40) {
            let samples = &mut run.link_samples;
            samples.time.push(self.time());
            samples.link.push(self.small());
            samples.queue_packets.push(self.small());
            samples.queue_bytes.push(self.small());
            samples.sent_bytes.push(self.up_to(64));
            samples.dropped_packets.push(self.small());
            samples.stored_packets.push(self.small());
            samples.marked_packets.push(self.small());
            samples.lost_packets.push(self.small());
        }
        run
    }
}

#[test]
fn a_run_read_back_is_the_run_but_for_the_short_round_trip_times() {
    let dir = folder("lossless").join("1");
    for seed in 0..60 {
        let mut run = Random(seed).run();
        tables::write_folder(&dir, &[run.clone()], &context(0)).expect("written");
        let mut back = tables::read_run(&dir).expect("read");
        let short = |span: &Span| (span.as_millis_f64() as f32).to_bits();
        let rtts = |run: &RunRecord| run.flow_samples.smoothed_rtt.iter().map(short).collect::<Vec<_>>();
        assert_eq!(rtts(&back), rtts(&run), "seed {seed}");
        run.flow_samples.smoothed_rtt.clear();
        back.flow_samples.smoothed_rtt.clear();
        assert_eq!(back, run, "seed {seed}");
    }
}

#[test]
fn tables_of_a_run_read_back_are_the_same_bytes() {
    let root = folder("bytes");
    let (first, second) = (root.join("first"), root.join("second"));
    for seed in 1000..1060 {
        tables::write_folder(&first, &[Random(seed).run()], &context(3)).expect("written");
        tables::write_folder(&second, &[tables::read_run(&first).expect("read")], &context(3))
            .expect("written");
        assert_same_files(&first, &second);
    }
}

#[test]
fn a_summary_is_the_run_without_samples_and_needs_no_sample_files_intact() {
    let dir = folder("summary").join("1");
    tables::write_folder(&dir, &[Random(5).run()], &context(0)).expect("written");
    let run = tables::read_run(&dir).expect("read");
    assert!(!run.flow_samples.time.is_empty());
    fs::write(dir.join("flow_samples.parquet"), "gone").expect("damaged");
    let expected = RunRecord { flow_samples: Default::default(), link_samples: Default::default(), ..run };
    assert_eq!(tables::read_run_summary(&dir).expect("read"), expected);
    assert!(tables::read_run(&dir).is_err() && tables::check_folder(&dir).is_err());
}

#[test]
fn a_folder_says_scenario_semantics_code_and_number_of_its_first_run() {
    let dir = folder("context").join("1");
    tables::write_folder(&dir, &[Random(5).run(), Random(6).run()], &context(41)).expect("written");
    let found = tables::read_context(&dir).expect("read");
    assert_eq!(
        (found.scenario_text.as_str(), found.semantics, found.code.as_str(), found.first_run),
        ("name = \"dumbbell\"\n", 7, "0123abcd", 41)
    );
}

#[test]
fn writing_again_replaces_the_folder_and_clears_what_a_killed_process_left() {
    let root = folder("replace");
    let (dir, part) = (root.join("1"), root.join("1.part"));
    tables::write_folder(&dir, &[invented::dumbbell(1)], &context(0)).expect("written");
    assert!(dir.join("events.parquet").exists());
    fs::create_dir(&part).expect("a folder");
    fs::write(part.join("runs.parquet"), "half").expect("a file");
    tables::write_folder(&dir, &[Random(2).run()], &context(0)).expect("written");
    assert!(!part.exists() && !root.join("1.old").exists() && !dir.join("events.parquet").exists());
    assert_eq!(tables::read_run(&dir).expect("read").seed, Random(2).run().seed);
}

#[test]
fn a_folder_with_something_else_in_it_is_not_replaced() {
    let dir = folder("foreign").join("1");
    fs::create_dir(&dir).expect("a folder");
    fs::write(dir.join("thesis.tex"), "years of work").expect("a file");
    let fault = tables::write_folder(&dir, &[Random(2).run()], &context(0)).expect_err("refused");
    let expected = format!(
        "{}: holds \"thesis.tex\"; expected a folder of tables alone, or none, to replace",
        dir.display()
    );
    assert_eq!(fault.to_string(), expected);
    assert!(dir.join("thesis.tex").exists());
}

/// Writes one folder per run and returns them in order.
fn write_parts(root: &Path, runs: &[RunRecord]) -> Vec<PathBuf> {
    let write = |(number, run): (u32, &RunRecord)| {
        let dir = root.join(number.to_string());
        tables::write_folder(&dir, std::slice::from_ref(run), &context(number)).expect("written");
        dir
    };
    (0..).zip(runs).map(write).collect()
}

#[test]
fn merged_tables_have_the_rows_and_metadata_of_the_batch_built_at_once() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let root = folder("merge");
    let runs = [Random(1).run(), invented::dumbbell(2), RunRecord::default(), Random(4).run()];
    let parts = write_parts(&root.join("seeds"), &runs);
    tables::merge(&parts, &root).expect("merged");
    tables::check_folder(&root).expect("finished");
    for table in tables::build(&runs, &context(0)) {
        let mut bytes = Vec::new();
        table.write_parquet(&mut bytes).expect("writing to memory");
        let whole = SerializedFileReader::new(bytes::Bytes::from(bytes)).expect("a parquet file");
        let merged = fs::read(root.join(format!("{}.parquet", table.name))).expect("a file");
        let merged = SerializedFileReader::new(bytes::Bytes::from(merged)).expect("a parquet file");
        let (whole_meta, merged_meta) = (whole.metadata().file_metadata(), merged.metadata().file_metadata());
        assert_eq!(merged_meta.key_value_metadata(), whole_meta.key_value_metadata(), "{}", table.name);
        assert_eq!(merged_meta.created_by(), whole_meta.created_by());
        let rows = |reader: &SerializedFileReader<bytes::Bytes>| {
            reader
                .get_row_iter(None)
                .expect("rows")
                .map(|row| row.expect("a row").to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(rows(&merged), rows(&whole), "{}", table.name);
    }
}

#[test]
fn an_interrupted_batch_ends_in_the_same_bytes() {
    let root = folder("resume");
    let runs: Vec<RunRecord> = (0..5).map(|seed| Random(seed).run()).collect();
    let (at_once, resumed) = (root.join("at_once"), root.join("resumed"));
    tables::merge(&write_parts(&at_once.join("seeds"), &runs), &at_once).expect("merged");
    let parts = write_parts(&resumed.join("seeds"), &runs);
    tables::merge(&parts[..2], &resumed).expect("merged");
    for (number, part) in (0..5).zip(&parts).rev() {
        let run = tables::read_run(part).expect("read");
        tables::write_folder(part, &[run], &context(number)).expect("written");
    }
    tables::merge(&parts, &resumed).expect("merged");
    assert_same_files(&at_once, &resumed);
}

#[test]
fn a_part_of_another_scenario_is_refused_and_the_old_tables_stay() {
    let root = folder("mixed");
    let mut parts = write_parts(&root.join("seeds"), &[Random(1).run(), Random(2).run()]);
    tables::merge(&parts, &root).expect("merged");
    let before = files(&root);
    let other = RunContext { scenario_text: "other".into(), ..context(2) };
    parts.push(root.join("seeds/2"));
    tables::write_folder(&parts[2], &[Random(3).run()], &other).expect("written");
    let fault = tables::merge(&parts, &root).expect_err("refused").to_string();
    let file = parts[2].join("runs.parquet");
    assert_eq!(fault, format!("{}: its metadata \"scenario\" differs from the first part's", file.display()));
    assert_eq!(files(&root), before);
}

#[test]
fn a_merged_folder_or_an_unfinished_one_is_not_a_run() {
    let root = folder("not_a_run");
    let parts = write_parts(&root.join("seeds"), &[Random(1).run(), Random(2).run()]);
    tables::merge(&parts, &root).expect("merged");
    let fault = tables::read_run_summary(&root).expect_err("two runs").to_string();
    assert!(fault.ends_with("runs.parquet: holds 2 runs; expected one"), "{fault}");
    fs::remove_file(parts[1].join("checksums.txt")).expect("removed");
    let expected =
        format!("{}: has no checksums.txt; expected the folder of finished runs", parts[1].display());
    assert_eq!(tables::read_run(&parts[1]).expect_err("unfinished").to_string(), expected);
    assert_eq!(tables::merge(&parts, &root).expect_err("unfinished").to_string(), expected);
}

#[test]
fn truncated_and_flipped_files_are_named_and_never_read_as_something_else() {
    let root = folder("damage");
    let dir = root.join("1");
    tables::write_folder(&dir, &[Random(9).run()], &context(0)).expect("written");
    let whole = tables::read_run(&dir).expect("read");
    let mut random = Random(77);
    for name in NAMES.map(|name| format!("{name}.parquet")).into_iter().chain(["checksums.txt".into()]) {
        let path = dir.join(&name);
        let bytes = fs::read(&path).expect("a file");
        for trial in 0..60 {
            let mut damaged = bytes.clone();
            let at = random.below(bytes.len() as u64) as usize;
            match trial % 2 {
                0 => damaged.truncate(at),
                _ => damaged[at] ^= 1 << random.below(8),
            }
            fs::write(&path, &damaged).expect("damaged");
            match tables::read_run(&dir) {
                // The letter case of a checksum's digits says nothing.
                Ok(run) => assert!(name == "checksums.txt" && run == whole, "{name}, byte {at}"),
                Err(fault) => assert!(fault.to_string().starts_with(dir.to_str().expect("UTF-8")), "{fault}"),
            }
            if name != "checksums.txt" {
                let fault =
                    tables::merge(std::slice::from_ref(&dir), &root.join("out")).expect_err("damaged");
                assert!(fault.to_string().starts_with(path.to_str().expect("UTF-8")), "{fault}");
            }
        }
        fs::write(&path, &bytes).expect("repaired");
    }
    assert_eq!(tables::read_run(&dir).expect("read"), whole);
}

/// Length and FNV-1a hash as `checksums.txt` lists them, for forging.
fn checksum_line(name: &str, bytes: &[u8]) -> String {
    let hash = hash::fnv1a(hash::EMPTY, bytes);
    format!("{hash:016x} {} {name}\n", bytes.len())
}

fn forge(dir: &Path) {
    let tables = files(dir).into_iter().filter(|(name, _)| name.ends_with(".parquet"));
    let lines: String = tables.map(|(name, bytes)| checksum_line(&name, &bytes)).collect();
    fs::write(dir.join("checksums.txt"), lines).expect("a file");
}

#[test]
fn a_file_that_is_compressed_otherwise_is_refused() {
    let dir = folder("codec").join("1");
    tables::write_folder(&dir, &[invented::dumbbell(9)], &context(0)).expect("written");
    let path = dir.join("flows.parquet");
    let mut bytes = fs::read(&path).expect("a file");
    // The codec follows the path of a column in its chunk's metadata: 1 is Snappy, 6 Zstandard (zigzag: 2, 12).
    let place = bytes.windows(9).rposition(|window| window == b"\x19\x18\x04name\x15\x02");
    bytes[place.expect("a codec") + 8] = 12;
    fs::write(&path, &bytes).expect("written");
    forge(&dir);
    let fault = tables::read_run(&dir).expect_err("another codec").to_string();
    let expected = "is compressed with ZSTD, as up to version 0.2.0; expected SNAPPY: run the scenario again";
    assert_eq!(fault, format!("{}: {expected}", path.display()));
}

#[test]
fn a_foreign_file_is_refused_even_with_a_checksum_that_agrees() {
    let dir = folder("forged").join("1");
    tables::write_folder(&dir, &[Random(9).run()], &context(0)).expect("written");
    let listed = fs::read(dir.join("checksums.txt")).expect("a file");
    forge(&dir);
    let mut lines: Vec<String> = String::from_utf8_lossy(&listed).lines().map(str::to_owned).collect();
    lines.sort();
    let mut forged: Vec<String> =
        fs::read_to_string(dir.join("checksums.txt")).expect("a file").lines().map(str::to_owned).collect();
    forged.sort();
    assert_eq!(forged, lines);
    fs::copy(dir.join("links.parquet"), dir.join("flows.parquet")).expect("copied");
    forge(&dir);
    let fault = tables::read_run(&dir).expect_err("foreign").to_string();
    assert!(fault.ends_with("flows.parquet: its columns are not those of the table \"flows\""), "{fault}");
    fs::write(dir.join("flows.parquet"), "PAR1 but not really PAR1").expect("a file");
    forge(&dir);
    let fault = tables::read_run(&dir).expect_err("foreign").to_string();
    assert!(fault.contains("flows.parquet: is not a Parquet file: "), "{fault}");
}
