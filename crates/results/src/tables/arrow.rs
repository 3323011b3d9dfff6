//! The columns as an Arrow schema, for the key-value metadata of a Parquet file: readers based on Arrow show
//! from it the unit and the definition of each field.
//!
//! Source: the Apache Arrow columnar format, `Message.fbs` and `Schema.fbs` (metadata version 5), in the encapsulated
//! form with its length in front and as base64, as Arrow's own writers store it. Tables of FlatBuffers are laid out
//! front to back here: each vtable stands before its table, and every offset points forward.

use base64ct::{Base64, Encoding};

use super::{Column, ColumnData};

/// Key of the entry.
pub(super) const KEY: &str = "ARROW:schema";

/// Version of the message's format: `MetadataVersion::V5`.
const VERSION: u16 = 4;
/// Kind of the message: `MessageHeader::Schema`.
const HEADER_SCHEMA: u8 = 1;

/// The schema of `columns` as the value of [`KEY`].
pub(super) fn schema(columns: &[Column]) -> String {
    let message = message(columns);
    // The first word marks a message of the present encapsulated format, whose length follows.
    let parts = [&u32::MAX.to_le_bytes()[..], &(message.len() as u32).to_le_bytes(), &message];
    Base64::encode_string(&parts.concat())
}

/// The `Message` with the schema of `columns`.
fn message(columns: &[Column]) -> Vec<u8> {
    let mut buffer = Buffer::default();
    let root = buffer.offset();
    let [message, header] =
        buffer.table(&[VtableSlot::Short(VERSION), VtableSlot::Byte(HEADER_SCHEMA), VtableSlot::Offset]);
    buffer.point(root, message);
    let [schema, fields] = buffer.table(&[VtableSlot::None, VtableSlot::Offset]);
    buffer.point(header, schema);
    buffer.vector(fields, columns, field);
    buffer.align(8);
    buffer.0
}

/// Writes a `Field` that the offset `at` points to.
fn field(buffer: &mut Buffer, at: usize, column: &Column) {
    // Numbers in `union Type`; `Int` has a width and no sign here, `FloatingPoint` a precision.
    let (kind, slots): (u8, &[VtableSlot]) = match &column.data {
        ColumnData::Bool(_) => (6, &[]),
        ColumnData::U32(_) => (2, &[VtableSlot::Int(32), VtableSlot::Byte(0)]),
        ColumnData::U64(_) => (2, &[VtableSlot::Int(64), VtableSlot::Byte(0)]),
        ColumnData::F32(_) => (3, &[VtableSlot::Short(1)]),
        ColumnData::F64(_) => (3, &[VtableSlot::Short(2)]),
        ColumnData::Text { .. } => (5, &[]),
    };
    let is_nullable = VtableSlot::Byte(u8::from(column.present.is_some()));
    let [field, name, type_of, children, metadata] = buffer.table(&[
        VtableSlot::Offset,
        is_nullable,
        VtableSlot::Byte(kind),
        VtableSlot::Offset,
        VtableSlot::None,
        VtableSlot::Offset,
        VtableSlot::Offset,
    ]);
    buffer.point(at, field);
    buffer.string(name, column.name());
    let [shape] = buffer.table(slots);
    buffer.point(type_of, shape);
    buffer.vector(children, &[] as &[()], |_, _, ()| {});
    let mut entries = vec![("definition", &*column.text)];
    if !column.unit().is_empty() {
        entries.push(("unit", column.unit()));
    }
    buffer.vector(metadata, &entries, |buffer, at, (key, value)| {
        let [entry, key_at, value_at] = buffer.table(&[VtableSlot::Offset, VtableSlot::Offset]);
        buffer.point(at, entry);
        buffer.string(key_at, key);
        buffer.string(value_at, value);
    });
}

/// A field of a table of FlatBuffers.
#[derive(Clone, Copy, Debug)]
enum VtableSlot {
    None,
    Byte(u8),
    Short(u16),
    Int(u32),
    /// An offset, which is set when its target is written.
    Offset,
}

impl VtableSlot {
    fn size(self) -> usize {
        match self {
            Self::None => 0,
            Self::Byte(_) => 1,
            Self::Short(_) => 2,
            Self::Int(_) | Self::Offset => 4,
        }
    }
}

/// FlatBuffers, front to back.
#[derive(Debug, Default)]
struct Buffer(Vec<u8>);

impl Buffer {
    fn align(&mut self, to: usize) {
        self.0.resize(self.0.len().next_multiple_of(to), 0);
    }

    /// Appends an offset that is set later; returns its position.
    fn offset(&mut self) -> usize {
        self.align(4);
        self.0.extend([0; 4]);
        self.0.len() - 4
    }

    /// Sets the offset at `at` to point to `target`, which is after it.
    fn point(&mut self, at: usize, target: usize) {
        let distance = (target - at) as u32;
        self.0[at..at + 4].copy_from_slice(&distance.to_le_bytes());
    }

    /// Writes a table; returns its position, and those of its `N - 1` offsets.
    fn table<const N: usize>(&mut self, slots: &[VtableSlot]) -> [usize; N] {
        let mut end = 4usize;
        let places: Vec<usize> = slots
            .iter()
            .map(|slot| {
                let place = end.next_multiple_of(slot.size().max(1));
                end = place + slot.size();
                // A vtable has 0 for a field with its default value.
                if slot.size() > 0 { place } else { 0 }
            })
            .collect();
        self.align(2);
        let vtable = self.0.len();
        let head = [4 + 2 * slots.len(), end];
        for number in head.iter().chain(&places) {
            self.0.extend((*number as u16).to_le_bytes());
        }
        self.align(4);
        let table = self.0.len();
        self.0.extend(((table - vtable) as u32).to_le_bytes());
        self.0.resize(table + end, 0);
        let mut found = vec![table];
        for (slot, place) in slots.iter().zip(places) {
            let at = table + place;
            match slot {
                VtableSlot::None => {}
                VtableSlot::Byte(value) => self.0[at] = *value,
                VtableSlot::Short(value) => self.0[at..at + 2].copy_from_slice(&value.to_le_bytes()),
                VtableSlot::Int(value) => self.0[at..at + 4].copy_from_slice(&value.to_le_bytes()),
                VtableSlot::Offset => found.push(at),
            }
        }
        found.try_into().expect("as many offsets as the caller names")
    }

    /// Writes a string that the offset `at` points to.
    fn string(&mut self, at: usize, text: &str) {
        let string = self.offset();
        self.0[string..].copy_from_slice(&(text.len() as u32).to_le_bytes());
        // Strings end with a zero, which their length does not include.
        self.0.extend(text.bytes().chain([0]));
        self.point(at, string);
    }

    /// Writes a vector that the offset `at` points to, of tables that `write` writes, each with the position
    /// of its offset.
    fn vector<T>(&mut self, at: usize, items: &[T], write: impl Fn(&mut Self, usize, &T)) {
        let vector = self.offset();
        self.0[vector..].copy_from_slice(&(items.len() as u32).to_le_bytes());
        self.point(at, vector);
        let first = self.0.len();
        self.0.resize(first + 4 * items.len(), 0);
        for (place, item) in items.iter().enumerate() {
            write(self, first + 4 * place, item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table as readers of FlatBuffers see it: its fields are found through its vtable.
    #[derive(Clone, Copy)]
    struct Seen<'a> {
        bytes: &'a [u8],
        at: usize,
    }

    impl<'a> Seen<'a> {
        fn short(&self, at: usize) -> usize {
            usize::from(u16::from_le_bytes(self.bytes[at..at + 2].try_into().expect("two bytes")))
        }

        fn int(&self, at: usize) -> usize {
            assert!(at.is_multiple_of(4), "{at} is not aligned");
            u32::from_le_bytes(self.bytes[at..at + 4].try_into().expect("four bytes")) as usize
        }

        /// Table that the offset at `at` points to.
        fn target(&self, at: usize) -> Self {
            Self { at: at + self.int(at), ..*self }
        }

        /// Offset of a field; `None` if it is omitted.
        fn field(&self, number: usize) -> Option<usize> {
            let vtable = self.at - self.int(self.at);
            let entry = 4 + 2 * number;
            let place = if entry < self.short(vtable) { self.short(vtable + entry) } else { 0 };
            (place > 0).then_some(self.at + place)
        }

        fn byte(&self, number: usize) -> u8 {
            self.field(number).map_or(0, |at| self.bytes[at])
        }

        fn table(&self, number: usize) -> Self {
            self.target(self.field(number).expect("the field is there"))
        }

        fn text(&self, number: usize) -> &'a str {
            let text = self.table(number);
            let (start, length) = (text.at + 4, text.int(text.at));
            assert_eq!(self.bytes[start + length], 0, "strings end with a zero");
            std::str::from_utf8(&self.bytes[start..start + length]).expect("UTF-8")
        }

        fn vector(&self, number: usize) -> Vec<Self> {
            let vector = self.table(number);
            (1..=vector.int(vector.at)).map(|place| vector.target(vector.at + 4 * place)).collect()
        }
    }

    #[test]
    fn readers_of_the_schema_find_the_unit_and_the_definition_of_each_field() {
        for name in ["flows", "flow_samples", "link_samples", "events"] {
            let columns = crate::tables::build::shape(name).columns;
            let bytes = message(&columns);
            let message = Seen { bytes: &bytes, at: 0 }.target(0);
            assert_eq!((message.short(message.field(0).expect("a version")), message.byte(1)), (4, 1));
            let fields = message.table(2).vector(1);
            assert_eq!(fields.len(), columns.len());
            for (field, column) in fields.iter().zip(&columns) {
                assert_eq!(field.text(0), column.name());
                assert_eq!(field.byte(1), u8::from(column.present.is_some()), "{}", column.name());
                let is_text = matches!(column.data, ColumnData::Text { .. });
                assert_eq!(field.byte(2) == 5, is_text, "{}", column.name());
                let metadata = field.vector(6);
                let reported: Vec<(&str, &str)> =
                    metadata.iter().map(|entry| (entry.text(0), entry.text(1))).collect();
                let unit = (!column.unit().is_empty()).then_some(("unit", column.unit()));
                assert_eq!(
                    reported,
                    [("definition", &*column.text)].into_iter().chain(unit).collect::<Vec<_>>()
                );
            }
        }
    }
}
