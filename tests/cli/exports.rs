//! `tidegate export`: what other tools will read is what the results say.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bytes::Bytes;
use tidegate_core::ndn::name::NameTable;
use tidegate_wire::{DataView, InterestView, decode_frame};

use crate::{DUMBBELL, Scratch, tidegate};
use support::json::Value;
use support::skipped::skipped;

/// The folder of one short run, in which links lose packets, queues mark, and stores answer.
fn results(scratch: &Scratch) -> PathBuf {
    let sets = [
        "topology.bottleneck.loss.probability=0.01",
        "router.cache=200pkt",
        "scenario.duration=3s",
        "event.0.at=2s",
        "router.router_parts=[]",
        "topology.bottleneck.queue.limit=20pkt",
        "topology.bottleneck.queue.disciplines=[{ scheme = \"codel-mark\", target = \"2ms\", interval = \"20ms\" }]",
    ];
    let sets = sets.iter().flat_map(|set| ["--set", *set]);
    let run = ["run", DUMBBELL, "--seeds", "2", "--out", scratch.path()];
    tidegate(&run.into_iter().chain(sets).collect::<Vec<_>>()).with(0);
    scratch.only_folder()
}

fn export(folder: &Path, arguments: &[&str]) -> Vec<PathBuf> {
    let folder = folder.to_str().expect("text");
    let document =
        tidegate(&[&["--format", "json", "export", folder][..], arguments].concat()).with(0).json();
    document.get("files").list().iter().map(|file| PathBuf::from(file.text())).collect()
}

/// The rows of a text table under its head line.
fn rows(path: &Path, separator: char) -> (Vec<String>, Vec<Vec<String>>) {
    let text = fs::read_to_string(path).expect("readable");
    let split = |line: &str| line.split(separator).map(str::to_owned).collect::<Vec<_>>();
    let mut lines = text.lines();
    (split(lines.next().expect("a head line")), lines.map(split).collect())
}

/// The column `name` of the rows that `keep` keeps, added up.
fn sum(table: &(Vec<String>, Vec<Vec<String>>), name: &str, keep: impl Fn(&[String]) -> bool) -> f64 {
    let column = table.0.iter().position(|head| head == name).unwrap_or_else(|| panic!("no column {name}"));
    let values = table.1.iter().filter(|row| keep(row)).map(|row| row[column].parse::<f64>());
    values.sum::<Result<f64, _>>().expect("numbers")
}

#[test]
fn every_table_becomes_csv_with_its_rows_and_values() {
    let scratch = Scratch::new("export-csv");
    let files = export(&results(&scratch), &["--to", "csv"]);
    let names: Vec<&str> =
        files.iter().map(|file| file.file_stem().and_then(|name| name.to_str()).unwrap()).collect();
    assert_eq!(&names[..7], ["runs", "flows", "links", "nodes", "media", "flow_samples", "link_samples"]);
    let flows = rows(&files[1], ',');
    assert_eq!(flows.1.len(), 2);
    assert!(flows.1.iter().all(|row| row.len() == flows.0.len()));
    // 300 samples of 10 ms, and the first at 0, for two seeds.
    let samples = rows(&files[5], ',');
    assert!((600..=602).contains(&samples.1.len()), "{}", samples.1.len());
    let time = samples.0.iter().position(|name| name == "time_s").expect("samples have a time");
    let last = |seed: &str| {
        let of_seed = |row: &&Vec<String>| row[1] == seed;
        samples.1.iter().rfind(of_seed).expect("samples")[time].parse::<f64>().expect("a time")
    };
    assert!(last("1") > 0.0 && last("2") > 0.0);
}

#[test]
fn traces_of_ndnsim_have_its_columns_and_add_up_to_the_results() {
    let scratch = Scratch::new("export-ndnsim");
    let folder = results(&scratch);
    let flows = rows(&export(&folder, &["--to", "csv"])[1], ',');
    let links = rows(&folder.join("export/links.csv"), ',');
    let files = export(&folder, &["--to", "ndnsim", "--period", "500ms"]);
    let [rate, drop, delays, cache] = &files[..] else { panic!("{files:?}") };

    let rate = rows(rate, '\t');
    let head =
        ["Time", "Node", "FaceId", "FaceDescr", "Type", "Packets", "Kilobytes", "PacketRaw", "KilobytesRaw"];
    assert_eq!(rate.0, head);
    assert!(rate.1.iter().all(|row| row.len() == head.len()));
    let of_seed_1 = |row: &[String]| row[1] == "1";
    let is = |node: &'static str, face: &'static str, kind: &'static str| {
        move |row: &[String]| row[1] == node && row[2] == face && row[4] == kind
    };
    // What the consumer sent is what its device put out, less what its queue still has.
    let interests = sum(&flows, "interests", of_seed_1);
    let put_out = sum(&rate, "PacketRaw", is("c1", "256", "OutInterests"));
    assert!(put_out <= interests && interests - put_out < 10.0, "{put_out} of {interests}");
    let delivered = sum(&flows, "delivered_segments", of_seed_1);
    let satisfied = sum(&rate, "PacketRaw", is("c1", "257", "InSatisfiedInterests"));
    assert_eq!(satisfied, delivered);
    // Bytes on the link, in kilobytes of 1024.
    let from_r1 = |row: &[String]| of_seed_1(row) && row.contains(&"r1".to_owned());
    let is_bottleneck = |row: &[String]| {
        from_r1(row)
            && row.iter().position(|cell| cell == "r1") < row.iter().position(|cell| cell == "r2")
            && row.contains(&"r2".to_owned())
    };
    let sent = sum(&links, "sent_bytes", is_bottleneck);
    let kilobytes = sum(&rate, "KilobytesRaw", is("r1", "258", "OutInterests"))
        + sum(&rate, "KilobytesRaw", is("r1", "258", "OutData"));
    assert!((kilobytes * 1024.0 - sent).abs() < 1.0, "{kilobytes} KiB of {sent} B");

    let drop = rows(drop, '\t');
    assert_eq!(
        drop.0,
        ["Time", "Node", "Interface", "Type", "Packets", "Kilobytes", "PacketsRaw", "KilobytesRaw"]
    );
    let dropped = sum(&links, "dropped_packets", of_seed_1);
    assert!(dropped > 0.0);
    assert_eq!(sum(&drop, "PacketsRaw", |_| true), dropped);

    let delays = rows(delays, '\t');
    let head = ["Time", "Node", "AppId", "SeqNo", "Type", "DelayS", "DelayUS", "RetxCount", "HopCount"];
    assert_eq!(delays.0, head);
    assert_eq!(delays.1.len() as f64, 2.0 * delivered);
    let is_full = |row: &[String]| row[4] == "FullDelay";
    let mean_ms = sum(&delays, "DelayUS", is_full) / delivered / 1e3;
    assert!((mean_ms - sum(&flows, "full_delay_mean_ms", of_seed_1)).abs() < 1e-3, "{mean_ms}");
    // From the producer over three links, or from a store nearer by.
    let hops: BTreeMap<&str, usize> = delays.1.iter().fold(BTreeMap::new(), |mut seen, row| {
        *seen.entry(row[8].as_str()).or_default() += 1;
        seen
    });
    assert!(hops.keys().all(|hops| ["1", "2", "3"].contains(hops)) && hops["3"] > 100, "{hops:?}");

    let cache = rows(cache, '\t');
    assert_eq!(cache.0, ["Time", "Node", "Type", "Packets", ""]);
    assert!(sum(&cache, "Packets", |row| row[2] == "CacheHits") > 0.0);
    assert!(sum(&cache, "Packets", |row| row[2] == "CacheMisses") > 1000.0);
}

#[test]
fn qlog_files_are_sequences_of_json_records() {
    let scratch = Scratch::new("export-qlog");
    let files = export(&results(&scratch), &["--to", "qlog"]);
    assert_eq!(files.len(), 2);
    let mut names = BTreeMap::<String, usize>::new();
    for file in &files {
        let text = fs::read_to_string(file).expect("readable");
        let mut records = text.split('\u{1e}').skip(1).map(|record| Value::parse(record).expect("JSON"));
        let head = records.next().expect("a head");
        assert_eq!(head.get("serialization_format").text(), "application/qlog+json-seq");
        let mut last = 0.0;
        for record in records {
            let Value::Number(time) = record.get("time") else { panic!("no time in {record:?}") };
            assert!(*time >= last);
            last = *time;
            *names.entry(record.get("name").text().to_owned()).or_default() += 1;
        }
    }
    for name in ["ndn:interest_sent", "ndn:data_received", "ndn:window_changed", "ndn:packet_lost"] {
        assert!(names.contains_key(name), "{names:?}");
    }
}

/// The blocks of a pcapng file: type and body.
fn blocks(file: &[u8]) -> Vec<(u32, &[u8])> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes"));
    let (mut at, mut found) = (0, Vec::new());
    while at < file.len() {
        let len = word(at + 4) as usize;
        found.push((word(at), &file[at + 8..at + len - 4]));
        at += len;
    }
    found
}

#[test]
fn a_capture_holds_every_packet_of_every_link_and_each_is_an_ndn_packet() {
    let scratch = Scratch::new("export-pcapng");
    let folder = results(&scratch);
    let tables = export(&folder, &["--to", "csv"]);
    let links = rows(&tables[2], ',');
    let segments = sum(&rows(&tables[1], ','), "segments", |row| row[1] == "1");
    let file = &export(&folder, &["--to", "pcapng"])[0];
    let bytes = fs::read(file).expect("readable");
    let mut counts = [0u64; 4];
    let (mut names, mut marked) = (NameTable::new(), 0);
    for (kind, body) in blocks(&bytes) {
        if kind != 6 {
            continue;
        }
        // 20 bytes of block, then Ethernet, IPv4 and UDP.
        let udp_len = u16::from_be_bytes([body[20 + 38], body[20 + 39]]) as usize;
        let payload = Bytes::copy_from_slice(&body[20 + 42..20 + 34 + udp_len]);
        let frame = decode_frame(payload).expect("a link frame");
        let packet = frame.fragment.clone();
        let place = if frame.fields.loss_notice {
            3
        } else if frame.fields.nack.is_some() {
            2
        } else if let Ok(data) = DataView::parse(&packet) {
            assert!(data.header(&mut names).is_ok());
            assert_eq!(f64::from(data.final_segment().0) + 1.0, segments);
            1
        } else {
            let interest = InterestView::parse(&packet).expect("an Interest");
            assert!(interest.lifetime.is_some_and(|lifetime| lifetime.0 > 0), "{interest:?}");
            0
        };
        counts[place] += 1;
        marked += u64::from(frame.fields.hop.mark > 0);
    }
    let sent = sum(&links, "sent_packets", |row| row[1] == "1");
    assert_eq!(counts.iter().sum::<u64>() as f64, sent);
    assert!(counts[0] > 1000 && counts[1] > 1000 && marked > 0, "{counts:?}, {marked} marked");
    tshark_reads(file, sent as usize);
    python_ndn_reads(file, counts, marked);
}

/// So does python-ndn, with a pcapng reader of its own; every digest holds.
fn python_ndn_reads(file: &Path, [interests, data, nacks, _]: [u64; 4], marked: u64) {
    let Some(python) = std::env::var("TIDEGATE_PYTHON").ok().filter(|python| !python.is_empty()) else {
        return skipped(
            "captures read by python-ndn",
            "TIDEGATE_PYTHON does not name a Python with python-ndn installed",
        );
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/capture.py");
    let ended = Command::new(python).arg(script).arg(file).output().expect("TIDEGATE_PYTHON runs");
    let text = String::from_utf8_lossy(&ended.stdout);
    let expected = format!("interest={interests} data={data} nack={nacks} marked={marked}");
    assert_eq!(text.trim(), expected, "{}", String::from_utf8_lossy(&ended.stderr));
}

/// Wireshark's reader agrees, where it is installed.
fn tshark_reads(file: &Path, packets: usize) {
    let mut tshark = Command::new("tshark");
    tshark.args([
        "-o",
        "ip.check_checksum:TRUE",
        "-T",
        "fields",
        "-e",
        "ip.checksum.status",
        "-e",
        "udp.dstport",
    ]);
    let Ok(ended) = tshark.arg("-r").arg(file).output() else {
        return skipped("captures read by Wireshark", "tshark is not installed");
    };
    let text = String::from_utf8_lossy(&ended.stdout);
    assert_eq!(text.lines().count(), packets, "{}", String::from_utf8_lossy(&ended.stderr));
    // Status 1: the checksum is good.
    assert!(text.lines().all(|line| line == "1\t6363"), "{}", text.lines().next().unwrap_or(""));
}

#[test]
fn one_link_can_be_captured_alone_and_an_unknown_one_is_named() {
    let scratch = Scratch::new("export-link");
    let folder = results(&scratch);
    let whole = fs::metadata(&export(&folder, &["--to", "pcapng"])[0]).expect("there").len();
    let alone =
        fs::metadata(&export(&folder, &["--to", "pcapng", "--link", "r1-r2"])[0]).expect("there").len();
    assert!(alone < whole / 2, "{alone} of {whole}");
    let folder = folder.to_str().expect("text");
    let ended = tidegate(&["export", folder, "--to", "pcapng", "--link", "r1-r3"]).with(2);
    assert!(ended.err.contains("link \"r1-r3\" is not known; links: c1-r1"), "{}", ended.err);
}

#[test]
fn what_cannot_be_exported_is_refused_with_the_way_to_do_it() {
    let scratch = Scratch::new("export-refused");
    let refused = |arguments: &[&str], code: i32, expected: &str| {
        let ended = tidegate(arguments).with(code);
        assert!(ended.err.contains(expected), "{}", ended.err);
    };
    let out = scratch.path();
    refused(&["export", DUMBBELL, "--to", "csv", "--out", out], 1, "run the scenario first");
    refused(&["export", out, "--to", "csv"], 1, "has no scenario.toml");
    refused(&["export", DUMBBELL, "--to", "ndnsim", "--period", "5", "--out", out], 2, "--period");
    refused(&["export", DUMBBELL, "--to", "ndnsim", "--period", "1ns", "--out", out], 2, "at least 0.0001 s");
    refused(&["export", DUMBBELL, "--to", "qlog", "--period", "1s", "--out", out], 2, "--to ndnsim");
    refused(&["export", DUMBBELL, "--to", "csv", "--seed", "1", "--out", out], 2, "tables contain all seeds");
}

#[test]
fn results_of_another_making_are_not_mixed_with_a_new_run() {
    let scratch = Scratch::new("export-other");
    let folder = results(&scratch);
    let scenario = folder.join("scenario.toml");
    let text = fs::read_to_string(&scenario).expect("readable");
    fs::write(&scenario, text.replace("20pkt", "21pkt")).expect("writable");
    let ended = tidegate(&["export", folder.to_str().expect("text"), "--to", "qlog"]).with(1);
    assert!(ended.err.contains("gives results that differ"), "{}", ended.err);
    let ended = tidegate(&["export", folder.to_str().expect("text"), "--to", "qlog", "--seed", "9"]).with(1);
    assert!(
        ended.err.contains("no run with seed 9") && ended.err.contains("its runs have seeds 1, 2"),
        "{}",
        ended.err
    );
}

#[test]
fn results_hold_what_they_were_made_of_even_when_the_scenarios_files_are_gone() {
    let scratch = Scratch::new("export-kept");
    let there = |name: &str| format!("{}/{name}", scratch.path());
    let text = fs::read_to_string(DUMBBELL).expect("readable").replace(
        "loss = { model = \"bernoulli\", probability = 0.0 }",
        "loss = { model = \"trace\", file = \"../loss.txt\" }",
    );
    fs::create_dir(there("scenarios")).expect("writable");
    fs::write(there("scenarios/trace.toml"), &text).expect("writable");
    fs::write(there("loss.txt"), "0001".repeat(100)).expect("writable");
    let run =
        ["--format", "json", "run", &there("scenarios/trace.toml"), "--seeds", "1", "--out", &there("out")];
    let folder = tidegate(&run).with(0).json().get("folder").text().to_owned();
    fs::remove_file(there("loss.txt")).expect("removable");
    fs::remove_file(there("scenarios/trace.toml")).expect("removable");
    assert_eq!(export(Path::new(&folder), &["--to", "qlog"]).len(), 2);
}
