//! The router's part: an efficiency controller over the traffic of the face, and a fairness controller that
//! distributes its feedback.

use tidegate_core::prelude::*;

use super::{Params, SEGMENT};
use crate::toolbox::rate::flow_rtt::FLOW_RTT;
use crate::xcp::{FLOW_WINDOW, WINDOW_FEEDBACK};

/// Bounds of the control interval.
const MIN_INTERVAL: Span = Span::from_millis(1);
const MAX_INTERVAL: Span = Span::from_secs(1);

/// Traffic of one control interval.
#[derive(Clone, Copy, Debug, Default)]
struct Traffic {
    /// Bytes offered to the link.
    bytes: f64,
    /// Sums over packets of rtt s / cwnd and of rtt² s / cwnd, in seconds and seconds².
    by_window: f64,
    squared_by_window: f64,
    /// Minimum queue found by a packet, bytes; `None` without packets.
    shortest_queue: Option<f64>,
}

/// Feedback to distribute in one control interval.
#[derive(Clone, Copy, Debug, Default)]
struct Deal {
    /// Factors of positive and negative feedback (xi_p and xi_n).
    gain: f64,
    cut: f64,
    /// Bytes per second that may still be given and taken (appendix A).
    gain_left: f64,
    cut_left: f64,
}

/// State of its flow that a packet carries.
#[derive(Clone, Copy, Debug)]
struct FlowState {
    /// RTT that the packet carries, seconds.
    rtt: f64,
    /// Congestion window that the packet carries, bytes.
    window: f64,
    size: f64,
    /// Change of the window that earlier routers on the path granted, bytes.
    required: f64,
}

impl FlowState {
    /// `None` for a packet of another kind of flow, or before its first round trip.
    fn of(segment: &Header) -> Option<Self> {
        let rtt = segment.hop.get(FLOW_RTT).filter(|rtt| *rtt > 0)?;
        let window = segment.hop.get(FLOW_WINDOW)?;
        Some(Self {
            rtt: f64::from(rtt) * 1e-6,
            window: f64::from(window).max(SEGMENT),
            size: segment.size().get() as f64,
            required: f64::from(from_zig_zag(segment.hop.get(WINDOW_FEEDBACK)?)),
        })
    }
}

/// The gate of one face.
#[derive(Debug)]
pub(super) struct FeedbackGate {
    params: Params,
    face: FaceId,
    /// d: mean round trip, seconds.
    interval: f64,
    traffic: Traffic,
    deal: Deal,
    /// `None` before the first packet.
    updated_at: Option<Time>,
}

impl FeedbackGate {
    pub(super) fn new(params: Params, face: FaceId) -> Self {
        let interval = params.initial_rtt.as_secs_f64();
        Self { params, face, interval, traffic: Traffic::default(), deal: Deal::default(), updated_at: None }
    }

    fn count(&mut self, cx: &Context<'_>, size: f64, flow: Option<FlowState>) {
        let queue = cx.face(self.face).backlog_bytes().get() as f64;
        let traffic = &mut self.traffic;
        traffic.bytes += size;
        // The queue that stands over the whole interval; a burst drains without feedback (§3.5.1, Q).
        traffic.shortest_queue = Some(traffic.shortest_queue.map_or(queue, |shortest| shortest.min(queue)));
        if let Some(FlowState { rtt, window, size, .. }) = flow {
            traffic.by_window += rtt * size / window;
            traffic.squared_by_window += rtt * rtt * size / window;
        }
    }

    /// Computes the feedback to distribute in the next interval (§3.5.1 and §3.5.2).
    fn update(&mut self, cx: &Context<'_>, elapsed: f64) {
        let Params { alpha, beta, shuffle, .. } = self.params;
        let Traffic { bytes, by_window, squared_by_window, shortest_queue } = std::mem::take(&mut self.traffic);
        // Without a flow of this scheme there is no new mean; the last interval stays.
        if by_window > 0.0 {
            let mean = squared_by_window / by_window;
            self.interval = mean.clamp(MIN_INTERVAL.as_secs_f64(), MAX_INTERVAL.as_secs_f64());
        }
        let (d, load) = (self.interval, bytes / elapsed);
        let spare = cx.face(self.face).rate().as_bps() as f64 / 8.0 - load;
        let phi = alpha * d * spare - beta * shortest_queue.unwrap_or(0.0);
        // Shuffling (h) only fills up what the aggregate feedback leaves of its fraction, or it would add to
        // it (§3.5.2).
        let shuffled = (shuffle * load * d - phi.abs()).max(0.0);
        let (give, take) = ((shuffled + phi.max(0.0)) / d, (shuffled + (-phi).max(0.0)) / d);
        // The interval may have been longer than d: per d of it.
        let per_d = d / elapsed;
        // No traffic to distribute over: the gains are then 0 instead of infinite.
        let over = |sum: f64| if sum > 0.0 { 1.0 / (sum * per_d) } else { 0.0 };
        self.deal =
            Deal { gain: give * over(by_window), cut: take * over(bytes), gain_left: give, cut_left: take };
    }

    /// Feedback written on the packet, bytes (eq. 5 to 9).
    fn feedback(&mut self, flow: FlowState) -> f64 {
        let FlowState { rtt, window, size, required } = flow;
        let Deal { gain, cut, .. } = self.deal;
        let (gained, taken) = (gain * rtt * rtt * size / window, cut * rtt * size);
        let own = gained - taken;
        // What another router has cut already is not counted as given here (appendix A).
        let (gained, taken) = if required > own { (gained, taken) } else { passed_on(required, own) };
        self.deal.gain_left -= gained / rtt;
        self.deal.cut_left -= taken / rtt;
        // A sum that is spent ends its kind of feedback until the next interval; more would exceed phi.
        if self.deal.gain_left <= 0.0 {
            self.deal.gain = 0.0;
        }
        if self.deal.cut_left <= 0.0 {
            self.deal.cut = 0.0;
        }
        required.min(own)
    }

    fn span(&self) -> Span {
        Span::from_secs_f64(self.interval)
    }
}

/// Corrections of this router's accounts when another router grants less: `required` of `own`.
fn passed_on(required: f64, own: f64) -> (f64, f64) {
    if required > 0.0 { (required, own - required) } else { (0.0, own.max(0.0) - required) }
}

impl FaceGate for FeedbackGate {
    fn on_segment(&mut self, cx: &mut Context<'_>, segment: &mut Header, direction: Direction) -> GateVerdict {
        if direction == Direction::Out {
            self.updated_at.get_or_insert(cx.now);
            let flow = FlowState::of(segment);
            self.count(cx, segment.size().get() as f64, flow);
            if let Some(flow) = flow {
                let feedback = self.feedback(flow);
                segment.hop.put(WINDOW_FEEDBACK, to_zig_zag(feedback.round() as i32));
            }
        }
        GateVerdict::Admit
    }

    fn on_wake(&mut self, cx: &mut Context<'_>, _: &mut Releases) {
        let Some(elapsed) = self.updated_at.map(|at| cx.now.since(at)) else { return };
        if elapsed >= self.span() {
            self.updated_at = Some(cx.now);
            self.update(cx, elapsed.as_secs_f64());
        }
    }

    fn next_wake(&self) -> Option<Time> {
        self.updated_at.map(|at| at + self.span())
    }
}

/// Zig-zag code: small magnitudes of either sign become small numbers.
pub(super) fn to_zig_zag(value: i32) -> u32 {
    ((value << 1) ^ (value >> 31)) as u32
}

/// The signed number of a value of the zig-zag code.
pub(super) fn from_zig_zag(value: u32) -> i32 {
    (value >> 1) as i32 ^ -((value & 1) as i32)
}
