//! One queue under one discipline of the catalogue, with a clock.

use tidegate_core::context::{Env, Sink};
use tidegate_core::ndn::face::Limit;
use tidegate_core::ndn::packet::{Data, Interest, LossNotice, Millis, Nack, Packet, PitToken};
use tidegate_core::observe::event::EventMask;
use tidegate_core::prelude::*;
use tidegate_core::queue::Queue;
use tidegate_schemes::{SCHEMES, find};

/// Everything that the queue recorded.
#[derive(Default)]
pub struct Log(pub Vec<(Time, Event)>);

impl Sink for Log {
    fn record(&mut self, at: Time, _: NodeId, event: Event) {
        self.0.push((at, event));
    }
}

/// A packet that came out of the queue, and what became of those before it.
#[derive(Debug, PartialEq, Eq)]
pub struct Popped {
    pub segment: u32,
    pub mark: u8,
    pub dropped: Vec<u32>,
}

pub struct Bench {
    names: NameTable,
    prefix: PrefixId,
    pub faces: [FaceView; 1],
    pub queue: Queue<()>,
    pub log: Log,
    pub now: Time,
    next_segment: u32,
}

impl Bench {
    /// A queue of `limit` packets under the discipline `scheme`.
    pub fn new(scheme: &str, given: &[(&str, Value)], limit: u32) -> Self {
        Self::limited(scheme, given, Limit::Packets(Packets::new(limit)))
    }

    pub fn limited(scheme: &str, given: &[(&str, Value)], limit: Limit) -> Self {
        let settings = Settings(given.iter().map(|(name, value)| ((*name).into(), value.clone())).collect());
        let mut device = tidegate_testkit::steps::device();
        device.limit = limit;
        let discipline = discipline(scheme, &settings, device);
        let mut names = NameTable::new();
        Self {
            prefix: names.intern_uri("/queues").expect("valid"),
            names,
            faces: [FaceView::device(device.rate, device.delay, limit)],
            queue: Queue::new(FaceId(0), vec![discipline]),
            log: Log::default(),
            now: Time::ZERO,
            next_segment: 0,
        }
    }

    pub fn run<T>(&mut self, act: impl FnOnce(&mut Queue<()>, &mut Context<'_>) -> T) -> T {
        let env = Env::new(self.now, NodeId(0), &self.names, &mut self.log).with_mask(EventMask::ALL);
        act(&mut self.queue, &mut Context::new(env, &self.faces))
    }

    /// Pushes a packet of `size` bytes; its segment counts the packets pushed.
    pub fn push(&mut self, kind: Kind, size: u64) {
        self.next_segment += 1;
        self.push_named(self.next_segment - 1, kind, size);
    }

    /// Pushes a packet of `size` bytes whose name ends with the segment `number`: of TCP, the connection's number.
    pub fn push_named(&mut self, number: u32, kind: Kind, size: u64) {
        let name = Name::segment(self.prefix, number);
        // Events tell of a TCP segment by its sequence number.
        let kind = match kind {
            Kind::Tcp(segment) => Kind::Tcp(TcpSegment { seq: number, ..segment }),
            other => other,
        };
        let mut header = Header::new(name, kind, ByteCount::new(size));
        if header.is_loss_notice() {
            header.hop.class = Class::NOTICE;
        }
        self.run(|queue, cx| queue.push(cx, Packet { header, body: () }));
    }

    /// Pushes a loss notice from elsewhere at `millis`.
    pub fn push_notice(&mut self, millis: u64) {
        self.now = Time::from_nanos(millis * 1_000_000);
        self.push(notice(), 30);
    }

    /// Pushes `count` Data packets of 1000 bytes at `millis`.
    pub fn push_data(&mut self, millis: u64, count: u32) {
        self.now = Time::from_nanos(millis * 1_000_000);
        (0..count).for_each(|_| self.push(data(), 1000));
    }

    /// Takes a packet out at `millis`.
    pub fn pop(&mut self, millis: u64) -> Popped {
        self.now = Time::from_nanos(millis * 1_000_000);
        self.log.0.clear();
        let header = self.run(|queue, cx| queue.pop(cx)).expect("a packet waits").header;
        let dropped = self.log.0.iter().filter_map(|(_, event)| match event {
            Event::Dropped { name, cause: Cause("codel"), .. } => Some(name.segment.0),
            _ => None,
        });
        Popped { segment: header.name.segment.0, mark: header.hop.mark, dropped: dropped.collect() }
    }
}

/// The discipline that `scheme` is, or that it brings for a device as a router part.
fn discipline(scheme: &str, settings: &Settings, device: DeviceSetup) -> Box<dyn QueueDiscipline> {
    let scheme = find(SCHEMES, scheme).expect("a scheme");
    if let Some(make) = scheme.discipline {
        return make(settings, &device).expect("valid settings");
    }
    let node = NodeSetup::new(NodeId(0), vec![device], device.streams);
    let make = scheme.router.expect("a discipline or a router part");
    make(settings, &node).expect("valid settings").disciplines.swap_remove(0).1
}

pub fn data() -> Kind {
    let (freshness, token) = (Millis(0), PitToken(0));
    Kind::Data(Data { freshness, final_segment: Segment::NONE, payload: 900, token })
}

fn plain_interest() -> Interest {
    Interest {
        nonce: 1,
        lifetime: Millis(4000),
        token: PitToken(0),
        hop_limit: None,
        can_be_prefix: false,
        must_be_fresh: false,
    }
}

pub fn interest() -> Kind {
    Kind::Interest(plain_interest())
}

pub fn notice() -> Kind {
    Kind::LossNotice(LossNotice { token: PitToken(0) })
}

pub fn nack() -> Kind {
    Kind::Nack(Nack { interest: plain_interest(), reason: NackReason::Congestion })
}

pub fn tcp() -> Kind {
    segment(Ecn::NotCapable, 0)
}

/// A TCP segment with this time stamp.
pub fn segment(ecn: Ecn, timestamp: u32) -> Kind {
    let (seq, ack, echo, payload, window, flags) = (0, 0, 0, 900, 0, 0);
    Kind::Tcp(TcpSegment { seq, ack, timestamp, echo, payload, window, flags, ecn })
}
