//! Stateful forwarding in a forwarder: the next face above a limit, refusals tried elsewhere, swallowed or passed on.

use tidegate_core::ndn::packet::NackReason::{Congestion, NoRoute};
use tidegate_core::scheme::params::Setting;

use crate::strategies::router::Event::{Data, Down, Interest, Nack};
use crate::strategies::router::{Router, named};

/// Next hops 3, 4 and 5, whose limits let out one Interest at once and another one after 0.912 ms.
fn router(given: &[(&str, Setting)]) -> Router {
    let mut all = vec![("burst", Setting::Text("0ms".to_owned())), ("dynamic_burst", Setting::Bool(false))];
    all.extend(given.iter().cloned());
    Router::of_gated_part(named("stateful-forwarding"), &all, &[3, 4, 5])
}

#[test]
fn an_interest_goes_to_the_first_face_below_its_limit_and_is_refused_above_all() {
    router(&[]).follow(&[
        (0, Interest(0), &["3 interest"]),
        (0, Data(3), &["0 data"]),
        (0, Interest(0), &["4 interest"]),
        (0, Data(4), &["0 data"]),
        (0, Interest(0), &["5 interest"]),
        (0, Data(5), &["0 data"]),
        (0, Interest(0), &["0 nack Congestion"]),
        (1, Interest(0), &["3 interest"]),
    ]);
}

#[test]
fn a_pending_limit_counts_until_the_answer() {
    let pending =
        [("limit", Setting::Text("pending".to_owned())), ("adaptation", Setting::Text("none".to_owned()))];
    // At most one pending: another Interest for the name passes, as it is the same entry.
    router(&pending).follow(&[
        (0, Interest(0), &["3 interest"]),
        (1, Interest(0), &["3 interest"]),
        (2, Nack(3, Congestion), &["4 interest"]),
        (3, Data(4), &["0 data"]),
        (3, Interest(0), &["3 interest"]),
    ]);
}

#[test]
fn without_a_limit_the_first_face_takes_all() {
    let given = [("limit", Setting::Text("none".to_owned()))];
    router(&given).follow(&[
        (0, Interest(0), &["3 interest"]),
        (0, Data(3), &["0 data"]),
        (0, Interest(0), &["3 interest"]),
    ]);
}

#[test]
fn a_refused_interest_tries_the_faces_that_are_left_and_then_the_refusal_goes_to_all() {
    router(&[]).follow(&[
        (0, Interest(0), &["3 interest"]),
        (0, Interest(1), &[]),
        (1, Nack(3, NoRoute), &["4 interest"]),
        (2, Nack(4, Congestion), &["5 interest"]),
        (3, Nack(5, NoRoute), &["0 nack Congestion", "1 nack Congestion"]),
        (9, Interest(0), &["3 interest"]),
    ]);
}

#[test]
fn without_retries_the_first_refusal_goes_down() {
    let given = [("retry_elsewhere", Setting::Bool(false))];
    let steps: &[(u64, _, &[&str])] =
        &[(0, Interest(0), &["3 interest"]), (1, Nack(3, NoRoute), &["0 nack NoRoute"])];
    router(&given).follow(steps);
}

#[test]
fn a_refusal_is_swallowed_while_another_face_may_answer() {
    router(&[]).follow(&[
        (0, Interest(0), &["3 interest"]),
        (0, Interest(0), &["4 interest"]),
        (1, Nack(3, Congestion), &[]),
        // 3 is asked in vain.
        (2, Interest(0), &["4 interest"]),
        (3, Nack(4, Congestion), &["5 interest"]),
        (4, Data(5), &["0 data"]),
    ]);
}

#[test]
fn what_is_pending_when_all_faces_are_above_their_limits_is_waited_for() {
    router(&[]).follow(&[
        (0, Interest(0), &["3 interest"]),
        (0, Interest(0), &["4 interest"]),
        (0, Interest(0), &["5 interest"]),
        (0, Interest(0), &[]),
        (1, Data(4), &["0 data"]),
    ]);
}

#[test]
fn after_a_refusal_a_face_that_was_above_its_limit_has_another_chance() {
    router(&[]).follow(&[
        (0, Interest(0), &["3 interest"]),
        (0, Data(3), &["0 data"]),
        (0, Interest(0), &["4 interest"]),
        (5, Nack(4, NoRoute), &["3 interest"]),
        (5, Nack(3, NoRoute), &["5 interest"]),
        (5, Nack(5, NoRoute), &["0 nack NoRoute"]),
    ]);
}

#[test]
fn a_refusal_that_finds_all_limits_used_up_names_congestion() {
    router(&[]).follow(&[
        (0, Interest(0), &["3 interest"]),
        (0, Data(3), &["0 data"]),
        (0, Interest(0), &["4 interest"]),
        (0, Nack(4, NoRoute), &["5 interest"]),
        (0, Nack(5, NoRoute), &["0 nack Congestion"]),
    ]);
}

#[test]
fn no_face_at_all_is_no_route() {
    router(&[]).follow(&[
        (0, Down(3), &[]),
        (0, Interest(0), &["4 interest"]),
        (1, Down(5), &[]),
        (1, Nack(4, NoRoute), &["0 nack NoRoute"]),
        (2, Down(4), &[]),
        (2, Interest(0), &["0 nack NoRoute"]),
    ]);
}
