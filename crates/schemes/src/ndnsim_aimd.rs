//! AIMD: one packet more per round trip, half on a loss, at most once per one and a half round trips.
//!
//! Paper: none; ndnSIM 2.9 `ConsumerPcon` with `CcAlgorithm` AIMD.

use tidegate_core::prelude::*;

use crate::toolbox::reaction::conservative_window::ConservativeWindow;
use crate::toolbox::window::aimd::{AimdRule, AimdWindow};
use crate::toolbox::window::consumer_pcon::ConsumerPcon;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "ndnsim-aimd",
    summary: "increases the window additively and halves it after a loss, as in ndnSIM's consumer",
    paper: "ndnSIM 2.9 ConsumerPcon (AIMD)",
    provenance: Provenance::Source,
    deviations: &["Marks are ignored unless `react_to_marks` is set, as it is in ndnSIM; PLR's experiments ignore them."],
    params: Params::TABLE,
    profile: ConsumerProfile::Ndnsim,
    consumer: Some(|settings| Ok(Box::new(controller(&Params::from_settings(settings)?)))),
    ..Scheme::NONE
};

params! {
    /// Initial and minimum congestion window (`Window`).
    initial_window: f64 = 1.0, "packets", 1.0..=1_000_000.0;
    /// Fraction of the window kept after a decrease (`Beta`).
    beta: f64 = 0.5, "of the window", 0.1..=0.99;
    /// Additional RTTs without a further decrease, after the first RTT (`AddRttSuppress`).
    suppress: f64 = 0.5, "round trips", 0.0..=10.0;
    /// Whether the window decreases at most once per 1 + `suppress` RTTs (`UseCwa`).
    conservative: bool = true;
    /// Whether marked Data decreases the window (`ReactToCongestionMarks`); it never increases it.
    react_to_marks: bool = false;
}

fn controller(params: &Params) -> ConsumerPcon<AimdWindow> {
    let rule = AimdRule {
        initial: params.initial_window,
        // `ConsumerPcon` starts in slow start; only the first decrease sets a threshold.
        ssthresh: f64::INFINITY,
        step: 1.0,
        keep: params.beta,
        min: params.initial_window,
        divides_by_whole_window: false,
        restarts: false,
    };
    ConsumerPcon {
        rule: AimdWindow::new(rule),
        gate: ConservativeWindow::new(params.conservative, params.suppress),
        reacts_to_marks: params.react_to_marks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::ndn::packet::NackReason::{Congestion, Duplicate};
    use tidegate_core::scheme::congestion::LossSignal::{Expired, Nack, Notice, Timeout};
    use tidegate_testkit::driver::Driver;
    use tidegate_testkit::steps::{data, follow, lost, marked};

    #[test]
    fn slow_start_halving_and_the_gate_follow_the_worked_case() {
        // W = 1; slow start adds 1; a mark is ignored in both directions; R is the recovery point, from 0.
        //  6 received 4 > R 0: threshold = W = 5 / 2; R = 10 + 0.5 (10 - 4) = 13
        //  7 received 4 <= 13: nothing
        //  8 2.5 + 1/2.5                            9 2.9 + 1/2.9
        // 10 received 8 <= 13: nothing             11 not a congestion Nack: nothing
        // 12 3.244828 + 1/3.244828 = 3.553010
        // 13 received 14 > 13: 3.553010 / 2; R = 17 + 0.5 (17 - 14) = 18.5
        // 14 1.776505 + 1/1.776505 = 2.339408      15 received 18 <= 18.5: nothing
        // 16 2.339408 + 1/2.339408 = 2.766867
        // 17 received 19 > 18.5: 2.766867 / 2; R = 22 + 0.5 (22 - 19) = 23.5
        // 18 1.383433 + 1/1.383433 = 2.106273      19 received 24 > 23.5: 2.106273 / 2
        // 20 R = 27 + 0.5 (27 - 24) = 28.5; 1.053136 + 1/1.053136 = 2.002681, received 29
        // 21 29 > 28.5: 1.001341; R = 31 + 0.5 (31 - 29) = 32
        // 22 1.001341 + 1/1.001341 = 2.000002      23 33 > 32: 1.000001     24 + 1/1.000001 = 2.000000
        let steps = [
            (data(40, 0, 2), 2.0),
            (data(80, 1, 4), 3.0),
            (data(80, 2, 6), 4.0),
            (marked(120, 3, 7), 4.0),
            (data(120, 4, 8), 5.0),
            (lost(320, 5, 10, Timeout), 2.5),
            (lost(320, 6, 10, Timeout), 2.5),
            (data(360, 7, 10), 2.9),
            (data(360, 8, 11), 3.244828),
            (lost(370, 9, 12, Nack(Congestion)), 3.244828),
            (lost(380, 9, 13, Nack(Duplicate)), 3.244828),
            (data(400, 14, 17), 3.553010),
            (lost(410, 10, 17, Notice), 1.776505),
            (data(440, 18, 20), 2.339408),
            (lost(450, 15, 20, Notice), 2.339408),
            (data(460, 19, 22), 2.766867),
            (lost(470, 16, 22, Expired), 1.383433),
            (data(500, 24, 26), 2.106273),
            (lost(510, 20, 27, Timeout), 1.053136),
            (data(520, 29, 30), 2.002681),
            (lost(530, 25, 31, Timeout), 1.001341),
            (data(540, 33, 34), 2.000002),
            (lost(550, 30, 34, Timeout), 1.000001),
            (data(560, 34, 36), 2.0),
        ];
        follow(&mut Driver::new(&SCHEME, &[]), &steps);
    }

    #[test]
    fn the_window_never_shrinks_below_the_initial_one() {
        let mut driver = Driver::new(&SCHEME, &[("initial_window", Setting::Number(4.0))]);
        // 5 / 2 = 2.5 < 4.
        follow(&mut driver, &[(data(40, 1, 5), 5.0), (lost(250, 2, 6, Timeout), 4.0)]);
    }

    #[test]
    fn a_mark_halves_the_window_when_marks_count() {
        let mut driver = Driver::new(&SCHEME, &[("react_to_marks", Setting::Bool(true))]);
        let steps = [(data(40, 1, 2), 2.0), (data(40, 2, 4), 3.0), (marked(80, 3, 6), 1.5)];
        follow(&mut driver, &steps);
    }

    #[test]
    fn without_the_gate_every_loss_halves_the_window() {
        let given = [("conservative", Setting::Bool(false))];
        let mut driver = Driver::new(&SCHEME, &given);
        let steps = [
            (data(40, 0, 2), 2.0),
            (data(40, 1, 4), 3.0),
            (data(40, 2, 6), 4.0),
            (lost(50, 3, 6, Timeout), 2.0),
            (lost(50, 4, 6, Timeout), 1.0),
        ];
        follow(&mut driver, &steps);
    }
}
