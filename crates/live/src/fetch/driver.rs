//! The driver of a consumer: the clock, the socket, and the output of the content.

use std::io::Write;

use bytes::Bytes;
use tidegate_core::clock::Clock;
use tidegate_core::context::{Context, Env, NoSink, Present};
use tidegate_core::ndn::consumer::{Arrived, Consumer, ConsumerSetup, ConsumerStats, Demand};
use tidegate_core::ndn::name::{Name, NameTable, Segment};
use tidegate_core::ndn::packet::{Header, Kind, NackReason, Packet};
use tidegate_core::observe::records::{FlowRecord, RunRecord};
use tidegate_core::rng::{Rng, Seed, Streams};
use tidegate_core::units::{ByteCount, Span, Time};
use tidegate_wire::{DataView, MAX_PACKET};

use super::interest::InterestMaker;
use super::reorder::Reorder;
use super::samples::Sampler;
use super::{FetchError, FetchProgress, FetchSettings, Fetched, Trust, receive_limit};
use crate::client::{Client, ClientError};

/// Assumed content per Data, to convert rates into Interests; the actual size is not known in advance.
const ASSUMED_PAYLOAD: ByteCount = ByteCount::new(1_300);

/// ContentType of an application's Nack.
const CONTENT_NACK: u64 = 3;

/// Interval between two reports of progress.
const PROGRESS: Span = Span::from_millis(100);

/// Maximum number of Interests between two reads of the socket.
const BURST: usize = 64;

/// Paced Interests that fall due within this time leave together: a wake-up for each would cost more than it spreads.
const TOGETHER: Span = Span::from_micros(250);

/// Maximum interval between two polls of the consumer while the socket is full.
const BLOCKED: Span = Span::from_millis(1);

/// State of a running fetch.
pub(super) struct Fetch<'a> {
    client: &'a mut Client,
    output: &'a mut dyn Write,
    consumer: Consumer,
    name: Name,
    /// Number of the segment that the consumer calls 0.
    first: u32,
    scheme: &'static str,
    trust: Trust,
    retries: u32,
    maker: InterestMaker,
    reorder: Reorder,
    /// Receive window of the settings, bytes: [`FetchSettings::receive_window`].
    receive_window: ByteCount,
    reconnect: Span,
    wait: Span,
    /// Size of the largest Data so far, bytes.
    max: usize,
    sampler: Sampler,
    start: Time,
    progress_at: Time,
    /// No Interest leaves before this time, since those that fall due until then leave together.
    rest_until: Time,
    /// The last segment, by the first Data with a FinalBlockId.
    last: Option<u32>,
    /// Hash by which the producer names the content, if it does.
    content_id: Option<u64>,
    bytes: u64,
    bad: u64,
    unchecked: u64,
    /// Arrival time of the last Data.
    received_at: Time,
}

impl<'a> Fetch<'a> {
    pub(super) fn new(
        client: &'a mut Client,
        settings: FetchSettings,
        output: &'a mut dyn Write,
    ) -> Result<Self, FetchError> {
        let prefix = client.pin(&settings.name).map_err(|why| FetchError::Name(why.to_string()))?;
        let start = client.now();
        let retries = settings.profile.retry_limit.unwrap_or(u32::MAX);
        let consumer = Consumer::new(ConsumerSetup {
            flow: 0,
            prefix,
            profile: settings.profile,
            controller: settings.controller,
            // The number of segments is unknown until a Data has the FinalBlockId.
            demand: Demand::Endless,
            payload: ASSUMED_PAYLOAD,
            must_be_fresh: settings.must_be_fresh,
            start,
            stop: None,
            nonces: Rng::stream(Seed(client.nonces().bits()), "consumer"),
            // Unused: only a catalogue draws random numbers.
            requests: Streams::of(Seed(0)),
            draws: Streams::of(Seed(client.nonces().bits())),
            receive_limit: Some(receive_limit(settings.receive_window, MAX_PACKET)),
            clock: Clock::FINE,
        });
        Ok(Self {
            client,
            output,
            consumer,
            name: Name::whole(prefix),
            first: settings.first_segment,
            scheme: settings.scheme,
            trust: settings.trust,
            retries,
            maker: InterestMaker::new(&settings.name, settings.first_segment),
            reorder: Reorder::new(receive_limit(settings.receive_window, 0)),
            receive_window: settings.receive_window,
            reconnect: settings.reconnect,
            wait: settings.wait,
            max: 0,
            sampler: Sampler::new(start),
            start,
            progress_at: start + PROGRESS,
            rest_until: start,
            last: None,
            content_id: settings.content_id,
            bytes: 0,
            bad: 0,
            unchecked: 0,
            received_at: start,
        })
    }

    pub(super) fn run(&mut self, watch: &mut dyn FnMut(&FetchProgress)) -> Result<(), FetchError> {
        let mut inbox = Vec::new();
        while !self.consumer.is_complete() {
            let now = self.client.now();
            self.on_wake(now, watch);
            self.check_abandoned()?;
            let may_go_on = self.send_due();
            let until = if may_go_on { now } else { self.next_wake(now) };
            self.exchange(until, &mut inbox, watch)?;
            for packet in inbox.drain(..) {
                self.take(&packet)?;
            }
            self.write_ready()?;
        }
        self.check_abandoned()?;
        self.output.flush().map_err(FetchError::Output)
    }

    /// Exchanges packets with the forwarder, and connects again if it ended the connection: the Interests that are lost
    /// with it time out and are retransmitted.
    fn exchange(
        &mut self,
        until: Time,
        inbox: &mut Vec<Packet<Bytes>>,
        watch: &mut dyn FnMut(&FetchProgress),
    ) -> Result<(), FetchError> {
        match self.client.exchange(Some(until), inbox) {
            Err(ClientError::Lost(_)) if self.reconnect > Span::ZERO => {
                watch(&FetchProgress { is_connected: false, ..self.progress(self.client.now()) });
                Ok(self.client.reconnect(Some(self.reconnect))?)
            }
            outcome => Ok(outcome?),
        }
    }

    fn on_wake(&mut self, now: Time, watch: &mut dyn FnMut(&FetchProgress)) {
        self.consumer.on_wake(&mut context(self.client.names(), &mut Present::detached(now)));
        self.sampler.on_wake(now, &self.consumer);
        if now >= self.progress_at {
            self.progress_at = now + PROGRESS;
            watch(&self.progress(now));
        }
    }

    /// Sends the Interests that may leave now and for which the socket has room; returns whether there may be
    /// more.
    fn send_due(&mut self) -> bool {
        // Small gaps of pacing are sent together, or each Interest would cost a system call and a wake-up.
        if self.client.now() < self.rest_until {
            return false;
        }
        // After a burst the socket is read, so that a fast scheme does not starve its own answers.
        for _ in 0..BURST {
            if self.client.is_blocked() {
                return false;
            }
            let now = self.client.now();
            let header = self.consumer.poll(&mut context(self.client.names(), &mut Present::detached(now)));
            let Some(packet) = header.and_then(|header| self.maker.packet(&header)) else {
                if self.consumer.next_wake().is_some_and(|due| due < now + TOGETHER) {
                    self.rest_until = now + TOGETHER;
                }
                return false;
            };
            self.client.send(&packet);
        }
        true
    }

    fn next_wake(&self, now: Time) -> Time {
        let mut next =
            self.consumer.next_wake().unwrap_or(Time::MAX).max(self.rest_until.min(now + TOGETHER));
        if self.client.is_blocked() {
            // The socket reports when it is writable; waking earlier would only spin.
            next = next.max(now + BLOCKED);
        }
        next.min(self.sampler.due()).min(self.progress_at)
    }

    fn take(&mut self, packet: &Packet<Bytes>) -> Result<(), FetchError> {
        match packet.header.kind {
            Kind::Data(_) if packet.header.name.prefix == self.name.prefix => self.take_data(packet),
            Kind::Nack(nack) if self.is_final(nack.reason) => Err(FetchError::NoRoute),
            Kind::Nack(_) | Kind::LossNotice(_) => {
                self.classify(packet);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Whether a Nack ends the fetch: there is no route, and has never been one.
    fn is_final(&self, reason: NackReason) -> bool {
        let is_over = self.client.now() >= self.start + self.wait;
        reason == NackReason::NoRoute && is_over && self.consumer.stats().delivered == 0
    }

    fn classify(&mut self, packet: &Packet<Bytes>) -> Arrived {
        let now = self.client.now();
        let Some(header) = self.as_requested(&packet.header) else { return Arrived::Unasked };
        let mut present = Present::detached(now);
        let mut cx = context(self.client.names(), &mut present);
        self.consumer.on_packet(&mut cx, &header)
    }

    /// The header with segments counted as the consumer counts them; `None` for a segment before its first.
    fn as_requested(&self, header: &Header) -> Option<Header> {
        let mut header = *header;
        if header.name.segment != Segment::NONE {
            header.name.segment = Segment(header.name.segment.0.checked_sub(self.first)?);
        }
        if let Kind::Data(data) = &mut header.kind
            && data.final_segment != Segment::NONE
        {
            data.final_segment = Segment(data.final_segment.0.checked_sub(self.first)?);
        }
        Some(header)
    }

    /// Handles a Data of the object; one that is not trusted is ignored, and the timer of its segment goes
    /// on.
    fn take_data(&mut self, packet: &Packet<Bytes>) -> Result<(), FetchError> {
        let Ok(view) = DataView::parse(&packet.body) else { return Ok(()) };
        // The segment stays outstanding and is requested again: a forged Data must not end it.
        if !self.trust.holds(&view) {
            // Later, one of another type than before is only bad.
            if self.consumer.stats().delivered == 0 && !self.trust.can_verify(&view) {
                return Err(FetchError::Unverifiable { kind: view.signature.kind });
            }
            self.bad += 1;
            return Ok(());
        }
        if view.content_type == CONTENT_NACK {
            return Err(FetchError::NotThere { segment: packet.header.name.segment.0 });
        }
        // Two different final segments cannot both be true, and the content would be cut or never end.
        self.check_last(packet)?;
        if let Some(id) = view.content_id
            && *self.content_id.get_or_insert(id) != id
        {
            return Err(FetchError::Mixed { segment: packet.header.name.segment.0 });
        }
        self.received_at = self.client.now();
        self.note_size(packet.body.len());
        let is_unchecked = !self.trust.checks();
        let content = packet.body.slice(view.content_range.clone());
        if let Arrived::New { segment } = self.classify(packet) {
            self.unchecked += u64::from(is_unchecked);
            let is_kept = self.reorder.insert(segment, content);
            // The receive limit of the consumer and the reorder buffer are one number, so a refusal is an
            // error of this program.
            assert!(is_kept, "segment {segment} is asked for no further ahead than can be kept");
        }
        Ok(())
    }

    fn note_size(&mut self, size: usize) {
        if size > self.max {
            self.max = size;
            // Only the largest Data counts: the window is a limit on memory.
            self.consumer.set_receive_limit(receive_limit(self.receive_window, size));
        }
    }

    /// Checks the last segment: the completeness of an object whose end changes cannot be determined.
    fn check_last(&mut self, packet: &Packet<Bytes>) -> Result<(), FetchError> {
        let Kind::Data(data) = packet.header.kind else { return Ok(()) };
        if data.final_segment == Segment::NONE {
            return Ok(());
        }
        let (stated, now) = (*self.last.get_or_insert(data.final_segment.0), data.final_segment.0);
        let segment = packet.header.name.segment.0;
        if stated == now { Ok(()) } else { Err(FetchError::Contradiction { segment, stated, now }) }
    }

    fn write_ready(&mut self) -> Result<(), FetchError> {
        while let Some(content) = self.reorder.next() {
            self.output.write_all(&content).map_err(FetchError::Output)?;
            self.bytes += content.len() as u64;
        }
        Ok(())
    }

    fn check_abandoned(&self) -> Result<(), FetchError> {
        if self.consumer.stats().abandoned == 0 {
            return Ok(());
        }
        let segment = self.first + self.reorder.first_missing();
        let nacks = self.consumer.stats().nacks;
        Err(FetchError::GaveUp { segment, retries: self.retries, bad: self.bad, nacks })
    }

    fn progress(&self, now: Time) -> FetchProgress {
        let ConsumerStats { delivered, delivered_payload, retransmissions, .. } = *self.consumer.stats();
        FetchProgress {
            elapsed: now.since(self.start),
            segments: delivered,
            total_segments: self.consumer.view().remaining.map(|remaining| delivered + remaining),
            bytes: delivered_payload,
            window: self.consumer.window(),
            in_flight: self.consumer.in_flight(),
            rtt: self.consumer.smoothed_rtt(),
            retransmissions,
            silence: now.since(self.received_at),
            bad: self.bad,
            is_connected: true,
        }
    }

    pub(super) fn finish(self, end: Result<(), FetchError>) -> Fetched {
        let now = self.client.now();
        let prefix = crate::name_uri::show(self.maker.prefix());
        let mut flow = FlowRecord {
            name: prefix.clone(),
            consumer: "fetch".to_owned(),
            producer: self.client.remote(),
            prefix,
            scheme: self.scheme.to_owned(),
            ..FlowRecord::default()
        };
        self.consumer.fill_record(&mut flow);
        let record = RunRecord {
            scenario: flow.name.clone(),
            ended: now,
            flow_samples: self.sampler.finish(now, &self.consumer),
            flows: vec![flow],
            ..RunRecord::default()
        };
        let segments = self.reorder.first_missing();
        let Self { bytes, content_id, bad, unchecked, .. } = self;
        Fetched { end, record, segments, bytes, content_id, bad, unchecked }
    }
}

fn context<'a>(names: &'a NameTable, present: &'a mut Present<NoSink>) -> Context<'a> {
    Context::new(Env::new(names, present), &[])
}
