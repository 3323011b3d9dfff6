//! Canonical text of everything in a scenario that can change a run; stored runs are found by its hash.
//!
//! One line per value: its path, then the value. Keys are in alphabetical order, quantities in
//! their largest whole unit, numbers with the fewest digits, a scheme always as a table with its `name`; comments
//! and white space are removed. Omitted are values that no run depends on: the scenario's name, the seeds that are run,
//! positions in a drawing, `[expect]` and `[sweep]`. A default that is written out stays, because it may override
//! a value of a wider table; two spellings of one network may therefore differ here, but never the reverse.

use tidegate_core::units::{BitRate, ByteCount, Frequency, Packets, Span};
use tidegate_settings::document::{Item, Number, Table, TomlValue};
use tidegate_settings::keys::{KeyKind, Keys};
use tidegate_settings::write::{quoted, written_key};

use super::keys;
use super::known::{Known, element_kind};

/// Keys of the outermost table that no run depends on.
const NOT_OF_RUNS: [&str; 2] = ["expect", "sweep"];

/// The lines of `document`, which was read without problems.
pub(super) fn text(document: &Table) -> String {
    let mut lines = CanonicalLines::default();
    lines.table(document, Known::Keys(&keys::ROOT));
    lines.text
}

impl Known {
    /// Whether no run depends on `key` of this table.
    fn leaves_out(self, key: &str) -> bool {
        let Self::Keys(keys) = self else { return false };
        let is = |other: &'static Keys| std::ptr::eq(keys, other);
        (is(&keys::ROOT) && NOT_OF_RUNS.contains(&key))
            // `scheme` has been written into the roles of the document, so its effect is in the text.
            || (is(&keys::SCENARIO) && ["name", "seeds", "first_seed", "scheme"].contains(&key))
            || ((is(&keys::NODE) || is(&keys::NODE_CHANGES)) && key == "position")
    }
}

#[derive(Default)]
struct CanonicalLines {
    text: String,
    path: Vec<String>,
}

impl CanonicalLines {
    fn line(&mut self, value: &str) {
        self.text.push_str(&format!("{} = {value}\n", self.path.join(".")));
    }

    fn inside(&mut self, step: String, write: impl FnOnce(&mut Self)) {
        self.path.push(step);
        write(self);
        self.path.pop();
    }

    fn table(&mut self, table: &Table, known: Known) {
        let mut entries: Vec<_> = table.0.iter().filter(|entry| !known.leaves_out(&entry.key)).collect();
        entries.sort_by(|left, right| left.key.cmp(&right.key));
        for entry in entries {
            let kind = known.kind_of(&entry.key).flatten();
            self.inside(written_key(&entry.key), |lines| lines.item(&entry.item, kind));
        }
    }

    fn item(&mut self, item: &Item, kind: Option<&'static KeyKind>) {
        match &item.value {
            TomlValue::Table(table) => self.inner_table(table, kind),
            TomlValue::List(items) if items.is_empty() => self.line("[]"),
            TomlValue::List(items) => {
                let element = kind.and_then(element_kind);
                for (index, item) in items.iter().enumerate() {
                    self.inside(index.to_string(), |lines| lines.item(item, element));
                }
            }
            TomlValue::Text(text) => match kind.and_then(Known::of_kind).and_then(Known::short_form) {
                Some(key) => self.inside(key.to_owned(), |lines| lines.line(&quoted(text))),
                None => self.line(&written_text(text, kind)),
            },
            TomlValue::Number(number) => self.line(&written_number(number)),
            TomlValue::Bool(truth) => self.line(&truth.to_string()),
            TomlValue::Date(date) => self.line(date),
        }
    }

    fn inner_table(&mut self, table: &Table, kind: Option<&'static KeyKind>) {
        if table.0.is_empty() {
            return self.line("{}");
        }
        match kind.and_then(Known::of_kind) {
            Some(Known::Settings) => self.scheme(table),
            known => self.table(table, known.unwrap_or(Known::Settings)),
        }
    }

    /// A scheme's table; `scheme` and `name` both name it.
    fn scheme(&mut self, table: &Table) {
        let mut named = table.clone();
        named.get_mut("scheme").into_iter().for_each(|entry| "name".clone_into(&mut entry.key));
        self.table(&named, Known::Settings);
    }
}

/// A text; a quantity in its largest whole unit if the key takes quantities.
fn written_text(text: &str, kind: Option<&'static KeyKind>) -> String {
    let quantity = match kind {
        Some(kind) => quantity(text, kind),
        // Parameters of schemes are typed by their units.
        None => [&KeyKind::Time, &KeyKind::Rate, &KeyKind::Limit]
            .into_iter()
            .find_map(|kind| self::quantity(text, kind)),
    };
    quoted(quantity.as_deref().unwrap_or(text))
}

/// The quantity in `text` in its largest whole unit; `None` if this kind of key takes none.
fn quantity(text: &str, kind: &KeyKind) -> Option<String> {
    fn spelled<T: std::str::FromStr + std::fmt::Display>(text: &str) -> Option<String> {
        text.parse::<T>().ok().map(|value| value.to_string())
    }
    match kind {
        KeyKind::Time | KeyKind::LongTime => spelled::<Span>(text),
        KeyKind::Rate => spelled::<BitRate>(text),
        KeyKind::Size(_) => spelled::<ByteCount>(text),
        KeyKind::Frequency => spelled::<Frequency>(text),
        KeyKind::Packets => spelled::<Packets>(text),
        KeyKind::Limit => spelled::<Packets>(text).or_else(|| spelled::<ByteCount>(text)),
        KeyKind::AnyOf(kinds) => kinds.iter().find_map(|kind| quantity(text, kind)),
        _ => None,
    }
}

fn written_number(number: &Number) -> String {
    match number.whole {
        Some(whole) => whole.to_string(),
        None => number.value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    const SMALL: &str = r#"
        format = 1
        [scenario]
        name = "a"
        duration = "10s"
        [topology]
        builtin = "dumbbell"
        pairs = 1
        access = { rate = "100Mbps", delay = "5ms" }
        bottleneck = { rate = "10Mbps", delay = "10ms", queue = { limit = "100pkt" } }
        [[flow]]
        consumer = "c1"
        producer = "p1"
        prefix = "/a"
        scheme = "fixed"
        size = "20MB"
    "#;

    fn canonical(text: &str) -> String {
        let schemes = tidegate_schemes::SCHEMES;
        parse("x.toml", text, &[], schemes).unwrap_or_else(|errors| panic!("{errors}")).canonical
    }

    #[track_caller]
    fn assert_same(from: &str, to: &str) {
        assert!(SMALL.contains(from));
        assert_eq!(canonical(&SMALL.replace(from, to)), canonical(SMALL));
    }

    #[test]
    fn each_value_is_a_line_with_its_place() {
        let text = canonical(SMALL);
        for line in [
            "flow.0.scheme.name = \"fixed\"\n",
            "topology.bottleneck.queue.limit = \"100pkt\"\n",
            "topology.access.delay = \"5ms\"\n",
            "format = 1\n",
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
    }

    #[test]
    fn spelling_does_not_matter() {
        assert_same("\"10s\"", "\"10000ms\"   # long enough");
        assert_same("rate = \"100Mbps\", delay = \"5ms\"", "delay = \"5000us\", rate = \"0.1Gbps\"");
        assert_same("scheme = \"fixed\"", "scheme = { scheme = \"fixed\" }");
        assert_same("size = \"20MB\"", "size = \"20000kB\"");
        assert_same("pairs = 1", "pairs = 0x1");
    }

    #[test]
    fn what_no_run_depends_on_does_not_matter() {
        assert_same("name = \"a\"", "name = \"b\"\nseeds = 7\nfirst_seed = 3");
        assert_same(
            "format = 1",
            "format = 1\n[expect]\njain = \">= 0.5\"\n[sweep]\n\"topology.pairs\" = [1, 2]",
        );
        assert_same("format = 1", "format = 1\n[node.r1]\nposition = [0.5, 0.5]");
    }

    #[test]
    fn what_a_run_depends_on_does_matter() {
        for (from, to) in [
            ("\"10s\"", "\"11s\""),
            ("pairs = 1", "pairs = 2"),
            ("\"fixed\"", "{ name = \"fixed\", window = 7 }"),
            ("size = \"20MB\"", "size = \"20MiB\""),
            ("duration", "sample = false\nduration"),
        ] {
            assert_ne!(canonical(&SMALL.replace(from, to)), canonical(SMALL), "{to}");
        }
    }
}
