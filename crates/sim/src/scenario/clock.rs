//! The clock of a node.

use tidegate_core::units::Span;
use tidegate_settings::document::{Item, TomlValue};
use tidegate_settings::fields::Fields;

use super::keys;
use crate::plan::ClockPlan;

/// Reads a single period or a table under `clock`; `None` without.
pub(super) fn read(fields: &Fields<'_>) -> Option<ClockPlan> {
    let item = fields.item("clock")?;
    if !matches!(item.value, TomlValue::Table(_)) {
        return Some(ClockPlan { period: fields.time("clock")?, phase: None, flush_on_arrival: false });
    }
    let table = fields.table("clock", &keys::CLOCK)?;
    let (period, flush) = (table.time("period"), table.flag("flush_on_arrival"));
    let phase = match table.item("phase") {
        None => None,
        Some(item) => read_phase(&table, item)?,
    };
    Some(ClockPlan { period: period?, phase, flush_on_arrival: flush.unwrap_or(false) })
}

/// A time, or `Some(None)` for the word that requests a drawn one.
fn read_phase(table: &Fields<'_>, item: &Item) -> Option<Option<Span>> {
    if let TomlValue::Text(text) = &item.value
        && text.parse::<Span>().is_err()
    {
        if text != keys::RANDOM_PHASE {
            let word = keys::RANDOM_PHASE;
            return table
                .refused("phase", format!("phase: {text:?} is neither {word:?} nor a time like \"25ms\""));
        }
        return Some(None);
    }
    table.time("phase").map(Some)
}
