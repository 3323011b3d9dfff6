//! A network from a file that another program wrote.
//!
//! A link takes each value from its `[link.NAME]`, else from the file, else from `[topology]`'s `link`. Routers are
//! the nodes with several links.

use std::borrow::Cow;

use tidegate_settings::document;
use tidegate_settings::error::Errors;
use tidegate_settings::fields::Fields;
use tidegate_settings::read_context::show;
use tidegate_settings::suggest;

use super::{NetworkTable, RouterValues, add_link, add_node, change_by_name};
use crate::scenario::import::{self, Imported, ImportedLink, TopologyFormat};
use crate::scenario::links::LinkValues;
use crate::scenario::media::Media;
use crate::scenario::{Limits, keys};

/// Maximum number of errors of the file that are reported with those of the scenario.
const MAX_REPORTED: usize = 5;

pub(super) fn read(
    root: &Fields<'_>,
    topology: &Fields<'_>,
    (router, media): (&RouterValues, &Media),
    limits: &Limits,
) -> Option<NetworkTable> {
    refuse_other_keys(topology);
    let base = topology.table("link", &keys::LINK_CHANGES).map(|link| LinkValues::read(&link, media));
    let base = base.unwrap_or_default();
    let imported = load(topology, limits)?;
    let place = topology.place_of("file");
    // Twice the common values: a limit and a loss of the link itself take no more than those.
    if !topology.context.claim(place, router.bytes(), imported.nodes.len() as u64)
        || !topology.context.claim(place, 2 * base.bytes(), imported.links.len() as u64)
    {
        return None;
    }
    let mut network = NetworkTable::default();
    add_nodes(&mut network, &imported, router, topology);
    let values: Vec<LinkValues> =
        imported.links.iter().map(|link| link_values(topology, (&base, media), link)).collect();
    for (link, values) in imported.links.iter().zip(&values) {
        add_link(&mut network, values.plan(link.name.clone(), link.a, link.b), topology.context, place);
    }
    let complete = change_by_name((root, media), &mut network, &|index| {
        Cow::Borrowed(values.get(index).unwrap_or(&base))
    });
    if let Some(index) = complete.iter().position(|complete| !complete) {
        let missing = values.get(index).map_or("", LinkValues::missing);
        let name = network.links.get(index).map_or("", |link| link.name.as_str());
        let message =
            format!("link {name:?} has no {missing} in the file; give one to all in [topology] link");
        topology.context.refuse(place, message);
    }
    Some(network)
}

/// Reports keys of `[topology]` that do not go with a file.
fn refuse_other_keys(topology: &Fields<'_>) {
    let own = ["file", "format", "latencies", "link"];
    for entry in topology.entries().iter().filter(|entry| !own.contains(&entry.key.as_str())) {
        if keys::TOPOLOGY.find(&entry.key).is_some() {
            topology.context.refuse(entry.place, format!("{:?} requires a builtin topology", entry.key));
        }
    }
}

/// The topology in the file; `None` after an error was reported.
fn load(topology: &Fields<'_>, limits: &Limits) -> Option<Imported> {
    let name = topology.text("file")?;
    let text = file(topology, "file", &name)?;
    let words = TopologyFormat::ALL;
    let format = match topology.item("format") {
        Some(_) => topology.word("format", &words)?,
        None => match TopologyFormat::of(&text) {
            Some(format) => format,
            None => {
                let known: Vec<&str> = words.iter().map(|(_, name)| *name).collect();
                let message = format!(
                    "file: the content of {} is of no known format; give it as format = \"...\", one of {}",
                    show(&name),
                    known.join(", ")
                );
                return topology.refused("file", message);
            }
        },
    };
    let mut imported = reported(topology, "file", import::read(&name, text.as_bytes(), format, limits))?;
    if let Some(second) = topology.item("latencies").and_then(|_| topology.text("latencies")) {
        if format != TopologyFormat::Rocketfuel {
            return topology.refused("latencies", "latencies: applies to format rocketfuel only");
        }
        let text = file(topology, "latencies", &second)?;
        let label = format!("latencies {second}");
        let delays = import::read(&label, text.as_bytes(), format, limits);
        imported.take_delays(&reported(topology, "latencies", delays)?);
    }
    Some(imported)
}

fn file(topology: &Fields<'_>, key: &str, name: &str) -> Option<String> {
    let read = match topology.context.files {
        Some(read) => read(name),
        None => Err("files are not read here".to_owned()),
    };
    read.inspect_err(|why| topology.refuse(key, format!("{key}: {} cannot be read: {why}", show(name)))).ok()
}

/// The topology in the file that `key` names, or nothing after its errors were reported.
fn reported(topology: &Fields<'_>, key: &str, read: Result<Imported, Errors>) -> Option<Imported> {
    read.inspect_err(|errors| notify(topology, key, errors)).ok()
}

/// Reports the errors of a file, each with its place there.
fn notify(topology: &Fields<'_>, key: &str, errors: &Errors) {
    for error in errors.iter().take(MAX_REPORTED) {
        let hint = suggest::question(&error.suggestions);
        let place = format!("{}:{}:{}", error.file, error.line, error.column);
        topology.refuse(key, format!("{place}: {}{}", error.message, hint));
    }
    let more = errors.iter().count().saturating_sub(MAX_REPORTED) + errors.omitted();
    if more > 0 {
        topology.refuse(key, format!("{key}: {more} more problems; `tidegate import` shows them"));
    }
}

fn add_nodes(network: &mut NetworkTable, imported: &Imported, router: &RouterValues, topology: &Fields<'_>) {
    let mut degrees = vec![0_u32; imported.nodes.len()];
    for end in imported.links.iter().flat_map(|link| [link.a, link.b]) {
        degrees.get_mut(end).into_iter().for_each(|degree| *degree += 1);
    }
    for (node, degree) in imported.nodes.iter().zip(degrees) {
        let Some(mut plan) = router.node(&node.name, degree > 1) else {
            network.is_partial = true;
            return;
        };
        plan.position = node.position;
        add_node(network, plan, topology.context, topology.place);
    }
}

/// Values of a link in the file, over those that all links share.
fn link_values(
    topology: &Fields<'_>,
    (base, media): (&LinkValues, &Media),
    link: &ImportedLink,
) -> LinkValues {
    let pairs: Vec<String> =
        import::values(link).into_iter().map(|(key, value)| format!("{key} = {value}")).collect();
    let place = topology.place_of("file");
    let table = document::read_value(&format!("{{ {} }}", pairs.join(", ")), place.origin, place.start);
    let own = table.ok().and_then(|mut item| {
        item.place = place;
        let fields = Fields::open(topology.context, &item, &keys::LINK_CHANGES)?;
        Some(LinkValues::read(&fields, media))
    });
    own.map_or_else(|| base.clone(), |own| base.with(&own))
}
