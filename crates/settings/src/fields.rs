//! Reads one table of the document by its declared keys; reading continues after problems, which are all
//! noted.

use std::borrow::Cow;

use tidegate_core::ndn::face::Limit;
use tidegate_core::units::{BitRate, ByteCount, Frequency, Packets, Span};

use crate::document::{Entry, Item, Number, Table, TomlValue};
use crate::error::Place;
use crate::keys::{Key, KeyKind, KeyNeed, Keys};
use crate::read_context::{ReadContext, show};
use crate::values::{self, read_quantity, read_text, shown};

/// One table and the keys it may have.
pub struct Fields<'a> {
    /// State of reading the document.
    pub context: &'a ReadContext<'a>,
    /// The table's header or braces.
    pub place: Place,
    keys: &'static Keys,
    entries: &'a [Entry],
}

impl<'a> Fields<'a> {
    /// Opens a table; notes keys that are unknown and keys that are missing.
    pub fn open(context: &'a ReadContext<'a>, item: &'a Item, keys: &'static Keys) -> Option<Self> {
        let TomlValue::Table(table) = &item.value else {
            return context
                .refused(item.place, format!("{} is {}; a table is needed", keys.what, item.value.kind()));
        };
        Some(Self::over(context, item.place, &table.0, keys))
    }

    /// As [`open`](Self::open), for entries without an enclosing table.
    pub fn over(
        context: &'a ReadContext<'a>,
        place: Place,
        entries: &'a [Entry],
        keys: &'static Keys,
    ) -> Self {
        for entry in entries.iter().filter(|entry| keys.find(&entry.key).is_none()) {
            if context.is_full() {
                break;
            }
            refuse_key(context, entry, keys);
        }
        let fields = Self { context, place, keys, entries };
        for key in keys.iter().filter(|key| key.need == KeyNeed::Must && fields.entry(key.name).is_none()) {
            context.refuse(place, format!("{} is missing; {} requires it", key.shown(), keys.what));
        }
        fields
    }

    /// The outermost table of the document.
    pub fn root(context: &'a ReadContext<'a>, document: &'a Table) -> Self {
        Self::over(context, Place::default(), &document.0, context.format.root)
    }

    /// A table without any keys.
    pub fn empty(context: &'a ReadContext<'a>, place: Place, keys: &'static Keys) -> Self {
        Self { context, place, keys, entries: &[] }
    }

    /// All keys that are given.
    pub fn entries(&self) -> &'a [Entry] {
        self.entries
    }

    /// The entry of `key`, if given.
    pub fn entry(&self, key: &str) -> Option<&'a Entry> {
        // A key that is read but not declared would be refused as unknown in every file.
        debug_assert!(self.keys.find(key).is_some(), "{key} is declared in {}", self.keys.what);
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The value of `key`, if given.
    pub fn item(&self, key: &str) -> Option<&'a Item> {
        self.entry(key).map(|entry| &entry.item)
    }

    /// Place of the value of `key`; if there is none, of the table.
    pub fn place_of(&self, key: &str) -> Place {
        self.item(key).map_or(self.place, |item| item.place)
    }

    /// The value of `key` as written, for messages.
    pub fn shown(&self, key: &str) -> String {
        self.item(key).map_or_else(String::new, |item| shown(&item.value))
    }

    /// Notes a problem with the value of `key`.
    pub fn refuse(&self, key: &str, message: impl Into<String>) {
        self.context.refuse(self.place_of(key), message);
    }

    /// Notes a problem at `key` and returns `None`, the result of a reader that stops there.
    pub fn refused<T>(&self, key: &str, message: impl Into<String>) -> Option<T> {
        self.context.refused(self.place_of(key), message)
    }

    /// Returns a value that was read from `key`; its message is noted there if it was refused.
    pub fn accept<T>(&self, key: &str, read: Result<T, impl Into<String>>) -> Option<T> {
        self.context.accept(self.place_of(key), read)
    }

    /// Notes that `key`, which may be a list of alternatives, is missing.
    pub fn refuse_missing(&self, key: &str) {
        self.context.refuse(self.place, format!("{key} is missing; {} requires it", self.keys.what));
    }

    /// Reads `key` or its default.
    fn read<T>(&self, key: &str, read: impl FnOnce(&Item) -> Result<T, String>) -> Option<T> {
        let declared = self.keys.find(key)?;
        let item = match (self.item(key), declared.need) {
            (Some(item), _) => Cow::Borrowed(item),
            // Read as if written, so that a default is checked like any other value.
            (None, KeyNeed::Else(default)) => Cow::Owned(default_item(declared, default, self.place)),
            (None, _) => return None,
        };
        match read(&item) {
            Ok(value) => Some(value),
            Err(why) => self.context.refused(item.place, format!("{key}: {why}")),
        }
    }

    fn kind(&self, key: &str) -> &'static KeyKind {
        self.keys.find(key).map_or(&KeyKind::Text, |key| &key.kind)
    }

    /// Reads a text, if it is given.
    pub fn text(&self, key: &str) -> Option<String> {
        self.read(key, |item| read_text(item).map(str::to_owned))
    }

    /// One of the declared words and its meaning in `all`.
    pub fn word<T: Copy>(&self, key: &str, all: &[(T, &'static str)]) -> Option<T> {
        let item = self.read_item(key)?;
        let text = match read_text(&item) {
            Ok(text) => text,
            Err(why) => {
                return self.context.refused(item.place, format!("{key}: {why}"));
            }
        };
        let found = all.iter().find(|(_, word)| *word == text);
        if found.is_none() {
            self.context.refuse_word(item.place, key, text, all.iter().map(|(_, word)| *word));
        }
        found.map(|(value, _)| *value)
    }

    fn read_item(&self, key: &str) -> Option<Cow<'a, Item>> {
        let declared = self.keys.find(key)?;
        match (self.item(key), declared.need) {
            (Some(item), _) => Some(Cow::Borrowed(item)),
            (None, KeyNeed::Else(default)) => Some(Cow::Owned(default_item(declared, default, self.place))),
            (None, _) => None,
        }
    }

    /// Reads `true` or `false`, if given.
    pub fn flag(&self, key: &str) -> Option<bool> {
        self.read(key, |item| match &item.value {
            TomlValue::Bool(truth) => Ok(*truth),
            other => Err(format!("{} is not true or false", shown(other))),
        })
    }

    /// A whole number within the declared bounds.
    pub fn count(&self, key: &str) -> Option<i64> {
        self.read(key, |item| values::read_count(item, self.kind(key)))
    }

    /// As [`count`](Self::count), for keys whose maximum fits into 32 bits.
    pub fn count_u32(&self, key: &str) -> Option<u32> {
        self.count(key).and_then(|count| u32::try_from(count).ok())
    }

    /// A number within the declared bounds.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.read(key, |item| values::read_number(item, self.kind(key)))
    }

    /// A span of time.
    pub fn time(&self, key: &str) -> Option<Span> {
        self.read(key, |item| values::read_time(item, self.kind(key)))
    }

    /// A rate above zero.
    pub fn rate(&self, key: &str) -> Option<BitRate> {
        self.read(key, |item| {
            let rate: BitRate = read_quantity(item, "10Mbps")?;
            if rate.as_bps() > 0 {
                Ok(rate)
            } else {
                Err(format!("{} is not above zero", shown(&item.value)))
            }
        })
    }

    /// A number of events per time, above zero.
    pub fn frequency(&self, key: &str) -> Option<Frequency> {
        self.read(key, |item| {
            let frequency: Frequency = read_quantity(item, "100/s")?;
            if frequency.per_second() > 0.0 {
                Ok(frequency)
            } else {
                Err(format!("{} is not above zero", shown(&item.value)))
            }
        })
    }

    /// A number of bytes within the declared bound.
    pub fn size(&self, key: &str) -> Option<ByteCount> {
        let KeyKind::Size(max) = *self.kind(key) else { return None };
        self.read(key, |item| {
            let size: ByteCount = read_quantity(item, "20MB")?;
            match size.get() {
                0 => Err(format!("{} is not above zero", shown(&item.value))),
                bytes if bytes > max => Err(format!("{} is more than {max} bytes", shown(&item.value))),
                _ => Ok(size),
            }
        })
    }

    /// A number of packets.
    pub fn packets(&self, key: &str) -> Option<Packets> {
        self.read(key, |item| read_quantity(item, "64pkt"))
    }

    /// A limit in packets or bytes.
    pub fn limit(&self, key: &str) -> Option<Limit> {
        self.read(key, values::read_limit)
    }

    /// The tables of a list, opened.
    pub fn tables(&self, key: &str, keys: &'static Keys) -> Vec<Fields<'a>> {
        self.list(key).iter().filter_map(|item| Fields::open(self.context, item, keys)).collect()
    }

    /// The table under `key`, opened.
    pub fn table(&self, key: &str, keys: &'static Keys) -> Option<Fields<'a>> {
        self.item(key).and_then(|item| Fields::open(self.context, item, keys))
    }

    /// The items of a list; none if it is missing.
    pub fn list(&self, key: &str) -> &'a [Item] {
        match self.item(key).map(|item| (item, &item.value)) {
            None => &[],
            Some((_, TomlValue::List(items))) => items,
            Some((item, other)) => {
                let hint = match self.kind(key) {
                    KeyKind::List(KeyKind::Table(keys)) => format!("; write {}", keys.what),
                    _ => String::new(),
                };
                self.context.refuse(item.place, format!("{key}: {} is not a list{hint}", shown(other)));
                &[]
            }
        }
    }
}

fn refuse_key(context: &ReadContext<'_>, entry: &Entry, keys: &Keys) {
    let suggestion = keys.nearest(&entry.key, context.format.synonyms).map(str::to_owned);
    let known: Vec<&str> = keys.iter().map(|key| key.name).collect();
    // All keys are listed only if none is similar.
    let known = if suggestion.is_some() {
        String::new()
    } else {
        format!("; {} has {}", keys.what, known.join(", "))
    };
    let message = format!("unknown key {}{known}", show(&entry.key));
    context.problems.borrow_mut().add(entry.place, message, suggestion);
}

/// The declared default as an item, as if written in the file.
fn default_item(key: &Key, text: &str, place: Place) -> Item {
    let value = match key.kind {
        KeyKind::Bool => TomlValue::Bool(text == "true"),
        KeyKind::Count(..) | KeyKind::Number(..) => TomlValue::Number(Number {
            value: text.parse().unwrap_or(f64::NAN),
            whole: text.parse().ok(),
            written: text.to_owned(),
        }),
        _ => TomlValue::Text(text.to_owned()),
    };
    Item { place, value }
}
