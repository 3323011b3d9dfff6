//! Content stores under Zipf requests against their approximations, and where copies come to lie.

use tidegate_core::ndn::consumer::Popularity;
use tidegate_core::observe::records::RunRecord;

use crate::{plan, record};

/// A consumer `c1` that asks for 2000 objects by Zipf's law with exponent 0.9 through routers in a row.
fn zipf(routers: u32, router: &str, duration: &str) -> String {
    format!(
        "format = 1\n[scenario]\nname = \"zipf\"\nduration = \"{duration}\"\nsample = false\n[topology]\n\
         builtin = \"linear\"\nrouters = {routers}\nlink = {{ rate = \"100Gbps\", delay = \"1us\" }}\n{router}\n\
         [[flow]]\nconsumer = \"c1\"\nproducer = \"p1\"\nprefix = \"/objects\"\npayload = \"100B\"\n\
         scheme = {{ name = \"fixed\", window = 1000 }}\n\
         demand = {{ model = \"zipf\", objects = 2000, exponent = 0.9, rate = \"10000/s\" }}\n"
    )
}

/// Part of the Interests that the store of the node called `name` answered.
fn hit_ratio(record: &RunRecord, name: &str) -> f64 {
    let node = record.nodes.iter().find(|node| node.name == name).expect("a node of that name");
    node.cache_hits as f64 / (node.cache_hits + node.cache_misses) as f64
}

/// The hit ratio of a store of `size` under independent requests, with `occupancy` the probability that an object
/// of this popularity is there when the characteristic time is `time`, measured in requests.
///
/// Che, Tung & Wang 2002 for LRU; Martina, Garetto & Leonardi 2014 for FIFO and random replacement.
fn approximation(size: f64, occupancy: fn(f64, f64) -> f64) -> f64 {
    let law = Popularity::new(2000, 0.9, 0.0);
    let popularity: Vec<f64> = (0..2000).map(|object| law.probability(object)).collect();
    let filled = |time: f64| popularity.iter().map(|part| occupancy(*part, time)).sum::<f64>();
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if filled(middle) < size { low = middle } else { high = middle }
    }
    popularity.iter().map(|part| part * occupancy(*part, low)).sum()
}

fn lru(popularity: f64, time: f64) -> f64 {
    1.0 - (-popularity * time).exp()
}

fn fifo(popularity: f64, time: f64) -> f64 {
    popularity * time / (1.0 + popularity * time)
}

/// The hit ratio of one store of 100 under a policy, over 300,000 requests.
fn measured(policy: &str) -> f64 {
    let router = format!("[router]\ncache = {{ size = \"100pkt\", policy = \"{policy}\" }}");
    hit_ratio(&record(&zipf(1, &router, "30s")), "r1")
}

#[test]
fn lru_hits_as_often_as_ches_approximation_says() {
    let (measured, expected) = (measured("lru"), approximation(100.0, lru));
    // A hit ratio of 0.39 over 300,000 requests deviates by 0.0009; the approximation itself is as good.
    assert!((measured - expected).abs() < 0.004, "{measured}, Che {expected}");
}

#[test]
fn fifo_and_random_replacement_hit_as_often_as_their_approximation_says_and_less_than_lru() {
    let expected = approximation(100.0, fifo);
    for policy in ["fifo", "random"] {
        let measured = measured(policy);
        assert!((measured - expected).abs() < 0.004, "{policy}: {measured}, approximation {expected}");
    }
    assert!(expected + 0.02 < approximation(100.0, lru));
}

#[test]
fn lfu_comes_near_the_store_with_knowledge_of_what_is_popular() {
    let law = Popularity::new(2000, 0.9, 0.0);
    let best: f64 = (0..100).map(|object| law.probability(object)).sum();
    let measured = measured("lfu");
    // The last object that fits and the next one are told apart only after very long.
    assert!(measured < best && measured > best - 0.04, "{measured}, at best {best}");
    assert!(measured > approximation(100.0, lru) + 0.03);
}

/// Data in the store of each of four routers, from the consumer's on, at the end.
fn copies(router: &str) -> Vec<u64> {
    let record = record(&zipf(4, router, "300ms"));
    record.nodes.iter().filter(|node| node.name.starts_with('r')).map(|node| node.cached_packets).collect()
}

#[test]
fn copies_everywhere_are_everywhere_and_at_the_edge_at_the_consumers_router_only() {
    let everywhere = copies("[router]\ncache = { size = \"5000pkt\" }");
    assert!(
        everywhere[0] > 500 && everywhere.iter().all(|copies| *copies == everywhere[0]),
        "{everywhere:?}"
    );
    let edge = copies("[router]\ncache = { size = \"5000pkt\", placement = \"edge\" }");
    assert_eq!(edge, [everywhere[0], 0, 0, 0]);
    // A node that says something of its own is not asked where it stands.
    let own = copies(
        "[router]\ncache = { size = \"5000pkt\", placement = \"edge\" }\n[node.r3]\ncache = { policy = \"fifo\" }",
    );
    assert_eq!(own, [everywhere[0], 0, everywhere[0], 0]);
}

#[test]
fn leave_copy_down_moves_data_one_router_down_per_request() {
    // Every object four times, one after the other: it lies at the producer's router, then at one more per request.
    let request = |requests: u32| {
        let text = zipf(4, "[router]\ncache = { size = \"100pkt\", admission = \"leave-copy-down\" }", "1s");
        let one =
            format!("demand = {{ model = \"zipf\", objects = 1, exponent = 1, requests = {requests} }}");
        let text = text.replace(
            "demand = { model = \"zipf\", objects = 2000, exponent = 0.9, rate = \"10000/s\" }",
            &one,
        );
        let record = record(&text.replace("window = 1000", "window = 1"));
        let routers = record.nodes.iter().filter(|node| node.name.starts_with('r'));
        routers.map(|node| node.cached_packets).collect::<Vec<u64>>()
    };
    assert_eq!(request(1), [0, 0, 0, 1]);
    assert_eq!(request(2), [0, 0, 1, 1]);
    assert_eq!(request(3), [0, 1, 1, 1]);
    assert_eq!(request(9), [1, 1, 1, 1]);
}

#[test]
fn leave_copy_down_counts_stores_and_not_routers() {
    // The routers between have no store, so the next one down is the consumer's.
    let router = "[router]\ncache = { size = \"5000pkt\", admission = \"leave-copy-down\" }\n[node.r2]\ncache = \
                  \"0pkt\"\n[node.r3]\ncache = \"0pkt\"\n[node.r4]\ncache = \"0pkt\"";
    let [first, rest @ ..] = &copies(router)[..] else { panic!("four routers") };
    assert!(*first > 500 && rest.iter().all(|copies| *copies == 0), "{first}, {rest:?}");
}

#[test]
fn copies_by_probability_are_fewer_the_further_from_popular() {
    let all = copies("[router]\ncache = { size = \"5000pkt\" }")[0];
    let some =
        copies("[router]\ncache = { size = \"5000pkt\", admission = \"probabilistic\", probability = 0.2 }");
    // What is asked for once is kept with 0.2 at each router, what is asked for often almost surely.
    assert!(some.iter().all(|copies| *copies > all / 8 && *copies < all / 2), "{some:?} of {all}");
    assert!(some.windows(2).any(|pair| pair[0] != pair[1]), "routers draw apart: {some:?}");
}

/// The stores of `r1` as planned: prefix (none for the rest), packets and policy.
fn stores(router: &str) -> Vec<(String, u32, String)> {
    let plan = plan(&zipf(1, router, "1s"));
    let r1 = plan.nodes.iter().find(|node| node.name == "r1").expect("a router");
    let own = [(String::new(), r1.cache)];
    let all = own.into_iter().chain(r1.prefix_caches.clone());
    all.map(|(prefix, cache)| (prefix, cache.size.get(), format!("{:?}", cache.policy))).collect()
}

#[test]
fn prefixes_take_shares_of_the_routers_store_and_sizes_beside_it() {
    let router = "[router]\ncache = { size = \"100pkt\", policy = \"lfu\" }\n[[router.prefix]]\nprefix = \"/a\"\n\
                  cache = { share = 0.25, policy = \"fifo\" }\n[[router.prefix]]\nprefix = \"/a/b\"\ncache = \
                  \"40pkt\"\n[[router.prefix]]\nprefix = \"/off\"\ncache = \"0pkt\"\nstrategy = \"multicast\"";
    let expected = [("", 75, "Lfu"), ("/a", 25, "Fifo"), ("/a/b", 40, "Lfu"), ("/off", 0, "Lfu")];
    let found = stores(router);
    let found: Vec<(&str, u32, &str)> =
        found.iter().map(|(prefix, size, policy)| (prefix.as_str(), *size, policy.as_str())).collect();
    assert_eq!(found, expected);
    // A router that says it has none keeps nothing of any prefix either.
    assert_eq!(stores(&format!("{router}\n[node.r1]\ncache = \"0pkt\"")).len(), 1);
}

#[test]
fn a_prefix_whose_cache_is_off_is_never_cached_and_the_longest_prefix_counts() {
    let run = |prefix: &str| {
        let rule = format!("[router]\ncache = \"5000pkt\"\n{prefix}");
        let record = record(&zipf(1, &rule, "300ms"));
        let node = record.nodes.iter().find(|node| node.name == "r1").expect("a router").clone();
        (node.cached_packets, node.cache_hits + node.cache_misses)
    };
    let (kept, requested) = run("");
    assert!(kept > 500 && requested > 2_000, "{kept} of {requested}");
    assert_eq!(run("[[router.prefix]]\nprefix = \"/objects\"\ncache = \"0pkt\""), (0, 0));
    let (off_above, _) = run(
        "[[router.prefix]]\nprefix = \"/\"\ncache = \"0pkt\"\n[[router.prefix]]\nprefix = \"/objects\"\ncache = \
         \"50pkt\"",
    );
    assert_eq!(off_above, 50);
}
