//! Events of a consumer in short form, and a case worked by hand as a list of them; a device for disciplines.
//!
//! Times are milliseconds since the start. `next_segment` is the lowest segment that was never requested.

use tidegate_core::ndn::face::{FaceId, Limit};
use tidegate_core::rng::{Seed, Streams};
use tidegate_core::scheme::DeviceSetup;
use tidegate_core::scheme::congestion::{CongestionController, LossSignal};

use tidegate_core::scheme::signal::{HopSignals, Signal};
use tidegate_core::units::{BitRate, Packets, Span, Time};

use crate::driver::{self, Driver, DriverEvent, DriverEventKind, RTT};

/// Arrival of a Data at `at_ms` without a mark, 40 ms after its Interest.
pub fn data(at_ms: u64, segment: u32, next_segment: u32) -> DriverEvent {
    arrival(at_ms, segment, next_segment, 0, Some(RTT))
}

/// As [`data`], with a congestion mark of 1.
pub fn marked(at_ms: u64, segment: u32, next_segment: u32) -> DriverEvent {
    marked_at(1, at_ms, segment, next_segment)
}

/// As [`data`], with a congestion mark of `level`.
pub fn marked_at(level: u8, at_ms: u64, segment: u32, next_segment: u32) -> DriverEvent {
    arrival(at_ms, segment, next_segment, level, Some(RTT))
}

/// As [`data`], `rtt_ms` after its Interest; `None` for a retransmitted segment.
pub fn data_after(at_ms: u64, segment: u32, next_segment: u32, rtt_ms: Option<u64>) -> DriverEvent {
    arrival(at_ms, segment, next_segment, 0, rtt_ms.map(Span::from_millis))
}

/// As [`data`], with the signal [`Signal::STAMPING_RATE`] of `rate` thousandths of an Interest per second.
pub fn stamped(at_ms: u64, segment: u32, next_segment: u32, rate: u32) -> DriverEvent {
    let mut hop = HopSignals::default();
    hop.put(Signal::STAMPING_RATE, rate);
    event(at_ms, next_segment, DriverEventKind::Data { segment, hop, rtt: Some(RTT) })
}

/// First departure of the Interest for `segment`.
pub fn sent(at_ms: u64, segment: u32) -> DriverEvent {
    event(at_ms, segment + 1, DriverEventKind::Sent { segment, is_retransmission: false })
}

/// Detection of the loss of `segment` by `signal`.
pub fn lost(at_ms: u64, segment: u32, next_segment: u32, signal: LossSignal) -> DriverEvent {
    event(at_ms, next_segment, DriverEventKind::Loss { segment, signal })
}

fn arrival(at_ms: u64, segment: u32, next_segment: u32, mark: u8, rtt: Option<Span>) -> DriverEvent {
    event(at_ms, next_segment, DriverEventKind::Data { segment, hop: driver::marked_hop(mark), rtt })
}

fn event(at_ms: u64, next_segment: u32, kind: DriverEventKind) -> DriverEvent {
    DriverEvent { at: Time::ZERO + Span::from_millis(at_ms), next_segment, kind }
}

/// Calls the controller for each event and compares the window after it, packets, to six decimals.
///
/// # Panics
/// If a window differs; the message has the number of the event, from 1.
#[track_caller]
pub fn follow<C: CongestionController + ?Sized>(driver: &mut Driver<C>, steps: &[(DriverEvent, f64)]) {
    for (number, (event, expected)) in steps.iter().enumerate() {
        let window = driver.handle(*event);
        let number = number + 1;
        assert!((window - expected).abs() < 6e-7, "event {number} {event:?}: {window}, by hand {expected}");
    }
}

/// A device of 10 Mbps with room for 100 packets.
pub fn device() -> DeviceSetup {
    let limit = Limit::Packets(Packets::new(100));
    DeviceSetup::new(FaceId(0), BitRate::from_mbps(10.0), limit, Streams::of(Seed(1)))
}
