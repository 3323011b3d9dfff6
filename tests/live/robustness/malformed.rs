//! Bytes that are no packets.

use tidegate_wire::tlv::types;

use super::{Dice, Target, samples, unreadable};
use crate::peer::{Peer, element, frame, interest, uri};
use support::running::Way;

/// Datagrams sent before the forwarder is waited for, so that none is lost.
const AT_ONCE: usize = 100;

/// Sends each as a datagram of one peer, or on a stream of its own.
fn send_each(target: &Target, way: Way, all: &[Vec<u8>]) {
    let mut peer = Peer::connect(&target.forwarder, way);
    for some in all.chunks(AT_ONCE) {
        for bytes in some {
            peer.send(bytes);
            if way != Way::Udp {
                std::mem::replace(&mut peer, Peer::connect(&target.forwarder, way)).end();
            }
        }
        peer.answers();
    }
}

#[test]
fn random_bytes_are_counted() {
    let target = Target::start("random", "");
    let mut dice = Dice(1);
    let lengths: Vec<usize> = (0..1_000).map(|_| dice.roll() as usize % 3_000).collect();
    let all: Vec<Vec<u8>> = lengths.into_iter().map(|len| dice.bytes(len)).collect();
    target.assert_counts(Way::Udp, all.len(), "random", || send_each(&target, Way::Udp, &all));
    for way in [Way::Tcp, Way::Unix] {
        let before = unreadable(&target.forwarder.status());
        send_each(&target, way, &all[..400]);
        // What was no element ended its stream; what might have become one was not waited for.
        let count = unreadable(&target.assert_well(way)) - before;
        assert!(count > 100.0, "{count} over {way:?}");
    }
}

#[test]
fn a_packet_cut_short_anywhere_is_counted() {
    let target = Target::start("short", "");
    let beginnings =
        |packet: &Vec<u8>| (0..packet.len()).map(|len| packet[..len].to_vec()).collect::<Vec<_>>();
    let all: Vec<Vec<u8>> = samples().iter().flat_map(beginnings).collect();
    assert!(all.len() > 600, "{}", all.len());
    target.assert_counts(Way::Udp, all.len(), "cut short", || send_each(&target, Way::Udp, &all));
    // On a stream the rest may still come, until the stream ends.
    for way in [Way::Tcp, Way::Unix] {
        target.assert_counts(way, 0, "cut short", || send_each(&target, way, &all));
    }
}

#[test]
fn a_packet_with_one_bit_changed_does_no_harm() {
    let target = Target::start("bits", "");
    let flipped = |packet: &Vec<u8>| {
        let flip = |bit: usize| {
            let mut packet = packet.clone();
            packet[bit / 8] ^= 1 << (bit % 8);
            packet
        };
        (0..8 * packet.len()).map(flip).collect::<Vec<_>>()
    };
    let all: Vec<Vec<u8>> = samples().iter().flat_map(flipped).collect();
    for (way, part) in [(Way::Udp, 1), (Way::Tcp, 9), (Way::Unix, 5)] {
        let some: Vec<Vec<u8>> = all.iter().step_by(part).cloned().collect();
        let before = unreadable(&target.forwarder.status());
        send_each(&target, way, &some);
        let count = unreadable(&target.assert_well(way)) - before;
        assert!(count > some.len() as f64 / 8.0, "{count} of {} over {way:?}", some.len());
    }
}

#[test]
fn what_is_malformed_inside_costs_a_stream_nothing_but_itself() {
    let target = Target::start("inside", "");
    let bad = [&[5, 1, 0][..], &[5, 2, 7, 0], &[6, 2, 7, 0], &[100, 2, 80, 9], &[9, 0], &[253, 1, 0, 0]];
    for way in Way::ALL {
        target.assert_counts(way, bad.len(), "inside", || {
            let mut peer = Peer::connect(&target.forwarder, way);
            bad.iter().for_each(|bytes| peer.send(bytes));
            assert_eq!(peer.answers(), Vec::<Vec<u8>>::new());
        });
    }
}

#[test]
fn datagrams_larger_than_any_packet_are_counted_whoever_sends_them() {
    let target = Target::start("oversized", "");
    let of_len = |len: usize| element(types::INTEREST, &[&vec![7; len - 4]]);
    let all: Vec<Vec<u8>> = [8_801, 8_999, 9_000, 9_001, 9_056, 20_000, 65_507].map(of_len).into();
    assert_eq!(all[6].len(), 65_507);
    target.assert_counts(Way::Udp, 2 * all.len(), "oversized", || {
        for bytes in &all {
            let mut stranger = Peer::connect(&target.forwarder, Way::Udp);
            stranger.send(bytes);
            stranger.answers();
        }
        send_each(&target, Way::Udp, &all);
    });
}

#[test]
fn a_stream_that_announces_too_much_is_ended_at_once() {
    let target = Target::start("announced", "");
    let bad = [
        &[6, 254, 0, 1, 0, 0][..],
        &[6, 253, 0x24, 0],
        &[6, 255, 255, 255, 255, 255, 255, 255, 255, 255],
        &[5, 253, 0, 1],
        &[0],
        &[255, 0, 0, 0, 1, 0, 0, 0, 0],
    ];
    for way in [Way::Tcp, Way::Unix] {
        target.assert_counts(way, bad.len(), "announced", || {
            for bytes in bad {
                let mut peer = Peer::connect(&target.forwarder, way);
                peer.send(&interest(&uri(&["no-route"])));
                assert!(peer.receive().is_some(), "a Nack");
                peer.send(bytes);
                assert_eq!(peer.receive(), None, "{bytes:?} over {way:?}");
            }
        });
    }
}

#[test]
fn elements_that_never_end_are_waited_for_without_harm() {
    let target = Target::start("endless", "");
    for way in [Way::Tcp, Way::Unix] {
        let mut whole = element(types::INTEREST, &[&vec![7; 8_000]]);
        whole.truncate(7_999);
        let mut waiting: Vec<Peer> = (0..200).map(|_| Peer::connect(&target.forwarder, way)).collect();
        waiting.iter_mut().for_each(|peer| peer.send(&whole));
        target.assert_counts(way, 0, "unfinished", || ());
        drop(waiting);
    }
}

#[test]
fn a_packet_that_comes_byte_by_byte_is_answered() {
    let target = Target::start("slow", "");
    for way in [Way::Tcp, Way::Unix] {
        let mut peer = Peer::connect(&target.forwarder, way);
        interest(&uri(&["no-route", "slow"])).iter().for_each(|byte| peer.send(&[*byte]));
        assert!(peer.receive().is_some(), "a Nack");
        target.assert_well(way);
    }
}

/// A fragment with these fields; `None` leaves a field out.
fn fragment(sequence: Option<u64>, index: u64, count: u64, bytes: &[u8]) -> Vec<u8> {
    let sequence =
        sequence.map(|number| element(types::SEQUENCE, &[&number.to_be_bytes()])).unwrap_or_default();
    let index = element(types::FRAG_INDEX, &[&index.to_be_bytes()]);
    let count = element(types::FRAG_COUNT, &[&count.to_be_bytes()]);
    frame(&[&sequence, &index, &count], bytes)
}

#[test]
fn fragments_that_lie_about_themselves_are_counted() {
    let target = Target::start("fragments", "");
    let bytes = &[5; 100][..];
    let bad = [
        fragment(Some(1), 0, 0, bytes),
        fragment(Some(2), 2, 2, bytes),
        fragment(Some(3), u64::MAX, 2, bytes),
        fragment(Some(4), 0, 129, bytes),
        fragment(Some(5), 0, u64::MAX, bytes),
        fragment(None, 0, 2, bytes),
        fragment(Some(6), 0, 2, &[]),
        element(types::LP_PACKET, &[&element(types::SEQUENCE, &[&[1]]), &element(types::FRAGMENT, &[bytes])]),
    ];
    // The second of each is what is wrong.
    let pairs = [
        [fragment(Some(100), 0, 2, bytes), fragment(Some(101), 1, 3, bytes)],
        [fragment(Some(200), 0, 2, &[5; 8_000]), fragment(Some(201), 1, 2, &[5; 8_000])],
        [fragment(Some(300), 0, 2, bytes), fragment(Some(301), 1, 2, bytes)],
        [fragment(Some(u64::MAX), 0, 2, bytes), fragment(Some(0), 1, 2, bytes)],
    ];
    for way in Way::ALL {
        target.assert_counts(way, bad.len() + pairs.len(), "fragments", || {
            let mut peer = Peer::connect(&target.forwarder, way);
            bad.iter().chain(pairs.iter().flatten()).for_each(|bytes| peer.send(bytes));
            assert_eq!(peer.answers(), Vec::<Vec<u8>>::new());
        });
    }
}

#[test]
fn messages_that_are_never_whole_fill_no_memory() {
    let target = Target::start("partial", "");
    for way in Way::ALL {
        let mut peer = Peer::connect(&target.forwarder, way);
        for number in 0..30_000 {
            peer.send(&fragment(Some(10 * number), 0, 9, &[5; 1_200]));
            if number % AT_ONCE as u64 == 0 {
                peer.answers();
            }
        }
        target.assert_well(way);
        // 36 MB were sent.
        assert!(target.forwarder.memory_bytes() < 24_000_000, "{}", target.forwarder.memory_bytes());
    }
}
