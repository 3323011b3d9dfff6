//! Servers: service times of routers for every packet and of producers for every Interest.

use tidegate_settings::document::TomlValue;
use tidegate_settings::fields::Fields;

use super::keys;
use crate::plan::{ServicePlan, ServiceTime};

/// Reads a single time or a table under `key`; `None` without.
pub(super) fn read(fields: &Fields<'_>, key: &str) -> Option<ServicePlan> {
    let item = fields.item(key)?;
    if !matches!(item.value, TomlValue::Table(_)) {
        return Some(ServicePlan { time: ServiceTime::Constant(fields.time(key)?), queue: None });
    }
    let table = fields.table(key, &keys::SERVICE)?;
    let (time, queue) = (table.time("time"), table.packets("queue"));
    let make: fn(_) -> _ = table.word(
        "distribution",
        &[
            (ServiceTime::Constant as fn(_) -> _, "constant"),
            (ServiceTime::Exponential as fn(_) -> _, "exponential"),
        ],
    )?;
    Some(ServicePlan { time: make(time?), queue })
}
