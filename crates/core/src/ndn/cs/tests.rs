use super::*;
use crate::ndn::name::Segment;
use crate::ndn::packet::Data;
use crate::ndn::packet::{Millis, PitToken};
use crate::units::ByteCount;

/// An LRU store for `capacity` packets.
fn store(capacity: u32) -> Cs<()> {
    Cs::new(CacheSetup::lru(Packets::new(capacity)), NameHash::LOCALITY)
}

fn data(segment: u32, freshness_ms: u32) -> Packet<()> {
    let kind = Kind::Data(Data {
        freshness: Millis(freshness_ms),
        final_segment: Segment::NONE,
        payload: 100,
        token: PitToken(0),
    });
    let mut header = Header::new(Name::segment(PrefixId(0), segment), kind, ByteCount::new(120));
    header.hop.mark = 1;
    Packet::new(header, ())
}

fn interest() -> Interest {
    Interest {
        nonce: 1,
        lifetime: Millis(1000),
        token: PitToken(0),
        hop_limit: None,
        can_be_prefix: false,
        must_be_fresh: false,
    }
}

fn has(cs: &mut Cs<()>, segment: u32) -> bool {
    cs.lookup(Name::segment(PrefixId(0), segment), &interest(), &NameTable::new(), Time::ZERO).is_some()
}

#[test]
fn the_least_recently_used_data_leaves_first() {
    let mut cs = store(2);
    cs.insert(&data(1, 0), Time::ZERO);
    cs.insert(&data(2, 0), Time::ZERO);
    assert!(has(&mut cs, 1));
    cs.insert(&data(3, 0), Time::ZERO);
    assert_eq!([1, 2, 3].map(|segment| has(&mut cs, segment)), [true, false, true]);
    assert_eq!(cs.len(), 2);
}

#[test]
fn cached_data_carries_no_hop_signals() {
    let mut cs = store(1);
    cs.insert(&data(1, 0), Time::ZERO);
    let name = Name::segment(PrefixId(0), 1);
    let kept = cs.lookup(name, &interest(), &NameTable::new(), Time::ZERO).expect("kept");
    assert_eq!(kept.header.hop, HopSignals::default());
}

#[test]
fn stale_data_does_not_answer_must_be_fresh() {
    let mut cs = store(1);
    cs.insert(&data(1, 10), Time::ZERO);
    let fresh = Interest { must_be_fresh: true, ..interest() };
    let name = Name::segment(PrefixId(0), 1);
    let at = |millis: u64| Time::from_nanos(millis * 1_000_000);
    assert!(cs.lookup(name, &fresh, &NameTable::new(), at(9)).is_some());
    assert!(cs.lookup(name, &fresh, &NameTable::new(), at(10)).is_none());
}

#[test]
fn a_prefix_is_answered_by_the_first_segment_under_it() {
    let mut cs = store(4);
    let prefix = Interest { can_be_prefix: true, ..interest() };
    let name = Name::whole(NameTable::ROOT);
    cs.insert(&data(7, 0), Time::ZERO);
    assert!(cs.lookup(name, &prefix, &NameTable::new(), Time::ZERO).is_none());
    cs.insert(&data(0, 0), Time::ZERO);
    let found = cs.lookup(name, &prefix, &NameTable::new(), Time::ZERO).expect("found");
    assert_eq!(found.header.name, Name::segment(NameTable::ROOT, 0));
}

#[test]
fn a_store_without_room_keeps_nothing() {
    let mut cs = store(0);
    cs.insert(&data(1, 0), Time::ZERO);
    assert!(cs.is_empty() && !cs.is_enabled());
}

#[test]
fn what_is_here_already_is_renewed_whatever_the_admission_says() {
    // Neither would let it in now.
    for admission in [Admission::LeaveCopyDown, Admission::Probability(0.0)] {
        let mut cs = store(2);
        cs.insert(&data(1, 10), Time::ZERO);
        cs.admission = admission;
        // It comes again 20 ms later, from a hit in another store.
        let mut again = data(1, 10);
        again.header.hop.passed_store = true;
        let at = |millis: u64| Time::from_nanos(millis * 1_000_000);
        cs.insert(&again, at(20));
        let fresh = Interest { must_be_fresh: true, ..interest() };
        let name = Name::segment(PrefixId(0), 1);
        assert!(cs.lookup(name, &fresh, &NameTable::new(), at(29)).is_some(), "{admission:?}");
        assert_eq!(cs.len(), 1);
    }
}

#[test]
fn a_store_of_a_prefix_keeps_bodies_by_the_rule_of_all_whenever_it_is_made() {
    let mut names = NameTable::new();
    let [early, late, other] = ["/a", "/b", "/c"].map(|uri| names.intern_uri(uri).expect("valid"));
    let mut stores: Stores<u32> = Stores::new(CacheSetup::lru(Packets::new(4)), NameHash::LOCALITY);
    stores.narrow(early, CacheSetup::lru(Packets::new(4)));
    stores.set_keep(|body| body + 100);
    stores.narrow(late, CacheSetup::lru(Packets::new(4)));
    for prefix in [early, late, other] {
        let (header, _) = data(0, 0).into_parts();
        let header = Header { name: Name::segment(prefix, 0), ..header };
        stores.insert(&Packet::new(header, 1), &names, Time::ZERO);
        let kept = stores.lookup(header.name, &interest(), &names, Time::ZERO).expect("kept");
        assert_eq!(kept.body, 101);
    }
}

/// A Data of `size` bytes.
fn sized(segment: u32, size: u64) -> Packet<()> {
    let Header { name, kind, .. } = data(segment, 0).header;
    Packet::new(Header::new(name, kind, ByteCount::new(size)), ())
}

#[test]
fn a_store_never_exceeds_its_size_whatever_the_policy() {
    for (policy, name) in Policy::ALL {
        let setup =
            CacheSetup { max_size: ByteCount::new(10_000), policy, ..CacheSetup::lru(Packets::new(50)) };
        let mut cs: Cs<()> = Cs::new(setup, NameHash::LOCALITY);
        let mut rng = Rng::stream(Seed(5), name);
        for _ in 0..5_000 {
            let segment = rng.below(200);
            cs.insert(&sized(segment, 100 + u64::from(rng.below(2_000))), Time::ZERO);
            has(&mut cs, rng.below(200));
            let found = (0..200).filter(|segment| cs.find(Name::segment(PrefixId(0), *segment)).is_some());
            assert_eq!(found.count(), cs.len(), "{name}");
            let sizes = cs.entries.iter().map(|entry| entry.packet.header.size().get());
            assert_eq!(sizes.sum::<u64>(), cs.size().get(), "{name}");
            assert!(cs.size().get() <= 10_000, "{name}: {}", cs.len());
        }
    }
}

#[test]
fn data_larger_than_the_store_is_not_stored_and_evicts_nothing() {
    let setup = CacheSetup { max_size: ByteCount::new(1_000), ..CacheSetup::lru(Packets::new(9)) };
    let mut cs: Cs<()> = Cs::new(setup, NameHash::LOCALITY);
    cs.insert(&sized(1, 400), Time::ZERO);
    cs.insert(&sized(2, 1_001), Time::ZERO);
    assert_eq!([1, 2].map(|segment| has(&mut cs, segment)), [true, false]);
    cs.insert(&sized(3, 700), Time::ZERO);
    assert_eq!([1, 3].map(|segment| has(&mut cs, segment)), [false, true]);
}

/// A store under each policy with the segments 0 to `len - 1`, of which the even ones were used.
fn filled(len: u32) -> impl Iterator<Item = Cs<()>> {
    Policy::ALL.into_iter().map(move |(policy, _)| {
        let mut cs = Cs::new(CacheSetup { policy, ..CacheSetup::lru(Packets::new(len)) }, NameHash::LOCALITY);
        (0..len).for_each(|segment| cs.insert(&data(segment, 0), Time::ZERO));
        (0..len).step_by(2).for_each(|segment| assert!(has(&mut cs, segment)));
        cs
    })
}

#[test]
fn erased_data_is_gone_and_the_rest_is_evicted_in_the_same_order() {
    let mut names = NameTable::new();
    for mut cs in filled(6) {
        let third = names.child(PrefixId(0), 50, &[3]);
        assert_eq!(cs.erase(third, 9, &names), 1);
        assert_eq!(cs.len(), 5);
        assert_eq!([2, 3, 5].map(|segment| has(&mut cs, segment)), [true, false, true]);
        for segment in 10..30 {
            cs.insert(&data(segment, 0), Time::ZERO);
            assert!(has(&mut cs, segment) && cs.len() == 6, "{segment}");
        }
    }
    let mut lru = filled(6).next().expect("the first policy is LRU");
    let first = names.child(PrefixId(0), 50, &[1]);
    lru.erase(first, 9, &names);
    // Unused are 3 and 5, in this order; then 0, 2 and 4 were used.
    for (new, gone) in [(10, None), (11, Some(3)), (12, Some(5)), (13, Some(0)), (14, Some(2))] {
        lru.insert(&data(new, 0), Time::ZERO);
        assert!(gone.is_none_or(|gone| !has(&mut lru, gone)), "{gone:?} after {new}");
        assert_eq!(lru.len(), 6);
    }
}

#[test]
fn no_more_data_is_erased_than_the_limit() {
    for mut cs in filled(20) {
        let names = NameTable::new();
        assert_eq!((cs.erase(NameTable::ROOT, 8, &names), cs.len()), (8, 12));
        assert_eq!((cs.erase(NameTable::ROOT, 100, &names), cs.len()), (12, 0));
        cs.insert(&data(1, 0), Time::ZERO);
        assert!(has(&mut cs, 1));
    }
}

#[test]
fn a_smaller_capacity_evicts_and_a_larger_one_admits_more() {
    for mut cs in filled(20) {
        cs.set_capacity(Packets::new(5));
        assert_eq!((cs.len(), (0..20).filter(|segment| has(&mut cs, *segment)).count()), (5, 5));
        cs.set_capacity(Packets::new(7));
        (30..40).for_each(|segment| cs.insert(&data(segment, 0), Time::ZERO));
        assert_eq!(cs.len(), 7);
        cs.set_capacity(Packets::new(0));
        assert!(cs.is_empty() && !cs.is_enabled());
    }
}

#[test]
fn stores_that_do_not_admit_or_serve_keep_what_they_have() {
    let names = NameTable::new();
    let mut stores = Stores::new(CacheSetup::lru(Packets::new(5)), NameHash::LOCALITY);
    let found = |stores: &mut Stores<()>, segment| {
        stores.lookup(Name::segment(PrefixId(0), segment), &interest(), &names, Time::ZERO).is_some()
    };
    stores.insert(&data(1, 0), &names, Time::ZERO);
    stores.set_admits(false);
    stores.insert(&data(2, 0), &names, Time::ZERO);
    assert_eq!([1, 2].map(|segment| found(&mut stores, segment)), [true, false]);
    stores.set_serves(false);
    assert!(!found(&mut stores, 1));
    stores.set_serves(true);
    assert!(found(&mut stores, 1));
    stores.set_capacity(Packets::new(0));
    assert!(!stores.is_enabled() && stores.is_empty());
}
