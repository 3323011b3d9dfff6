//! Schemes of other authors: sound ones pass the checks, and a fault is an error that names it.

use tidegate_core::prelude::*;

use super::{check_consumer, check_parameters};
use crate::constant_rtt;

/// A constant window without timers.
#[derive(Debug)]
struct Constant(f64);

impl CongestionController for Constant {
    fn window(&self) -> f64 {
        self.0
    }
}

/// A timer that starts with the first Data.
#[derive(Debug)]
struct Timed {
    window: f64,
    wake: Option<Time>,
    /// Window and repetition after a wake-up.
    then: (f64, Option<Span>),
}

impl CongestionController for Timed {
    fn window(&self) -> f64 {
        self.window
    }
    fn on_delivery(&mut self, cx: &mut Context<'_>, _: &Delivery, _: &FlowView) {
        self.wake = self.wake.or(Some(cx.now + Span::from_millis(20)));
    }
    fn on_wake(&mut self, cx: &mut Context<'_>, _: &FlowView) {
        self.window = self.then.0;
        self.wake = self.then.1.map(|after| cx.now + after);
    }
    fn next_wake(&self) -> Option<Time> {
        self.wake
    }
}

params! {
    /// A number without a range.
    free: f64 = 1.0;
    /// A time without a range.
    gap: Span = Span::from_millis(1);
    /// A count without a range.
    count: u32 = 1;
}

fn timed(then: (f64, Option<Span>)) -> Box<dyn CongestionController> {
    Box::new(Timed { window: 4.0, wake: None, then })
}

/// The message with which `check` panics.
fn message(check: impl FnOnce() + std::panic::UnwindSafe) -> String {
    *std::panic::catch_unwind(check).expect_err("it panics").downcast::<String>().expect("with a text")
}

#[test]
fn parameters_without_a_range_pass() {
    let scheme = Scheme {
        name: "free",
        params: Params::TABLE,
        consumer: Some(|settings| {
            Params::from_settings(settings)?;
            Ok(Box::new(Constant(2.0)))
        }),
        ..Scheme::NONE
    };
    check_consumer(&scheme);
}

#[test]
fn a_scheme_without_parameters_may_ignore_its_settings() {
    let ignoring = Scheme { name: "plain", consumer: Some(|_| Ok(Box::new(Constant(2.0)))), ..Scheme::NONE };
    check_consumer(&ignoring);
    let careless = Scheme { name: "careless", params: &Params::TABLE[..1], ..ignoring };
    assert!(message(move || check_parameters(&careless)).contains("careless takes free"));
}

#[test]
fn a_timer_runs_in_random_histories() {
    let steady = Scheme {
        name: "steady",
        consumer: Some(|_| Ok(timed((5.0, Some(Span::from_millis(1)))))),
        ..Scheme::NONE
    };
    check_consumer(&steady);
    let broken = Scheme { name: "broken", consumer: Some(|_| Ok(timed((f64::NAN, None)))), ..Scheme::NONE };
    let text = message(move || check_consumer(&broken));
    assert!(text.contains("broken []: window NaN after the wake-up at"), "{text}");
    let stuck =
        Scheme { name: "stuck", consumer: Some(|_| Ok(timed((4.0, Some(Span::ZERO))))), ..Scheme::NONE };
    let text = message(move || check_consumer(&stuck));
    assert!(text.contains("stuck []: after the wake-up at") && text.contains("must be later"), "{text}");
}

#[test]
fn a_window_that_no_consumer_can_use_is_named_in_place_of_a_course() {
    let zero = Scheme { name: "zero", consumer: Some(|_| Ok(Box::new(Constant(0.0)))), ..Scheme::NONE };
    let negative = Scheme { consumer: Some(|_| Ok(Box::new(Constant(-3.0)))), ..zero };
    let not_a_number = Scheme { consumer: Some(|_| Ok(Box::new(Constant(f64::NAN)))), ..zero };
    for (scheme, window) in [(zero, "0"), (negative, "-3"), (not_a_number, "NaN")] {
        let text = message(move || check_consumer(&scheme));
        assert!(text.starts_with(&format!("zero []: window {window} after event 1 ")), "{text}");
        let text = message(move || drop(constant_rtt::trace(&scheme)));
        assert_eq!(text, format!("zero: window {window} at 0.000000s; a window is at least 1"));
    }
    let huge = Scheme { consumer: Some(|_| Ok(Box::new(Constant(1e9)))), ..zero };
    let infinite = Scheme { consumer: Some(|_| Ok(Box::new(Constant(f64::INFINITY)))), ..zero };
    for (scheme, window) in [(huge, "1000000000"), (infinite, "inf")] {
        let text = message(move || drop(constant_rtt::trace(&scheme)));
        assert!(
            text.contains(&format!("window {window} at 0.000000s; a consumer has at most 1048576")),
            "{text}"
        );
    }
}
