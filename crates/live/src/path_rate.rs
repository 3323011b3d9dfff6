//! Rate of the path behind a UDP face, estimated from acknowledgements of some of its frames. No sockets, no clock.
//!
//! As in BBR (draft-cardwell-iccrg-bbr-congestion-control-00) the rate is the maximum delivery rate of the last round trips,
//! and at most two bandwidth-delay products are in flight. The face may send faster than that until the round trip shows a
//! queue on the path; it then lets the queue drain, sends a little below the rate for some round trips, and tries again. So
//! the rate limits the face only on a path that was full, and the queue forms in front of the face, where it is managed.

use std::collections::VecDeque;

use tidegate_core::units::{BitRate, ByteCount, Span, Time};

/// Gain of the rate while the path has shown no queue.
const START_GAIN: f64 = 2.5;

/// Gain of the rate while more is tried.
const UP_GAIN: f64 = 1.25;

/// Gain of the rate while a queue on the path drains.
const DRAIN_GAIN: f64 = 0.75;

/// Gain of the rate between two trials.
const CRUISE_GAIN: f64 = 0.99;

/// Round trips between two trials.
const CRUISE_ROUNDS: u32 = 6;

/// Minimum round trips for which all acknowledgements have to show a queue: those that a busy host delays come together.
const QUEUE_TIME: f64 = 0.1;

/// Round trips for which a delivery rate counts, twice.
const HALF_WINDOW: u32 = 8;

/// Growth of the rate in a trial after which the path counts as unknown again.
const FASTER: f64 = 1.5;

/// Bytes in flight that are always permitted: at the start nothing is known of the path.
const MIN_WINDOW: f64 = 32.0 * 1_400.0;

/// Bytes in flight at most, bandwidth-delay products.
const WINDOW_GAIN: f64 = 2.0;

/// Time after which the minimum round trip is measured anew.
const MIN_RTT_AGE: Span = Span::from_secs(10);

/// Minimum time without an acknowledgement after which what is in flight counts as lost.
const SILENCE: Span = Span::from_millis(200);

/// The same before the first acknowledgement.
const FIRST_SILENCE: Span = Span::from_secs(1);

/// Such times in succession after which nothing is known of the path any more.
const MAX_SILENCES: u32 = 5;

/// Fraction of bytes lost above the random one that shows that the path is full.
const FULL_LOSS: f64 = 0.1;

/// Maximum fraction of bytes that is taken for lost at random.
const MAX_RANDOM_LOSS: f64 = 0.5;

/// Bytes by which a round trip of a trial exceeds the gain: so the rates of faces that share a path approach each other.
const UP_BYTES: f64 = 8.0 * 1_400.0;

/// Minimum and maximum distance of two labelled frames.
const LABEL_GAPS: (Span, Span) = (Span::from_micros(200), Span::from_millis(4));

/// Maximum number of labelled frames that wait for their acknowledgement.
const MAX_LABELS: usize = 4_096;

/// Minimum delay by which a queue on the path is recognised.
const MIN_QUEUE: Span = Span::from_millis(2);

/// A labelled frame, and what was known when it left.
#[derive(Clone, Copy, Debug)]
struct Label {
    number: u64,
    at: Time,
    /// Bytes sent so far, those of this frame included.
    sent: u64,
    /// Whether the bytes of this frame are not counted yet.
    is_open: bool,
    before: Progress,
    /// Whether the frame did not wait, so that the path may have carried more.
    is_source_limited: bool,
}

/// Delivery up to one acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    delivered: u64,
    /// Bytes sent up to the acknowledged frame.
    sent: u64,
    at: Time,
    /// Departure of the acknowledged frame.
    sent_at: Time,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum PathState {
    /// The path has shown no queue yet.
    Start,
    /// A queue on the path drains, for this number of round trips so far.
    Drain(u32),
    /// Between two trials, for this number of round trips so far.
    Cruise(u32),
    /// More than this rate is tried, bytes per second.
    Up(f64),
}

/// Observations of the present round trip.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// Bytes delivered at which it ends.
    until: u64,
    min_rtt: Span,
    /// Maximum delivery rate, bytes per second.
    best: f64,
    /// Delivery at its start.
    from: Progress,
}

/// Estimator of one path.
#[derive(Debug)]
pub(crate) struct PathRate {
    labels: VecDeque<Label>,
    labelled_at: Option<Time>,
    sent: u64,
    lost: u64,
    last: Progress,
    acked_at: Time,
    /// Times in succession without an acknowledgement.
    silences: u32,
    /// Bytes sent of which nothing is in flight any more.
    settled: u64,
    min_rtt: Option<(Span, Time)>,
    /// Maxima of the present and the last half of the window, bytes per second.
    best: [f64; 2],
    rounds_in_half: u32,
    has_full_sample: bool,
    has_seen_queue: bool,
    round: Round,
    /// Mean fraction of bytes lost of those that left while a queue drained: more than the path carries is not sent then.
    random_loss: f64,
    /// First of the last acknowledgements, if these showed a queue.
    queue_since: Option<Time>,
    state: PathState,
}

impl PathRate {
    pub fn new() -> Self {
        Self {
            labels: VecDeque::new(),
            labelled_at: None,
            silences: 0,
            sent: 0,
            lost: 0,
            last: Progress::default(),
            acked_at: Time::ZERO,
            settled: 0,
            min_rtt: None,
            best: [0.0; 2],
            rounds_in_half: 0,
            has_full_sample: false,
            has_seen_queue: false,
            round: Round { until: 0, min_rtt: Span::MAX, best: 0.0, from: Progress::default() },
            random_loss: 0.0,
            queue_since: None,
            state: PathState::Start,
        }
    }

    /// Frames of `bytes` leave; if the last of them has a number, [`on_label`](Self::on_label) was called before.
    #[inline]
    pub fn on_sent(&mut self, bytes: usize) {
        self.sent += bytes as u64;
        if let Some(label) = self.labels.back_mut().filter(|label| label.is_open) {
            (label.sent, label.is_open) = (self.sent, false);
        }
    }

    /// Whether the next frame should have a number.
    pub fn needs_label(&self, now: Time) -> bool {
        let (min, max) = LABEL_GAPS;
        let gap = self.min_rtt.map_or(min, |(rtt, _)| rtt.scale(1.0 / 32.0).max(min).min(max));
        // Of what fills the window several frames have numbers, also if it leaves at once.
        let unlabelled = self.sent - self.labels.back().map_or(self.settled, |label| label.sent);
        self.labels.len() < MAX_LABELS
            && (self.labelled_at.is_none_or(|at| now.since(at) >= gap)
                || unlabelled as f64 >= MIN_WINDOW / 8.0)
    }

    /// A frame leaves with this number, the last of those that the next call of [`on_sent`](Self::on_sent) counts.
    pub fn on_label(&mut self, now: Time, number: u64, is_source_limited: bool) {
        if self.labels.is_empty() {
            // Time without anything in flight is not part of a delivery rate.
            (self.last.at, self.last.sent_at, self.acked_at) = (now, now, now);
        }
        self.labelled_at = Some(now);
        let (before, sent) = (self.last, self.sent);
        self.labels.push_back(Label { number, at: now, sent, is_open: true, before, is_source_limited });
    }

    /// The frame `number` has arrived.
    pub fn on_ack(&mut self, now: Time, number: u64) {
        let Ok(place) = self.labels.binary_search_by_key(&number, |label| label.number) else { return };
        let mut from = self.settled;
        // What was sent before and not acknowledged is lost, up to frames that overtook each other.
        for lost in self.labels.drain(..place) {
            self.lost += lost.sent - from;
            from = lost.sent;
        }
        let Some(label) = self.labels.pop_front() else { return };
        self.settled = label.sent;
        (self.acked_at, self.silences) = (now, 0);
        let rtt = now.since(label.at);
        let is_old = self.min_rtt.is_none_or(|(_, at)| now.since(at) > MIN_RTT_AGE);
        if is_old || self.min_rtt.is_some_and(|(min, _)| rtt <= min) {
            self.min_rtt = Some((rtt, now));
        }
        let delivered = label.sent - self.lost.min(label.sent);
        self.last = Progress { delivered, sent: label.sent, at: now, sent_at: label.at };
        self.take_sample(&label, rtt);
    }

    fn take_sample(&mut self, label: &Label, rtt: Span) {
        let Progress { delivered, at, .. } = self.last;
        let interval = at.since(label.before.at).max(label.at.since(label.before.sent_at));
        let delivered_bytes = delivered.saturating_sub(label.before.delivered);
        let bytes = self.carried(label, delivered_bytes, rtt);
        let min = self.min_rtt.map_or(Span::ZERO, |(rtt, _)| rtt);
        self.round.min_rtt = self.round.min_rtt.min(rtt);
        // A shorter interval than a round trip has acknowledgements that came in a bunch.
        if interval >= min && interval > Span::ZERO {
            let rate = bytes / interval.as_secs_f64();
            self.round.best = self.round.best.max(delivered_bytes as f64 / interval.as_secs_f64());
            if !label.is_source_limited || rate > self.rate_bytes() {
                self.best[0] = self.best[0].max(rate);
                self.has_full_sample |= !label.is_source_limited;
            }
        }
        self.queue_since = self.has_queue(rtt).then(|| self.queue_since.unwrap_or(at));
        if self.has_lasting_queue() && matches!(self.state, PathState::Start | PathState::Up(_)) {
            self.state = PathState::Drain(0);
            self.end_round();
        } else if label.before.delivered >= self.round.until {
            self.end_round();
        }
    }

    /// Bytes that the path carried while these were delivered: without a queue on the path, those that are lost at random
    /// behind its bottleneck are among them, and those whose acknowledgements are.
    fn carried(&self, label: &Label, delivered: u64, rtt: Span) -> f64 {
        let sent = label.sent.saturating_sub(label.before.sent) as f64;
        let delivered = delivered as f64;
        if self.has_queue(rtt) { delivered } else { sent.min(delivered / (1.0 - self.random_loss)) }
    }

    /// Whether a round trip shows a queue on the path.
    fn has_queue(&self, rtt: Span) -> bool {
        self.min_rtt.is_some_and(|(min, _)| rtt > min + min.scale(0.125).max(MIN_QUEUE))
    }

    fn has_lasting_queue(&self) -> bool {
        let min = self.min_rtt.map_or(Span::ZERO, |(rtt, _)| rtt.scale(QUEUE_TIME));
        self.queue_since.is_some_and(|since| self.last.at.since(since) > min)
    }

    fn end_round(&mut self) {
        let has_queue = self.has_queue(self.round.min_rtt);
        let loss = self.round_loss();
        // A few frames of a round trip are a small sample: the larger the fraction, the more it varies.
        let is_lossy = loss > 1.5 * self.random_loss + FULL_LOSS;
        match self.state {
            // Its acknowledgements are for what left while the queue drained.
            PathState::Cruise(0) => self.random_loss += (loss.min(MAX_RANDOM_LOSS) - self.random_loss) / 2.0,
            // A path without much of a buffer shows losses in place of a queue.
            PathState::Start | PathState::Cruise(_) | PathState::Up(_) if is_lossy => self.lower(),
            _ => {}
        }
        self.state = match self.state {
            PathState::Drain(rounds) if rounds < 1 || (has_queue && rounds < 3) => {
                PathState::Drain(rounds + 1)
            }
            PathState::Drain(_) => PathState::Cruise(0),
            PathState::Cruise(rounds) if rounds < CRUISE_ROUNDS => PathState::Cruise(rounds + 1),
            PathState::Cruise(_) => PathState::Up(self.rate_bytes()),
            PathState::Up(before) if self.rate_bytes() > FASTER * before => PathState::Start,
            state => state,
        };
        self.has_seen_queue |= has_queue || self.has_lasting_queue();
        self.turn_window();
        self.round = Round { until: self.last.delivered, min_rtt: Span::MAX, best: 0.0, from: self.last };
    }

    /// Takes what was delivered in the present round trip for the rate of the path.
    fn lower(&mut self) {
        if self.round.best > 0.0 {
            self.best = [self.round.best / (1.0 - self.random_loss), 0.0];
        }
        self.state = PathState::Drain(0);
    }

    /// Fraction of bytes lost in the present round trip.
    fn round_loss(&self) -> f64 {
        let Progress { delivered, sent, .. } = self.round.from;
        let (delivered, sent) =
            (self.last.delivered.saturating_sub(delivered), self.last.sent.saturating_sub(sent));
        1.0 - delivered as f64 / (sent as f64).max(1.0)
    }

    fn turn_window(&mut self) {
        self.rounds_in_half += 1;
        // Round trips in which the source had too little, or the path no queue, do not show that the path has become
        // slower.
        if self.rounds_in_half >= HALF_WINDOW && self.has_full_sample && self.has_seen_queue {
            self.best = [0.0, self.best[0]];
            (self.rounds_in_half, self.has_full_sample, self.has_seen_queue) = (0, false, false);
        }
    }

    fn rate_bytes(&self) -> f64 {
        self.best[0].max(self.best[1])
    }

    /// Counts what is in flight as lost if nothing was acknowledged for a while, and forgets the path after several such
    /// times.
    pub fn expire(&mut self, now: Time) {
        if self.labels.is_empty() || now.since(self.acked_at) <= self.patience() {
            return;
        }
        self.silences += 1;
        if self.silences >= MAX_SILENCES || self.min_rtt.is_none() {
            *self = Self { sent: self.sent, labelled_at: self.labelled_at, ..Self::new() };
        } else {
            self.lost += self.labels.back().map_or(0, |label| label.sent - self.settled);
            self.labels.clear();
        }
        (self.settled, self.acked_at) = (self.sent, now);
    }

    fn patience(&self) -> Span {
        self.min_rtt.map_or(FIRST_SILENCE, |(rtt, _)| (rtt * 4).max(SILENCE))
    }

    /// Time at which [`expire`](Self::expire) may forget the path; `None` if nothing is in flight.
    pub fn expires_at(&self) -> Option<Time> {
        (!self.labels.is_empty()).then(|| self.acked_at + self.patience() + Span::from_nanos(1))
    }

    /// Rate at which to send now; `None` for any.
    pub fn rate(&self) -> Option<BitRate> {
        let (rtt, _) = self.min_rtt?;
        let (known, seconds) = (self.rate_bytes(), rtt.max(Span::from_millis(1)).as_secs_f64());
        let rate = match self.state {
            // A rate that is not known does not limit the first frames.
            PathState::Start => (START_GAIN * known).max(MIN_WINDOW / seconds),
            PathState::Drain(_) => DRAIN_GAIN * known,
            PathState::Cruise(_) => CRUISE_GAIN * known,
            PathState::Up(_) => UP_GAIN * known + UP_BYTES / seconds,
        };
        Some(BitRate::from_bps((8.0 * rate.max(MIN_WINDOW / 16.0 / seconds)) as u64))
    }

    /// Whether so much is in flight that nothing may be sent before the next acknowledgement.
    pub fn is_full(&self) -> bool {
        let Some((rtt, _)) = self.min_rtt else { return false };
        let in_flight = (self.sent - self.settled) as f64;
        !self.labels.is_empty()
            && in_flight > (WINDOW_GAIN * self.rate_bytes() * rtt.as_secs_f64()).max(MIN_WINDOW)
    }

    /// The estimate, and the minimum round trip; `None` before the first acknowledgement.
    pub fn estimate(&self) -> Option<(BitRate, Span)> {
        let rate = ByteCount::new(self.rate_bytes() as u64).over(Span::from_secs(1));
        self.min_rtt.map(|(rtt, _)| (rate, rtt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::rng::{Rng, Seed};

    const FRAME: usize = 1_400;

    const fn us(micros: u64) -> Time {
        Time::from_nanos(1_000 * micros)
    }

    /// A sender that always has something to send, if it may.
    struct Sender {
        path: PathRate,
        free_at: Time,
        next: u64,
        /// Arrivals of acknowledgements.
        acks: VecDeque<(Time, u64)>,
        delivered: u64,
        /// Rate of a source without acknowledgements.
        fixed: Option<BitRate>,
    }

    impl Sender {
        fn new(fixed: Option<BitRate>) -> Self {
            let path = PathRate::new();
            Self { path, free_at: Time::ZERO, next: 0, acks: VecDeque::new(), delivered: 0, fixed }
        }
    }

    /// A path with a queue that drops what does not fit.
    struct Path {
        rate: BitRate,
        delay: Span,
        queue: Span,
        busy_until: Time,
        dropped: u64,
        /// Fraction of frames and of acknowledgements that are lost at random.
        loss: f64,
        draws: Rng,
        /// Sum of the waiting times of what was carried.
        waited: Span,
        carried: u64,
    }

    impl Path {
        fn new(mbps: f64, delay: Span, queue: Span) -> Self {
            let (rate, draws) = (BitRate::from_mbps(mbps), Rng::stream(Seed(1), "loss"));
            Self {
                rate,
                delay,
                queue,
                busy_until: Time::ZERO,
                dropped: 0,
                loss: 0.0,
                draws,
                waited: Span::ZERO,
                carried: 0,
            }
        }

        /// Time of the arrival of the acknowledgement; `None` if the frame is lost.
        fn carry(&mut self, now: Time) -> Option<Time> {
            let wait = self.busy_until.since(now);
            if wait > self.queue {
                self.dropped += 1;
                return None;
            }
            (self.waited, self.carried) = (self.waited + wait, self.carried + 1);
            let size = ByteCount::new(FRAME as u64);
            self.busy_until = now.max(self.busy_until) + self.rate.time_to_send(size);
            (self.draws.uniform() >= self.loss).then_some(self.busy_until + self.delay)
        }

        fn mean_wait(&self) -> Span {
            Span::from_nanos(self.waited.as_nanos() / self.carried.max(1))
        }
    }

    /// Sends over `path` from `from` to `to`, in steps of 20 us.
    fn run(path: &mut Path, senders: &mut [Sender], from: Time, to: Time) {
        let mut now = from;
        while now < to {
            for sender in senders.iter_mut() {
                while let Some((at, number)) = sender.acks.front().copied().filter(|(at, _)| *at <= now) {
                    sender.acks.pop_front();
                    sender.delivered += 1;
                    if number != u64::MAX {
                        sender.path.on_ack(at, number);
                    }
                }
                sender.path.expire(now);
                // A source does not begin with more than a few frames.
                let is_beginning = sender.path.min_rtt.is_none() && sender.path.sent >= 10 * FRAME as u64;
                if is_beginning && sender.fixed.is_none() {
                    continue;
                }
                let rate = sender.fixed.or_else(|| sender.path.rate());
                let mut burst = 0;
                while sender.free_at <= now
                    && (sender.fixed.is_some() || !sender.path.is_full())
                    && burst < 10
                {
                    let is_labelled = sender.fixed.is_none() && sender.path.needs_label(now);
                    let number = if is_labelled { sender.next } else { u64::MAX };
                    if is_labelled {
                        sender.next += 1;
                        sender.path.on_label(now, number, false);
                    }
                    sender.path.on_sent(FRAME);
                    if let Some(at) = path.carry(now) {
                        let is_lost = path.draws.uniform() < path.loss;
                        sender.acks.push_back((at, if is_lost { u64::MAX } else { number }));
                    }
                    let size = ByteCount::new(FRAME as u64);
                    let gap = rate.map_or(Span::ZERO, |rate| rate.time_to_send(size));
                    sender.free_at =
                        sender.free_at.max(us(now.as_nanos() / 1_000 - 20.min(now.as_nanos() / 1_000))) + gap;
                    burst += 1;
                }
            }
            now += Span::from_micros(20);
        }
    }

    fn mbps(frames: u64, span: Span) -> f64 {
        ByteCount::new(frames * FRAME as u64).over(span).as_mbps()
    }

    fn path(mbps: f64, queue_ms: u64) -> Path {
        Path::new(mbps, Span::from_millis(20), Span::from_millis(queue_ms))
    }

    /// Mbit/s that each sender delivers from `from` to `to`, seconds.
    fn rates<const N: usize>(path: &mut Path, senders: &mut [Sender; N], from: u64, to: u64) -> [f64; N] {
        let before = senders.each_ref().map(|sender| sender.delivered);
        run(path, senders, us(from * 1_000_000), us(to * 1_000_000));
        let span = Span::from_secs(to - from);
        std::array::from_fn(|index| mbps(senders[index].delivered - before[index], span))
    }

    #[test]
    fn one_face_fills_its_path_with_a_short_queue_and_without_losses() {
        for rate in [10.0, 100.0] {
            let mut path = path(rate, 20);
            let mut one = [Sender::new(None)];
            let [start] = rates(&mut path, &mut one, 0, 1);
            let [then] = rates(&mut path, &mut one, 1, 5);
            assert!(start > 0.8 * rate && then > 0.97 * rate, "{rate}: {start} {then}");
            assert!(path.dropped * 100 <= path.carried, "{rate}: {}", path.dropped);
            assert!(path.mean_wait() < Span::from_millis(5), "{rate}: {:?}", path.mean_wait());
        }
    }

    #[test]
    fn a_path_with_a_short_queue_is_filled_with_few_losses() {
        let mut path = path(100.0, 4);
        let [rate] = rates(&mut path, &mut [Sender::new(None)], 0, 5);
        assert!(rate > 90.0 && path.dropped * 25 < path.carried, "{rate} {}", path.dropped);
    }

    #[test]
    fn a_path_without_a_queue_loses_a_tenth_at_most() {
        let mut path = Path::new(1000.0, Span::from_millis(2), Span::from_micros(500));
        let [rate] = rates(&mut path, &mut [Sender::new(None)], 0, 3);
        assert!(rate > 800.0 && path.dropped * 10 < path.carried, "{rate} {} {}", path.dropped, path.carried);
    }

    #[test]
    fn two_faces_come_to_share_their_path() {
        let mut path = path(100.0, 20);
        let mut two = [Sender::new(None), Sender::new(None)];
        run(&mut path, &mut two[..1], us(0), us(2_000_000));
        rates(&mut path, &mut two, 2, 12);
        let shares = rates(&mut path, &mut two, 12, 16);
        assert!(shares.iter().all(|share| *share > 40.0) && shares[0] + shares[1] > 95.0, "{shares:?}");
    }

    #[test]
    fn a_source_of_constant_rate_keeps_it_and_leaves_the_rest() {
        let mut path = path(100.0, 20);
        let mut two = [Sender::new(None), Sender::new(Some(BitRate::from_mbps(50.0)))];
        rates(&mut path, &mut two, 0, 2);
        let [own, other] = rates(&mut path, &mut two, 2, 8);
        assert!(own > 42.0 && other > 49.5, "{own} {other}");
    }

    #[test]
    fn random_losses_do_not_lower_the_rate() {
        for (loss, min) in [(0.01, 95.0), (0.05, 89.0), (0.1, 80.0), (0.3, 45.0)] {
            let mut path = path(100.0, 20);
            path.loss = loss;
            let mut one = [Sender::new(None)];
            rates(&mut path, &mut one, 0, 2);
            let [rate] = rates(&mut path, &mut one, 2, 6);
            assert!(rate > min, "{loss}: {rate}");
        }
    }

    #[test]
    fn the_rate_follows_that_of_the_path() {
        let mut path = path(100.0, 20);
        let mut one = [Sender::new(None)];
        for (number, rate) in (0..).zip([100.0, 30.0, 200.0, 20.0]) {
            path.rate = BitRate::from_mbps(rate);
            rates(&mut path, &mut one, 4 * number, 4 * number + 2);
            let [found] = rates(&mut path, &mut one, 4 * number + 2, 4 * number + 4);
            assert!(found > 0.93 * rate, "{rate}: {found}");
        }
    }

    #[test]
    fn a_peer_that_acknowledges_nothing_limits_nothing() {
        let mut path = PathRate::new();
        for number in 0..100_000 {
            let now = us(200 * number);
            path.expire(now);
            if path.needs_label(now) {
                path.on_label(now, number, true);
            }
            path.on_sent(FRAME);
            assert!(path.rate().is_none() && !path.is_full() && path.labels.len() <= MAX_LABELS);
        }
    }

    #[test]
    fn what_is_in_flight_counts_as_lost_after_a_silence_and_the_path_is_forgotten_after_several() {
        let mut path = PathRate::new();
        path.on_label(us(0), 0, false);
        path.on_sent(FRAME);
        path.on_ack(us(20_000), 0);
        let mut number = 1;
        let mut fill = |path: &mut PathRate, now| {
            while !path.is_full() && number < 1_000 {
                path.on_label(now, number, false);
                path.on_sent(FRAME);
                number += 1;
            }
            path.expires_at().expect("something is in flight")
        };
        let mut now = us(20_000);
        for silence in 1..=MAX_SILENCES {
            now = fill(&mut path, now);
            path.expire(now);
            assert!(!path.is_full());
            assert_eq!(path.rate().is_some(), silence < MAX_SILENCES, "{silence}");
        }
        // An acknowledgement that comes now has no effect.
        path.on_ack(now, 3);
        assert_eq!(path.rate(), None);
    }
}
