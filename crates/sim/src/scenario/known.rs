//! The declaration of the keys of each table, from the root down to any value.

use tidegate_settings::keys::{KeyKind, Keys};

use super::keys;

/// The rule that gives the keys of a table.
#[derive(Clone, Copy)]
pub(super) enum Known {
    /// Each key is declared.
    Keys(&'static Keys),
    /// Every name is a key, with a value of this kind.
    Any(&'static KeyKind),
    /// Name and parameters of a scheme, which the schemes check.
    Settings,
}

impl Known {
    /// The table among the types that `kind` accepts.
    pub(super) fn of_kind(kind: &'static KeyKind) -> Option<Self> {
        match kind {
            KeyKind::Table(keys) => Some(Self::Keys(keys)),
            KeyKind::Open(kind) => Some(Self::Any(kind)),
            KeyKind::Scheme(_) => Some(Self::Settings),
            KeyKind::AnyOf(kinds) => kinds.iter().find_map(Self::of_kind),
            _ => None,
        }
    }

    /// Type of the value of `key`; the outer `None` for an unknown key.
    pub(super) fn kind_of(self, key: &str) -> Option<Option<&'static KeyKind>> {
        match self {
            Self::Keys(keys) => keys.find(key).map(|key| Some(&key.kind)),
            Self::Any(kind) => Some(Some(kind)),
            Self::Settings => Some(None),
        }
    }

    /// The key that a text sets in place of such a table.
    pub(super) fn short_form(self) -> Option<&'static str> {
        match self {
            Self::Settings => Some("name"),
            Self::Keys(keys) if std::ptr::eq(keys, &keys::PROFILE) => Some("kind"),
            Self::Keys(keys) if std::ptr::eq(keys, &keys::LOSS) => Some("model"),
            _ => None,
        }
    }
}

/// The kind of the elements of a list of this kind.
pub(super) fn element_kind(kind: &'static KeyKind) -> Option<&'static KeyKind> {
    match kind {
        KeyKind::List(element) => Some(element),
        KeyKind::AnyOf(kinds) => kinds.iter().find_map(element_kind),
        _ => None,
    }
}
