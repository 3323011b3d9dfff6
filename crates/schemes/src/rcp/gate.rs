//! The router's part: measures load, queue and round trips of one face, and computes the fair rate there.

use tidegate_core::prelude::*;

use super::Params;
use crate::rcp::SHARED_RATE;
use crate::toolbox::rate::flow_rtt::FLOW_RTT;

/// Bytes of a full segment on the wire.
const SEGMENT: f64 = 1514.0;

/// The gate of one face.
#[derive(Debug)]
pub(super) struct RateGate {
    params: Params,
    face: FaceId,
    /// R, bytes per second; `None` before the first packet.
    rate: Option<f64>,
    /// Mean RTT of the flows (d0), seconds.
    mean_rtt: f64,
    /// Bytes offered to the link since the last update.
    arrived: u64,
    /// Bytes in segments that carry an RTT, and the sum of bytes times RTT, byte seconds.
    timed: (f64, f64),
    updated_at: Time,
}

impl RateGate {
    pub(super) fn new(params: Params, face: FaceId) -> Self {
        Self {
            face,
            rate: None,
            mean_rtt: params.initial_rtt.as_secs_f64(),
            arrived: 0,
            timed: (0.0, 0.0),
            updated_at: Time::ZERO,
            params,
        }
    }

    /// Bytes per second that are allocated to all flows together.
    fn capacity(&self, cx: &Context<'_>) -> f64 {
        (self.params.utilisation * cx.face(self.face).rate().as_bps() as f64 / 8.0).max(1.0)
    }

    fn count(&mut self, segment: &Header) {
        let size = segment.size().get();
        self.arrived += size;
        if let Some(rtt) = segment.hop.get(FLOW_RTT).filter(|rtt| *rtt > 0) {
            let (bytes, sum) = self.timed;
            self.timed = (bytes + size as f64, sum + size as f64 * f64::from(rtt) * 1e-6);
        }
    }

    fn stamp(&mut self, cx: &Context<'_>, segment: &mut Header) {
        // A sender that does not follow rates is traffic (y) like any other, but has no use for one.
        if segment.hop.get(SHARED_RATE).is_none() {
            return;
        }
        let first = self.params.initial_rate * self.capacity(cx);
        let rate = *self.rate.get_or_insert(first);
        segment.hop.put(SHARED_RATE, ((rate * 8e-3) as u32).max(1));
    }

    /// Longer round trips are adopted at once, shorter ones in proportion to the traffic that reports them.
    fn update_rtt(&mut self, rate: f64, capacity: f64, elapsed: f64) {
        let (bytes, sum) = std::mem::take(&mut self.timed);
        if bytes <= 0.0 {
            return;
        }
        let reported = sum / bytes;
        let share = if reported >= self.mean_rtt { 1.0 } else { rate / capacity * reported / self.mean_rtt };
        self.mean_rtt += (share * elapsed / self.mean_rtt).min(1.0) * (reported - self.mean_rtt);
    }

    /// R <- R (1 + T/d0 (alpha (eta C - y) - beta q/d0) / (eta C)).
    fn update(&mut self, cx: &Context<'_>) {
        let elapsed = cx.now.since(self.updated_at).as_secs_f64();
        self.updated_at = cx.now;
        let arrived = std::mem::take(&mut self.arrived) as f64;
        let Some(rate) = self.rate.filter(|_| elapsed > 0.0) else { return };
        let Params { alpha, beta, min_rate, .. } = self.params;
        let capacity = self.capacity(cx);
        self.update_rtt(rate, capacity, elapsed);
        let queue = cx.face(self.face).backlog_bytes().get() as f64;
        // `capacity` includes the utilisation eta already.
        let spare = alpha * (capacity - arrived / elapsed) - beta * queue / self.mean_rtt;
        // A node with a coarse clock updates late, but by at most one round trip at a time.
        let step = (elapsed / self.mean_rtt).min(1.0) * spare / capacity;
        // At rate 0 no segment would return to report a higher rate.
        let floor = (min_rate * SEGMENT / self.mean_rtt).min(capacity);
        self.rate = Some((rate * (1.0 + step)).clamp(floor, capacity));
    }

    fn interval(&self) -> Span {
        // At least 100 us, since a mean RTT near 0 would let the timer expire without end.
        self.params.interval.min(Span::from_secs_f64(self.mean_rtt)).max(Span::from_micros(100))
    }
}

impl FaceGate for RateGate {
    fn on_segment(&mut self, cx: &mut Context<'_>, segment: &mut Header, direction: Direction) -> GateVerdict {
        if direction == Direction::Out && matches!(segment.kind, Kind::Tcp(_)) {
            // The first interval begins with the first segment: idle time before it would lower the measured
            // load.
            if self.rate.is_none() {
                self.updated_at = cx.now;
            }
            self.count(segment);
            self.stamp(cx, segment);
        }
        GateVerdict::Admit
    }

    fn on_wake(&mut self, cx: &mut Context<'_>, _: &mut Releases) {
        if self.rate.is_some() && cx.now >= self.updated_at + self.interval() {
            self.update(cx);
        }
    }

    fn next_wake(&self) -> Option<Time> {
        self.rate.map(|_| self.updated_at + self.interval())
    }
}
