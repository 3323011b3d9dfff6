//! The gate of a face: counts the flows on its link in each direction and allocates an equal share to each.

use std::collections::BTreeMap;

use tidegate_core::prelude::*;

use super::Params;

/// Weight of a new size in a mean.
const GAIN: f64 = 1.0 / 8.0;

/// Packets of one kind that cross the link in one direction.
#[derive(Debug)]
struct Traffic {
    window: Span,
    /// Time at which each flow was last seen.
    flows: BTreeMap<FlowKey, Time>,
    swept_at: Time,
    /// Mean size, bytes; `None` before the first packet.
    size: Option<f64>,
}

impl Traffic {
    fn new(window: Span) -> Self {
        Self { window, flows: BTreeMap::new(), swept_at: Time::ZERO, size: None }
    }

    fn see(&mut self, packet: &Header, now: Time) {
        let size = packet.size().get() as f64;
        self.size = Some(self.size.map_or(size, |mean| mean + GAIN * (size - mean)));
        self.flows.insert(packet.name.prefix, now);
        self.sweep(now);
    }

    /// Removes flows without a packet within the window; checked four times per window.
    fn sweep(&mut self, now: Time) {
        if now.since(self.swept_at) * 4 >= self.window {
            self.swept_at = now;
            self.flows.retain(|_, seen_at| now.since(*seen_at) < self.window);
        }
    }

    /// Packets per second that each flow may have of a link of `rate`; infinite before the first packet.
    fn part(&self, rate: BitRate) -> f64 {
        let flows = self.flows.len().max(1) as f64;
        self.size.map_or(f64::INFINITY, |size| rate.as_bps() as f64 / (8.0 * size.max(1.0)) / flows)
    }
}

/// Burst allowance of a flow.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Interests in the bucket at the time `at`.
    level: f64,
    at: Time,
}

/// The gate of one face.
#[derive(Debug)]
pub(super) struct CountingGate {
    face: FaceId,
    params: Params,
    interests_out: Traffic,
    data_in: Traffic,
    data_out: Traffic,
    buckets: BTreeMap<FlowKey, Bucket>,
}

impl CountingGate {
    pub(super) fn new(face: FaceId, params: Params) -> Self {
        let traffic = || Traffic::new(params.window);
        let (interests_out, data_in, data_out) = (traffic(), traffic(), traffic());
        Self { face, params, interests_out, data_in, data_out, buckets: BTreeMap::new() }
    }

    /// Share of a flow of this face, Interests per second.
    fn upstream_part(&self, cx: &Context<'_>) -> f64 {
        let face = cx.face(self.face);
        let (interests, data) = (self.interests_out.part(face.rate()), self.data_in.part(face.incoming_rate()));
        self.params.headroom * interests.min(data)
    }

    /// Whether an Interest of `flow` exceeds its part.
    fn exceeds(&mut self, cx: &Context<'_>, flow: FlowKey) -> bool {
        let (part, burst) = (self.upstream_part(cx), self.params.burst);
        let known = &self.interests_out.flows;
        // A flow that no longer counts has no share either; when it returns it begins with a full burst.
        self.buckets.retain(|flow, _| known.contains_key(flow));
        let bucket = self.buckets.entry(flow).or_insert(Bucket { level: burst, at: cx.now });
        let gained = part * cx.now.since(bucket.at).as_secs_f64();
        // Infinity times zero is NaN; nothing is gained then.
        bucket.level = (bucket.level + if gained.is_nan() { 0.0 } else { gained }).min(burst);
        bucket.at = cx.now;
        if bucket.level < 1.0 {
            return true;
        }
        bucket.level -= 1.0;
        false
    }
}

/// A rate as coded on packets, thousandths of an Interest per second.
fn milli(rate: f64) -> u32 {
    (rate * 1e3) as u32
}

impl FaceGate for CountingGate {
    fn on_interest_out(&mut self, cx: &mut Context<'_>, _: PitId, interest: &mut Header) -> GateVerdict {
        // Counted before policing: a flow whose Interests are refused still is a flow on this link.
        self.interests_out.see(interest, cx.now);
        if self.params.police && self.exceeds(cx, interest.name.prefix) {
            return GateVerdict::Nack(NackReason::Congestion);
        }
        GateVerdict::Admit
    }

    fn on_data_in(&mut self, cx: &mut Context<'_>, _: PitId, data: &mut Header, _: Option<Span>) {
        self.data_in.see(data, cx.now);
        data.hop.put(Signal::STAMPING_RATE, milli(self.upstream_part(cx)));
    }

    fn on_data_out(&mut self, cx: &mut Context<'_>, data: &mut Header, _: DataSource) {
        self.data_out.see(data, cx.now);
        // The downstream link may be the slower one; of two stamps the minimum stays.
        let part = self.params.headroom * self.data_out.part(cx.face(self.face).rate());
        data.hop.put(Signal::STAMPING_RATE, milli(part));
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use tidegate_testkit::gate_bench::{GateBench, data, interest};

    const FACE: FaceId = FaceId(0);
    const REFUSED: GateVerdict = GateVerdict::Nack(NackReason::Congestion);

    fn gate(change: impl FnOnce(&mut Params)) -> CountingGate {
        let mut params = Params::from_settings(&Settings::default()).expect("defaults are valid");
        change(&mut params);
        CountingGate::new(FACE, params)
    }

    /// Reported rate on a Data of 1250 B, 1000 of which the link carries, that arrives or leaves.
    fn report(gate: &mut CountingGate, bench: &mut GateBench, at_us: u64, flow: u32, is_out: bool) -> u32 {
        let mut header = data(PrefixId(flow), 0, 1_250);
        bench.at(at_us, |cx| match is_out {
            true => gate.on_data_out(cx, &mut header, DataSource::Face),
            false => gate.on_data_in(cx, PitId(0), &mut header, None),
        });
        header.hop.get(Signal::STAMPING_RATE).expect("a report")
    }

    #[test]
    fn flows_of_data_divide_the_link_each_way_by_their_number() {
        let (mut gate, mut bench) = (gate(|_| ()), GateBench::new());
        assert_eq!(report(&mut gate, &mut bench, 0, 1, false), 970_000);
        assert_eq!(report(&mut gate, &mut bench, 0, 2, false), 485_000);
        assert_eq!(report(&mut gate, &mut bench, 0, 1, true), 970_000, "the other way has flows of its own");
        // 100 ms after its last Data the second flow is forgotten.
        assert_eq!(report(&mut gate, &mut bench, 99_000, 1, false), 485_000);
        assert_eq!(report(&mut gate, &mut bench, 125_000, 1, false), 970_000);
    }

    #[test]
    fn flows_of_interests_divide_the_link_where_they_are_more() {
        let (mut gate, mut bench) = (gate(|_| ()), GateBench::new());
        // Interests of 40 B: 31,250 of them fit. 40 flows ask and one is answered: 781.25 each.
        bench.at(0, |cx| {
            (0..40).for_each(|flow| {
                gate.on_interest_out(cx, PitId(flow), &mut interest(PrefixId(flow), 0));
            });
        });
        assert_eq!(report(&mut gate, &mut bench, 0, 1, false), 757_812);
    }

    #[test]
    fn interests_beyond_the_burst_and_the_part_are_refused() {
        let mut bench = GateBench::new();
        let mut request = |gate: &mut CountingGate, at_us: u64, flow: u32| {
            bench.at(at_us, |cx| gate.on_interest_out(cx, PitId(0), &mut interest(PrefixId(flow), 0)))
        };
        let mut policed = gate(|params| (params.burst, params.headroom) = (3.0, 1.0));
        report(&mut policed, &mut GateBench::new(), 0, 1, false);
        let verdicts: Vec<GateVerdict> = (0..4).map(|_| request(&mut policed, 0, 1)).collect();
        assert_eq!(verdicts, [GateVerdict::Admit, GateVerdict::Admit, GateVerdict::Admit, REFUSED]);
        // 1000 per second for the one flow of Data.
        assert_eq!((request(&mut policed, 999, 1), request(&mut policed, 1_000, 1)), (REFUSED, GateVerdict::Admit));
        assert_eq!(request(&mut policed, 1_000, 2), GateVerdict::Admit, "a flow of its own");
        let mut free = gate(|params| (params.burst, params.police) = (3.0, false));
        assert!((0..9).all(|_| request(&mut free, 0, 1) == GateVerdict::Admit));
    }
}
