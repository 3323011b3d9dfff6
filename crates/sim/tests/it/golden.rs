//! Two flows of each consumer scheme on a dumbbell run as recorded; `UPDATE_GOLDEN=1` records anew.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use tidegate_core::observe::records::RunRecord;
use tidegate_core::scheme::Scheme;
use tidegate_schemes::{SCHEMES, find};
use tidegate_testkit::golden::Golden;

use crate::record;

const CASE: &str = "dumbbell.txt";

/// The router part that is recorded beside the consumers, and who asks through it.
const PLR: (&str, &str) = ("plr", "ndnsim-aimd");

fn consumers() -> impl Iterator<Item = &'static str> {
    SCHEMES.iter().filter(|scheme| scheme.consumer.is_some()).map(|scheme| scheme.name)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden")
}

/// 10 Mbit/s and 40 ms of round trip: 48 Data of 1040 B; 40 more fit the queue. The second flow starts at 1 s.
fn dumbbell(scheme: &str, router: &str) -> String {
    format!(
        "format = 1\n[scenario]\nname = \"dumbbell\"\nduration = \"5s\"\nsample = \"100ms\"\n[topology]\n\
         builtin = \"dumbbell\"\npairs = 2\naccess = {{ rate = \"100Mbps\", delay = \"5ms\" }}\n\
         bottleneck = {{ rate = \"10Mbps\", delay = \"10ms\", queue = {{ limit = \"40pkt\" }} }}\n{router}\n\
         [[flow]]\nconsumer = \"c1\"\nproducer = \"p1\"\nprefix = \"/a\"\nscheme = {scheme}\npayload = \"1000B\"\n\
         [[flow]]\nconsumer = \"c2\"\nproducer = \"p2\"\nprefix = \"/b\"\nscheme = {scheme}\npayload = \"1000B\"\n\
         start = \"1s\"\n"
    )
}

/// What `name` runs: a consumer, with the parts it brings for routers on its own, or routers that keep lost Data.
fn trace(name: &str) -> String {
    let has_parts = |scheme: &&Scheme| scheme.router.is_some() && scheme.controller.is_none();
    let parts = find(SCHEMES, name).filter(has_parts).map(|_| format!("[router]\nrouter_parts = [{name:?}]"));
    let scheme = match name {
        // The default of 10 packets would leave the link half empty.
        "fixed" => "{ name = \"fixed\", window = 40 }".to_owned(),
        _ if name == PLR.0 => format!("{:?}", PLR.1),
        _ => format!("{name:?}"),
    };
    table(name, &record(&dumbbell(&scheme, &parts.unwrap_or_default())))
}

/// One row per sample, whole packets; the queue is the bottleneck's towards the consumers.
fn table(name: &str, record: &RunRecord) -> String {
    let mut text =
        format!("# {name}: two flows over 10 Mbps and 40 ms, a queue of 40 packets; the second from 1 s\n");
    text.push_str("# t_ms  window  in_flight  window_2  in_flight_2  queue  stored  dropped\n");
    let (flows, links) = (&record.flow_samples, &record.link_samples);
    let directions = record.links.len();
    let bottleneck = record
        .links
        .iter()
        .position(|link| link.from == "r2" && link.to == "r1")
        .expect("the dumbbell has it");
    for row in 0..flows.time.len() / 2 {
        let (first, second, link) = (2 * row, 2 * row + 1, directions * row + bottleneck);
        assert_eq!((flows.flow[second], links.link[link] as usize), (1, bottleneck));
        writeln!(
            text,
            "{:6}  {:>6}  {:9}  {:>8}  {:11}  {:5}  {:6}  {:7}",
            flows.time[first].as_nanos() / 1_000_000,
            while_it_lasts(record, first, flows.window_packets[first]),
            flows.in_flight_packets[first],
            while_it_lasts(record, second, flows.window_packets[second]),
            flows.in_flight_packets[second],
            links.queue_packets[link],
            links.stored_packets[link],
            links.dropped_packets[link],
        )
        .expect("a string takes it");
    }
    let sums =
        record.flows.iter().map(|flow| format!("{}/{}", flow.delivered_segments, flow.retransmissions));
    writeln!(text, "# delivered/retransmitted: {}", sums.collect::<Vec<_>>().join(" ")).expect("as above");
    text
}

/// A whole number that a row of the samples has while its flow lasts, else a dash.
fn while_it_lasts(record: &RunRecord, row: usize, value: f32) -> String {
    let (time, flow) = (record.flow_samples.time[row], &record.flows[record.flow_samples.flow[row] as usize]);
    let is_outside = time < flow.start || flow.completed.is_some_and(|completed| completed <= time);
    if is_outside { "-".to_owned() } else { format!("{value:.0}") }
}

/// Compares what each of `names` runs in `case` with the record, or records it.
#[track_caller]
fn runs_as_recorded<'a>(case: &str, names: impl Iterator<Item = &'a str>, trace: fn(&str) -> String) {
    let mut golden = Golden::at(root());
    names.for_each(|name| golden.compare(&format!("{name}/{case}"), &trace(name)));
    golden.finish();
}

fn senders() -> impl Iterator<Item = &'static str> {
    SCHEMES.iter().filter(|scheme| scheme.sender.is_some()).map(|scheme| scheme.name)
}

/// Two connections under `name`, with the parts it brings for routers and its controller.
fn connections(name: &str) -> String {
    let scheme = find(SCHEMES, name).expect("registered");
    let mut more = if scheme.router.is_some() {
        format!("[router]\nrouter_parts = [{name:?}]\n")
    } else {
        String::new()
    };
    if scheme.controller.is_some() {
        more += &format!("[controller]\nscheme = {name:?}\n");
    }
    let record = record(&format!(
        "format = 1\n[scenario]\nname = \"dumbbell\"\nduration = \"5s\"\nsample = \"100ms\"\n[topology]\n\
         builtin = \"dumbbell\"\npairs = 2\naccess = {{ rate = \"100Mbps\", delay = \"5ms\" }}\n\
         bottleneck = {{ rate = \"10Mbps\", delay = \"10ms\", queue = {{ limit = \"40pkt\" }} }}\n{more}\
         [[tcp]]\nsender = \"p1\"\nreceiver = \"c1\"\nscheme = {name:?}\n\
         [[tcp]]\nsender = \"p2\"\nreceiver = \"c2\"\nscheme = {name:?}\nstart = \"1s\"\n"
    ));
    table(name, &record)
}

#[test]
fn two_connections_of_every_sender_share_a_dumbbell_as_recorded() {
    runs_as_recorded("connections.txt", senders(), connections);
}

#[test]
fn every_consumer_and_plr_share_a_dumbbell_as_recorded() {
    runs_as_recorded(CASE, consumers().chain([PLR.0]), trace);
}

/// A file over a link that loses frames in bursts, both ways.
fn lossy_link(service: &str) -> String {
    let record = record(&format!(
        "format = 1\n[scenario]\nname = \"lossy\"\nduration = \"2s\"\nsample = \"50ms\"\n[[node]]\nname = \"c1\"\n\
         [[node]]\nname = \"p1\"\n[[link]]\nends = [\"c1\", \"p1\"]\nrate = \"10Mbps\"\ndelay = \"5ms\"\nmtu = \"1500B\"\n\
         link_service = {service:?}\nloss = {{ model = \"gilbert-elliott\", to_bad = 0.02, to_good = 0.3 }}\n[[flow]]\n\
         consumer = \"c1\"\nproducer = \"p1\"\nprefix = \"/a\"\nscheme = \"ndnsim-aimd\"\npayload = \"4000B\"\n"
    ));
    let mut text = format!("# {service}: Data in three frames over 10 Mbps and 10 ms, losses in bursts\n");
    text.push_str("# t_ms  window  sent_bytes  lost_packets (backward)\n");
    let (flows, links) = (&record.flow_samples, &record.link_samples);
    for row in 0..flows.time.len() {
        let (link, at) = (2 * row + 1, flows.time[row].as_nanos() / 1_000_000);
        let (window, sent, lost) =
            (flows.window_packets[row], links.sent_bytes[link], links.lost_packets[link]);
        writeln!(text, "{at:6}  {window:6.0}  {sent:10}  {lost:12}").expect("a string takes it");
    }
    for link in &record.links {
        let (sent, lost, again) = (link.sent_frames, link.lost_frames, link.resent_frames);
        writeln!(text, "# frames from {}: {sent} sent, {lost} lost, {again} sent again", link.from)
            .expect("as above");
    }
    text
}

#[test]
fn every_link_service_mends_a_lossy_link_as_recorded() {
    let services = SCHEMES.iter().filter(|scheme| scheme.link_service.is_some()).map(|scheme| scheme.name);
    runs_as_recorded("lossy-link.txt", services, lossy_link);
}

/// Three TCP flows, one after the other, each with what the switch before the bottleneck grants it.
fn joins(scheme: &str) -> String {
    let mut text = format!(
        "format = 1\n[scenario]\nname = \"joins\"\nduration = \"1200ms\"\nsample = \"20ms\"\n[topology]\n\
         builtin = \"dumbbell\"\npairs = 3\naccess = {{ rate = \"100Mbps\", delay = \"2ms\" }}\n\
         bottleneck = {{ rate = \"10Mbps\", delay = \"6ms\", queue = {{ limit = \"100pkt\" }} }}\n\
         [router]\nrouter_parts = [{scheme:?}]\n[controller]\nscheme = {scheme:?}\n"
    );
    for (number, start) in [(1, 0), (2, 300), (3, 600)] {
        let file = if number == 2 { "size = \"400kB\"\n" } else { "" };
        write!(
            text,
            "[[tcp]]\nsender = \"p{number}\"\nreceiver = \"c{number}\"\nscheme = {scheme:?}\nstart = \"{start}ms\"\n{file}"
        )
        .expect("a string takes it");
    }
    let record = record(&text);
    let (flows, links) = (&record.flow_samples, &record.link_samples);
    let neck = record.links.iter().position(|link| link.from == "r2" && link.to == "r1").expect("there");
    let mut text =
        format!("# {scheme}: flows over 10 Mbps and 20 ms from 0, 300 and 600 ms, the second of 400 kB\n");
    text.push_str("# t_ms  paced segments/s of each  in_flight  queue  dropped\n");
    for row in 0..flows.time.len() / 3 {
        let of = |flow: usize| 3 * row + flow;
        let rate = |flow| while_it_lasts(&record, of(flow), flows.pacing_per_second[of(flow)]);
        let rates = [0, 1, 2].map(|flow| format!("{:>5}", rate(flow))).join(" ");
        let in_flight = [0, 1, 2].map(|flow| format!("{:3}", flows.in_flight_packets[of(flow)])).join(" ");
        let (at, link) = (flows.time[of(0)].as_nanos() / 1_000_000, record.links.len() * row + neck);
        let (queue, dropped) = (links.queue_packets[link], links.dropped_packets[link]);
        writeln!(text, "{at:6}  {rates}  {in_flight}  {queue:5}  {dropped:7}").expect("a string takes it");
    }
    text
}

#[test]
fn flows_join_and_leave_a_brf_switch_as_recorded() {
    runs_as_recorded("joins.txt", ["brf"].into_iter(), joins);
}

#[test]
fn every_consumer_has_a_recorded_dumbbell_and_none_is_stray() {
    let mut expected: Vec<&str> = consumers().chain([PLR.0]).collect();
    expected.sort_unstable();
    let folders = fs::read_dir(root()).expect("there are golden files");
    let mut recorded: Vec<String> = folders
        .map(|folder| folder.expect("the entry is readable"))
        .filter(|folder| folder.path().join(CASE).exists())
        .map(|folder| folder.file_name().to_string_lossy().into_owned())
        .collect();
    recorded.sort_unstable();
    assert_eq!(recorded, expected);
}
