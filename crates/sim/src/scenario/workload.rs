//! Workload of a flow of requests: a catalogue and an arrival process.

use std::sync::Arc;

use tidegate_core::ndn::consumer::{Arrivals, Popularity, Workload};
use tidegate_core::units::Frequency;
use tidegate_settings::fields::Fields;

use super::flows::MAX_SEGMENTS;
use super::keys;

/// Maximum rate of requests: a clock of nanoseconds cannot separate more.
const MAX_PER_SECOND: f64 = 1e9;

/// Arrival process of requests with a rate.
type ArrivalProcess = fn(Frequency) -> Arrivals;

/// Reads the table `demand`.
pub(super) fn read(flow: &Fields<'_>) -> Option<Workload> {
    let table = flow.table("demand", &keys::DEMAND)?;
    let model = table.word("model", &[((), "zipf")]);
    let (objects, object_segments) = (table.count_u32("objects"), table.count_u32("segments"));
    let (exponent, shift) = (table.number("exponent"), table.number("shift"));
    let requests = table.count_u32("requests");
    let arrivals = read_arrivals(&table);
    // All keys have been read by now, so that every mistake is reported.
    model?;
    let (objects, object_segments) = (objects?, object_segments?);
    check_segments(&table, "objects", objects, object_segments)?;
    requests.map_or(Some(()), |requests| check_segments(&table, "requests", requests, object_segments))?;
    if !table.context.claim(table.place, 8 * u64::from(objects), 1) {
        return None;
    }
    let popularity = Arc::new(Popularity::new(objects, exponent?, shift?));
    Some(Workload { popularity, object_segments, arrivals: arrivals?, requests })
}

/// Reports a product that exceeds the number of segments.
fn check_segments(table: &Fields<'_>, key: &str, number: u32, each: u32) -> Option<()> {
    let all = u64::from(number) * u64::from(each);
    if all <= MAX_SEGMENTS {
        return Some(());
    }
    table.refused(key, format!("{key}: {number} times {each} segments; at most {MAX_SEGMENTS} in all"))
}

/// Arrival process; `Some(None)` for requests as fast as the scheme permits.
fn read_arrivals(table: &Fields<'_>) -> Option<Option<Arrivals>> {
    let kinds: [(ArrivalProcess, &str); 2] =
        [(Arrivals::Poisson, "poisson"), (Arrivals::Constant, "constant")];
    let kind = table.word("arrivals", &kinds);
    if table.item("rate").is_none() {
        if table.item("arrivals").is_some() {
            table.refuse("arrivals", "arrivals need a \"rate\"");
        }
        return Some(None);
    }
    let rate = table.frequency("rate")?;
    if rate.per_second() > MAX_PER_SECOND {
        return table
            .refused("rate", format!("rate: {} is more than {MAX_PER_SECOND}/s", table.shown("rate")));
    }
    let kind = if table.item("arrivals").is_some() { kind? } else { Arrivals::Poisson };
    Some(Some(kind(rate)))
}
