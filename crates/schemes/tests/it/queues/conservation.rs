//! Every discipline of the catalogue under random operations: nothing is lost without a count, nothing comes twice.

use tidegate_core::ndn::face::Limit;
use tidegate_core::prelude::*;
use tidegate_schemes::SCHEMES;

use crate::queues::bench::{Bench, data, interest, named, notice, segment};

/// Pushes a random packet.
fn push(bench: &mut Bench, rng: &mut Rng) {
    let ecn = [Ecn::NotCapable, Ecn::Classic, Ecn::LowLatency][rng.below(3) as usize];
    let kind = match rng.below(8) {
        0 => interest(),
        1 => data(),
        2 => notice(),
        _ => segment(ecn, 0),
    };
    bench.push_named(rng.below(9), kind, u64::from(40 + rng.below(1_475)));
}

/// Packets offered are those sent, dropped, and waiting; the face counts the same.
#[track_caller]
fn expect_balance(bench: &Bench, sent: u64, case: &str) {
    let stats = bench.queue.stats();
    let (face, waiting) = (&bench.faces[0], bench.queue.headers().count() as u64);
    assert_eq!(stats.offered, sent + stats.dropped + waiting, "{case}: {stats:?}");
    assert_eq!(waiting, bench.queue.living() as u64, "{case}: packets that have not ended");
    assert_eq!(waiting, u64::from(face.queued_packets() + face.held_packets()), "{case}");
    assert_eq!((face.dropped_packets(), face.sent_packets()), (stats.dropped, sent), "{case}");
    if face.held_packets() == 0 {
        let bytes: u64 = bench.queue.headers().map(|header| header.size().get()).sum();
        assert_eq!(face.queued_bytes(), ByteCount::new(bytes), "{case}");
    }
}

/// Random pushes, pops, wake-ups, rates and failures of the link.
fn run(scheme: &str, limit: Limit, seed: u64) {
    let mut rng = Rng::stream(Seed(seed), scheme);
    let mut bench = Bench::limited(named(scheme), &[], limit);
    let mut sent = 0;
    // Phases that fill the queue and phases that drain it.
    for step in 0..4_000u64 {
        bench.now += Span::from_micros(u64::from(rng.below(2_000)));
        let pushes = if (step / 500).is_multiple_of(2) { 6 } else { 3 };
        match rng.below(10) {
            choice if choice < pushes => push(&mut bench, &mut rng),
            9 if rng.chance(0.05) => {
                bench.run(|queue, cx| queue.clear(cx));
                assert_eq!(bench.queue.headers().count(), 0);
            }
            9 => bench.faces[0].set_rate(BitRate::from_bps(u64::from(1 + rng.below(20_000_000)))),
            8 => bench.run(|queue, cx| queue.on_wake(cx)),
            _ => sent += u64::from(bench.run(|queue, cx| queue.pop(cx)).is_some()),
        }
        expect_balance(&bench, sent, &format!("{scheme}, seed {seed}, step {step}"));
    }
    assert!(sent > 500, "{scheme}, seed {seed}: only {sent} sent");
}

#[test]
fn packets_offered_are_sent_dropped_or_waiting() {
    let limits = [Limit::Packets(Packets::new(30)), Limit::Bytes(ByteCount::new(20_000))];
    for scheme in SCHEMES.iter().filter(|scheme| scheme.discipline.is_some()) {
        for seed in 0..3 {
            limits.into_iter().for_each(|limit| run(scheme.name, limit, seed));
        }
    }
}

#[test]
fn what_waits_gets_out_in_the_end() {
    for scheme in SCHEMES.iter().filter(|scheme| scheme.discipline.is_some()) {
        let mut rng = Rng::stream(Seed(4), scheme.name);
        let mut bench = Bench::new(scheme, &[], 50);
        (0..40).for_each(|_| push(&mut bench, &mut rng));
        // Asked every millisecond, as a device that is free would be by the queue's own wake-ups.
        for _ in 0..5_000 {
            bench.now += Span::from_millis(1);
            bench.run(|queue, cx| queue.on_wake(cx));
            bench.run(|queue, cx| queue.pop(cx));
        }
        assert_eq!(bench.faces[0].queued_packets(), 0, "{}", scheme.name);
    }
}
