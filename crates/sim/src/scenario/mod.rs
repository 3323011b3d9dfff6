//! Scenario files: TOML text in, a checked [`Plan`] or everything that is wrong with it out.
//!
//! Keys are declared once, in `keys`; built-in topologies and their node names are in `topology`. What the keys
//! do not say:
//!
//! - A link takes each value from its own table, else from `access` or `bottleneck`, else from `link`; of one
//!   table, `forward` and `backward` come before what both directions share.
//! - `[router]`'s strategies are those of every node; its cache, service and parts those of routers. Routers are the
//!   `r1`, ... of built-in topologies and written nodes with several links or `router = true`.
//! - Cache settings of a node replace those of `[router]`, key by key; a placement at the edge takes
//!   no cache from it. A prefix's cache is on every router but those that say that theirs is `0pkt`.
//! - A whole scheme (`scenario.scheme`, or the override `scheme`) is written into the document before it is read.
//! - All flows of one prefix have the same producers, payload and freshness; prefixes are compared, and kept, in
//!   their canonical spelling.
//! - The tables of a built-in topology's `[node.NAME]` and `[link.NAME]` change what it has; `[[node]]` and
//!   `[[link]]` write a network out.
//!
//! No input makes this panic, hang or take memory without bound.

mod caches;
mod canonical;
mod clock;
mod connections;
mod controller;
mod flows;
pub mod import;
mod keys;
mod known;
mod links;
mod media;
mod network;
mod overrides;
mod service;
mod sweep;
mod timeline;
mod topology;
mod whole;
mod workload;

use std::cell::RefCell;

use tidegate_core::scheme::Scheme;
use tidegate_settings::document::Table;
use tidegate_settings::error::Sources;
pub use tidegate_settings::error::{Error, Errors};
use tidegate_settings::fields::Fields;
pub use tidegate_settings::read_context::FileReader;
use tidegate_settings::read_context::ReadContext;
use tidegate_settings::reader::{DocumentReader, check_version, decode};
use tidegate_settings::{reference, schema};

use crate::plan::Plan;

/// Limits of the size of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of the text, bytes.
    pub text_bytes: usize,
    /// Maximum number of nodes.
    pub nodes: usize,
    /// Maximum number of links.
    pub links: usize,
    /// Maximum number of flows.
    pub flows: usize,
    /// Maximum estimated size of the plan, bytes.
    pub plan_bytes: u64,
}

impl Default for Limits {
    /// 8 MiB of text, 1,000,000 nodes, 2,000,000 links, 1,000,000 flows, 4 GiB of plan.
    fn default() -> Self {
        Self {
            text_bytes: 8 << 20,
            nodes: 1_000_000,
            links: 2_000_000,
            flows: 1_000_000,
            plan_bytes: 4 << 30,
        }
    }
}

/// A parser with everything it may use.
///
/// ```
/// use tidegate_sim::scenario::Parser;
///
/// let errors = Parser::new("empty.toml", &[]).parse("").expect_err("nothing in it");
/// assert!(errors.to_string().starts_with("empty.toml:1:1: \"format\" is missing"));
/// ```
#[derive(Clone, Copy)]
pub struct Parser<'a> {
    /// Name of the source in messages.
    pub source_name: &'a str,
    /// Schemes that can be named.
    pub schemes: &'a [&'static Scheme],
    /// `--set` overrides, applied in order before checking: a dotted path (list elements by number from 0,
    /// `*` for all) and a TOML value or bare text.
    pub overrides: &'a [(String, String)],
    /// Reads files the scenario names; `None` refuses them.
    pub files: Option<FileReader<'a>>,
    /// Limits of the scenario's size.
    pub limits: Limits,
}

impl<'a> Parser<'a> {
    /// A parser without overrides and files.
    pub fn new(source_name: &'a str, schemes: &'a [&'static Scheme]) -> Self {
        Self { source_name, schemes, overrides: &[], files: None, limits: Limits::default() }
    }

    /// Reads and checks a scenario.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(&self, text: &str) -> Result<Plan, Errors> {
        let overrides: Vec<String> =
            self.overrides.iter().map(|(key, value)| format!("{key}={value}")).collect();
        // A scenario consists of its text and of the texts of the files that it refers to.
        let files = RefCell::new(Vec::new());
        let noted = |name: &str| {
            let text =
                self.files.map_or_else(|| Err("files are not read here".to_owned()), |read| read(name))?;
            files.borrow_mut().push((name.to_owned(), text.clone()));
            Ok(text)
        };
        let reader = DocumentReader {
            source_name: self.source_name,
            format: &keys::FORMAT,
            schemes: self.schemes,
            files: self.files.is_some().then_some(&noted),
            text_bytes: self.limits.text_bytes,
            max_bytes: self.limits.plan_bytes,
        };
        let read = reader.read(text, &overrides, |context, mut document, text| {
            let replaced = overrides::apply(context, &mut document, text, self.overrides, &overrides);
            let original = text;
            let text =
                if overrides.is_empty() { text.to_owned() } else { overrides::render(&document, &overrides) };
            check_version(context, &document)?;
            let written_out = whole::complete(context, &mut document, original);
            let plan = read_plan(context, &document, text, &self.limits)?;
            let sweep = document.get("sweep").map(|sweep| sweep::read(context, &sweep.item, original));
            let sources = Sources { name: self.source_name, text: original, overrides: &overrides };
            let renamed = context.notes(&sources);
            Some(Plan { sweep: sweep.unwrap_or_default(), replaced, renamed, written_out, ..plan })
        });
        read.map(|plan| Plan { files: files.into_inner(), ..plan })
    }

    /// As [`parse`](Self::parse), for bytes that should be UTF-8.
    ///
    /// # Errors
    /// Everything that is wrong, or the first byte that is not UTF-8.
    pub fn parse_bytes(&self, bytes: &[u8]) -> Result<Plan, Errors> {
        decode(self.source_name, bytes).and_then(|text| self.parse(text))
    }
}

fn read_plan(context: &ReadContext<'_>, document: &Table, text: String, limits: &Limits) -> Option<Plan> {
    let root = Fields::root(context, document);
    let frame = root.table("scenario", &keys::SCENARIO).map(|scenario| timeline::read_frame(&scenario));
    let duration = frame.as_ref().map_or(tidegate_core::units::Span::MAX, |frame| frame.duration);
    let mut network = network::read(&root, limits);
    let mut flows = flows::read(&root, &network, duration, limits);
    connections::read(&root, &network, duration, limits, &mut flows);
    // After the flows, because a placement at the edge depends on the consumers.
    network.caches.settle(&mut network.nodes, &network.links, &flows);
    let controller = controller::read(&root);
    let events = timeline::read_events(&root, &network, duration);
    let expectations = root.item("expect").map(|expect| timeline::read_expectations(context, expect));
    let frame = frame?;
    Some(Plan {
        name: frame.name,
        text,
        canonical: canonical::text(document),
        files: Vec::new(),
        sweep: Vec::new(),
        replaced: Vec::new(),
        renamed: Vec::new(),
        written_out: None,
        duration: frame.duration,
        stop_when_complete: frame.stop_when_complete,
        seeds: frame.seeds,
        variation: frame.variation,
        nodes: network.nodes,
        links: network.links,
        media: network.media,
        flows,
        controller,
        next_hops: network.next_hops,
        events,
        sampling: frame.sampling,
        recorded: frame.recorded,
        expectations: expectations.unwrap_or_default(),
    })
}

/// The JSON Schema of scenario files, for editors.
pub fn json_schema() -> String {
    schema::json_schema("Tidegate scenario", &keys::ROOT)
}

/// Every key of scenario files as Markdown, for the book.
pub fn reference() -> String {
    reference::markdown(&keys::ROOT)
}

/// Reads and checks a scenario with overrides and without files.
///
/// # Errors
/// Everything that is wrong with it.
pub fn parse(
    source_name: &str,
    text: &str,
    overrides: &[(String, String)],
    schemes: &[&'static Scheme],
) -> Result<Plan, Errors> {
    Parser { overrides, ..Parser::new(source_name, schemes) }.parse(text)
}

/// As [`parse`], for bytes that should be UTF-8.
///
/// # Errors
/// Everything that is wrong, or the first byte that is not UTF-8.
pub fn parse_bytes(
    source_name: &str,
    bytes: &[u8],
    overrides: &[(String, String)],
    schemes: &[&'static Scheme],
) -> Result<Plan, Errors> {
    Parser { overrides, ..Parser::new(source_name, schemes) }.parse_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_declared_soundly() {
        assert_eq!(schema::unsound(&keys::ROOT), Vec::<String>::new());
    }
}
