//! Whole schemes in a scenario: `scenario.scheme` fills the roles that are not written out, the override `scheme`
//! replaces them.
//!
//! Both change the document before it is read, so that the plan, the kept text and the canonical text show every role
//! where the scenario could have written it.

mod filled;
mod replace;

use tidegate_core::scheme::Scheme;
use tidegate_core::scheme::params::Settings;
use tidegate_core::scheme::whole::Role;
use tidegate_settings::document::{Entry, Item, Table, TomlValue};
use tidegate_settings::error::Place;
use tidegate_settings::fields::Fields;
use tidegate_settings::keys::{NamedRole as Use, SCHEME};
use tidegate_settings::read_context::{ReadContext, show};
use tidegate_settings::uses::{self, SchemeUse};

pub(super) use filled::Layer;
use filled::{Filling, end_path};
pub(super) use replace::{Replacement, replace};

use super::overrides;
use crate::plan::WrittenOut;

/// Path of the routers' roles.
const PARTS: &str = "router.router_parts";

/// Fills the roles of `scenario.scheme` that the document does not write out; `text` is that of the document.
/// Afterwards every flow has a scheme, or an error was reported. Returns the keys that are written out
/// instead.
pub(super) fn complete(context: &ReadContext<'_>, root: &mut Table, text: &str) -> Option<WrittenOut> {
    let before = context.count();
    let mut written_out = None;
    let lacks = |key: &str| tables_of(lookup(root, key)).any(|table| table.get("scheme").is_none());
    if let Some(whole) = of_scenario(context, root) {
        match ["flow", "tcp"].into_iter().find(|key| lacks(key)) {
            Some(key) if !whole.has_ends() => whole.refuse(context, &format!("[[{key}]]")),
            _ => {
                let keys = whole.written_out(root);
                let filled = fill(context, root, &whole, text);
                let fills = filled.is_some_and(|layer| !layer.fillings.is_empty());
                let written = WrittenOut { scheme: whole.used.scheme.name, keys, fills };
                written_out = Some(written).filter(|written| !written.keys.is_empty());
            }
        }
    }
    if context.count() > before {
        stand_in(context, root);
    }
    written_out
}

/// The scheme of `[scenario]`, if it has one without errors.
fn of_scenario(context: &ReadContext<'_>, root: &Table) -> Option<Required> {
    lookup(root, "scenario.scheme").and_then(|item| Required::read(context, item))
}

/// Fills the roles of the scenario's scheme that the document does not write out, and returns what it filled.
fn fill(context: &ReadContext<'_>, root: &mut Table, whole: &Required, text: &str) -> Option<Layer> {
    if !whole.fits(context, root, None) {
        return None;
    }
    let brings = lookup(root, PARTS).is_none() && whole.used.brings_strategy();
    let before = context.count();
    if brings {
        refuse_strategies(context, root, whole, text);
    }
    let clashes = context.count() > before;
    let mut fillings = whole.fillings(&whole.tables(root, None));
    // One message is enough for a strategy.
    fillings.retain(|filling| lookup(root, &filling.path).is_none() && !(clashes && filling.path == PARTS));
    for filling in &fillings {
        overrides::put(context, root, &filling.path, &filling.item);
    }
    Some(Layer::new(whole, fillings))
}

impl Required {
    /// Keys that the document gives to other schemes.
    fn written_out(&self, root: &Table) -> Vec<String> {
        let fillings = self.fillings(&self.tables(root, None));
        let is_other = |filling: &&Filling| lookup(root, &filling.path).is_some() && !filling.is_in(root);
        fillings.iter().filter(is_other).map(|filling| filling.path.clone()).collect()
    }
}

/// Gives flows without a scheme any suitable one, so that a mistake in the scenario's is not reported again
/// for each of them.
fn stand_in(context: &ReadContext<'_>, root: &mut Table) {
    for (key, role) in [("flow", Role::Consumer), ("tcp", Role::Sender)] {
        let fits = |scheme: &&&Scheme| scheme.fills(role) && scheme.check(&Settings::default()).is_ok();
        let Some(scheme) = context.schemes.iter().find(fits) else { continue };
        for number in 0..tables_of(lookup(root, key)).count() {
            let path = end_path(key, number);
            if lookup(root, &path).is_none() {
                let value = TomlValue::Text(scheme.name.to_owned());
                overrides::put(context, root, &path, &Item { place: Place::default(), value });
            }
        }
    }
}

/// Reports strategies that conflict with that of the whole scheme, each with both places.
fn refuse_strategies(context: &ReadContext<'_>, root: &Table, whole: &Required, text: &str) {
    let place = whole.item.place;
    let line = match (place.origin, text.get(..place.start)) {
        (0, Some(before)) => format!("line {}", before.matches('\n').count() + 1),
        _ => "--set".to_owned(),
    };
    let name = whole.used.scheme.name;
    let mut refuse = |table: &Table| {
        if let Some(entry) = table.get("strategy") {
            let message = format!(
                "strategy: {name}, the scheme of [scenario] ({line}), has a forwarding strategy; remove one of the two"
            );
            context.refuse(entry.item.place, message);
        }
    };
    if let Some(TomlValue::Table(router)) = lookup(root, "router").map(|item| &item.value) {
        refuse(router);
    }
    for key in ["router.prefix", "node"] {
        tables_of(lookup(root, key)).for_each(&mut refuse);
    }
}

/// A whole scheme that is to be installed.
struct Required {
    used: SchemeUse,
    /// Its name, or a table with its name and settings.
    item: Item,
    /// Each role of the whole with the value that is written there.
    installs: Vec<(Role, Item)>,
}

impl Required {
    /// Reads and checks the scheme that `item` names.
    fn read(context: &ReadContext<'_>, item: &Item) -> Option<Self> {
        let used = uses::read(context, item, &SCHEME)?;
        let own = used.scheme.whole_roles().map(|role| (role, item.clone()));
        let with = used.scheme.whole.with.iter().map(|companion| {
            let name = TomlValue::Text(companion.scheme.to_owned());
            (companion.role, Item { place: item.place, value: name })
        });
        let installs = own.chain(with).collect();
        Some(Self { used, item: item.clone(), installs })
    }

    fn installed(&self, role: Role) -> Option<&Item> {
        self.installs.iter().find(|(installed, _)| *installed == role).map(|(_, item)| item)
    }

    /// Whether it has a consumer or a TCP sender.
    fn has_ends(&self) -> bool {
        self.installed(Role::Consumer).is_some() || self.installed(Role::Sender).is_some()
    }

    /// Whether it has the role that the flows need; reports if it fits none of them.
    fn fits(&self, context: &ReadContext<'_>, root: &Table, scope: Option<(&str, usize)>) -> bool {
        let given = |key: &str| match scope {
            Some((kind, _)) => kind == key,
            None => tables_of(lookup(root, key)).next().is_some(),
        };
        let on_flow = self.installed(Role::Consumer).is_some();
        let on_tcp = self.installed(Role::Sender).is_some();
        let fits = on_flow && given("flow") || on_tcp && given("tcp");
        if fits || (!self.has_ends() && scope.is_none()) || !(given("flow") || given("tcp")) {
            return true;
        }
        self.refuse(context, if given("flow") { "[[flow]]" } else { "[[tcp]]" });
        false
    }

    /// Reports that it does not fit the flows of `given`.
    fn refuse(&self, context: &ReadContext<'_>, given: &str) {
        let name = show(self.used.scheme.name);
        let ends = (self.installed(Role::Consumer), self.installed(Role::Sender));
        let message = match ends {
            (Some(_), _) => format!("scheme {name} is for NDN consumers and cannot be used in {given}"),
            (_, Some(_)) => format!("scheme {name} is for TCP senders and cannot be used in {given}"),
            _ => format!(
                "scheme {name} has neither a consumer nor a TCP sender and cannot be used in {given}; its roles: {}",
                self.used.scheme.roles().join(", ")
            ),
        };
        context.refuse(self.item.place, message);
    }

    /// The tables of flows to which it applies, by key and number.
    fn tables(&self, root: &Table, scope: Option<(&'static str, usize)>) -> Vec<(&'static str, usize)> {
        let of = |key, role| {
            let count = self.installed(role).map_or(0, |_| tables_of(lookup(root, key)).count());
            (0..count).map(move |number| (key, number))
        };
        let all = of("flow", Role::Consumer).chain(of("tcp", Role::Sender));
        all.filter(|table| scope.is_none_or(|scope| scope == *table)).collect()
    }

    /// Places of the roles of the whole scheme, if flows are those of `tables`.
    fn fillings(&self, tables: &[(&'static str, usize)]) -> Vec<Filling> {
        let list = |item: &Item| Item { place: item.place, value: TomlValue::List(vec![item.clone()]) };
        let mut fillings = Vec::new();
        let mut add = |path: &str, role, item| fillings.push(Filling { path: path.to_owned(), role, item });
        for (role, item) in &self.installs {
            let own = Some(*role);
            match role {
                Role::Consumer | Role::Sender => {
                    let key = if *role == Role::Consumer { "flow" } else { "tcp" };
                    let ruled = tables.iter().filter(|(kind, _)| *kind == key);
                    ruled.for_each(|(_, number)| add(&end_path(key, *number), own, item.clone()));
                }
                Role::Discipline => add("topology.link.queue.disciplines", own, list(item)),
                Role::Router => add(PARTS, own, list(item)),
                Role::Strategy => add("router.strategy", own, item.clone()),
                Role::Controller => add("controller.scheme", own, item.clone()),
                Role::LinkService => add("topology.link.link_service", own, item.clone()),
            }
        }
        if self.used.scheme.whole.all_next_hops {
            let all = TomlValue::Text("all".to_owned());
            add("router.next_hops", None, Item { place: self.item.place, value: all });
        }
        fillings
    }
}

/// The scheme at the end of a flow, which the whole scheme has filled in if there is one.
pub(super) fn read_end(flow: &Fields<'_>, role: &'static Use) -> Option<SchemeUse> {
    match flow.item("scheme") {
        Some(item) => uses::read(flow.context, item, role),
        None => {
            flow.refuse_missing("\"scheme\"");
            None
        }
    }
}

/// The value at `path`, if there is one.
fn lookup<'t>(root: &'t Table, path: &str) -> Option<&'t Item> {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let item = &root.get(first)?.item;
    rest.map_or(Some(item), |rest| lookup_in(item, rest))
}

fn lookup_in<'t>(item: &'t Item, path: &str) -> Option<&'t Item> {
    match &item.value {
        TomlValue::Table(table) => lookup(table, path),
        TomlValue::List(items) => {
            let (first, rest) =
                path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
            let item = items.get(first.parse::<usize>().ok()?)?;
            rest.map_or(Some(item), |rest| lookup_in(item, rest))
        }
        _ => None,
    }
}

/// The tables of a list, or of a table by name.
fn tables_of(item: Option<&Item>) -> Box<dyn Iterator<Item = &Table> + '_> {
    fn table(item: &Item) -> Option<&Table> {
        if let TomlValue::Table(table) = &item.value { Some(table) } else { None }
    }
    match item.map(|item| &item.value) {
        Some(TomlValue::List(items)) => Box::new(items.iter().filter_map(table)),
        Some(TomlValue::Table(tables)) => {
            Box::new(tables.0.iter().filter_map(|Entry { item, .. }| table(item)))
        }
        _ => Box::new(std::iter::empty()),
    }
}

/// The name of the scheme that `item` names.
fn name_of(item: &Item) -> Option<&str> {
    match &item.value {
        TomlValue::Text(name) => Some(name),
        TomlValue::Table(table) => {
            let named = table.get("name").or_else(|| table.get("scheme"))?;
            if let TomlValue::Text(name) = &named.item.value { Some(name) } else { None }
        }
        _ => None,
    }
}
