//! The content store under every policy against models that are too simple to be wrong, over random histories.

use tidegate_core::ndn::cs::{Admission, CacheSetup, Cs, Policy, Stores};
use tidegate_core::ndn::name::{Name, NameHash, NameTable, PrefixId, Segment};
use tidegate_core::ndn::packet::{Interest, Packet};
use tidegate_core::rng::{Rng, Seed, Streams};
use tidegate_core::units::{ByteCount, Packets};

use crate::forwarding::harness::{data, interest_in, interest_with, ms};

fn setup(policy: Policy, capacity: u32) -> CacheSetup {
    CacheSetup {
        capacity: Packets::new(capacity),
        max_size: ByteCount::new(u64::MAX),
        policy,
        admission: Admission::Everywhere,
        streams: Streams::of(Seed(3)).under("cache/"),
    }
}

/// One Data of the model.
#[derive(Clone, Debug)]
struct Kept {
    name: Name,
    body: u32,
    fresh_until: u64,
    /// Step at which it came for the first time.
    came: u32,
    /// Step of its last use, or at which it came.
    used: u32,
    /// Step at which it was last used or came once more.
    seen: u32,
    uses: u32,
}

/// A store as a list, searched from end to end.
struct Naive {
    policy: Policy,
    capacity: usize,
    draws: Rng,
    kept: Vec<Kept>,
}

impl Naive {
    fn insert(&mut self, name: Name, step: u32, fresh_until: u64) {
        if let Some(old) = self.kept.iter_mut().find(|kept| kept.name == name) {
            (old.body, old.fresh_until, old.seen) = (step, fresh_until, step);
            return;
        }
        let new = Kept { name, body: step, fresh_until, came: step, used: step, seen: step, uses: 0 };
        if self.kept.len() < self.capacity {
            return self.kept.push(new);
        }
        let places = 0..self.kept.len();
        let place = match self.policy {
            Policy::Lru => places.min_by_key(|at| self.kept[*at].seen),
            Policy::Fifo => places.min_by_key(|at| self.kept[*at].came),
            Policy::Lfu => places.min_by_key(|at| (self.kept[*at].uses, self.kept[*at].used)),
            Policy::Random => Some(self.draws.below(self.kept.len() as u32) as usize),
            other => unreachable!("{other:?} has no model here"),
        };
        self.kept[place.expect("something is kept")] = new;
    }

    fn touch(&mut self, at: usize, step: u32) {
        let kept = &mut self.kept[at];
        (kept.used, kept.seen, kept.uses) = (step, step, kept.uses + 1);
    }
}

/// One random history of a store.
fn compare(policy: Policy, seed: u64) {
    let mut rng = Rng::stream(Seed(seed), "content store");
    let mut names = NameTable::new();
    let prefixes: Vec<PrefixId> =
        ["/a", "/a/b", "/c"].iter().map(|uri| names.intern_uri(uri).expect("valid")).collect();
    let capacity = 1 + rng.below(40);
    let hash = if seed.is_multiple_of(2) { NameHash::LOCALITY } else { NameHash::keyed(seed) };
    let setup = setup(policy, capacity);
    let mut cs = Cs::new(setup, hash);
    let draws = setup.streams.stream("policy");
    let mut naive = Naive { policy, capacity: capacity as usize, draws, kept: Vec::new() };
    for step in 0..3_000u32 {
        let now = u64::from(step);
        let prefix = prefixes[rng.below(3) as usize];
        let name = if rng.chance(0.1) { Name::whole(prefix) } else { Name::segment(prefix, rng.below(30)) };
        if rng.chance(0.5) {
            let freshness = rng.below(100);
            cs.insert(&Packet::new(data(name, freshness).header, step), ms(now));
            naive.insert(name, step, now + u64::from(freshness));
        } else {
            let requested = interest_with(name, 1, |interest| {
                interest.can_be_prefix = rng.chance(0.3);
                interest.must_be_fresh = rng.chance(0.3);
            });
            let requested = interest_in(&requested);
            let allowed = naive_lookup(&naive.kept, name, &requested, &names, now);
            let found = cs.lookup(name, &requested, &names, ms(now)).map(|packet| packet.body);
            let at = allowed.iter().copied().find(|at| Some(naive.kept[*at].body) == found);
            assert_eq!(
                found.is_some(),
                !allowed.is_empty(),
                "{policy:?} seed {seed} step {step} {requested:?}"
            );
            assert_eq!(
                found.is_some(),
                at.is_some(),
                "{policy:?} seed {seed} step {step} {requested:?} {found:?}"
            );
            at.into_iter().for_each(|at| naive.touch(at, step));
        }
        assert_eq!(cs.len(), naive.kept.len(), "{policy:?} seed {seed} step {step}");
    }
}

#[test]
fn every_policy_keeps_what_a_naive_store_keeps() {
    for (policy, _) in Policy::ALL {
        (1..=20).for_each(|seed| compare(policy, seed));
    }
}

#[test]
fn random_replacement_gives_every_place_the_same_chance() {
    let (names, hash) = (NameTable::new(), NameHash::LOCALITY);
    let mut cs: Cs<u32> = Cs::new(setup(Policy::Random, 8), hash);
    let name = |number| Name::segment(NameTable::ROOT, number);
    let requested = interest_in(&interest_with(name(0), 1, |_| {}));
    // How often the Data that came `age` insertions ago is still there: (7/8)^age.
    let rounds = 20_000;
    let mut there = [0_u32; 12];
    for number in 0..rounds {
        cs.insert(&data(name(number), 0), ms(0));
        for (age, count) in (0..).zip(&mut there) {
            let asked_for = number.checked_sub(age).map(name);
            let found = asked_for.and_then(|name| cs.lookup(name, &requested, &names, ms(0)));
            *count += u32::from(found.is_some());
        }
    }
    for (age, count) in (0..).zip(there) {
        let (share, expected) = (f64::from(count) / f64::from(rounds), 0.875_f64.powi(age));
        // One insertion tells about all ages, so that the deviation of independent draws is stretched by 4.
        let deviation = (expected * (1.0 - expected) / f64::from(rounds)).sqrt();
        assert!((share - expected).abs() <= 16.0 * deviation + 1e-3, "age {age}: {share}, {expected}");
    }
}

#[test]
fn admission_by_probability_keeps_that_part_of_what_passes() {
    let quarter = CacheSetup { admission: Admission::Probability(0.25), ..setup(Policy::Lru, 100_000) };
    let mut cs: Cs<u32> = Cs::new(quarter, NameHash::LOCALITY);
    for number in 0..40_000 {
        cs.insert(&data(Name::segment(NameTable::ROOT, number), 0), ms(0));
    }
    // 10,000 of 40,000, standard deviation 86.6.
    assert!((9_654..=10_346).contains(&cs.len()), "{}", cs.len());
}

/// Prefixes and their stores.
fn narrowed() -> (NameTable, Stores<u32>, [PrefixId; 4]) {
    let mut names = NameTable::new();
    let ids = ["/a", "/a/b", "/a/b/c", "/d"].map(|uri| names.intern_uri(uri).expect("valid"));
    let mut stores = Stores::new(setup(Policy::Lru, 4), NameHash::LOCALITY);
    stores.narrow(ids[0], setup(Policy::Fifo, 2));
    stores.narrow(ids[1], setup(Policy::Lru, 0));
    (names, stores, ids)
}

#[test]
fn data_belongs_to_the_store_of_its_longest_prefix() {
    let (names, mut stores, [a, ab, abc, d]) = narrowed();
    for prefix in [a, ab, abc, d] {
        (0..6).for_each(|segment| {
            stores.insert(&data(Name::segment(prefix, segment), 0), &names, ms(0));
        });
    }
    // /a has two places of its own, /a/b and what is under it none, the rest shares four.
    let kept = |stores: &mut Stores<u32>, prefix| {
        let found = |segment: &u32| {
            let name = Name::segment(prefix, *segment);
            stores.lookup(name, &interest_in(&interest_with(name, 1, |_| {})), &names, ms(0)).is_some()
        };
        (0..6).filter(found).collect::<Vec<u32>>()
    };
    let all = [a, ab, abc, d].map(|prefix| kept(&mut stores, prefix));
    assert_eq!(all, [vec![4, 5], vec![], vec![], vec![2, 3, 4, 5]]);
    assert_eq!((stores.len(), stores.is_enabled()), (6, true));
    assert_eq!([a, ab, abc, d].map(|prefix| stores.keeps(prefix, &names)), [true, false, false, true]);
}

#[test]
fn an_interest_for_a_prefix_is_answered_from_every_store() {
    let (mut names, mut stores, [a, ..]) = narrowed();
    stores.narrow(names.intern_uri("/d/e").expect("valid"), setup(Policy::Lru, 3));
    let below = names.intern_uri("/d/e/f").expect("valid");
    let [d] = ["/d"].map(|uri| names.intern_uri(uri).expect("valid"));
    stores.insert(&data(Name::segment(below, 0), 0), &names, ms(0));
    stores.insert(&data(Name::segment(a, 0), 0), &names, ms(0));
    let name = Name::whole(d);
    let requested = interest_in(&interest_with(name, 1, |interest| interest.can_be_prefix = true));
    let found = stores.lookup(name, &requested, &names, ms(0)).expect("it is in the store of /d/e");
    assert_eq!(found.header.name, Name::segment(below, 0));
}

/// Places of the Data that may answer: that of the exact name, else whole names and first segments below it.
fn naive_lookup(kept: &[Kept], name: Name, requested: &Interest, names: &NameTable, now: u64) -> Vec<usize> {
    let may = |at: &usize| !requested.must_be_fresh || kept[*at].fresh_until > now;
    if let Some(exact) = (0..kept.len()).filter(may).find(|at| kept[*at].name == name) {
        return vec![exact];
    }
    let is_below = |at: &usize| names.is_under(name.prefix, kept[*at].name.prefix);
    let is_first = |at: &usize| matches!(kept[*at].name.segment, Segment::NONE | Segment(0));
    let requests = requested.can_be_prefix && name == Name::whole(name.prefix);
    (0..kept.len()).filter(may).filter(is_below).filter(is_first).filter(|_| requests).collect()
}
