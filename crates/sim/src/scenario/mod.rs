//! Scenario files: TOML text in, a checked [`Plan`] or everything that is wrong with it out.
//!
//! Keys are declared once, in `keys`; built-in topologies and their node names are in `topology`. What the keys
//! do not say:
//!
//! - A link takes each value from its own table, else from `access` or `bottleneck`, else from `link`; of one
//!   table, `forward` and `backward` come before what both directions share.
//! - `[router]`'s strategies are those of every node; its cache and parts those of routers. Routers are the `r1`,
//!   ... of built-in topologies and written nodes with several links or `router = true`.
//! - All flows of one prefix have the same producers, payload and freshness; prefixes are compared, and kept, in
//!   their canonical spelling.
//! - The tables of a built-in topology's `[node.NAME]` and `[link.NAME]` change what it has; `[[node]]` and
//!   `[[link]]` write a network out.
//!
//! No input makes this panic, hang or take memory without bound.

mod document;
mod error;
mod fields;
mod flows;
mod keys;
mod links;
mod network;
mod overrides;
mod schema;
mod suggest;
mod timeline;
mod topology;
mod uses;

use std::cell::{Cell, RefCell};

use tidegate_core::scheme::Scheme;

pub use error::{Error, Errors};
pub use schema::json_schema;

use crate::plan::Plan;
use document::{Item, Table, Value};
use error::{Place, Problems, Sources};
use fields::{Desk, Fields};

/// Reads a file that a scenario names (a loss trace); the error says why that cannot be done.
pub type FileReader<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// How large a scenario may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of text.
    pub text_bytes: usize,
    /// Nodes.
    pub nodes: usize,
    /// Links.
    pub links: usize,
    /// Flows.
    pub flows: usize,
    /// Bytes of the plan, about.
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
/// assert!(errors.to_string().starts_with("empty.toml:1: the scenario has no \"format\""));
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
    /// How large the scenario may be.
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
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let overrides: Vec<String> =
            self.overrides.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let desk = Desk {
            schemes: self.schemes,
            files: self.files,
            limits: self.limits,
            problems: RefCell::new(Problems::default()),
            plan_bytes: Cell::new(0),
        };
        let plan = self.read(&desk, text, &overrides);
        let problems = desk.problems.into_inner();
        match plan {
            Some(plan) if problems.is_empty() => Ok(plan),
            _ => Err(problems.locate(&Sources { name: self.source_name, text, overrides: &overrides })),
        }
    }

    /// As [`parse`](Self::parse), of bytes that ought to be UTF-8.
    ///
    /// # Errors
    /// Everything that is wrong, or the first byte that is not UTF-8.
    pub fn parse_bytes(&self, bytes: &[u8]) -> Result<Plan, Errors> {
        let error = match std::str::from_utf8(bytes) {
            Ok(text) => return self.parse(text),
            Err(error) => error,
        };
        // Only the beginning is quoted in the message, so only that is converted.
        let (sound, rest) = bytes.split_at_checked(error.valid_up_to()).unwrap_or((bytes, &[]));
        let tail = String::from_utf8_lossy(rest.get(..200).unwrap_or(rest));
        let text = String::from_utf8_lossy(sound) + tail;
        let mut problems = Problems::default();
        let place = Place { origin: 0, start: sound.len(), end: sound.len() + 1 };
        let byte = rest.first().copied().unwrap_or(0);
        problems.add(place, format!("byte 0x{byte:02X} is not UTF-8"), None);
        Err(problems.locate(&Sources { name: self.source_name, text: &text, overrides: &[] }))
    }

    /// Reads what it can; `None` only after a problem was noted.
    fn read(&self, desk: &Desk<'_>, text: &str, overrides: &[String]) -> Option<Plan> {
        if text.len() > self.limits.text_bytes {
            let message = format!("{} bytes; at most {}", text.len(), self.limits.text_bytes);
            desk.refuse(Place::default(), message);
            return None;
        }
        let mut document = document::read(text, &mut desk.problems.borrow_mut());
        if !desk.problems.borrow().is_empty() {
            return None;
        }
        overrides::apply(desk, &mut document, self.overrides, overrides);
        let text =
            if overrides.is_empty() { text.to_owned() } else { overrides::render(&document, overrides) };
        check_format(desk, &document)?;
        read_plan(desk, &document, text)
    }
}

/// Another format would make everything else look wrong.
fn check_format(desk: &Desk<'_>, document: &Table) -> Option<()> {
    match document.get("format").map(|entry| &entry.item) {
        Some(Item { value: Value::Number(number), .. }) if number.whole == Some(1) => Some(()),
        Some(item) => {
            desk.refuse(
                item.place,
                format!("format {} is not known; this program reads format 1", fields::shown(&item.value)),
            );
            None
        }
        // Reading goes on and notes it as missing.
        None => Some(()),
    }
}

fn read_plan(desk: &Desk<'_>, document: &Table, text: String) -> Option<Plan> {
    let root = Fields::over(desk, Place::default(), &document.0, &keys::ROOT);
    let frame = root.table("scenario", &keys::SCENARIO).map(|scenario| timeline::read_frame(&scenario));
    let duration = frame.as_ref().map_or(tidegate_core::units::Span::MAX, |frame| frame.duration);
    let network = network::read(&root);
    let flows = flows::read(&root, &network, duration);
    let events = timeline::read_events(&root, &network, duration);
    let expectations = root.item("expect").map(|expect| timeline::read_expectations(desk, expect));
    let frame = frame?;
    Some(Plan {
        name: frame.name,
        text,
        duration: frame.duration,
        stop_when_complete: frame.stop_when_complete,
        seeds: frame.seeds,
        variation: frame.variation,
        nodes: network.nodes,
        links: network.links,
        flows,
        events,
        sampling: frame.sampling,
        recorded: frame.recorded,
        expectations: expectations.unwrap_or_default(),
    })
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

/// As [`parse`], of bytes that ought to be UTF-8.
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
