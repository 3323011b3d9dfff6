//! Random early detection and marking at a queue that stands still, against their probabilities.

use tidegate_core::params::Value;

use crate::bench::{Bench, data};

/// A queue of 100 packets that every one of `arrivals` finds to hold `standing`; what was marked and dropped.
fn stand_still(scheme: &str, given: &[(&str, Value)], standing: u32, arrivals: u32) -> (u64, u64) {
    let mut bench = Bench::new(scheme, given, 100);
    bench.push_data(0, standing);
    // The average comes to rest before anything counts.
    for round in 0..arrivals + 2_000 {
        if round == 2_000 {
            bench.log.0.clear();
        }
        bench.push(data(), 1000);
        while bench.faces[0].queued_packets() > standing {
            bench.run(|queue, cx| queue.pop(cx));
        }
    }
    let count = |kind| bench.log.0.iter().filter(|(_, event)| event.kind() == kind).count() as u64;
    (count("marked"), count("dropped"))
}

#[test]
fn random_early_marking_marks_one_of_twenty_half_way_between_its_thresholds() {
    // 0.1 (0.4 - 0.2)/(0.6 - 0.2) = 0.05 of 40,000: 2000, standard deviation 43.6.
    let (marked, dropped) = stand_still("random-early-marking", &[], 40, 40_000);
    assert!((1_826..=2_174).contains(&marked), "{marked}");
    assert_eq!(dropped, 0);
}

#[test]
fn random_early_marking_leaves_a_short_queue_alone_and_marks_all_of_a_long_one() {
    assert_eq!(stand_still("random-early-marking", &[], 19, 2_000), (0, 0));
    assert_eq!(stand_still("random-early-marking", &[], 61, 2_000), (2_000, 0));
}

#[test]
fn red_marks_as_often_as_its_spread_probability_says() {
    // At 10 packets p_b = 0.1 (10 - 5)/(15 - 5) = 0.05: gaps uniform in 1..=19, so one of 10 on average. Of 40,000
    // packets 4000; a gap deviates by 5.48, so the count by 5.48/10 sqrt(4000) = 35.
    let given = [
        ("action", Value::Text("mark".to_owned())),
        ("max_probability", Value::Number(0.1)),
        ("weight", Value::Number(0.02)),
    ];
    let (marked, dropped) = stand_still("red", &given, 10, 40_000);
    assert!((3_860..=4_140).contains(&marked), "{marked}");
    assert_eq!(dropped, 0);
    assert_eq!(stand_still("red", &given, 16, 1_000), (1_000, 0));
    assert_eq!(stand_still("red", &given, 4, 1_000), (0, 0));
}
