//! `--set key=value`: changes to the document before it is checked.

use tidegate_core::scheme::params::given_twice;
use tidegate_settings::document::{self, Entry, Item, Table, TomlValue};
use tidegate_settings::error::Place;
use tidegate_settings::keys::{KeyKind, SCHEME};
use tidegate_settings::read_context::{ReadContext, show};
use tidegate_settings::{renames, write};

use super::known::{Known, element_kind};
use super::{keys, whole};

/// Maximum length of one override, bytes.
const LONGEST: usize = 1 << 16;
/// Maximum number of bytes that one override may put into the document; `*` repeats it.
const ROOM: usize = 64 << 20;
/// Maximum number of steps of one path.
const DEEPEST: usize = 16;
/// Kind of the value of the override `scheme`.
static WHOLE: KeyKind = KeyKind::Scheme(&SCHEME);

/// Applies every override in order; reports paths that lead nowhere. The override `scheme` (`scheme.flow.0`
/// and the like for one table) installs a whole scheme; returns what each of them replaced.
pub(super) fn apply(
    context: &ReadContext<'_>,
    root: &mut Table,
    text: &str,
    overrides: &[(String, String)],
    sources: &[String],
) -> Vec<String> {
    let mut replaced = Vec::new();
    let mut layers = Vec::new();
    for (index, ((path, value), source)) in overrides.iter().zip(sources).enumerate() {
        let origin = index + 1;
        let everything = Place { origin, start: 0, end: path.len() };
        let steps = split(path, origin);
        if source.len() > LONGEST || steps.len() > DEEPEST {
            context
                .refuse(everything, format!("this is too long; at most {LONGEST} bytes and {DEEPEST} steps"));
            continue;
        }
        if value.is_empty() {
            Removal { context, path: &steps }.apply(root);
            continue;
        }
        let mut item = match document::read_value(value, origin, path.len() + 1) {
            Ok(item) => item,
            Err((place, message)) => {
                context.refuse(place, message);
                continue;
            }
        };
        if let [Step { name: "scheme", .. }, rest @ ..] = steps.as_slice() {
            renames::update_item(context, &mut item, &WHOLE);
            match scope(rest) {
                Ok(scope) => {
                    let replacement = whole::Replacement { item: &item, scope };
                    replaced.extend(whole::replace(context, root, &replacement, text, &mut layers));
                }
                Err(()) => context.refuse(everything, "write scheme alone, or scheme.flow.0 or scheme.tcp.0"),
            }
            continue;
        }
        // A longer value fits fewer places, which bounds the memory of `*`.
        let mut walk = Walk { context, item: &item, room: ROOM / source.len().max(1), overrides };
        walk.set_in_table(root, &steps, Known::Keys(&keys::ROOT));
        // The value may be a table with names of earlier versions.
        renames::update(context, root, &keys::ROOT);
    }
    replaced
}

/// The table of flows behind `scheme`; `None` for all of them.
fn scope(steps: &[Step<'_>]) -> Result<Option<(&'static str, usize)>, ()> {
    let [kind, number] = steps else { return if steps.is_empty() { Ok(None) } else { Err(()) } };
    let kind = ["flow", "tcp"].into_iter().find(|known| *known == kind.name).ok_or(())?;
    number.name.parse().map(|number| Some((kind, number))).map_err(|_| ())
}

/// Inserts `item` at `path`, replacing any value there; problems are recorded at its place.
pub(super) fn put(context: &ReadContext<'_>, root: &mut Table, path: &str, item: &Item) {
    let steps: Vec<Step<'_>> = path.split('.').map(|name| Step { name, place: item.place }).collect();
    Walk { context, item, room: 1, overrides: &[] }.set_in_table(root, &steps, Known::Keys(&keys::ROOT));
}

/// One element of a path, with its place.
#[derive(Clone, Copy)]
struct Step<'a> {
    name: &'a str,
    place: Place,
}

fn split(path: &str, origin: usize) -> Vec<Step<'_>> {
    let mut start = 0;
    let mut steps = Vec::new();
    for name in path.split('.') {
        let end = start + name.len();
        steps.push(Step { name, place: Place { origin, start, end } });
        start = end + 1;
    }
    steps
}

/// The document as text, with the overrides as a comment.
pub(super) fn render(root: &Table, overrides: &[String]) -> String {
    let mut text = String::from("# Comments of the original are left out; these overrides were applied:\n");
    for source in overrides {
        text.push_str(&format!("# --set {}\n", source.replace(char::is_control, " ")));
    }
    text.push_str(&write::write(root));
    text
}

impl Known {
    /// The present name of `step` in `table`; none in tables whose keys are names of the scenario.
    fn resolve<'n>(self, context: &ReadContext<'_>, table: &Table, step: Step<'n>) -> &'n str {
        let keys = match self {
            Self::Keys(keys) => Some(keys),
            Self::Settings => None,
            Self::Any(_) => return step.name,
        };
        renames::resolve(context, table, keys, step.name, step.place)
    }
}

/// An override without a value, which removes what is at its path.
struct Removal<'a> {
    context: &'a ReadContext<'a>,
    path: &'a [Step<'a>],
}

impl Removal<'_> {
    fn apply(&self, root: &mut Table) {
        let Some((first, rest)) = self.path.split_first() else { return };
        let name = Known::Keys(&keys::ROOT).resolve(self.context, root, *first);
        if keys::ROOT.find(name).is_none() {
            self.context.refuse_word(first.place, "key", name, keys::ROOT.iter().map(|key| key.name));
        }
        self.in_table(root, Some(Known::Keys(&keys::ROOT)), *first, rest);
    }

    /// Removes the value at the path; a value that does not exist is no error.
    fn in_table(&self, table: &mut Table, known: Option<Known>, step: Step<'_>, rest: &[Step<'_>]) {
        let name = known.map_or(step.name, |known| known.resolve(self.context, table, step));
        match rest.split_first() {
            None => table.remove(name),
            Some((next, rest)) => {
                let kind = known.and_then(|known| known.kind_of(name).flatten());
                if let Some(entry) = table.get_mut(name) {
                    self.in_item(&mut entry.item, kind, *next, rest);
                }
            }
        }
    }

    fn in_item(&self, item: &mut Item, kind: Option<&'static KeyKind>, step: Step<'_>, rest: &[Step<'_>]) {
        match (&mut item.value, rest.split_first()) {
            (TomlValue::Table(table), _) => self.in_table(table, kind.and_then(Known::of_kind), step, rest),
            (TomlValue::List(items), None) => {
                let place = step.name.parse::<usize>().ok();
                let mut number = 0;
                items.retain(|_| {
                    number += 1;
                    step.name != "*" && place != Some(number - 1)
                });
            }
            (TomlValue::List(items), Some((next, rest))) => {
                let place = step.name.parse::<usize>().ok();
                for (number, item) in items.iter_mut().enumerate() {
                    if step.name == "*" || place == Some(number) {
                        self.in_item(item, kind.and_then(element_kind), *next, rest);
                    }
                }
            }
            _ => {}
        }
    }
}

/// One override on its way through the document.
struct Walk<'a> {
    context: &'a ReadContext<'a>,
    item: &'a Item,
    /// Remaining number of insertions.
    room: usize,
    /// All overrides, as given.
    overrides: &'a [(String, String)],
}

impl Walk<'_> {
    fn set_in_table(&mut self, table: &mut Table, steps: &[Step<'_>], known: Known) {
        let Some((step, rest)) = steps.split_first() else { return };
        let name = known.resolve(self.context, table, *step);
        let Some(kind) = known.kind_of(name) else {
            if let Known::Keys(keys) = known {
                self.context.refuse_word(step.place, "key", name, keys.iter().map(|key| key.name));
            }
            return;
        };
        if rest.is_empty() {
            self.refuse_both_names(table, name, *step, known);
        }
        if let Some(entry) = table.get_mut(name) {
            self.set_in_item(&mut entry.item, rest, kind);
            return;
        }
        let mut item = Item { place: step.place, value: TomlValue::Table(Table::default()) };
        if !rest.is_empty() && kind.and_then(Known::of_kind).is_none() {
            self.context.refuse(step.place, format!("{} does not exist and is not a table", show(name)));
            return;
        }
        self.set_in_item(&mut item, rest, kind);
        table.0.push(Entry { key: name.to_owned(), place: step.place, item });
    }

    /// Refuses two overrides of one key under its earlier and its present name, as both names in a file are.
    fn refuse_both_names(&self, table: &Table, name: &str, step: Step<'_>, known: Known) {
        let origin = table.get(name).map_or(0, |entry| entry.item.place.origin);
        let Some((path, _)) = origin.checked_sub(1).and_then(|index| self.overrides.get(index)) else {
            return;
        };
        let other = path.rsplit('.').next().unwrap_or("");
        let is_same = other != step.name
            && origin != step.place.origin
            && known.resolve(self.context, table, Step { name: other, ..step }) == name;
        if is_same {
            let earlier = if step.name == name { other } else { step.name };
            self.context.refuse(step.place, given_twice(earlier, name));
        }
    }

    fn set_in_item(&mut self, item: &mut Item, steps: &[Step<'_>], kind: Option<&'static KeyKind>) {
        let Some((step, rest)) = steps.split_first() else {
            self.put(item);
            return;
        };
        let known = kind.and_then(Known::of_kind);
        // A scheme or model written as a bare name becomes a table, so that the path can lead into it.
        if let (TomlValue::Text(text), Some(key)) = (&item.value, known.and_then(Known::short_form)) {
            let inner = Item { place: item.place, value: TomlValue::Text(text.clone()) };
            let entry = Entry { key: key.to_owned(), place: item.place, item: inner };
            item.value = TomlValue::Table(Table(vec![entry]));
        }
        match (&mut item.value, known) {
            (TomlValue::Table(table), Some(known)) => self.set_in_table(table, steps, known),
            (TomlValue::List(items), _) => self.set_in_list(items, *step, rest, kind.and_then(element_kind)),
            (other, _) => {
                let message =
                    format!("{} leads into {}, which has no elements", show(step.name), other.kind());
                self.context.refuse(step.place, message);
            }
        }
    }

    fn set_in_list(
        &mut self,
        items: &mut [Item],
        step: Step<'_>,
        rest: &[Step<'_>],
        kind: Option<&'static KeyKind>,
    ) {
        if step.name == "*" {
            items.iter_mut().for_each(|item| self.set_in_item(item, rest, kind));
            return;
        }
        let count = items.len();
        match step.name.parse::<usize>().ok().and_then(|index| items.get_mut(index)) {
            Some(item) => self.set_in_item(item, rest, kind),
            None => {
                let message =
                    format!("there is no element {}; the list has {count}, counted from 0", show(step.name));
                self.context.refuse(step.place, message);
            }
        }
    }

    fn put(&mut self, item: &mut Item) {
        if self.room == 0 {
            self.context.refuse(self.item.place, "this value is inserted in too many places");
            return;
        }
        self.room -= 1;
        *item = self.item.clone();
    }
}
