//! Closed forms: queueing, bandwidth-delay product, constant rates, CUBIC's curve, AIMD's square-root law.

use tidegate_core::context::{Context, Env, NoSink, Present};
use tidegate_core::ndn::face::{FaceId, FaceView, Limit};
use tidegate_core::ndn::name::{Name, NameTable};
use tidegate_core::ndn::packet::{Data, Header, Kind, Millis, Packet, PitToken};
use tidegate_core::observe::event::Event;
use tidegate_core::observe::records::RunRecord;
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::units::{BitRate, ByteCount, Packets, Span, Time};
use tidegate_testkit::standalone_queue::StandaloneQueue;

use crate::{arrivals, one_link, record};

/// What a queue with one server did from empty to empty.
struct Served {
    mean_wait: f64,
    /// Integral of the number waiting over time, packet-nanoseconds.
    area: u128,
    /// Waiting times as the queue itself counted them, their mean rounded down, ns.
    counted_mean: u64,
    until: u64,
}

/// `packets` of 1250 bytes arrive at a 10 Mbit/s device (1 ms each) with exponential pauses of mean 1/`load` ms.
fn poisson_arrivals(load: f64, packets: u64) -> Served {
    const SERVICE: u64 = 1_000_000;
    let mut names = NameTable::new();
    let prefix = names.intern_uri("/ab").expect("valid");
    let limit = Limit::Packets(Packets::new(u32::MAX));
    let faces = [FaceView::device(BitRate::from_mbps(10.0), Span::ZERO, limit)];
    let mut queue: StandaloneQueue<()> = StandaloneQueue::new(FaceId(0), Vec::new());
    let mut rng = Rng::stream(Seed(1), &format!("poisson/{load}"));
    let service = faces[0].rate().time_to_send(ByteCount::new(1250)).as_nanos();
    assert_eq!(service, SERVICE);
    let (mut arrives, mut free_at, mut arrived, mut served) = (0.0_f64, 0_u64, 0_u64, 0_u64);
    let (mut area, mut last, mut total_wait) = (0_u128, 0_u64, 0_u128);
    let mut waiting_since = std::collections::VecDeque::new();
    let mut sink = NoSink;
    while served < packets {
        let next_departure = if waiting_since.is_empty() { u64::MAX } else { free_at.max(last) };
        let next_arrival = if arrived < packets { arrives as u64 } else { u64::MAX };
        let now = next_arrival.min(next_departure);
        area += u128::from(faces[0].queued_packets()) * u128::from(now - last);
        last = now;
        let mut present = Present::observed(&mut sink).at(Time::from_nanos(now));
        let env = Env::new(&names, &mut present);
        let mut cx = Context::new(env, &faces);
        if next_arrival <= next_departure {
            let kind = Kind::Data(Data {
                freshness: Millis(0),
                final_segment: tidegate_core::ndn::name::Segment::NONE,
                payload: 1214,
                token: PitToken(0),
            });
            let header =
                Header::new(Name::segment(prefix, (arrived % 1000) as u32), kind, ByteCount::new(1250));
            queue.push(&mut cx, Packet::new(header, ()));
            waiting_since.push_back(now);
            arrived += 1;
            arrives += -(1.0 - rng.uniform()).ln() * SERVICE as f64 / load;
        } else {
            queue.pop(&mut cx).expect("a packet waits");
            total_wait += u128::from(now - waiting_since.pop_front().expect("a packet waits"));
            served += 1;
            free_at = now + SERVICE;
        }
    }
    // Little's law without any average: each packet adds its wait to the area under the number waiting.
    assert_eq!(area, total_wait, "load {load}");
    Served {
        mean_wait: total_wait as f64 / packets as f64,
        area,
        counted_mean: queue.stats().delays.summary().mean.as_nanos(),
        until: last,
    }
}

#[test]
fn the_mean_wait_behind_poisson_arrivals_is_that_of_m_d_1_and_follows_little() {
    // Pollaczek-Khinchine with deterministic service s: W = s load / (2 (1 - load)), L = load^2 / (2 (1 - load)).
    for (load, packets, wait_ns, waiting) in [
        (0.3, 400_000, 214_285.714, 0.064_285_714),
        (0.6, 600_000, 750_000.0, 0.45),
        (0.9, 4_000_000, 4_500_000.0, 4.05),
    ] {
        let served = poisson_arrivals(load, packets);
        let error = served.mean_wait / wait_ns - 1.0;
        println!("M/D/1 load {load}: wait {} ns, closed form {wait_ns} ns, {error:+.4}", served.mean_wait);
        assert!(error.abs() < 0.02, "load {load}: {} against {wait_ns}", served.mean_wait);
        assert_eq!(served.counted_mean, served.mean_wait as u64, "load {load}");
        let mean_waiting = served.area as f64 / served.until as f64;
        println!("M/D/1 load {load}: {mean_waiting} waiting, closed form {waiting}");
        assert!((mean_waiting / waiting - 1.0).abs() < 0.02, "load {load}: {mean_waiting} against {waiting}");
    }
}

/// One link of 10 Mbit/s: an Interest of 24 B takes 19.2 us, a Data of 1250 B 1 ms. With 9.9904 ms of
/// propagation the round trip takes 19.2 us + 1 ms + 2 x 9.9904 ms = 21 ms: 21 Data fill the path.
fn fixed_window(window: u32, sample: &str) -> RunRecord {
    record(&one_link(
        &format!("duration = \"4s\"\nsample = \"{sample}\"\nevents = [\"data-received\"]"),
        "rate = \"10Mbps\"\ndelay = \"9.9904ms\"\nqueue = { limit = \"1000pkt\" }",
        &format!("scheme = {{ name = \"fixed\", window = {window} }}"),
    ))
}

/// Segments delivered by each sample, from the first one after 1.5 s: then all names have the same length.
fn delivered(record: &RunRecord) -> Vec<u64> {
    let samples = &record.flow_samples;
    let late = samples.time.iter().zip(&samples.delivered_segments);
    late.filter(|(time, _)| time.as_nanos() > 1_500_000_000).map(|(_, delivered)| *delivered).collect()
}

#[test]
fn a_window_up_to_the_bandwidth_delay_product_gives_window_per_round_trip_exactly() {
    for window in [1, 7, 20, 21] {
        let record = fixed_window(window, "21ms");
        let delivered = delivered(&record);
        assert!(delivered.len() > 100 || window == 1);
        let steps: Vec<u64> = delivered.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(steps.iter().all(|step| *step == u64::from(window)), "window {window}: {steps:?}");
        let late = arrivals(&record, 0).into_iter().filter(|(time, ..)| *time > 1_500_000_000);
        for (time, delay, segment) in late {
            // Segments up to 255 have names one byte shorter: 0.8 us less per packet.
            let expected = if segment > 255 { 21_000_000 } else { 20_998_400 };
            assert_eq!(delay, expected, "window {window}, segment {segment} at {time} ns");
        }
    }
}

#[test]
fn a_window_above_the_bandwidth_delay_product_fills_the_link_and_leaves_the_rest_in_the_queue() {
    for (window, waiting) in [(22, 1), (30, 9), (121, 100)] {
        let record = fixed_window(window, "10.3ms");
        for (time, delay, _) in arrivals(&record, 0).into_iter().filter(|(time, ..)| *time > 1_500_000_000) {
            assert_eq!(delay, u64::from(window) * 1_000_000, "window {window} at {time} ns");
        }
        let samples = &record.link_samples;
        let backward =
            |index: &usize| samples.link[*index] == 1 && samples.time[*index].as_nanos() > 1_500_000_000;
        let late: Vec<usize> = (0..samples.time.len()).filter(backward).collect();
        let queued: Vec<u32> = late.iter().map(|index| samples.queue_packets[*index]).collect();
        assert!(queued.iter().all(|queued| *queued == waiting), "window {window}: {queued:?}");
        // Ten samples of 10.3 ms are 103 ms, in which a full link sends 103 Data of 1250 bytes.
        for pair in late.windows(11) {
            let bytes = samples.sent_bytes[pair[10]] - samples.sent_bytes[pair[0]];
            assert_eq!(bytes, 103 * 1250, "window {window}");
        }
    }
}

#[test]
fn a_constant_rate_is_met_to_the_nanosecond_over_any_time() {
    // 1214 B at 7 Mbit/s: Interest k leaves floor(k * 9712 * 10^9 / 7 * 10^6) ns after the start.
    let text = one_link(
        "duration = \"10s\"\nsample = false\nevents = [\"interest-sent\"]",
        "rate = \"100Mbps\"\ndelay = \"1ms\"",
        "scheme = \"fixed\"\nrate = \"7Mbps\"\nstart = \"3ms\"",
    );
    let record = record(&text);
    for (number, sent) in record.events.iter().enumerate() {
        let expected = 3_000_000 + number as u64 * 9_712_000_000 / 7_000;
        assert_eq!(sent.time.as_nanos(), expected, "Interest {number}");
    }
    // 9.997 s / 1.387428... ms = 7205.5, and the one at the start.
    assert_eq!(record.flows[0].interests, 7206);
}

/// The window just before its first decrease by a loss, the time of that, and all windows sampled later, s.
fn after_the_loss(record: &RunRecord, keep: f64) -> (f64, f64, Vec<(f64, f64)>) {
    let mut window = 0.0;
    let mut decreases = Vec::new();
    for event in &record.events {
        if let Event::WindowChanged { window: new, cause, .. } = event.event {
            if cause.0 == "timeout" {
                decreases.push((window, event.time.as_secs_f64(), new));
            }
            window = new;
        }
    }
    let [(before, at, after)] = decreases[..] else { panic!("one decrease, not {decreases:?}") };
    assert!((after - keep * before).abs() < 1e-9, "{after} of {before}");
    let samples = &record.flow_samples;
    let sampled = samples.time.iter().zip(&samples.window_packets);
    let later = sampled.map(|(time, window)| (time.as_secs_f64() - at, f64::from(*window)));
    (before, at, later.filter(|(since, _)| *since > 0.0).collect())
}

/// Most the sampled windows differ from RFC 8312's W(t) = 0.4 (t - K)^3 + Wmax, K = cbrt(Wmax (1 - keep) / 0.4).
fn farthest_from_the_curve(record: &RunRecord, keep: f64) -> f64 {
    let (plateau, at, samples) = after_the_loss(record, keep);
    let k = (plateau * (1.0 - keep) / 0.4).cbrt();
    let last = samples.last().expect("there are samples").0;
    assert!(last > 1.6 * k, "the run passes the plateau: {last} s, K = {k} s");
    let error = |(since, window): &(f64, f64)| (window / (0.4 * (since - k).powi(3) + plateau) - 1.0).abs();
    let farthest = samples.iter().map(error).fold(0.0, f64::max);
    println!("CUBIC: Wmax {plateau}, loss at {at} s, K {k} s, farthest {farthest:.5} of {}", samples.len());
    farthest
}

/// A trace that loses the packet `lost` (from 0) and no other of the first 600,000.
fn single_loss(lost: usize) -> String {
    let pattern = format!("{}1{}", "0".repeat(lost), "0".repeat(600_000 - lost));
    format!("backward = {{ loss = {{ model = \"trace\", pattern = \"{pattern}\" }} }}")
}

#[test]
fn after_a_single_loss_ndnsims_cubic_follows_the_curve_within_one_percent() {
    // Slow start at a round trip of 30 ms; the second Data is lost and missed 250 ms later.
    let link =
        format!("rate = \"1Gbps\"\ndelay = \"15ms\"\nqueue = {{ limit = \"9999pkt\" }}\n{}", single_loss(1));
    let scenario = "duration = \"10s\"\nsample = \"10ms\"\nevents = [\"window-changed\"]";
    let record = record(&one_link(scenario, &link, "scheme = \"ndnsim-cubic\""));
    let farthest = farthest_from_the_curve(&record, 0.8);
    assert!(farthest < 0.01, "{farthest}");
}

#[test]
fn after_a_single_loss_ndngets_cubic_follows_the_curve_within_one_percent() {
    // Slow start ends at 1000 packets, where the curve is flat until the loss. At a round trip of 40 ms a standard TCP's window
    // (eq. 4), 700 + 13.2/s, stays below the curve.
    let link = format!(
        "rate = \"1Gbps\"\ndelay = \"20ms\"\nqueue = {{ limit = \"9999pkt\" }}\n{}",
        single_loss(1500)
    );
    let flow = "scheme = { name = \"catchunks-cubic\", initial_threshold = 1000 }";
    let scenario = "duration = \"16s\"\nsample = \"10ms\"\nevents = [\"window-changed\"]";
    let text = one_link(scenario, &link, flow);
    let farthest = farthest_from_the_curve(&record(&text), 0.7);
    assert!(farthest < 0.01, "{farthest}");
}

/// What a window did over the Data that arrived between the losses `skip` and the last one.
#[derive(Debug)]
struct Windows {
    /// Data per decrease.
    per_decrease: f64,
    mean: f64,
    harmonic_mean: f64,
    decreases: usize,
}

/// The mean window over Data, not over time, so that waiting for a timeout weighs nothing.
fn windows(record: &RunRecord, skip: usize) -> Windows {
    let mut window = 1.0_f64;
    let mut decreases = 0;
    let (mut count, mut sum, mut inverse) = (0_u64, 0.0, 0.0);
    let mut whole = (0_u64, 0.0, 0.0);
    for event in &record.events {
        match event.event {
            Event::DataReceived { .. } if decreases > skip => {
                count += 1;
                sum += window;
                inverse += 1.0 / window;
            }
            Event::WindowChanged { window: new, cause, .. } => {
                window = new;
                if cause.0 == "timeout" {
                    decreases += 1;
                    whole = (count, sum, inverse);
                }
            }
            _ => {}
        }
    }
    let (count, sum, inverse) = whole;
    let periods = decreases - skip - 1;
    Windows {
        per_decrease: count as f64 / periods as f64,
        mean: sum / count as f64,
        harmonic_mean: count as f64 / inverse,
        decreases: periods,
    }
}

/// `ndnsim-aimd` on a fast link with a round trip of 100 ms, so that the timeout stays at its floor of 200 ms.
fn aimd(duration: &str, loss: &str, conservative: bool) -> RunRecord {
    let link = format!(
        "rate = \"10Gbps\"\ndelay = \"50ms\"\nqueue = {{ limit = \"99999pkt\" }}\nbackward = {{ loss = {loss} }}"
    );
    let flow = format!("scheme = {{ name = \"ndnsim-aimd\", conservative = {conservative} }}");
    let scenario = format!(
        "duration = \"{duration}\"\nsample = false\nevents = [\"data-received\", \"window-changed\"]"
    );
    record(&one_link(&scenario, &link, &flow))
}

/// The law over Data. Each Data grows W by 1/W, each loss halves it, however late it is noticed; with n Data
/// between two noticed losses W runs from Wmax/2 to Wmax:
/// - the increments of a period make up for its halving: sum of 1/W = Wmax/2;
/// - W^2 grows by 2 per Data: Wmax^2 - (Wmax/2)^2 = 2 n, so Wmax = sqrt(8 n / 3);
/// - harmonic mean of W over Data = n / (Wmax/2) = sqrt(3 n / 2): packets per round trip, the well-known
///   sqrt(3 / (2 p)) with p = 1/n;
/// - mean of W over Data = (1/n) int sqrt(Wmax^2/4 + 2 x) dx = (7/9) sqrt(8 n / 3) = 1.2701 sqrt(n).
#[test]
fn periodic_loss_gives_the_square_root_law_within_five_percent() {
    for (period, duration) in [(100, "200s"), (400, "400s"), (1600, "800s")] {
        let loss = format!("{{ model = \"trace\", pattern = \"{}1\" }}", "0".repeat(period - 1));
        let windows = windows(&aimd(duration, &loss, true), 20);
        let n = (period - 1) as f64;
        let (harmonic, mean) = ((1.5 * n).sqrt(), 7.0 / 9.0 * (8.0 * n / 3.0).sqrt());
        println!("AIMD p = 1/{period}: {windows:?}, laws {harmonic} and {mean}");
        assert!(windows.decreases >= 40, "{windows:?}");
        assert!((windows.per_decrease / n - 1.0).abs() < 0.01, "{windows:?}");
        assert!((windows.harmonic_mean / harmonic - 1.0).abs() < 0.05, "{windows:?} against {harmonic}");
        assert!((windows.mean / mean - 1.0).abs() < 0.05, "{windows:?} against {mean}");
    }
}

/// Independent losses at p per Data put W^2 to a quarter after exponential stretches: over Data W^2 is
/// (2/p) sum of 4^-k E_k with independent unit exponentials E_k, hence a mean W of 1.52691 / sqrt(p), and, since
/// growth E[1/W] makes up for halving p E[W] / 2, a harmonic mean of 2 / (p E[W]) = 1.30983 / sqrt(p) (Ott,
/// Kemperman & Mathis 1996): 7 % above the periodic law's 1.22474.
#[test]
fn independent_loss_gives_the_square_root_law_within_fifteen_percent() {
    for (probability, duration) in [(0.01, "600s"), (0.0025, "1200s")] {
        let loss = format!("{{ model = \"bernoulli\", probability = {probability} }}");
        let windows = windows(&aimd(duration, &loss, false), 20);
        let p: f64 = probability / (1.0 - probability);
        println!(
            "AIMD p = {probability}: {windows:?}, laws {} (periodic), {} and {}",
            (1.5 / p).sqrt(),
            1.30983 / p.sqrt(),
            1.52691 / p.sqrt()
        );
        assert!(windows.decreases >= 400, "{windows:?}");
        assert!((windows.harmonic_mean / (1.5 / p).sqrt() - 1.0).abs() < 0.15, "{windows:?}");
        assert!((windows.harmonic_mean * p.sqrt() / 1.30983 - 1.0).abs() < 0.05, "{windows:?}");
        assert!((windows.mean * p.sqrt() / 1.52691 - 1.0).abs() < 0.05, "{windows:?}");
    }
}
