//! Roles that whole schemes have filled so far; another whole scheme removes them again.

use tidegate_core::scheme::whole::Role;
use tidegate_settings::document::{Item, Table, TomlValue};

use super::{Required, lookup, name_of};

/// One place that a whole scheme fills.
#[derive(Clone, Debug)]
pub(super) struct Filling {
    /// Its path in the document.
    pub(super) path: String,
    /// Role of the entry; `None` for the rule of next hops.
    pub(super) role: Option<Role>,
    /// Value that was written.
    pub(super) item: Item,
}

impl Filling {
    /// Whether the value that it wrote is still there; of a list, any part of it.
    pub(super) fn is_in(&self, root: &Table) -> bool {
        let Some(found) = lookup(root, &self.path) else { return false };
        names(&self.item).iter().any(|name| names(found).contains(name))
    }

    /// Removes the value that it wrote, with settings that were changed since, and tables that become empty;
    /// returns what was removed.
    pub(super) fn take_out(&self, root: &mut Table) -> Vec<Item> {
        let own = names(&self.item);
        let is_own = |item: &Item| name_of(item).is_some_and(|name| own.contains(&name));
        let found = lookup(root, &self.path).cloned();
        let taken: Vec<Item> = match found.map(|item| (item.place, item.value)) {
            Some((_, TomlValue::List(items))) => items.into_iter().filter(is_own).collect(),
            Some((place, value)) => Some(Item { place, value }).filter(is_own).into_iter().collect(),
            None => Vec::new(),
        };
        if !taken.is_empty() {
            remove(root, &self.path, &own);
        }
        taken
    }
}

/// A whole scheme that was installed, with the places that it filled.
#[derive(Clone, Debug)]
pub(in super::super) struct Layer {
    pub(super) name: &'static str,
    has_ends: bool,
    pub(super) fillings: Vec<Filling>,
}

impl Layer {
    pub(super) fn new(whole: &Required, fillings: Vec<Filling>) -> Self {
        Self { name: whole.used.scheme.name, has_ends: whole.has_ends(), fillings }
    }

    /// Whether it is removed for `whole` on the flows of `tables`: no other flow uses it any more. A scheme
    /// without ends leaves one with flows in place, and one on some flows only leaves what holds for all.
    pub(super) fn makes_way(
        &self,
        root: &Table,
        whole: &Required,
        tables: &[(&'static str, usize)],
        is_scoped: bool,
    ) -> bool {
        if !self.has_ends {
            return !is_scoped;
        }
        let is_ruled = |path: &str| tables.iter().any(|(key, number)| path == end_path(key, *number));
        let is_end = |filling: &&Filling| matches!(filling.role, Some(Role::Consumer | Role::Sender));
        let mut ends = self.fillings.iter().filter(is_end);
        whole.has_ends() && ends.all(|filling| is_ruled(&filling.path) || !filling.is_in(root))
    }
}

/// Path of the scheme at an end of a flow.
pub(super) fn end_path(key: &str, number: usize) -> String {
    format!("{key}.{number}.scheme")
}

/// Names of the schemes that `item` names.
fn names(item: &Item) -> Vec<&str> {
    match &item.value {
        TomlValue::List(items) => items.iter().filter_map(name_of).collect(),
        _ => name_of(item).into_iter().collect(),
    }
}

/// Removes the schemes called `names` at `path`.
fn remove(table: &mut Table, path: &str, names: &[&str]) {
    let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
    let Some(entry) = table.get_mut(key) else { return };
    let is_empty = match (&mut entry.item.value, rest) {
        (TomlValue::Table(inner), Some(rest)) => {
            remove(inner, rest, names);
            inner.0.is_empty()
        }
        (TomlValue::List(items), None) => {
            items.retain(|item| !name_of(item).is_some_and(|name| names.contains(&name)));
            items.is_empty()
        }
        (_, rest) => rest.is_none(),
    };
    if is_empty {
        table.remove(key);
    }
}
