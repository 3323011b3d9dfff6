//! DCTCP against the steady state of its paper (Alizadeh et al., SIGCOMM 2010, §3.3).

use super::*;
use tidegate_testkit::dumbbell::{PAYLOAD, StepMark, WIRE};

/// `count` flows on 100 Mbit/s and 20 ms, 165 packets, marked from `step` packets of queue on.
fn path(count: u32, step: u32) -> Dumbbell {
    let flows = (0..count).map(|_| DumbbellFlow::of(scheme("tcp-dctcp"), &[], 20)).collect();
    let disciplines: Vec<Box<dyn tidegate_core::queue::QueueDiscipline>> = vec![Box::new(StepMark(step))];
    Dumbbell::new(Bottleneck { disciplines, ..Bottleneck::new(100.0, 1000) }, flows)
}

#[test]
fn the_queue_stays_between_the_bounds_of_the_paper_and_the_line_busy() {
    for count in [1, 2, 4] {
        let (step, flows) = (60.0, f64::from(count));
        let mut path = path(count, 60);
        path.run(seconds(10.0));
        let queued = path.trace(20.0, Span::from_millis(1), |path| f64::from(path.queued()));
        let (low, high) =
            queued.iter().fold((f64::MAX, 0.0_f64), |(low, high), q| (low.min(*q), high.max(*q)));
        // Q_max = K + N (eq. 10); amplitude sqrt(2 N (C RTT + K)) / 2 (eq. 8) for flows that move together.
        let amplitude = 0.5 * (2.0 * flows * (165.0 + step)).sqrt();
        assert!(high <= step + 2.0 * flows + 2.0, "{count}: {low} to {high}");
        assert!(
            low >= step + flows - 1.5 * amplitude - 2.0,
            "{count}: {low} to {high}, amplitude {amplitude:.1}"
        );
        let goodput: f64 = path.goodputs(20.0, 30.0).iter().sum();
        assert!(goodput > 0.995 * 100.0 * PAYLOAD / WIRE, "{count}: {goodput}");
        assert_eq!(path.queue_stats().dropped, 0);
    }
}

#[test]
fn the_window_of_a_flow_alone_is_cut_as_deep_and_as_often_as_in_the_paper() {
    let mut path = path(1, 60);
    path.run(seconds(10.0));
    let windows = path.trace(30.0, Span::from_millis(1), |path| path.window(0));
    let cuts: Vec<f64> = windows.windows(2).map(|pair| pair[0] - pair[1]).filter(|cut| *cut > 0.0).collect();
    // D = sqrt(2 (C RTT + K)) / 2 segments (eq. 8), one of which is won back in each round trip (eq. 9); a round trip is that
    // of 165 and K packets. Each is whole to one in ten, and what is marked comes a round trip late.
    let depth = 0.5 * (2.0 * (165.0 + 60.0_f64)).sqrt();
    let period = depth * (165.0 + 60.0) / (100e6 / 8.0 / WIRE);
    let expected = 20.0 / period;
    assert!((mean(&cuts) / depth - 1.0).abs() < 0.25, "{} segments, {depth}", mean(&cuts));
    assert!((cuts.len() as f64 / expected - 1.0).abs() < 0.25, "{} cuts, {expected}", cuts.len());
}

#[test]
fn two_flows_share_equally() {
    let goodputs = path(2, 60).goodputs(20.0, 80.0);
    assert!((goodputs[0] / goodputs[1] - 1.0).abs() < 0.1, "{goodputs:?}");
}

#[test]
fn marks_in_place_of_drops_keep_reno_and_cubic_from_losing_anything() {
    for (name, kept) in [("tcp-reno", 0.5), ("tcp-cubic", 0.7), ("tcp-cubic-linux", 0.7)] {
        let flow = DumbbellFlow::of(scheme(name), &[("ecn", on(true))], 20);
        let disciplines: Vec<Box<dyn tidegate_core::queue::QueueDiscipline>> = vec![Box::new(StepMark(165))];
        let mut path = Dumbbell::new(Bottleneck { disciplines, ..Bottleneck::new(100.0, 2000) }, vec![flow]);
        let goodput = path.goodputs(20.0, 60.0)[0];
        assert!(goodput > 0.99 * 100.0 * PAYLOAD / WIRE, "{name}: {goodput}");
        let stats = path.stats(0);
        assert_eq!((stats.retransmissions, path.queue_stats().dropped), (0, 0), "{name}");
        assert!(
            path.queue_stats().marked > 0 && path.queue_stats().peak < 1000,
            "{name}: {:?}",
            path.queue_stats()
        );
        let windows = path.trace(120.0, Span::from_millis(5), |path| path.window(0));
        let (low, high) =
            windows.iter().fold((f64::MAX, 0.0_f64), |(low, high), w| (low.min(*w), high.max(*w)));
        assert!((low / high - kept).abs() < 0.05, "{name}: {low:.0} to {high:.0}");
    }
}
