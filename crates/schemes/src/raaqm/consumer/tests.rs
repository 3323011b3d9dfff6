use super::*;
use tidegate_core::scheme::congestion::LossSignal::{Expired, Timeout};
use tidegate_testkit::driver::{Driver, DriverEvent, DriverEventKind};
use tidegate_testkit::steps::{follow, lost};
use crate::toolbox::forwarding::path_label::PATH_LABEL;

fn number(name: &'static str, value: f64) -> (&'static str, Setting) {
    (name, Setting::Number(value))
}

fn text(name: &'static str, value: &str) -> (&'static str, Setting) {
    (name, Setting::Text(value.into()))
}

/// A decrease is sure at the longest of two round trips, and as good as never at the shortest.
fn sure(more: &[(&'static str, Setting)]) -> Driver {
    let form = (!more.iter().any(|(name, _)| *name == "form")).then(|| text("form", "hicn"));
    let given = [&[number("samples", 2.0), number("drop_factor", 1.0)], more, form.as_slice()].concat();
    Driver::new(&SCHEME, &given)
}

/// A Data `rtt_ms` after its Interest (`None`: sent again) with this label (0: none).
fn on_path(label: u32, rtt_ms: Option<u64>) -> DriverEvent {
    let mut hop = HopSignals::default();
    if label != path_label::NONE {
        hop.put(PATH_LABEL, label);
    }
    let kind = DriverEventKind::Data { segment: 1, hop, rtt: rtt_ms.map(Span::from_millis) };
    DriverEvent { at: Time::ZERO + Span::from_secs(5), next_segment: 9, kind }
}

fn after(rtt_ms: u64) -> DriverEvent {
    on_path(path_label::NONE, Some(rtt_ms))
}

#[test]
fn growth_and_losses_of_hicn_follow_the_worked_case() {
    // 1 + 1/1, 2 + 1/2; what was sent again grows nothing; every loss leaves 0.8, and 1 at least.
    let steps = [
        (after(40), 2.0),
        (after(40), 2.5),
        (on_path(0, None), 2.5),
        (lost(100, 2, 9, Expired), 2.0),
        (lost(100, 3, 9, Timeout), 1.6),
        (lost(100, 4, 9, Expired), 1.28),
        (lost(100, 5, 9, Expired), 1.024),
        (lost(100, 6, 9, Expired), 1.0),
    ];
    follow(&mut Driver::new(&SCHEME, &[text("form", "hicn")]), &steps);
    let steps = [(after(40), 2.0), (after(40), 2.0), (lost(100, 2, 9, Expired), 1.98)];
    let given = [text("form", "hicn-file"), number("max_window", 2.0)];
    follow(&mut Driver::new(&SCHEME, &given), &steps);
}

#[test]
fn the_longest_of_the_last_round_trips_shrinks_and_the_shortest_does_not() {
    // One round trip is too few. 2 + 1/2 = 2.5, times 0.8 at 60 of [20, 60]; 2 + 1/2 at 20 of [60, 20]; 2.5 + 1/2.5 at
    // 20 of [20, 20]; 2.9 + 1/2.9 = 3.244828, times 0.8, at 30 of [20, 30].
    let steps = [(after(20), 2.0), (after(60), 2.0), (after(20), 2.5), (after(20), 2.9), (after(30), 2.595862)];
    follow(&mut sure(&[]), &steps);
    let never = [(after(20), 2.0), (after(60), 2.5), (after(20), 2.9)];
    follow(&mut sure(&[("early", Setting::Bool(false))]), &never);
    // In ticks of 100 ms both are 0, so that they tell nothing.
    let coarse = ("resolution", Setting::Text("100ms".into()));
    follow(&mut sure(&[coarse]), &never);
    let half = [(after(20), 2.0), (after(60), 1.25)];
    follow(&mut sure(&[number("beta", 0.5)]), &half);
}

#[test]
fn each_path_has_round_trips_of_its_own_and_a_new_one_begins_as_the_unlabelled_one() {
    let [near, far] = [7, 9].map(|label| move |rtt_ms| on_path(label, Some(rtt_ms)));
    let steps = [(near(20), 2.0), (far(60), 2.5), (near(20), 2.9), (far(60), 3.244828)];
    follow(&mut sure(&[]), &steps);
    // Taken as one path, 60 is the longest of [20, 60].
    let mixed = [(near(20), 2.0), (far(60), 2.0), (near(20), 2.5), (far(60), 2.32)];
    follow(&mut sure(&[("per_path", Setting::Bool(false))]), &mixed);
    // The copy knows 20.
    follow(&mut sure(&[]), &[(after(20), 2.0), (far(60), 2.0)]);
}

#[test]
fn slow_start_and_whole_windows_of_ndnsim_follow_the_worked_case() {
    // 3 + 1 = 4, of which 0.9 is 3.6: 3, and the threshold too. With W = 3 the fourth Data adds a packet.
    let steps = [
        (on_path(0, None), 2.0),
        (after(20), 3.0),
        (after(60), 3.0),
        (lost(100, 5, 9, Timeout), 3.0),
        (after(20), 3.0),
        (after(20), 3.0),
        (after(20), 3.0),
        (after(20), 4.0),
    ];
    let mut driver = sure(&[text("form", "ndnsim")]);
    follow(&mut driver, &steps);
    assert_eq!(driver.controller.ssthresh(), Some(3.0));
}

/// Decreases in 30,000 Data whose round trips lie at 0, 1 and 1/2 among the last three.
fn decreases(given: &[(&'static str, Setting)]) -> usize {
    let given = [&[number("samples", 3.0), number("beta", 0.9)], given].concat();
    let mut driver = Driver::new(&SCHEME, &given);
    let mut before = 1.0;
    let shrinks = |rtt_ms: &u64| {
        let window = driver.handle(after(*rtt_ms));
        let has_shrunk = window < before;
        before = window;
        has_shrunk
    };
    [20, 60, 40].repeat(10_000).iter().map(shrinks).filter(|has_shrunk| *has_shrunk).count()
}

#[test]
fn the_probability_rises_from_the_least_to_the_forms_factor() {
    // 1e-5 + factor * (0 + 1 + 1/2) / 3 of the Data; a binomial's deviation is the root of n p (1 - p). In ndnSIM some
    // decreases meet growth by a packet, so that a few go unseen.
    for (form, factor) in [("hicn", 0.2), ("hicn-file", 0.003)] {
        let expected = 30_000.0 * (1e-5 + factor / 2.0);
        let found = decreases(&[text("form", form)]) as f64;
        assert!((found - expected).abs() < 4.0 * f64::sqrt(expected), "{form}: {found}, {expected}");
    }
    let found = decreases(&[text("form", "ndnsim"), number("drop_factor", 0.4)]);
    assert!(found > decreases(&[text("form", "ndnsim")]), "{found}");
}

#[test]
fn the_timer_is_the_lifetime_or_ten_round_trips_of_the_last_path_or_the_profiles() {
    let timer = |given: &[(&'static str, Setting)]| {
        let mut driver = Driver::new(&SCHEME, given);
        driver.handle(on_path(7, Some(40)));
        driver.controller.loss_timeout(&Sent::first(0, Time::ZERO))
    };
    assert_eq!(timer(&[]), Some(Span::from_millis(500)));
    assert_eq!(timer(&[text("form", "hicn")]), Some(Span::from_millis(1_001)));
    assert_eq!(timer(&[text("timer", "path")]), Some(Span::from_millis(490)));
    assert_eq!(timer(&[text("form", "ndnsim")]), None);
}

#[test]
fn no_more_paths_than_a_thousand_are_remembered() {
    let mut raaqm = Raaqm::new(Params::from_settings(&Default::default()).expect("defaults"));
    (0..3_000).for_each(|label| raaqm.follow(label));
    assert!(raaqm.paths.len() == MAX && raaqm.paths.contains_key(&path_label::NONE));
}
