//! Names of earlier versions: replaced by the present ones before a document is read, with a note for each.

use tidegate_core::scheme::Scheme;
use tidegate_core::scheme::params::{given_twice, present_name, present_word, renamed};

use crate::document::{Item, Table, TomlValue};
use crate::error::Place;
use crate::keys::{KeyKind, Keys};
use crate::read_context::ReadContext;

/// Replaces earlier names in `table` and everything below it; `keys` declares the table.
pub fn update(context: &ReadContext<'_>, table: &mut Table, keys: &'static Keys) {
    update_names(context, table, "key", &|name| keys.present_name(name));
    for entry in &mut table.0 {
        if let Some(key) = keys.find(&entry.key) {
            update_item(context, &mut entry.item, &key.kind);
        }
    }
}

/// As [`update`], for a value of this kind.
pub fn update_item(context: &ReadContext<'_>, item: &mut Item, kind: &'static KeyKind) {
    match (kind, &mut item.value) {
        (KeyKind::Table(keys), TomlValue::Table(table)) => update(context, table, keys),
        (KeyKind::List(kind), TomlValue::List(items)) => {
            items.iter_mut().for_each(|item| update_item(context, item, kind))
        }
        (KeyKind::Open(kind), TomlValue::Table(table)) => {
            table.0.iter_mut().for_each(|entry| update_item(context, &mut entry.item, kind));
        }
        // Kinds that do not fit the value change nothing.
        (KeyKind::AnyOf(kinds), _) => kinds.iter().for_each(|kind| update_item(context, item, kind)),
        (KeyKind::Scheme(_), TomlValue::Table(table)) => update_settings(context, table),
        _ => {}
    }
}

/// Replaces earlier names and words in the parameters of a scheme.
fn update_settings(context: &ReadContext<'_>, table: &mut Table) {
    let Some(scheme) = scheme_of(context, table) else { return };
    update_names(context, table, "parameter", &|name| present_name(name, scheme.params));
    for entry in &mut table.0 {
        // Only words of a parameter were renamed, and those are texts.
        let TomlValue::Text(word) = &mut entry.item.value else { continue };
        if let Some(present) = present_word(&entry.key, word, scheme.params) {
            context.note(entry.item.place, renamed(&entry.key, word, present));
            present.clone_into(word);
        }
    }
}

fn update_names(
    context: &ReadContext<'_>,
    table: &mut Table,
    what: &str,
    present: &dyn Fn(&str) -> Option<&'static str>,
) {
    let mut index = 0;
    while let Some(entry) = table.0.get(index) {
        let (earlier, place) = (entry.key.clone(), entry.place);
        match present(&earlier) {
            Some(present) if table.get(present).is_some() => {
                context.refuse(place, given_twice(&earlier, present));
                // One message is enough: it would be unknown when the table is read.
                table.0.remove(index);
                continue;
            }
            Some(present) => rename(context, table, index, what, present),
            None => {}
        }
        index += 1;
    }
}

fn rename(context: &ReadContext<'_>, table: &mut Table, index: usize, what: &str, present: &'static str) {
    if let Some(entry) = table.0.get_mut(index) {
        context.note(entry.place, renamed(what, &entry.key, present));
        present.clone_into(&mut entry.key);
    }
}

/// Present name of `name` in a table that is declared by `keys`, or has the parameters of a scheme if there are none;
/// `name` itself if it is not of an earlier version.
pub fn resolve<'n>(
    context: &ReadContext<'_>,
    table: &Table,
    keys: Option<&Keys>,
    name: &'n str,
    place: Place,
) -> &'n str {
    let found = match keys {
        Some(keys) => keys.present_name(name).map(|present| ("key", present)),
        None => {
            let scheme = scheme_of(context, table);
            scheme.and_then(|scheme| present_name(name, scheme.params)).map(|present| ("parameter", present))
        }
    };
    found.map_or(name, |(what, present)| {
        context.note(place, renamed(what, name, present));
        present
    })
}

/// The scheme that a table with parameters names.
fn scheme_of(context: &ReadContext<'_>, table: &Table) -> Option<&'static Scheme> {
    let named = table.get("name").or_else(|| table.get("scheme"))?;
    let TomlValue::Text(name) = &named.item.value else { return None };
    context.schemes.iter().copied().find(|scheme| scheme.name == name)
}
