//! A window that never changes.
//!
//! Paper: none; the baseline of ndnget's `fixed` pipeline and of every window test.

use tidegate_core::prelude::*;
use tidegate_core::scheme::whole::Limit;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "fixed",
    summary: "a congestion window that never changes",
    paper: "none: baseline",
    provenance: Provenance::Source,
    params: Params::TABLE,
    consumer: Some(|settings| Ok(Box::new(Fixed { params: Params::from_settings(settings)? }))),
    whole: Whole { limit: Some(Limit { why: "the window is 10 packets unless `window` is set", unless: &["window"] }), ..Whole::ALONE },
    ..Scheme::NONE
};

params! {
    /// Number of Interests that may be outstanding.
    window: f64 = 10.0, "packets", 1.0..=1_000_000.0;
}

#[derive(Debug)]
struct Fixed {
    params: Params,
}

impl CongestionController for Fixed {
    fn window(&self) -> f64 {
        self.params.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::ndn::packet::NackReason::{Congestion, NoRoute};
    use tidegate_core::scheme::congestion::LossSignal::{Expired, Gap, Nack, Notice, Timeout};
    use tidegate_testkit::driver::Driver;
    use tidegate_testkit::steps::{data, follow, lost, marked};

    #[test]
    fn nothing_moves_the_window() {
        // Thirteen events of every kind; the window is the configured 7.5 after each.
        let events = [
            data(40, 0, 7),
            data(40, 1, 8),
            marked(41, 2, 9),
            lost(250, 3, 9, Timeout),
            lost(250, 4, 9, Expired),
            data(260, 3, 9),
            lost(261, 5, 9, Nack(Congestion)),
            lost(262, 6, 9, Nack(NoRoute)),
            lost(263, 7, 9, Notice),
            data(264, 7, 9),
            lost(265, 8, 9, Gap),
            marked(300, 8, 9),
            data(2_000, 9, 10),
        ];
        let steps = events.map(|event| (event, 7.5));
        follow(&mut Driver::new(&SCHEME, &[("window", Setting::Number(7.5))]), &steps);
    }
}
