//! A whole scheme in place of whatever the scenario writes: its roles are replaced, other schemes' parts removed.

use tidegate_core::scheme::whole::Role;
use tidegate_settings::document::{Entry, Item, Table, TomlValue};
use tidegate_settings::read_context::ReadContext;
use tidegate_settings::write::written_value;

use super::{Filling, Layer, PARTS, Required, end_path, fill, lookup, name_of, of_scenario, tables_of};
use crate::scenario::overrides;

/// An override that replaces whole schemes.
pub(in super::super) struct Replacement<'a> {
    /// The scheme that is installed.
    pub item: &'a Item,
    /// The one table of flows on which it is installed; `None` for all of them.
    pub scope: Option<(&'static str, usize)>,
}

/// Installs a whole scheme. Returns a line about what it replaced and removed, if anything. `layers` are the whole
/// schemes of earlier overrides: the roles that they or the scenario's scheme filled are removed first.
pub(in super::super) fn replace(
    context: &ReadContext<'_>,
    root: &mut Table,
    replacement: &Replacement<'_>,
    text: &str,
    layers: &mut Vec<Layer>,
) -> Option<String> {
    let Replacement { item, scope } = *replacement;
    if let Some(old) = of_scenario(context, root) {
        layers.extend(fill(context, root, &old, text));
    }
    if let Some(scenario) = root.table_mut("scenario") {
        // Its roles are in the document by now; kept, it would fill the roles of the new scheme's flows
        // again.
        scenario.remove("scheme");
    }
    let whole = Required::read(context, item)?;
    if !whole.fits(context, root, scope) {
        return None;
    }
    let tables = whole.tables(root, scope);
    let (going, staying): (Vec<Layer>, Vec<Layer>) =
        layers.drain(..).partition(|layer| layer.makes_way(root, &whole, &tables, scope.is_some()));
    let mut kept = kept(root, &tables);
    kept.extend(staying.iter().map(|layer| layer.name.to_owned()));
    *layers = staying;
    let mut strip = Strip { context, whole: &whole, kept, replaced: Vec::new(), removed: Vec::new() };
    strip.flows(root, &tables);
    strip.layers(root, &going);
    strip.routers(root);
    strip.links(root);
    strip.controller(root);
    let line = strip.line();
    let fillings = whole.fillings(&tables);
    fillings.iter().for_each(|filling| install(context, root, filling));
    layers.push(Layer::new(&whole, fillings));
    line
}

/// Writes what a whole scheme fills; a router part is added to those that remain.
fn install(context: &ReadContext<'_>, root: &mut Table, filling: &Filling) {
    let others = match lookup(root, &filling.path).map(|item| &item.value) {
        Some(TomlValue::List(others)) if filling.path == PARTS => others.clone(),
        _ => Vec::new(),
    };
    let item = match &filling.item.value {
        TomlValue::List(own) => {
            let value = TomlValue::List(others.into_iter().chain(own.iter().cloned()).collect());
            &Item { place: filling.item.place, value }
        }
        _ => &filling.item,
    };
    overrides::put(context, root, &filling.path, item);
}

/// Names of the schemes at the ends of flows that stay.
fn kept(root: &Table, tables: &[(&'static str, usize)]) -> Vec<String> {
    let mut kept = Vec::new();
    for key in ["flow", "tcp"] {
        for (number, table) in tables_of(lookup(root, key)).enumerate() {
            let name = table.get("scheme").and_then(|entry| name_of(&entry.item));
            kept.extend(name.filter(|_| !tables.contains(&(key, number))).map(str::to_owned));
        }
    }
    kept
}

/// Takes out of a document what a whole scheme replaces, and notes it.
struct Strip<'a> {
    context: &'a ReadContext<'a>,
    whole: &'a Required,
    /// Schemes of flows that stay in place, with their router roles.
    kept: Vec<String>,
    replaced: Vec<String>,
    removed: Vec<String>,
}

impl Strip<'_> {
    /// Whether the parts of the scheme called `name` are removed: they belong to the same scheme, or to flows
    /// that no longer exist.
    fn goes(&self, name: &str) -> bool {
        name == self.whole.used.scheme.name
            || self.whole.has_ends() && !self.kept.iter().any(|kept| kept == name)
    }

    /// Records that `item` in `role` is removed.
    fn note(&mut self, role: Role, item: &Item) {
        let word = match role {
            Role::Router => "router part",
            Role::Sender => "TCP sender",
            role => role.word(),
        };
        let installed = self.whole.installed(role);
        if installed.is_some_and(|installed| shown(installed) == shown(item)) {
            return;
        }
        let shown = format!("{word} {}", shown(item));
        // A strategy that parts bring takes the place of the scenario's.
        let is_replaced = installed.is_some() || role == Role::Strategy;
        let list = if is_replaced { &mut self.replaced } else { &mut self.removed };
        if !list.contains(&shown) {
            list.push(shown);
        }
    }

    /// `mircc replaces consumer icp and removes router part plr`.
    fn line(&self) -> Option<String> {
        let part =
            |verb: &str, list: &[String]| (!list.is_empty()).then(|| format!("{verb} {}", list.join(", ")));
        let parts: Vec<String> = [part("replaces", &self.replaced), part("removes", &self.removed)]
            .into_iter()
            .flatten()
            .collect();
        let name = shown(&self.whole.item);
        (!parts.is_empty()).then(|| format!("{name} {}", parts.join(" and ")))
    }

    fn flows(&mut self, root: &Table, tables: &[(&'static str, usize)]) {
        for (key, number) in tables {
            let role = if *key == "flow" { Role::Consumer } else { Role::Sender };
            if let Some(item) = lookup(root, &end_path(key, *number)) {
                self.note(role, item);
            }
        }
    }

    /// Parts and strategies of `[router]`, of nodes and of prefixes.
    fn routers(&mut self, root: &mut Table) {
        if let Some(router) = root.table_mut("router") {
            self.parts(router, false);
            self.strategy(router);
            for_each_table(router.get_mut("prefix").map(|entry| &mut entry.item), &mut |prefix| {
                self.strategy(prefix);
            });
            drop_idle_prefixes(router);
        }
        for_each_table(root.get_mut("node").map(|entry| &mut entry.item), &mut |node| {
            self.parts(node, true);
            self.strategy(node);
        });
    }

    /// A list of parts; the new part is added to the parts that remain in a node's own list.
    fn parts(&mut self, table: &mut Table, is_node: bool) {
        let Some(items) = table.list_mut("router_parts") else {
            return;
        };
        let (going, mut staying): (Vec<Item>, Vec<Item>) =
            items.drain(..).partition(|item| name_of(item).is_some_and(|name| self.goes(name)));
        going.iter().for_each(|item| self.note(Role::Router, item));
        if is_node && !staying.is_empty() {
            staying.extend(self.whole.installed(Role::Router).cloned());
        }
        let is_bare =
            staying.is_empty() && (!going.is_empty() || self.whole.installed(Role::Router).is_some());
        *items = staying;
        if is_bare {
            table.remove("router_parts");
        }
    }

    /// A strategy, if the scheme brings one.
    fn strategy(&mut self, table: &mut Table) {
        let brings = self.whole.installed(Role::Strategy).is_some() || self.whole.used.brings_strategy();
        if let Some(item) = table.get("strategy").map(|entry| entry.item.clone()).filter(|_| brings) {
            self.note(Role::Strategy, &item);
            table.remove("strategy");
        }
    }

    /// Roles that earlier whole schemes filled and that are unchanged.
    fn layers(&mut self, root: &mut Table, layers: &[Layer]) {
        for filling in layers.iter().flat_map(|layer| &layer.fillings) {
            // The ends of flows are noted already and overwritten; a controller goes with its events.
            if matches!(filling.role, Some(Role::Consumer | Role::Sender | Role::Controller)) {
                continue;
            }
            let taken = filling.take_out(root);
            match filling.role {
                Some(role) => taken.iter().for_each(|item| self.note(role, item)),
                None if taken.is_empty() || self.whole.used.scheme.whole.all_next_hops => {}
                None => self.removed.push("next hops all".to_owned()),
            }
        }
    }

    /// Disciplines and link services of all links.
    fn links(&mut self, root: &mut Table) {
        let mut each = |link: &mut Table| {
            self.link_service(link);
            self.queue(link);
            for direction in ["forward", "backward"] {
                if let Some(direction) = link.table_mut(direction) {
                    self.queue(direction);
                }
            }
        };
        if let Some(topology) = root.table_mut("topology") {
            for key in ["link", "access", "bottleneck"] {
                if let Some(link) = topology.table_mut(key) {
                    each(link);
                }
            }
        }
        for_each_table(root.get_mut("link").map(|entry| &mut entry.item), &mut each);
    }

    fn link_service(&mut self, link: &mut Table) {
        if self.whole.installed(Role::LinkService).is_none() {
            return;
        }
        if let Some(item) = link.get("link_service").map(|entry| entry.item.clone()) {
            self.note(Role::LinkService, &item);
            link.remove("link_service");
        }
    }

    /// All disciplines of a queue if the scheme has one; else those that belong to schemes with parts on routers.
    fn queue(&mut self, link: &mut Table) {
        let Some(queue) = link.table_mut("queue") else {
            return;
        };
        let Some(items) = queue.list_mut("disciplines") else {
            return;
        };
        let is_filled = self.whole.installed(Role::Discipline).is_some();
        let goes = |item: &Item| {
            let is_part = |name: &str| {
                self.context.schemes.iter().any(|scheme| scheme.name == name && scheme.router.is_some())
            };
            is_filled || name_of(item).is_some_and(|name| is_part(name) && self.goes(name))
        };
        let (going, staying): (Vec<Item>, Vec<Item>) = items.drain(..).partition(goes);
        going.iter().for_each(|item| self.note(Role::Discipline, item));
        *items = staying;
        if is_filled {
            queue.remove("disciplines");
        }
    }

    /// Removes the controller of other schemes with the events that stop and start it; if it is replaced,
    /// delay and loss of its channel stay.
    fn controller(&mut self, root: &mut Table) {
        let Some(item) = lookup(root, "controller.scheme").cloned() else { return };
        if self.whole.installed(Role::Controller).is_some() {
            self.note(Role::Controller, &item);
        } else if name_of(&item).is_some_and(|name| self.goes(name)) {
            self.note(Role::Controller, &item);
            root.remove("controller");
            if let Some(events) = root.list_mut("event") {
                let is_its = |event: &Item| matches!(&event.value, TomlValue::Table(event) if event.get("controller").is_some());
                events.retain(|event| !is_its(event));
            }
        }
    }
}

/// `plr (alpha = 0.5)`.
fn shown(item: &Item) -> String {
    let name = name_of(item).unwrap_or_default();
    let TomlValue::Table(table) = &item.value else { return name.to_owned() };
    let is_setting = |entry: &&Entry| !["name", "scheme"].contains(&entry.key.as_str());
    let settings = table.0.iter().filter(is_setting);
    let settings: Vec<String> =
        settings.map(|entry| format!("{} = {}", entry.key, written_value(&entry.item.value))).collect();
    if settings.is_empty() { name.to_owned() } else { format!("{name} ({})", settings.join(", ")) }
}

/// Removes prefixes without any setting.
fn drop_idle_prefixes(router: &mut Table) {
    if let Some(prefixes) = router.list_mut("prefix") {
        let states = |table: &Table| table.get("strategy").is_some() || table.get("cache").is_some();
        prefixes.retain(|prefix| !matches!(&prefix.value, TomlValue::Table(table) if !states(table)));
    }
}

/// Calls `change` with the tables of a list, or of a table by name.
fn for_each_table(item: Option<&mut Item>, change: &mut dyn FnMut(&mut Table)) {
    let mut each = |item: &mut Item| {
        if let TomlValue::Table(table) = &mut item.value {
            change(table);
        }
    };
    match item.map(|item| &mut item.value) {
        Some(TomlValue::List(items)) => items.iter_mut().for_each(each),
        Some(TomlValue::Table(tables)) => tables.0.iter_mut().for_each(|entry| each(&mut entry.item)),
        _ => {}
    }
}
