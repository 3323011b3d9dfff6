//! Traces of a few invented events, column by column, against what is worked out by hand.

use std::io;

use tidegate_core::ndn::name::{Name, PrefixId, Segment};
use tidegate_core::ndn::packet::{Data, Header, Interest, Kind, Millis, PitToken};
use tidegate_core::observe::event::{Cause, Event, Side};
use tidegate_core::observe::records::EventRecord;
use tidegate_core::units::{ByteCount, Span, Time};
use tidegate_pages::export::ndnsim::{AppDelayTrace, CacheTrace, DropTrace, RateTrace};
use tidegate_pages::export::pcapng::Capture;
use tidegate_pages::export::qlog::{QlogTrace, Vantage};
use tidegate_pages::export::{FlowPorts, Network, NodePorts, Trace};

/// c - r - p: two consumers at host c, a router whose faces 0 and 1 are links, host p.
fn network() -> Network {
    let node = |name: &str, devices: &[u32], has_forwarder| NodePorts {
        name: name.to_owned(),
        devices: devices.to_vec(),
        has_forwarder,
    };
    let flow =
        |name: &str, place| FlowPorts { name: name.to_owned(), node: 0, place, scheme: "icp".to_owned() };
    Network {
        nodes: vec![node("c", &[0], false), node("r", &[1, 2], true), node("p", &[3], false)],
        directions: vec![(0, 1), (1, 0), (1, 2), (2, 1)],
        // The third flow is the second consumer of c.
        flows: vec![flow("one", 0), flow("other", 0), flow("two", 1)],
        prefixes: vec!["/".to_owned(), "/a".to_owned()],
    }
}

const NAME: Name = Name { prefix: PrefixId(1), segment: Segment(7) };

fn at(millis: u64, node: u32, event: Event) -> EventRecord {
    EventRecord { time: Time::from_nanos(millis * 1_000_000), node, event }
}

fn received() -> EventRecord {
    let event = Event::DataReceived {
        flow: 2,
        name: NAME,
        full_delay: Span::from_millis(30),
        last_delay: Span::from_micros(12_500),
        mark: 1,
        retransmissions: 2,
        hops: 3,
    };
    at(1_250, 0, event)
}

/// The lines after the first that a trace writes of `events` in a run of `seconds`.
fn lines<T: Trace>(
    make: impl FnOnce(Shared) -> io::Result<T>,
    events: &[EventRecord],
    seconds: u64,
) -> Vec<String> {
    let file = Shared::default();
    let mut trace = make(file.clone()).expect("a Vec");
    // In two parts, as a run hands them over.
    let (first, second) = events.split_at(events.len() / 2);
    trace.on_events(&network(), first).expect("a Vec");
    trace.on_events(&network(), second).expect("a Vec");
    trace.finish(&network(), Time::from_nanos(seconds * 1_000_000_000)).expect("a Vec");
    let inner = file.0.borrow();
    assert!(inner.is_flushed, "what is buffered would be lost");
    let text = String::from_utf8(inner.bytes.clone()).expect("text");
    text.lines().skip(1).map(str::to_owned).collect()
}

/// A file in memory that knows whether it was flushed after the last byte.
#[derive(Clone, Default)]
struct Shared(std::rc::Rc<std::cell::RefCell<Inner>>);

#[derive(Default)]
struct Inner {
    bytes: Vec<u8>,
    is_flushed: bool,
}

impl io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut inner = self.0.borrow_mut();
        inner.bytes.extend_from_slice(bytes);
        inner.is_flushed = false;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().is_flushed = true;
        Ok(())
    }
}

#[test]
fn delays_are_those_since_the_last_and_the_first_interest_with_their_number() {
    let found = lines(AppDelayTrace::new, &[received()], 2);
    let rows =
        ["1.25\tc\t1\t7\tLastDelay\t0.0125\t12500\t1\t3", "1.25\tc\t1\t7\tFullDelay\t0.03\t30000\t3\t3"];
    assert_eq!(found, rows);
}

#[test]
fn hits_and_misses_are_counted_anew_in_each_period() {
    let hit = |millis| at(millis, 1, Event::CacheHit { name: NAME });
    let miss = |millis| at(millis, 1, Event::CacheMiss { name: NAME });
    let half = Span::from_millis(500);
    let events = [hit(100), hit(200), miss(300), hit(500)];
    let found = lines(|file| CacheTrace::new(file, half), &events, 1);
    let of_r: Vec<&str> = found.iter().map(String::as_str).filter(|line| line.contains("\tr\t")).collect();
    let rows =
        ["0.5\tr\tCacheHits\t2", "0.5\tr\tCacheMisses\t1", "1\tr\tCacheHits\t1", "1\tr\tCacheMisses\t0"];
    assert_eq!(of_r, rows);
    assert_eq!(found.len(), 2 * 2 * 3, "two rows of each node and period: {found:?}");
}

#[test]
fn drops_have_smoothed_and_raw_numbers_until_the_end() {
    let dropped = |millis, bytes| {
        at(
            millis,
            1,
            Event::Dropped { face: 1, name: NAME, size: ByteCount::new(bytes), cause: Cause("queue full") },
        )
    };
    let half = Span::from_millis(500);
    let found = lines(|file| DropTrace::new(file, half), &[dropped(100, 1024), dropped(600, 512)], 1);
    let of_r: Vec<&str> = found.iter().map(String::as_str).filter(|line| line.contains("\tr\t")).collect();
    // One packet in half a second, of which 0.8 count at once; then 0.8 of two a second and 0.2 of 1.6.
    let rows = ["0.5\tr\tcombined\tDrop\t1.6\t1.6\t1\t1", "1\tr\tcombined\tDrop\t1.92\t1.12\t1\t0.5"];
    assert_eq!(of_r, rows);
}

fn interest() -> Header {
    let interest = Interest {
        nonce: 1,
        lifetime: Millis(4000),
        token: PitToken(0),
        hop_limit: None,
        can_be_prefix: false,
        must_be_fresh: false,
    };
    Header::new(NAME, Kind::Interest(interest), ByteCount::new(64))
}

fn data() -> Header {
    let data = Data { freshness: Millis(0), final_segment: Segment::NONE, payload: 900, token: PitToken(0) };
    Header::new(NAME, Kind::Data(data), ByteCount::new(1024))
}

#[test]
fn rates_distinguish_faces_directions_and_ends() {
    let ended = |face, side, satisfied| at(400, 1, Event::EndedFor { face, name: NAME, side, satisfied });
    let events = [
        at(100, 1, Event::Received { face: 0, header: interest() }),
        at(110, 1, Event::Sent { face: 1, header: interest() }),
        at(200, 1, Event::Received { face: 1, header: data() }),
        at(210, 1, Event::Sent { face: 0, header: data() }),
        at(400, 1, Event::Satisfied { name: NAME }),
        ended(0, Side::Downstream, true),
        ended(1, Side::Upstream, true),
        at(410, 1, Event::Expired { name: NAME }),
        ended(0, Side::Downstream, false),
    ];
    let found = lines(|file| RateTrace::new(file, Span::from_secs(1)), &events, 1);
    // Face, type, raw packets, raw kilobytes of every row with packets.
    let busy = found.iter().filter_map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        (cells[7] != "0").then(|| [cells[1], cells[2], cells[3], cells[4], cells[7], cells[8]].join(" "))
    });
    let rows = [
        "r 256 netdev://[r-c] InInterests 1 0.0625",
        "r 256 netdev://[r-c] OutData 1 1",
        "r 256 netdev://[r-c] InSatisfiedInterests 1 0",
        "r 256 netdev://[r-c] InTimedOutInterests 1 0",
        "r 257 netdev://[r-p] OutInterests 1 0.0625",
        "r 257 netdev://[r-p] InData 1 1",
        "r 257 netdev://[r-p] OutSatisfiedInterests 1 0",
        "r -1 all SatisfiedInterests 1 0",
        "r -1 all TimedOutInterests 1 0",
    ];
    assert_eq!(busy.collect::<Vec<_>>(), rows);
}

#[test]
fn a_consumers_qlog_has_its_own_events_in_milliseconds() {
    let sent = |flow| at(1_000, 0, Event::InterestSent { flow, name: NAME, retransmission: flow == 2 });
    let window = |flow| at(1_300, 0, Event::WindowChanged { flow, window: 2.5, cause: Cause("mark") });
    let lost = |flow| at(1_400, 0, Event::LossDetected { flow, name: NAME, cause: Cause("timeout") });
    let events = [sent(0), sent(2), received(), window(0), window(2), lost(0), lost(2)];
    let make = |file| QlogTrace::new(file, "run", Vantage::Consumer(2), &network());
    let found = lines(make, &events, 2);
    let records = [
        r#"{"time":1000,"name":"ndn:interest_sent","data":{"name":"/a/seg=7","is_retransmission":true}}"#,
        r#"{"time":1250,"name":"ndn:data_received","data":{"name":"/a/seg=7","full_delay":30,"last_delay":12.5,"congestion_mark":1,"retransmissions":2,"hops":3}}"#,
        r#"{"time":1300,"name":"ndn:window_changed","data":{"window":2.5,"trigger":"mark"}}"#,
        r#"{"time":1300,"name":"recovery:metrics_updated","data":{"congestion_window":2.5}}"#,
        r#"{"time":1400,"name":"ndn:loss_detected","data":{"name":"/a/seg=7","trigger":"timeout"}}"#,
    ];
    assert_eq!(found, records.map(|record| format!("\u{1e}{record}")));
}

#[test]
fn the_networks_qlog_names_queues_by_their_ends_and_what_happened_in_them() {
    let (name, face) = (NAME, 1);
    let events = [
        at(1, 1, Event::Dropped { face, name, size: ByteCount::new(9), cause: Cause("queue full") }),
        at(2, 1, Event::Marked { face: 0, name, sojourn: Span::from_micros(6_500), cause: Cause("codel") }),
        at(3, 1, Event::Stored { face, name }),
        at(4, 1, Event::NoticeMade { face, name }),
        at(5, 1, Event::Released { face, name }),
        at(6, 2, Event::Lost { face: 0, name }),
    ];
    let make = |file| QlogTrace::new(file, "run", Vantage::Network, &network());
    let record = |time: u64, what: &str, queue: &str, more: &str| {
        format!(
            "\u{1e}{{\"time\":{time},\"name\":\"ndn:{what}\",\"data\":{{\"queue\":\"{queue}\",\"name\":\"/a/seg=7\"{more}}}}}"
        )
    };
    let records = [
        record(1, "packet_dropped", "r -> p", ",\"trigger\":\"queue full\""),
        record(2, "packet_marked", "r -> c", ",\"trigger\":\"codel\",\"sojourn\":6.5"),
        record(3, "packet_stored", "r -> p", ""),
        record(4, "loss_notice_made", "r -> p", ""),
        record(5, "packet_released", "r -> p", ""),
        record(6, "packet_lost", "p -> r", ""),
    ];
    assert_eq!(lines(make, &events, 1), records);
}

#[test]
fn a_captured_packet_has_its_time_in_nanoseconds_and_the_ends_of_its_link() {
    let mut file = Vec::new();
    let mut capture = Capture::new(&mut file, "tidegate", &["r -> p".to_owned()]).expect("a Vec");
    // More than 2^32 ns.
    let nanos = 5_000_000_001_u64;
    capture.push(0, Time::from_nanos(nanos), [1, 2], &[0xAA; 3]).expect("a Vec");
    capture.finish().expect("a Vec");
    // Option 9 (if_tsresol), one byte long: 10^-9 s.
    assert!(file.windows(8).any(|bytes| bytes == [9, 0, 1, 0, 9, 0, 0, 0]), "{file:?}");
    let length = u32::from_le_bytes(file[file.len() - 4..].try_into().expect("four bytes")) as usize;
    let packet = &file[file.len() - length..];
    let word = |at: usize| u32::from_le_bytes(packet[at..at + 4].try_into().expect("four bytes"));
    assert_eq!(u64::from(word(12)) << 32 | u64::from(word(16)), nanos);
    // Ethernet: to node 2, from node 1; IPv4: from, to.
    let frame = &packet[28..];
    assert_eq!((&frame[..6], &frame[6..12]), (&[2, 0, 10, 0, 0, 3][..], &[2, 0, 10, 0, 0, 2][..]));
    assert_eq!((&frame[26..30], &frame[30..34]), (&[10, 0, 0, 2][..], &[10, 0, 0, 3][..]));
    assert_eq!(frame[42..45], [0xAA; 3]);
}
