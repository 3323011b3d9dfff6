//! The values of a queue in a text, limit and disciplines, with defaults from other tables.

use crate::key_rows;
use tidegate_core::ndn::face::Limit;
use tidegate_core::units::Packets;

use crate::fields::Fields;
use crate::keys::KeyKind::List;
use crate::keys::KeyNeed::{Else, May};
use crate::keys::{DISCIPLINE, KeyKind, Keys};
use crate::uses::{self, SchemeUse};

/// Default limit of a queue.
const LIMIT: Limit = Limit::Packets(Packets::new(100));

/// The keys of a queue's table.
pub static QUEUE: Keys = key_rows! { "queue" =>
    limit: KeyKind::Limit, Else("100pkt"),
        "Maximum length of the queue, without the packet being transmitted.";
    disciplines: List(&KeyKind::Scheme(&DISCIPLINE)), May,
        "Queue disciplines, applied in this order; drop-tail by default.";
};

/// The queue of one direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct QueuePlan {
    /// Limit of each class.
    pub limit: Limit,
    /// Disciplines, consulted in this order; none is drop-tail.
    pub disciplines: Vec<SchemeUse>,
}

/// Values of a queue, as far as they are given.
#[derive(Clone, Debug, Default)]
pub struct QueueValues {
    /// Limit of each class.
    pub limit: Option<Limit>,
    /// Disciplines, consulted in this order.
    pub disciplines: Option<Vec<SchemeUse>>,
}

impl QueueValues {
    /// Reads the table under `key`, which may be missing; its keys are [`QUEUE`] or others of the same names.
    pub fn read(fields: &Fields<'_>, key: &str, keys: &'static Keys) -> Self {
        let queue = fields.table(key, keys);
        let queue = queue.as_ref();
        Self {
            // Only if written: the declared default would hide the limit of an outer table.
            limit: queue.filter(|queue| queue.item("limit").is_some()).and_then(|queue| queue.limit("limit")),
            disciplines: queue
                .filter(|queue| queue.item("disciplines").is_some())
                .map(|queue| read_disciplines(queue)),
        }
    }

    /// These values, replaced by those that `over` has.
    pub fn with(&self, over: &Self) -> Self {
        Self {
            limit: over.limit.or(self.limit),
            disciplines: over.disciplines.clone().or_else(|| self.disciplines.clone()),
        }
    }

    /// Estimate of the memory of these values, bytes.
    pub fn bytes(&self) -> u64 {
        self.disciplines.as_deref().map_or(0, uses::bytes)
    }

    /// The queue, with 100 packets and drop-tail as defaults.
    pub fn plan(&self) -> QueuePlan {
        QueuePlan {
            limit: self.limit.unwrap_or(LIMIT),
            disciplines: self.disciplines.clone().unwrap_or_default(),
        }
    }
}

/// Reads the disciplines; at most one of them may have lanes.
fn read_disciplines(queue: &Fields<'_>) -> Vec<SchemeUse> {
    let disciplines = uses::read_list(queue, "disciplines", &DISCIPLINE);
    let mut with_lanes =
        disciplines.iter().filter(|used| used.scheme.has_lanes(&used.settings)).map(|used| used.scheme.name);
    if let (Some(first), Some(second)) = (with_lanes.next(), with_lanes.next()) {
        let why = format!(
            "disciplines: {first} and {second} each have internal queues; a queue can have only one such discipline"
        );
        queue.refuse("disciplines", why);
    }
    disciplines
}
