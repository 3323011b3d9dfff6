//! Nodes and links as they are found, and the rules that all formats share: names, places, connected parts.

use std::collections::BTreeMap;

use tidegate_settings::error::Problems;

use super::lines::Piece;
use super::{Imported, ImportedLink, ImportedNode};
use crate::scenario::Limits;

/// Maximum length of a name before a number is appended, bytes; a scenario takes 64.
const LONGEST_NAME: usize = 48;
/// Maximum length of a link's name before a number is appended, bytes.
const LONGEST_LINK: usize = 56;
/// Maximum number of notes.
const MAX_NOTES: usize = 20;

/// A topology while it is read.
pub(super) struct Graph {
    nodes: Vec<Node>,
    links: Vec<ImportedLink>,
    notes: Vec<String>,
    /// Nodes by their names in the file.
    by_label: BTreeMap<String, usize>,
    /// Links by their ends, the lower one first; of several links the first.
    by_ends: BTreeMap<(usize, usize), usize>,
    max_nodes: usize,
    max_links: usize,
}

struct Node {
    label: String,
    /// Across and up, in any unit.
    place: Option<(f64, f64)>,
}

impl Graph {
    /// A graph without nodes and links.
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            nodes: Vec::new(),
            links: Vec::new(),
            notes: Vec::new(),
            by_label: BTreeMap::new(),
            by_ends: BTreeMap::new(),
            max_nodes: limits.nodes,
            max_links: limits.links,
        }
    }

    /// Number of nodes read so far.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Records an omission or change.
    pub(super) fn note(&mut self, note: String) {
        if self.notes.len() < MAX_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// The node with the name `label` in the file.
    pub(super) fn find(&self, label: &str) -> Option<usize> {
        self.by_label.get(label).copied()
    }

    /// The node called `label`; reports an error if there is none.
    pub(super) fn known(&self, label: Piece<'_>, problems: &mut Problems) -> Option<usize> {
        let found = self.find(label.text);
        if found.is_none() {
            let known = self.by_label.keys().take(1000).map(String::as_str);
            let near = tidegate_settings::suggest::nearest(label.text, known).map(str::to_owned);
            problems.add(label.place(), format!("node {:?} is not known", label.text), near);
        }
        found
    }

    /// Adds a node, unless there are too many; `place` is across and up.
    pub(super) fn add_node(
        &mut self,
        label: Piece<'_>,
        place: Option<(f64, f64)>,
        problems: &mut Problems,
    ) -> Option<usize> {
        if self.nodes.len() >= self.max_nodes {
            label.refuse(problems, format!("more than {} nodes", self.max_nodes));
            return None;
        }
        let index = self.nodes.len();
        if self.by_label.insert(label.text.to_owned(), index).is_some() {
            label.refuse(problems, format!("node {:?} is given twice", label.text));
            return None;
        }
        let place = place.filter(|(across, up)| across.is_finite() && up.is_finite());
        self.nodes.push(Node { label: label.text.to_owned(), place });
        Some(index)
    }

    /// Gives a node another name than the one that links use.
    pub(super) fn relabel(&mut self, node: usize, label: &str) {
        self.nodes.get_mut(node).into_iter().for_each(|node| label.clone_into(&mut node.label));
    }

    /// The place of a node, across and up.
    pub(super) fn place(&self, node: usize) -> Option<(f64, f64)> {
        self.nodes.get(node).and_then(|node| node.place)
    }

    /// The first link between two nodes.
    pub(super) fn link_between(&mut self, a: usize, b: usize) -> Option<&mut ImportedLink> {
        let index = self.by_ends.get(&(a.min(b), a.max(b))).copied()?;
        self.links.get_mut(index)
    }

    /// Adds a link, written at `place`, unless there are too many or an end is unknown.
    pub(super) fn add_link(&mut self, link: ImportedLink, place: Piece<'_>, problems: &mut Problems) {
        if link.a == link.b {
            let label = self.nodes.get(link.a).map_or("", |node| node.label.as_str());
            self.note(format!("a link from {label:?} to itself was left out"));
        } else if self.links.len() >= self.max_links {
            place.refuse(problems, format!("more than {} links", self.max_links));
        } else {
            let ends = (link.a.min(link.b), link.a.max(link.b));
            self.by_ends.entry(ends).or_insert(self.links.len());
            self.links.push(link);
        }
    }

    /// Removes all nodes that are not in the largest connected part.
    pub(super) fn keep_largest_part(&mut self) {
        let parts = self.parts();
        let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
        parts.iter().for_each(|part| *sizes.entry(*part).or_default() += 1);
        // Of equal parts the first.
        let max = sizes.iter().max_by_key(|(part, size)| (**size, std::cmp::Reverse(**part)));
        let Some((max, kept)) = max.map(|(part, size)| (*part, *size)) else { return };
        if kept == self.nodes.len() {
            return;
        }
        let left_out = self.nodes.len() - kept;
        self.note(format!("{left_out} nodes that are not connected with the other {kept} were left out"));
        let mut places = vec![None; self.nodes.len()];
        let mut next = 0;
        for (index, part) in parts.iter().enumerate() {
            if *part == max {
                places[index] = Some(next);
                next += 1;
            }
        }
        let mut part = parts.iter();
        self.nodes.retain(|_| part.next() == Some(&max));
        let moved = |link: &ImportedLink| {
            let (a, b) = (places.get(link.a).copied()??, places.get(link.b).copied()??);
            Some(ImportedLink { a, b, ..link.clone() })
        };
        self.links = self.links.iter().filter_map(moved).collect();
        // The numbers in both maps are void, and all links have been read.
        self.by_label.clear();
        self.by_ends.clear();
    }

    /// The part of each node, named by one of its nodes.
    fn parts(&self) -> Vec<usize> {
        let mut neighbours = vec![Vec::new(); self.nodes.len()];
        for link in &self.links {
            neighbours[link.a].push(link.b);
            neighbours[link.b].push(link.a);
        }
        let mut parts = vec![usize::MAX; self.nodes.len()];
        for start in 0..parts.len() {
            let mut waiting = if parts[start] == usize::MAX { vec![start] } else { Vec::new() };
            while let Some(node) = waiting.pop() {
                if parts[node] == usize::MAX {
                    parts[node] = start;
                    waiting.extend(&neighbours[node]);
                }
            }
        }
        parts
    }

    /// The topology with names as scenarios take them.
    pub(super) fn finish(self) -> Imported {
        let Self { nodes, mut links, notes, .. } = self;
        let mut names = Names::default();
        let names: Vec<String> = nodes.iter().map(|node| names.take(&plain(&node.label))).collect();
        let mut link_names = Names::default();
        for link in &mut links {
            let ends = format!("{}-{}", names[link.a], names[link.b]);
            link.name = link_names.take(if ends.len() <= LONGEST_LINK { &ends } else { "link" });
        }
        let positions = positions(&nodes);
        let nodes = nodes.into_iter().zip(names).zip(positions);
        let nodes = nodes.map(|((node, name), position)| ImportedNode { name, label: node.label, position });
        Imported { nodes: nodes.collect(), links, notes }
    }
}

/// Names that have been given.
#[derive(Default)]
struct Names(BTreeMap<String, u32>);

impl Names {
    /// Returns `required`, with a number appended if it is taken.
    fn take(&mut self, required: &str) -> String {
        let mut name = required.to_owned();
        // A numbered name may also occur in the file.
        while self.0.contains_key(&name) {
            let count = self.0.entry(required.to_owned()).or_insert(1);
            *count += 1;
            name = format!("{required}-{count}");
        }
        self.0.insert(name.clone(), 1);
        name
    }
}

/// A label as a name.
fn plain(label: &str) -> String {
    let mut name = String::new();
    for character in label.chars() {
        if character.is_alphanumeric() || character == '_' {
            name.push(character);
        } else if !name.ends_with('-') && !name.is_empty() {
            name.push('-');
        }
        if name.len() >= LONGEST_NAME {
            break;
        }
    }
    let name = name.trim_end_matches('-');
    if name.is_empty() { "node".to_owned() } else { name.to_owned() }
}

/// Positions in a drawing, with the file's upward direction up; `None` for all nodes unless every one has a
/// place.
fn positions(nodes: &[Node]) -> Vec<Option<(f64, f64)>> {
    let places: Option<Vec<(f64, f64)>> = nodes.iter().map(|node| node.place).collect();
    let Some(places) = places else { return vec![None; nodes.len()] };
    let along = |of: fn(&(f64, f64)) -> f64| {
        let values = || places.iter().map(of);
        let (low, high) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        move |value: f64| {
            // Halved first, because the difference of two very large numbers could overflow.
            let part = (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
            // To a thousandth: a drawing is not finer. A single place is in the middle.
            let part = if part.is_finite() { part } else { 0.5 };
            ((0.05 + 0.9 * part) * 1000.0).round() / 1000.0
        }
    };
    let (across, up) = (along(|(across, _)| *across), along(|(_, up)| *up));
    places.iter().map(|(x, y)| Some((across(*x), ((1.0 - up(*y)) * 1000.0).round() / 1000.0))).collect()
}
