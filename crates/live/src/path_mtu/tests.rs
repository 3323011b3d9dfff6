use super::*;
use std::collections::VecDeque;
use tidegate_core::rng::Seed;

const BASE: usize = 1400;

/// A path on which probes get lost, and a search over it.
struct Path {
    now: Time,
    search: PathMtu,
    draws: Rng,
    /// Largest datagram that passes, bytes.
    width: usize,
    /// Probability that a probe or its reply is lost.
    loss: f64,
    one_way: Span,
    /// Numbers and sizes of confirmed probes on the way back, with their times of arrival.
    replies: VecDeque<(Time, Probe)>,
    /// Times and sizes of all probes.
    sent: Vec<(Time, usize)>,
    largest_confirmed: usize,
}

impl Path {
    fn new(seed: u64, width: usize) -> Self {
        let draws = Rng::stream(Seed(seed), "path");
        let search = PathMtu::new(BASE, Rng::stream(Seed(seed), "numbers"));
        let (replies, sent) = (VecDeque::new(), Vec::new());
        let one_way = Span::from_millis(10);
        let now = Time::ZERO + Span::from_secs(1);
        Self { now, search, draws, width, loss: 0.0, one_way, replies, sent, largest_confirmed: BASE }
    }

    /// Sends what is due.
    fn pump(&mut self) {
        while let Some(probe) = self.search.take_probe() {
            self.sent.push((self.now, probe.size));
            let is_lost = self.draws.chance(self.loss) || self.draws.chance(self.loss);
            if probe.size <= self.width && !is_lost {
                self.replies.push_back((self.now + self.one_way + self.one_way, probe));
            }
        }
    }

    /// Continues until `until`; packets use the face every `interval`, if there is one.
    fn run(&mut self, until: Time, interval: Option<Span>) {
        let mut use_at = interval.map(|_| self.now);
        loop {
            let reply_at = self.replies.front().map(|(at, _)| *at);
            let next = [self.search.next_wake(), reply_at, use_at].into_iter().flatten().min();
            let Some(next) = next.filter(|next| *next <= until) else { break };
            self.now = self.now.max(next);
            if use_at.is_some_and(|at| at <= self.now) {
                self.search.on_use(self.now);
                use_at = interval.map(|interval| self.now + interval);
            }
            while let Some((at, probe)) = self.replies.front().copied().filter(|(at, _)| *at <= self.now) {
                assert!(at <= self.now);
                self.replies.pop_front();
                self.largest_confirmed = self.largest_confirmed.max(probe.size);
                self.search.on_reply(self.now, probe.number);
            }
            self.search.on_wake(self.now);
            self.pump();
            let mtu = self.search.mtu();
            assert!((BASE..=self.largest_confirmed).contains(&mtu), "{mtu} was not confirmed");
        }
        self.now = until;
    }

    fn after(&self, seconds: u64) -> Time {
        self.now + Span::from_secs(seconds)
    }

    /// Maximum number of probes within any `span`.
    fn most_probes_in(&self, span: Span) -> usize {
        let within = |(first, (from, _)): (usize, &(Time, usize))| {
            self.sent[first..].iter().take_while(|(at, _)| at.since(*from) < span).count()
        };
        self.sent.iter().enumerate().map(within).max().unwrap_or(0)
    }
}

const PACKETS: Option<Span> = Some(Span::from_millis(100));

#[test]
fn nothing_is_sent_before_a_packet_needs_larger_frames() {
    let mut path = Path::new(1, 9000);
    path.run(path.after(3600), None);
    assert_eq!((path.sent.len(), path.search.next_wake()), (0, None));
}

#[test]
fn the_largest_packet_is_reached_with_two_probes_where_it_passes() {
    let mut path = Path::new(2, 65_000);
    path.run(path.after(1), PACKETS);
    assert_eq!(path.sent.iter().map(|(_, size)| *size).collect::<Vec<_>>(), [0, 8800]);
    assert_eq!(path.search.mtu(), 8800);
}

#[test]
fn ethernet_is_found_by_its_size_though_the_own_network_carries_more() {
    for (width, found) in [(1472, 1472), (1452, 1452), (1471, 1452)] {
        let mut path = Path::new(3, width);
        path.run(path.after(60), PACKETS);
        assert!(path.search.mtu() >= found && path.search.mtu() <= width, "{width}: {}", path.search.mtu());
    }
}

#[test]
fn a_limit_that_the_system_learns_meanwhile_ends_the_tries_of_a_larger_size() {
    let mut path = Path::new(4, 1472);
    path.search.on_use(path.now);
    path.run(path.after(1), None);
    path.search.set_ceiling(1472);
    path.run(path.after(1), None);
    assert_eq!(path.search.mtu(), 1472);
}

#[test]
fn a_peer_that_never_answers_gets_three_small_probes_every_ten_minutes() {
    let mut path = Path::new(5, 0);
    path.loss = 1.0;
    path.run(path.after(3590), PACKETS);
    assert_eq!(path.sent.len(), 18);
    assert!(path.sent.iter().all(|(_, size)| *size == 0));
    assert_eq!(path.search.mtu(), BASE);
}

#[test]
fn without_packets_the_search_ends_and_the_size_stays() {
    let mut path = Path::new(6, 3000);
    path.run(path.after(100), PACKETS);
    let mtu = path.search.mtu();
    path.run(path.after(20), None);
    let sent = path.sent.len();
    path.run(path.after(7200), None);
    assert_eq!((path.sent.len(), path.search.mtu(), path.search.next_wake()), (sent, mtu, None));
}

#[test]
fn a_path_that_becomes_narrower_is_noticed_and_searched_anew() {
    let mut path = Path::new(7, 8800);
    path.run(path.after(30), PACKETS);
    assert_eq!(path.search.mtu(), 8800);
    path.width = 1472;
    path.run(path.after(11), PACKETS);
    assert!(path.search.mtu() < 8800);
    path.run(path.after(60), PACKETS);
    assert_eq!(path.search.mtu(), 1472);
}

#[test]
fn a_path_that_becomes_wider_is_noticed_after_ten_minutes() {
    let mut path = Path::new(8, 1472);
    path.run(path.after(590), PACKETS);
    assert_eq!(path.search.mtu(), 1472);
    path.width = 8800;
    path.run(path.after(100), PACKETS);
    assert_eq!(path.search.mtu(), 8800);
}

#[test]
fn a_peer_that_returns_gets_a_new_question_within_a_minute() {
    let mut path = Path::new(9, 8800);
    path.run(path.after(30), PACKETS);
    path.loss = 1.0;
    path.run(path.after(20), PACKETS);
    assert_eq!(path.search.mtu(), BASE);
    path.loss = 0.0;
    path.run(path.after(61), PACKETS);
    assert_eq!(path.search.mtu(), 8800);
}

#[test]
fn a_size_that_the_system_refuses_is_left_at_once() {
    let mut path = Path::new(10, 8800);
    path.run(path.after(2), PACKETS);
    // The interface has become narrower.
    path.search.set_ceiling(1472);
    path.search.on_refusal(path.now);
    assert_eq!(path.search.mtu(), 1472);
    // The system gives no reason.
    path.search.on_refusal(path.now);
    assert_eq!(path.search.mtu(), BASE);
    path.search.on_refusal(path.now);
    assert_eq!(path.search.mtu(), BASE);
}

#[test]
fn a_refused_probe_is_followed_by_a_smaller_one_at_once() {
    let mut path = Path::new(11, 2000);
    path.search.on_use(path.now);
    for _ in 0..100 {
        if let Some(probe) = path.search.take_probe() {
            if probe.size > path.width {
                path.search.on_refusal(path.now);
            } else {
                path.search.on_reply(path.now, probe.number);
            }
        }
    }
    assert!((1940..=2000).contains(&path.search.mtu()), "{}", path.search.mtu());
}

#[test]
fn a_number_that_was_not_sent_confirms_nothing() {
    let mut path = Path::new(12, 8800);
    path.search.on_use(path.now);
    let probe = path.search.take_probe().expect("the first probe");
    path.search.on_reply(path.now, probe.number ^ 1);
    assert!(path.search.take_probe().is_none());
    path.search.on_reply(path.now, probe.number);
    let probe = path.search.take_probe().expect("a size is tried");
    path.search.on_reply(path.now, 0);
    assert_eq!(path.search.mtu(), BASE);
    path.search.on_reply(path.now, probe.number);
    assert_eq!(path.search.mtu(), probe.size);
    path.search.on_reply(path.now, probe.number);
    assert_eq!(path.search.mtu(), probe.size);
}

/// Whatever the path does, sizes are confirmed before they are used (asserted by `run`), probes are few, and the search ends.
#[test]
fn on_any_path_few_probes_find_a_size_that_passes() {
    for seed in 0..300 {
        let mut draws = Rng::stream(Seed(seed), "cases");
        let mut path = Path::new(seed, 1300 + draws.below(8000) as usize);
        path.loss = [0.0, 0.02, 0.3][draws.below(3) as usize];
        path.one_way = Span::from_millis([0, 1, 50, 400][draws.below(4) as usize]);
        path.search.set_ceiling([1472, 4000, 65_507][draws.below(3) as usize]);
        for _ in 0..6 {
            path.run(path.after(60 + u64::from(draws.below(900))), PACKETS);
            assert!(path.loss > 0.0 || path.search.mtu() <= path.width.max(BASE), "{seed}");
            path.width = 1300 + draws.below(8000) as usize;
        }
        let (second, search) = (Span::from_secs(1), Span::from_secs(60));
        assert!(path.most_probes_in(second) <= 20, "{seed}: {} in a second", path.most_probes_in(second));
        assert!(path.most_probes_in(search) <= 80, "{seed}: {} in a minute", path.most_probes_in(search));
        path.run(path.after(900), None);
        assert_eq!(path.search.next_wake(), None, "{seed}");
    }
}

/// Without losses the size found is at most a thirty-second part and 16 bytes below the largest.
#[test]
fn without_losses_the_size_found_is_close_to_the_largest_one() {
    for width in (1400..9200).step_by(7) {
        let mut path = Path::new(width as u64, width);
        path.run(path.after(60), PACKETS);
        let (mtu, largest) = (path.search.mtu(), width.min(8800));
        assert!(mtu <= largest && largest < mtu + MIN_STEP.max(mtu / 32) + 1, "{width}: {mtu}");
    }
}
