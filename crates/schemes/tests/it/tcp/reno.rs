//! Reno against the square-root law and the model with timeouts.

use tidegate_core::tcp::{Detection, SenderSettings, TimeoutRule};

use super::*;

/// Payload of a segment, Mbit.
const SEGMENT: f64 = dumbbell::PAYLOAD * 8e-6;

/// Mathis et al. 1997 eq. 3, with an ACK per segment, Mbit/s.
fn square_root_law(rtt: f64, p: f64) -> f64 {
    SEGMENT / rtt * (1.5 / p).sqrt()
}

/// Padhye et al. 1998 eq. 30, with an ACK per segment and a first timeout of 200 ms, Mbit/s.
fn padhye(rtt: f64, p: f64) -> f64 {
    let timeouts = 0.2 * (3.0 * (3.0 * p / 8.0).sqrt()).min(1.0) * p * (1.0 + 32.0 * p * p);
    SEGMENT / (rtt * (2.0 * p / 3.0).sqrt() + timeouts)
}

fn reno() -> DumbbellFlow {
    DumbbellFlow::of(scheme("tcp-reno"), &[], 20)
}

#[test]
fn reno_follows_the_square_root_law_under_random_loss() {
    for p in [0.001, 0.005, 0.01, 0.02] {
        let (goodput, law) = (random_goodput(reno, p), square_root_law(0.020, p));
        assert!((goodput / law - 1.0).abs() < 0.15, "p = {p}: {goodput:.2}, law {law:.2}");
    }
}

#[test]
fn with_tail_probes_reno_is_above_the_model_with_timeouts() {
    for p in [0.02, 0.05, 0.1] {
        let (goodput, model) = (random_goodput(reno, p), padhye(0.020, p));
        assert!(goodput > model, "p = {p}: {goodput:.2}, model {model:.2}");
    }
}

/// Finds losses by what arrives behind them (RFC 6675) and by its timer, which is the model's 200 ms, without probes of the
/// tail.
fn plain() -> DumbbellFlow {
    let (detection, timeout_rule) = (Detection::Sack, TimeoutRule::Rfc6298);
    let settings = SenderSettings { detection, timeout_rule, ..SenderSettings::default() };
    DumbbellFlow { settings, ..reno() }
}

#[test]
fn without_tail_probes_reno_follows_the_model_with_timeouts_under_the_losses_of_that_model() {
    // The model loses what follows a loss in the same round trip, and counts that as one.
    for p in [0.005, 0.01, 0.02, 0.05, 0.1] {
        let (goodput, model) = (goodput_under(plain, DumbbellLoss::RestOfRound(p)), padhye(0.020, p));
        assert!((goodput / model - 1.0).abs() < 0.2, "p = {p}: {goodput:.2}, model {model:.2}");
    }
}

#[test]
fn under_losses_one_by_one_it_lies_between_the_model_with_timeouts_and_the_law_without() {
    // SACK repairs most of the windows that the model lets time out: at 2 % it has a third more than the model.
    for p in [0.01, 0.02, 0.05] {
        let (goodput, model, law) = (random_goodput(plain, p), padhye(0.020, p), square_root_law(0.020, p));
        assert!(model < goodput && goodput < law, "p = {p}: {goodput:.2}, model {model:.2}, law {law:.2}");
    }
}

#[test]
fn a_lost_segment_in_so_many_gives_the_window_of_the_law() {
    for period in [1_000, 10_000, 100_000] {
        let (window, law) =
            (deterministic_window("tcp-reno", &[], 10, period, 20), (1.5 * period as f64).sqrt());
        assert!((window / law - 1.0).abs() < 0.05, "1 in {period}: {window:.1}, law {law:.1}");
    }
}
