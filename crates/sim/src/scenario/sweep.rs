//! `[sweep]`: keys with the values that a sweep tries. A value is checked when it is set.

use std::collections::BTreeSet;

use tidegate_settings::document::{Entry, Item, TomlValue};
use tidegate_settings::read_context::{ReadContext, show};
use tidegate_settings::values::shown;
use tidegate_settings::write::written_value;

use crate::plan::{SweepAxis, SweepValue};

/// Maximum number of keys in one sweep.
const MAX_AXES: usize = 16;
/// Maximum number of values of one key.
const MAX_VALUES: usize = 10_000;
/// Maximum length of one value in TOML, bytes.
const LONGEST: usize = 1_024;

/// Reads the table `sweep` of the scenario `text`.
pub(super) fn read(context: &ReadContext<'_>, sweep: &Item, text: &str) -> Vec<SweepAxis> {
    let TomlValue::Table(table) = &sweep.value else {
        context.refuse(sweep.place, format!("[sweep] is {}; a table is needed", sweep.value.kind()));
        return Vec::new();
    };
    if table.0.len() > MAX_AXES {
        context.refuse(sweep.place, format!("[sweep] has {} keys; at most {MAX_AXES}", table.0.len()));
        return Vec::new();
    }
    let lines = LineIndex::of(text);
    table.0.iter().filter_map(|entry| read_axis(context, entry, &lines)).collect()
}

/// A text with the ends of its lines.
struct LineIndex<'a> {
    text: &'a str,
    ends: Vec<usize>,
}

impl<'a> LineIndex<'a> {
    fn of(text: &'a str) -> Self {
        Self { text, ends: text.match_indices('\n').map(|(at, _)| at).collect() }
    }

    /// Line and column of byte `at`, in characters, both from 1.
    fn place(&self, at: usize) -> (usize, usize) {
        let line = self.ends.partition_point(|end| *end < at);
        let start = line.checked_sub(1).map_or(0, |before| self.ends[before] + 1);
        (line + 1, 1 + self.text.get(start..at).map_or(0, |before| before.chars().count()))
    }
}

fn read_axis(context: &ReadContext<'_>, entry: &Entry, lines: &LineIndex<'_>) -> Option<SweepAxis> {
    let items = match &entry.item.value {
        TomlValue::List(items) if !items.is_empty() && items.len() <= MAX_VALUES => items,
        // A dotted key without quotes is a table to TOML.
        TomlValue::Table(_) => {
            let key = &entry.key;
            return context.refused(
                entry.place,
                format!("write the whole key in quotes, like \"{key}.0.scheme\" = [...]"),
            );
        }
        other => {
            let rule = format!("a list of 1 to {MAX_VALUES} values is needed");
            return context
                .refused(entry.item.place, format!("{}: {}; {rule}", show(&entry.key), shown(other)));
        }
    };
    let mut known = BTreeSet::new();
    let mut values = Vec::with_capacity(items.len());
    for item in items {
        let written = written_value(&item.value);
        if written.len() > LONGEST {
            context.refuse(item.place, format!("this is too long; at most {LONGEST} bytes"));
        } else if !known.insert(written.clone()) {
            context.refuse(item.place, format!("{} is listed twice", show(&written)));
        }
        let (line, column) = lines.place(item.place.start);
        values.push(SweepValue { written, line, column });
    }
    Some(SweepAxis { key: entry.key.clone(), values })
}
