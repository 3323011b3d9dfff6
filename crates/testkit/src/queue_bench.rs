//! A queue under one discipline, with virtual time: packets are pushed and popped by hand.
//!
//! ```
//! use tidegate_core::prelude::*;
//! use tidegate_testkit::queue_bench::{QueueBench, data};
//!
//! /// Marks whatever arrives while ten packets wait.
//! #[derive(Debug)]
//! struct MarkAtTen;
//!
//! impl QueueDiscipline for MarkAtTen {
//!     fn on_enqueue(
//!         &mut self,
//!         _: &mut Context<'_>,
//!         _: &mut Header,
//!         queue: &FaceView,
//!         _: &mut Actions,
//!     ) -> Verdict {
//!         if queue.queued_packets() < 10 { Verdict::Pass } else { Verdict::Mark(1, Cause("ten wait")) }
//!     }
//! }
//!
//! let mut bench = QueueBench::of(Box::new(MarkAtTen), tidegate_testkit::steps::device());
//! bench.push_data(0, 11);
//! let marks: Vec<u8> = (0..11).map(|_| bench.pop(1).mark).collect();
//! assert_eq!(marks, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
//! ```

use tidegate_core::context::{Env, Present, Sink};
use tidegate_core::ndn::face::Limit;
use tidegate_core::ndn::packet::{Data, Interest, LossNotice, Millis, Nack, Packet, PitToken, TcpFlags};
use tidegate_core::observe::event::EventMask;
use tidegate_core::prelude::*;

use crate::standalone_queue::StandaloneQueue;
use crate::steps::device;

/// Events that the queue recorded, in order.
#[derive(Debug, Default)]
pub struct QueueLog(
    /// Each event with its time.
    pub Vec<(Time, Event)>,
);

impl Sink for QueueLog {
    fn record(&mut self, at: Time, _: NodeId, event: Event) {
        self.0.push((at, event));
    }
}

/// A packet that left the queue, with those that were dropped before it.
#[derive(Debug, PartialEq, Eq)]
pub struct Popped {
    /// Segment number of the packet.
    pub segment: u32,
    /// Level of its congestion mark.
    pub mark: u8,
    /// Segment numbers of packets that the queue dropped in the same call, before it.
    pub dropped: Vec<u32>,
}

/// One queue of a device, with its discipline and the events that it recorded.
#[derive(Debug)]
pub struct QueueBench {
    names: NameTable,
    prefix: PrefixId,
    /// View of the queue, as disciplines see it.
    pub faces: [FaceView; 1],
    /// The queue under test.
    pub queue: StandaloneQueue<()>,
    /// Events that were recorded until now.
    pub log: QueueLog,
    /// Virtual time of the next call.
    pub now: Time,
    next_segment: u32,
}

impl QueueBench {
    /// A queue of `limit` packets at 10 Mbps under the discipline that `scheme` is or brings for a device.
    ///
    /// # Panics
    /// If the scheme has neither a discipline nor a router part, or a setting is wrong.
    pub fn new(scheme: &Scheme, given: &[(&str, Setting)], limit: u32) -> Self {
        Self::limited(scheme, given, Limit::Packets(Packets::new(limit)))
    }

    /// As [`new`](Self::new), with a limit in packets or bytes.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn limited(scheme: &Scheme, given: &[(&str, Setting)], limit: Limit) -> Self {
        let mut device = device();
        device.limit = limit;
        Self::of(discipline(scheme, &crate::settings(given), device), device)
    }

    /// The queue of `device` under `discipline`.
    pub fn of(discipline: Box<dyn QueueDiscipline>, device: DeviceSetup) -> Self {
        let mut names = NameTable::new();
        Self {
            prefix: names.intern_uri("/queues").expect("valid"),
            names,
            faces: [FaceView::device(device.rate, device.delay, device.limit)],
            queue: StandaloneQueue::new(FaceId(0), vec![discipline]),
            log: QueueLog::default(),
            now: Time::ZERO,
            next_segment: 0,
        }
    }

    /// Calls the queue at the present time.
    pub fn run<T>(&mut self, act: impl FnOnce(&mut StandaloneQueue<()>, &mut Context<'_>) -> T) -> T {
        let mut present = Present::observed(&mut self.log).at(self.now).with_mask(EventMask::ALL);
        let env = Env::new(&self.names, &mut present);
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
        self.run(|queue, cx| queue.push(cx, Packet::new(header, ())));
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
    ///
    /// # Panics
    /// If no packet leaves.
    pub fn pop(&mut self, millis: u64) -> Popped {
        self.now = Time::from_nanos(millis * 1_000_000);
        let earlier = self.log.0.len();
        let header = self.run(|queue, cx| queue.pop(cx)).expect("a packet waits").header;
        let dropped = self.log.0[earlier..].iter().filter_map(|(_, event)| match event {
            Event::Dropped { name, .. } => Some(name.segment.0),
            _ => None,
        });
        Popped { segment: header.name.segment.0, mark: header.hop.mark, dropped: dropped.collect() }
    }
}

/// The discipline that `scheme` is, or that it brings for a device as a router part.
fn discipline(scheme: &Scheme, settings: &Settings, device: DeviceSetup) -> Box<dyn QueueDiscipline> {
    if let Some(make) = scheme.discipline {
        return make(settings, &device).expect("valid settings");
    }
    let node = NodeSetup::new(NodeId(0), vec![device], device.streams);
    let make = scheme.router.expect("a discipline or a router part");
    make(settings, &node).expect("valid settings").disciplines.swap_remove(0).1
}

/// A Data packet with 900 bytes of content.
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

/// An Interest with a lifetime of 4 s.
pub fn interest() -> Kind {
    Kind::Interest(plain_interest())
}

/// A loss notice without a token.
pub fn notice() -> Kind {
    Kind::LossNotice(LossNotice { token: PitToken(0) })
}

/// A Nack because of congestion.
pub fn nack() -> Kind {
    Kind::Nack(Nack { interest: plain_interest(), reason: NackReason::Congestion })
}

/// A TCP segment that is not ECN-capable.
pub fn tcp() -> Kind {
    segment(Ecn::NotCapable, 0)
}

/// A TCP segment with this time stamp.
pub fn segment(ecn: Ecn, timestamp: u32) -> Kind {
    let (seq, ack, echo, payload, window) = (0, 0, 0, 900, 0);
    let flags = TcpFlags::default();
    Kind::Tcp(TcpSegment { seq, ack, timestamp, echo, payload, window, flags, ecn })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Drops every other packet that leaves.
    #[derive(Debug, Default)]
    struct EveryOther(u32);

    impl QueueDiscipline for EveryOther {
        fn on_dequeue(
            &mut self,
            _: &mut Context<'_>,
            _: &mut Header,
            _: Span,
            _: &FaceView,
            _: &mut Actions,
        ) -> Verdict {
            self.0 += 1;
            if self.0 % 2 == 1 { Verdict::Drop(Cause("every other")) } else { Verdict::Pass }
        }
    }

    #[test]
    fn drops_of_every_discipline_are_listed_and_the_log_keeps_all_events() {
        let mut bench = QueueBench::of(Box::new(EveryOther::default()), device());
        bench.push_data(0, 4);
        let popped = [bench.pop(1), bench.pop(2)];
        let expected = [(1, vec![0]), (3, vec![2])];
        assert_eq!(popped, expected.map(|(segment, dropped)| Popped { segment, mark: 0, dropped }));
        let drops = bench.log.0.iter().filter(|(_, event)| matches!(event, Event::Dropped { .. })).count();
        assert_eq!(drops, 2);
    }
}
