//! Declaration of a format: its tables, their keys, and the values that each key accepts.
//!
//! Every key is declared once; reading, error messages and the JSON Schema come from the declaration.

use tidegate_core::scheme::Scheme;

use crate::suggest::nearest;

/// A format of settings.
#[derive(Debug)]
pub struct Format {
    /// The table that contains all others.
    pub root: &'static Keys,
    /// Value of its key `format`.
    pub version: i64,
    /// Names that other programs and papers use for some keys.
    pub synonyms: &'static [(&'static str, &'static str)],
}

/// The keys of one table.
#[derive(Debug)]
pub struct Keys {
    /// Name of the table in messages.
    pub what: &'static str,
    /// Keys of this table itself.
    pub own: &'static [Key],
    /// Keys shared with other tables.
    pub shared: &'static [&'static [Key]],
}

impl Keys {
    /// All keys, own ones first.
    pub fn iter(&self) -> impl Iterator<Item = &'static Key> + use<> {
        self.own.iter().chain(self.shared.iter().copied().flatten())
    }

    /// The key called `name`.
    pub fn find(&self, name: &str) -> Option<&'static Key> {
        self.iter().find(|key| key.name == name)
    }

    /// Present name of the key that was `name` in earlier versions.
    pub fn present_name(&self, name: &str) -> Option<&'static str> {
        self.iter().find(|key| key.renamed_from == Some(name)).map(|key| key.name)
    }

    /// The known key that is most similar to `word`.
    pub fn nearest(&self, word: &str, synonyms: &[(&str, &'static str)]) -> Option<&'static str> {
        let near = nearest(word, self.iter().map(|key| key.name));
        let intended = || synonyms.iter().find(|(other, key)| *other == word && self.find(key).is_some());
        near.or_else(|| intended().map(|(_, key)| *key))
    }
}

/// Declaration of one key.
#[derive(Debug)]
pub struct Key {
    /// Name of the key.
    pub name: &'static str,
    /// Name in earlier versions, still accepted.
    pub renamed_from: Option<&'static str>,
    /// Kind of its value.
    pub kind: KeyKind,
    /// Whether it is required.
    pub need: KeyNeed,
    /// Meaning of the key, one sentence.
    pub help: &'static str,
}

impl Key {
    /// The key as a file has it: `[name]` or `[[name]]` for tables, otherwise `"name"`.
    pub fn shown(&self) -> String {
        match self.kind {
            KeyKind::Table(_) => format!("[{}]", self.name),
            KeyKind::List(&KeyKind::Table(_)) => format!("[[{}]]", self.name),
            _ => format!("{:?}", self.name),
        }
    }
}

/// Whether a key is required.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeyNeed {
    /// The key is required.
    Must,
    /// The key may be omitted.
    May,
    /// The default of a key that may be omitted, texts without quotes.
    Else(&'static str),
}

/// Type of the values that a key accepts.
#[derive(Debug)]
#[non_exhaustive]
pub enum KeyKind {
    /// A text with any content.
    Text,
    /// A name: letters, digits, `_` and `-`.
    Name,
    /// One of these words.
    Words(fn() -> Vec<&'static str>),
    /// The word `true` or `false`.
    Bool,
    /// The word `false` alone.
    False,
    /// A whole number between these bounds, both permitted.
    Count(i64, i64),
    /// A number between these bounds, both permitted.
    Number(f64, f64),
    /// A span of time.
    Time,
    /// A span of time longer than zero.
    LongTime,
    /// A rate above zero.
    Rate,
    /// A number of bytes, from 1 to this.
    Size(u64),
    /// A number of events per time, above zero.
    Frequency,
    /// A number of packets.
    Packets,
    /// A number of packets or bytes above zero.
    Limit,
    /// A comparison, such as `">= 0.9"`.
    Comparison,
    /// A scheme's name, or a table with its name and parameters.
    Scheme(&'static NamedRole),
    /// A table with these keys.
    Table(&'static Keys),
    /// A list of values of this kind.
    List(&'static KeyKind),
    /// A table with any names as keys.
    Open(&'static KeyKind),
    /// A value of any kind.
    Any,
    /// Any of these kinds.
    AnyOf(&'static [KeyKind]),
}

/// A key, in the order of a declaration's columns.
pub const fn key(name: &'static str, kind: KeyKind, need: KeyNeed, help: &'static str) -> Key {
    Key { name, renamed_from: None, kind, need, help }
}

/// The keys of a table, one in each row: `name: kind, need, "help";`, or
/// `name was earlier: ...` for a key that was renamed. With `"what" =>` in front of the rows it is the
/// whole declaration of a table that shares no keys.
#[macro_export]
macro_rules! key_rows {
    ($what:literal => $($name:ident $(was $earlier:ident)?: $kind:expr, $need:expr, $help:expr;)*) => {
        $crate::keys::keys($what, &$crate::key_rows! { $($name $(was $earlier)?: $kind, $need, $help;)* })
    };
    ($($name:ident $(was $earlier:ident)?: $kind:expr, $need:expr, $help:expr;)*) => {
        [$($crate::keys::Key {
            name: stringify!($name),
            renamed_from: $crate::keys::first(&[$(stringify!($earlier))?]),
            kind: $kind,
            need: $need,
            help: $help,
        }),*]
    };
}

/// The first of these names; `None` without one.
pub const fn first(names: &[&'static str]) -> Option<&'static str> {
    match names {
        [] => None,
        [name, ..] => Some(*name),
    }
}

/// A table that shares no keys.
pub const fn keys(what: &'static str, own: &'static [Key]) -> Keys {
    Keys { what, own, shared: &[] }
}

/// A role that a scheme can fill.
#[derive(Debug)]
pub struct NamedRole {
    /// Name of the role in messages.
    pub word: &'static str,
    /// Whether a scheme can fill the role.
    pub fits: fn(&Scheme) -> bool,
}

/// All roles of a scheme.
pub static SCHEME: NamedRole = NamedRole { word: "scheme", fits: |scheme| !scheme.roles().is_empty() };
/// The part of a consumer.
pub static CONSUMER: NamedRole =
    NamedRole { word: "consumer scheme", fits: |scheme| scheme.consumer.is_some() };
/// The congestion control of a TCP sender.
pub static TCP_SENDER: NamedRole =
    NamedRole { word: "TCP sender scheme", fits: |scheme| scheme.sender.is_some() };
/// The strategy of a forwarder or of a prefix.
pub static STRATEGY: NamedRole = NamedRole { word: "strategy", fits: |scheme| scheme.strategy.is_some() };
/// All parts on a router.
pub static ROUTER_PART: NamedRole = NamedRole { word: "router part", fits: |scheme| scheme.router.is_some() };
/// Role of the network controller.
pub static CONTROLLER: NamedRole =
    NamedRole { word: "network controller", fits: |scheme| scheme.controller.is_some() };
/// Recovery of lost frames by both ends of a link.
pub static LINK_SERVICE: NamedRole =
    NamedRole { word: "link service", fits: |scheme| scheme.link_service.is_some() };
/// One of a queue's disciplines.
pub static DISCIPLINE: NamedRole =
    NamedRole { word: "queue discipline", fits: |scheme| scheme.discipline.is_some() };
