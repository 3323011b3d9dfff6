//! Tests of the index and of entries.

use std::collections::BTreeMap;

use super::*;
use crate::ndn::name::{NameTable, PrefixId, Segment};
use crate::ndn::packet::{Millis, PitToken};
use crate::rng::{Rng, Seed};

const SELECTOR: Selector = Selector { can_be_prefix: false, must_be_fresh: false };

fn ms(at: u64) -> Time {
    Time::ZERO + Span::from_millis(at)
}

fn interest(nonce: u32) -> Interest {
    Interest {
        nonce,
        lifetime: Millis(2_000),
        token: PitToken(0),
        hop_limit: None,
        can_be_prefix: false,
        must_be_fresh: false,
    }
}

/// Inserts an entry and lets a face wait for it.
fn request(pit: &mut Pit, name: Name, selector: Selector) -> (PitId, bool) {
    let Selector { can_be_prefix, must_be_fresh } = selector;
    let interest = Interest { can_be_prefix, must_be_fresh, ..interest(1) };
    if let Some(Recorded { id, .. }) = pit.begin(name, FaceId(0), &interest, Time::ZERO) {
        return (id, true);
    }
    let (id, is_new) = pit.find_or_insert(name, selector);
    if is_new {
        pit.record((id, true), FaceId(0), &interest, Time::ZERO);
    }
    (id, is_new)
}

#[test]
fn names_are_found_as_in_a_map_whatever_their_prefixes_segments_and_selectors() {
    for (seed, segments, prefixes) in [(1, 1 << 20, 3), (2, 40, 3), (3, 8, 400), (4, 1 << 20, 400)] {
        let mut rng = Rng::stream(Seed(seed), "pit");
        let mut pit = Pit::new(NameHash::keyed(seed));
        let mut pending: BTreeMap<(Name, bool, bool), PitId> = BTreeMap::new();
        let mut limit = 0;
        for step in 0..20_000_u32 {
            // Rises to a few hundred entries and falls to none, many times.
            limit = if step % 2_000 == 0 { rng.below(600) as usize } else { limit };
            // Interests that Data of other names may answer come in some stretches only.
            let any_prefix = step % 4_000 < 500;
            let prefix = PrefixId(rng.below(prefixes));
            let name = match rng.below(10) {
                0 => Name::whole(prefix),
                // Multiples of a power of two have the same place in every ring but a large one.
                1..=3 => Name::segment(prefix, rng.below(segments) / 64 * 64),
                _ => Name::segment(prefix, rng.below(segments)),
            };
            let selector =
                Selector { must_be_fresh: rng.chance(0.2), can_be_prefix: any_prefix && rng.chance(0.1) };
            let key = (name, selector.must_be_fresh, selector.can_be_prefix);
            if pending.len() < limit {
                let (id, is_new) = request(&mut pit, name, selector);
                assert_eq!(pending.insert(key, id), (!is_new).then_some(id), "seed {seed} step {step}");
            } else if let Some((key, id)) = pending.range(key..).next().map(|(key, id)| (*key, *id)) {
                pending.remove(&key);
                if rng.chance(0.5) && pit.take_only(key.0).is_some() {
                    // Nothing else of this name was pending, and nothing that Data of another name may answer.
                    let mut others = pending.range((key.0, false, false)..=(key.0, true, true));
                    assert!(!key.1 && others.next().is_none(), "seed {seed} step {step}");
                    assert!(!key.2 && pending.keys().all(|other| !other.2), "seed {seed} step {step}");
                } else {
                    pit.remove(id);
                }
            }
            let found = pit.find_selected(name, selector);
            assert_eq!(found, pending.get(&key).copied(), "seed {seed} step {step}: {name:?}");
            assert_eq!(pit.len(), pending.len());
            let any_prefix = pending.keys().filter(|key| key.2).count();
            assert_eq!(pit.prefix_entries() as usize, any_prefix, "seed {seed} step {step}");
        }
        for ((name, must_be_fresh, can_be_prefix), id) in pending {
            assert_eq!(pit.find_selected(name, Selector { must_be_fresh, can_be_prefix }), Some(id));
            pit.remove(id);
        }
        assert_eq!((pit.len(), pit.ids().count()), (0, 0));
    }
}

#[test]
fn numbers_are_dense_and_the_one_given_up_last_is_reused_first() {
    let mut pit = Pit::new(NameHash::LOCALITY);
    let name = |segment| Name::segment(PrefixId(1), segment);
    let ids: Vec<u32> = (0..20).map(|segment| request(&mut pit, name(segment), SELECTOR).0.0).collect();
    assert_eq!(ids, (0..20).collect::<Vec<_>>());
    [3, 17, 5].into_iter().for_each(|id| pit.remove(PitId(id)));
    let again = [100, 101, 102, 103].map(|segment| request(&mut pit, name(segment), SELECTOR).0.0);
    assert_eq!((again, pit.peak()), ([5, 17, 3, 20], 21));
}

#[test]
fn a_new_entry_in_the_place_of_another_has_none_of_its_fields() {
    let mut pit = Pit::new(NameHash::LOCALITY);
    let name = |segment| Name::segment(PrefixId(1), segment);
    let (id, _) = request(&mut pit, name(1), Selector { can_be_prefix: true, must_be_fresh: true });
    for face in 0..4 {
        pit.set_in_record(id, FaceId(face), &interest(7), Time::ZERO);
        pit.entry_mut(id).set_out_record(FaceId(face), 7, Time::ZERO);
    }
    pit.note_digest(id, PrefixId(9));
    let entry = pit.entry_mut(id);
    entry.count_notice();
    entry.set_suppression(Span::from_millis(10));
    pit.keep_satisfied(id, Time::ZERO, Span::from_millis(5));
    assert!(pit.has_digest_of(PrefixId(9)));
    pit.remove(id);
    assert!(pit.entry(id).is_satisfied() && !pit.has_digest_of(PrefixId(9)));
    let (again, is_new) = pit.find_or_insert(name(2), SELECTOR);
    let entry = pit.entry(again);
    assert_eq!((again, is_new, entry.name(), entry.selector()), (id, true, name(2), SELECTOR));
    assert_eq!((entry.in_records().count(), entry.out_records().count()), (0, 0));
    assert_eq!((entry.is_satisfied(), entry.notices(), entry.suppression()), (false, 0, None));
    assert_eq!((pit.prefix_entries(), pit.digest_entries()), (0, 0));
}

#[test]
fn a_face_that_ends_leaves_no_record_in_an_entry_that_counts_for_another_meanwhile() {
    let mut pit = Pit::new(NameHash::LOCALITY);
    pit.count_shares();
    let mut record = |segment, face| {
        let entry = pit.find_or_insert(Name::segment(PrefixId(1), segment), SELECTOR);
        pit.record(entry, FaceId(face), &interest(u32::from(face)), Time::ZERO);
        entry.0
    };
    let ids = [1, 2, 3, 4].map(|segment| record(segment, 1));
    record(1, 2);
    // The first one is requested by another face as well, for which it counts from now on.
    assert_eq!(pit.displaceable(FaceId(3)), Some(ids[1]));
    pit.remove_face(FaceId(1), Time::ZERO);
    let downstreams: Vec<_> = pit.entry(ids[0]).in_records().map(|record| record.face).collect();
    assert_eq!(downstreams, [FaceId(2)]);
}

#[test]
fn prefixes_without_entries_cost_nothing_in_the_long_run() {
    let mut pit = Pit::new(NameHash::LOCALITY);
    let mut most = 0;
    for prefix in 0..50_000 {
        let (id, _) = request(&mut pit, Name::segment(PrefixId(prefix), 0), SELECTOR);
        if prefix >= 20 {
            // Twenty others stay pending.
            pit.remove(id);
        }
        if prefix < 1_000 {
            most = most.max(pit.memory_bytes());
        }
        assert!(pit.memory_bytes() <= most, "{} bytes at {prefix}, {most} before", pit.memory_bytes());
    }
    let found = (0..20).filter(|prefix| pit.find(Name::segment(PrefixId(*prefix), 0)).is_some());
    assert_eq!((found.count(), pit.len()), (20, 20));
}

#[test]
fn a_window_of_segments_needs_no_hash_table() {
    let mut pit = Pit::new(NameHash::LOCALITY);
    for segment in 0..10_000 {
        request(&mut pit, Name { prefix: PrefixId(1), segment: Segment(segment) }, SELECTOR);
        if segment >= 100 {
            let id = pit.find(Name::segment(PrefixId(1), segment - 100)).expect("pending");
            pit.remove(id);
        }
    }
    assert_eq!(pit.index.outside(), 0);
    assert!(pit.index.memory_bytes() <= 1024, "{} bytes", pit.index.memory_bytes());
}

fn entry() -> PitEntry {
    let mut entry = PitEntry::unused();
    entry.reset(Name::segment(NameTable::ROOT, 1), SELECTOR);
    entry
}

#[test]
fn a_round_trip_counts_from_the_record_of_its_own_face() {
    let mut entry = entry();
    entry.set_out_record(FaceId(3), 1, ms(10));
    entry.set_out_record(FaceId(4), 2, ms(25));
    let found = [3, 4, 5].map(|face| entry.round_trip(FaceId(face), ms(60)));
    assert_eq!(found, [Some(Span::from_millis(50)), Some(Span::from_millis(35)), None]);
}

#[test]
fn an_upstream_requested_twice_has_no_round_trip_and_the_others_keep_theirs() {
    let mut entry = entry();
    for (at, face) in [(0, 3), (5, 4), (20, 3), (22, 5), (30, 5)] {
        entry.set_out_record(FaceId(face), at as u32, ms(at));
    }
    let found = [3, 4, 5].map(|face| entry.round_trip(FaceId(face), ms(60)));
    assert_eq!(found, [None, Some(Span::from_millis(55)), None]);
}

#[test]
fn retransmissions_are_counted_up_to_255_until_the_upstream_has_answered() {
    let mut entry = entry();
    (0..300).for_each(|at| entry.set_out_record(FaceId(3), 1, ms(at)));
    assert_eq!(entry.out_record(FaceId(3)).map(|record| record.retransmissions), Some(255));
    entry.remove_out_record(FaceId(3));
    entry.set_out_record(FaceId(3), 1, ms(300));
    assert_eq!(entry.out_record(FaceId(3)).map(|record| record.retransmissions), Some(0));
}
