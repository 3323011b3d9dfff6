//! `tidegate link`: a UDP link with a queue, a rate, a delay and loss, in user space and without privileges.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use tidegate_core::link::line::{LineSetup, LossPlan};
use tidegate_core::ndn::face::Limit;
use tidegate_core::observe::records::DelaySummary;
use tidegate_core::rng::Seed;
use tidegate_core::units::{BitRate, ByteCount, Span};
use tidegate_live::emulator::channel::ChannelSetup;
use tidegate_live::emulator::{DirectionReport, Link, LinkReport, LinkSetup, Refused};
use tidegate_live::signals::StopSignal;
use tidegate_results::text::{Screen, TextTable};
use tidegate_settings::values::parse_limit;

use crate::Session;
use crate::exit::{Exit, Failure, Outcome};

/// Addresses and properties of the emulated link.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Address at which datagrams of clients are received, such as 127.0.0.1:7001.
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// Address to which their datagrams are forwarded; replies return to the client.
    #[arg(long, value_name = "ADDRESS:PORT")]
    to: SocketAddr,
    /// Link rate, such as 10Mbps; unlimited by default.
    #[arg(long, value_parser = rate)]
    rate: Option<BitRate>,
    /// Propagation delay, such as 20ms.
    #[arg(long, default_value = "0s")]
    delay: Span,
    /// Loss probability of datagrams, 0 to 1.
    #[arg(long, value_name = "PROBABILITY", default_value = "0", value_parser = probability)]
    loss: f64,
    /// Queue limit, such as 100pkt or 64KiB; datagrams that arrive at a full queue are dropped.
    #[arg(long, value_name = "LIMIT", default_value = "100pkt", value_parser = parse_limit)]
    queue: Limit,
    /// Maximum payload of a datagram in both directions, bytes, as `mtu` of a face; larger datagrams are dropped. Up to 9000, the
    /// default.
    #[arg(long, value_name = "BYTES", value_parser = mtu)]
    mtu: Option<u16>,
    /// Rate of the reverse direction; by default that of the forward direction.
    #[arg(long, value_name = "RATE", value_parser = rate)]
    reverse_rate: Option<BitRate>,
    /// Propagation delay of the reverse direction; by default that of the forward direction.
    #[arg(long, value_name = "DELAY")]
    reverse_delay: Option<Span>,
    /// Loss probability of the reverse direction; by default that of the forward direction.
    #[arg(long, value_name = "PROBABILITY", value_parser = probability)]
    reverse_loss: Option<f64>,
    /// Queue limit of the reverse direction; by default that of the forward direction.
    #[arg(long, value_name = "LIMIT", value_parser = parse_limit)]
    reverse_queue: Option<Limit>,
    /// Seed of random losses; the same seed gives the same losses.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Exit after this time; by default on SIGINT, SIGTERM or SIGHUP.
    #[arg(long, value_name = "TIME", value_parser = pause)]
    duration: Option<Span>,
    /// Interval between reports, in addition to the one at the end.
    #[arg(long, value_name = "TIME", value_parser = pause)]
    report_every: Option<Span>,
}

fn rate(text: &str) -> Result<BitRate, String> {
    let rate: BitRate = text.parse()?;
    if rate.as_bps() > 0 { Ok(rate) } else { Err(format!("{text:?} is not above zero")) }
}

fn pause(text: &str) -> Result<Span, String> {
    let pause: Span = text.parse()?;
    if pause > Span::ZERO { Ok(pause) } else { Err(format!("{text:?} is not above zero")) }
}

fn probability(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err(format!("{text:?} is not a number from 0 to 1")),
    }
}

impl Arguments {
    fn setup(&self) -> LinkSetup {
        LinkSetup {
            listen: self.listen,
            to: self.to,
            forward: self.direction(self.rate, self.delay, self.loss, self.queue),
            reverse: self.direction(
                self.reverse_rate.or(self.rate),
                self.reverse_delay.unwrap_or(self.delay),
                self.reverse_loss.unwrap_or(self.loss),
                self.reverse_queue.unwrap_or(self.queue),
            ),
            seed: Seed(self.seed),
        }
    }

    fn direction(&self, rate: Option<BitRate>, delay: Span, loss: f64, queue: Limit) -> ChannelSetup {
        // At this rate the transmission of a datagram takes less than a nanosecond.
        let rate = rate.unwrap_or(BitRate::from_bps(u64::MAX));
        let loss = if loss > 0.0 { LossPlan::Bernoulli { probability: loss } } else { LossPlan::None };
        let line = LineSetup { rate, delay, jitter: Span::ZERO, reorder: false, loss };
        ChannelSetup { line, mtu: self.mtu.map(usize::from), queue }
    }
}

/// Parses a number of bytes, with or without a unit.
fn mtu(text: &str) -> Result<u16, String> {
    let bytes = match text.parse::<u64>() {
        Ok(bytes) => bytes,
        Err(_) => text.parse::<ByteCount>()?.get(),
    };
    u16::try_from(bytes)
        .ok()
        .filter(|bytes| (1..=9_000).contains(bytes))
        .ok_or_else(|| format!("{text:?} is not within 1B to 9000B"))
}

/// Refuses destinations that cannot receive: port 0, and the link's own address.
fn check(Arguments { listen, to, .. }: &Arguments) -> Result<(), Failure> {
    if to.port() == 0 {
        return Err(Failure::usage(format!(
            "--to {to}: port 0 is not a valid destination; give the port of the forwarder"
        )));
    }
    if to == listen {
        return Err(Failure::usage(format!(
            "--to {to}: this is the address of --listen; the link would send to itself"
        )));
    }
    Ok(())
}

/// Runs the command `tidegate link`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    check(arguments)?;
    // Before the sockets: from here on a signal ends the loop and not the process, and the report is printed.
    let mut stop = StopSignal::new().map_err(|why| Failure::error(format!("signals: {why}")))?;
    let mut link = Link::bind(&arguments.setup())
        .map_err(|why| Failure::error(format!("--listen {}: {why}", arguments.listen)))?;
    session.begun(&format!("carrying {} to {}", link.local(), arguments.to));
    link.run(Some(&mut stop), arguments.duration, arguments.report_every, |report| show(session, report))
        .map_err(|why| Failure::error(format!("link {}: {why}", link.local())))?;
    show(session, &link.report());
    Ok(Exit::Ok)
}

/// Prints a report; as JSON it is one line, so that a reader can separate several.
fn show(session: &Session, report: &LinkReport) {
    session.print(|| text(report, session.screen), || json(report));
}

fn text(report: &LinkReport, screen: Screen) -> String {
    let (forward, reverse) = (&report.forward, &report.reverse);
    let mut table = TextTable::of(&[""], &["forward", "reverse"]);
    let mut row = |name: &str, value: &dyn Fn(&DirectionReport) -> String| {
        table.row([name.to_owned(), value(forward), value(reverse)]);
    };
    row("in", &|direction| direction.counts.offered.to_string());
    row("larger than --mtu", &|direction| direction.counts.too_large.to_string());
    row("dropped in queue", &|direction| direction.counts.dropped.to_string());
    row("lost", &|direction| direction.counts.lost.to_string());
    row("delivered", &|direction| direction.counts.delivered.to_string());
    row("in queue", &|direction| direction.counts.queued.to_string());
    row("in flight", &|direction| direction.counts.in_flight.to_string());
    row("delivered, Mbit/s", &|direction| format!("{:.3}", goodput_mbps(report, direction)));
    row("queue mean, ms", &|direction| millis(direction.waiting.mean));
    row("queue p99, ms", &|direction| millis(direction.waiting.p99));
    row("queue max, ms", &|direction| millis(direction.waiting.max));
    row("lateness mean, ms", &|direction| millis(direction.lateness.mean));
    row("lateness p99, ms", &|direction| millis(direction.lateness.p99));
    row("lateness max, ms", &|direction| millis(direction.lateness.max));
    let elapsed = Duration::from_nanos(report.elapsed.as_nanos());
    format!(
        "after {:.3} s, {} clients\n{}{}",
        elapsed.as_secs_f64(),
        report.clients,
        table.render(screen),
        faults(report)
    )
}

/// Errors of the link that should not occur, one per line.
fn faults(report: &LinkReport) -> String {
    let Refused { crowded, no_socket, oversized, stray, overflowed } = report.refused;
    let both = |value: fn(&DirectionReport) -> u64| value(&report.forward) + value(&report.reverse);
    let faults = [
        (overflowed, "dropped by the system before they were read"),
        (both(|direction| direction.unsent), "refused by the system when they were sent"),
        (both(|direction| direction.stranded), "for a client that had been removed"),
        (oversized, "larger than 9000 bytes"),
        (crowded, "of new clients while there were too many"),
        (no_socket, "of new clients for which no socket could be opened"),
        (stray, "received by the socket of another client"),
    ];
    let reported = faults.iter().filter(|(count, _)| *count > 0);
    reported.map(|(count, what)| format!("not forwarded: {count} {what}\n")).collect()
}

fn millis(span: Span) -> String {
    format!("{:.3}", span.as_millis_f64())
}

fn goodput_mbps(report: &LinkReport, direction: &DirectionReport) -> f64 {
    direction.delivered_bytes.over(report.elapsed).as_mbps()
}

fn json(report: &LinkReport) -> Value {
    let Refused { crowded, no_socket, oversized, stray, overflowed } = report.refused;
    let refused = json!({
        "overflowed": overflowed,
        "oversized": oversized,
        "crowded": crowded,
        "no_socket": no_socket,
        "stray": stray,
    });
    json!({
        "elapsed_s": report.elapsed.as_secs_f64(),
        "clients": report.clients,
        "refused": refused,
        "forward": direction_json(report, &report.forward),
        "reverse": direction_json(report, &report.reverse),
    })
}

fn direction_json(report: &LinkReport, direction: &DirectionReport) -> Value {
    let counts = direction.counts;
    json!({
        "in": counts.offered,
        "too_large": counts.too_large,
        "dropped": counts.dropped,
        "lost": counts.lost,
        "delivered": counts.delivered,
        "queued": counts.queued,
        "in_flight": counts.in_flight,
        "unsent": direction.unsent,
        "stranded": direction.stranded,
        "delivered_bytes": direction.delivered_bytes.get(),
        "delivered_mbps": goodput_mbps(report, direction),
        "queue_delay_ms": delays_json(&direction.waiting),
        "lateness_ms": delays_json(&direction.lateness),
    })
}

fn delays_json(delays: &DelaySummary) -> Value {
    json!({
        "count": delays.count,
        "mean": delays.mean.as_millis_f64(),
        "p50": delays.p50.as_millis_f64(),
        "p99": delays.p99.as_millis_f64(),
        "max": delays.max.as_millis_f64(),
    })
}
