//! The clock of a node.

use tidegate_settings::document::Value;
use tidegate_settings::fields::Fields;

use super::keys;
use crate::plan::ClockPlan;

/// Reads a period alone or a table under `clock`; `None` without.
pub(super) fn read(fields: &Fields<'_>) -> Option<ClockPlan> {
    let item = fields.item("clock")?;
    if !matches!(item.value, Value::Table(_)) {
        return Some(ClockPlan { period: fields.time("clock")?, phase: None, flush_on_arrival: false });
    }
    let table = fields.table("clock", &keys::CLOCK)?;
    let (period, flush) = (table.time("period"), table.flag("flush_on_arrival"));
    let phase = match table.item("phase").map(|phase| &phase.value) {
        None => None,
        Some(Value::Text(word)) if word == keys::RANDOM_PHASE => None,
        Some(_) => Some(table.time("phase")?),
    };
    Some(ClockPlan { period: period?, phase, flush_on_arrival: flush.unwrap_or(false) })
}
