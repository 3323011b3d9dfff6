//! Type-length-value (TLV): a strict reader and a writer, on which all other modules are built.
//!
//! Strict as the NDN packet specification requires: numbers in their shortest form, types 1..=2^32-1, lengths
//! within the available bytes, NonNegativeIntegers of 1, 2, 4 or 8 bytes.

pub mod types;

use std::ops::Range;

use crate::error::DecodeError;

/// One element with its position in the packet.
#[derive(Clone, Copy, Debug)]
pub struct Element<'a> {
    /// TLV-TYPE of the element, 1..=2^32-1.
    pub kind: u32,
    /// TLV-VALUE of the element.
    pub value: &'a [u8],
    /// Offset of the first byte of the TLV-TYPE in the packet.
    pub start: usize,
    /// Offset of the first byte of the TLV-VALUE in the packet.
    pub value_start: usize,
}

impl<'a> Element<'a> {
    /// Offset of the first byte after the element.
    #[inline]
    pub const fn end(&self) -> usize {
        self.value_start + self.value.len()
    }

    /// Range of the TLV-VALUE in the packet.
    #[inline]
    pub const fn value_range(&self) -> Range<usize> {
        self.value_start..self.end()
    }

    /// The elements inside this one; their offsets count from the same origin.
    #[inline]
    pub const fn inside(&self) -> TlvReader<'a> {
        TlvReader { rest: self.value, at: self.value_start }
    }

    /// The value as a NonNegativeInteger.
    ///
    /// # Errors
    /// When the value has not 1, 2, 4 or 8 bytes.
    #[inline]
    pub fn integer(&self) -> Result<u64, DecodeError> {
        match *self.value {
            [a] => Ok(u64::from(a)),
            [a, b] => Ok(u64::from(u16::from_be_bytes([a, b]))),
            [a, b, c, d] => Ok(u64::from(u32::from_be_bytes([a, b, c, d]))),
            [a, b, c, d, e, f, g, h] => Ok(u64::from_be_bytes([a, b, c, d, e, f, g, h])),
            _ => Err(DecodeError::Length {
                element: self.kind,
                bytes: self.value.len(),
                accepted: "1, 2, 4 or 8",
            }),
        }
    }

    /// The value as `N` bytes; `accepted` is `N` as text for the error.
    ///
    /// # Errors
    /// When the value has another length.
    #[inline]
    pub fn bytes<const N: usize>(&self, accepted: &'static str) -> Result<[u8; N], DecodeError> {
        let wrong = |_| DecodeError::Length { element: self.kind, bytes: self.value.len(), accepted };
        self.value.try_into().map_err(wrong)
    }
}

/// Whether an unknown element of this type makes its packet invalid.
#[inline]
pub const fn is_critical(kind: u32) -> bool {
    kind <= 31 || kind & 1 == 1
}

/// Reads elements one after the other.
#[derive(Clone, Copy, Debug)]
pub struct TlvReader<'a> {
    rest: &'a [u8],
    at: usize,
}

impl<'a> TlvReader<'a> {
    /// Elements of `buffer`, offsets counted from its beginning.
    #[inline]
    pub const fn new(buffer: &'a [u8]) -> Self {
        Self { rest: buffer, at: 0 }
    }

    /// Elements of `buffer`, which starts at offset `at` of the packet.
    #[inline]
    pub const fn at(buffer: &'a [u8], at: usize) -> Self {
        Self { rest: buffer, at }
    }

    /// The next element; `None` at the end.
    ///
    /// # Errors
    /// If the remaining bytes are no complete element.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "an error ends the reading; an iterator would go on")]
    pub fn next(&mut self) -> Result<Option<Element<'a>>, DecodeError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let start = self.at;
        let (kind, length) = match *self.rest {
            // Nearly all elements: one byte each.
            [kind @ 1..=252, length @ 0..=252, ref rest @ ..] => {
                (self.rest, self.at) = (rest, self.at + 2);
                (u32::from(kind), usize::from(length))
            }
            _ => self.long_header()?,
        };
        let Some((value, rest)) = self.rest.split_at_checked(length) else {
            return Err(self.truncated(length as u64));
        };
        let value_start = self.at;
        (self.rest, self.at) = (rest, value_start + length);
        Ok(Some(Element { kind, value, start, value_start }))
    }

    /// The only element in the remaining bytes.
    ///
    /// # Errors
    /// When nothing is left, or more than one element.
    #[inline]
    pub fn only(mut self) -> Result<Element<'a>, DecodeError> {
        let Some(element) = self.next()? else {
            // The shortest element has two bytes: a type and the length 0.
            return Err(DecodeError::Truncated { needed: 2, left: 0 });
        };
        if self.rest.is_empty() { Ok(element) } else { Err(DecodeError::Trailing(self.rest.len())) }
    }

    /// Type and length of an element, of which at least one is longer than a byte.
    #[inline(never)]
    fn long_header(&mut self) -> Result<(u32, usize), DecodeError> {
        let kind = self.number()?;
        let kind = match u32::try_from(kind) {
            Ok(kind) if kind > 0 => kind,
            _ => return Err(DecodeError::Type(kind)),
        };
        let length = self.number()?;
        let length = usize::try_from(length).map_err(|_| self.truncated(length))?;
        Ok((kind, length))
    }

    /// A TLV-TYPE or TLV-LENGTH.
    fn number(&mut self) -> Result<u64, DecodeError> {
        let (number, floor, width) = match *self.rest {
            [first @ 0..=252, ..] => (u64::from(first), 0, 1),
            [253, a, b, ..] => (u64::from(u16::from_be_bytes([a, b])), 253, 3),
            [254, a, b, c, d, ..] => (u64::from(u32::from_be_bytes([a, b, c, d])), 0x1_0000, 5),
            [255, a, b, c, d, e, f, g, h, ..] => {
                (u64::from_be_bytes([a, b, c, d, e, f, g, h]), 0x1_0000_0000, 9)
            }
            [253, ..] => return Err(self.truncated(3)),
            [254, ..] => return Err(self.truncated(5)),
            [255, ..] => return Err(self.truncated(9)),
            _ => return Err(self.truncated(1)),
        };
        if number < floor {
            return Err(DecodeError::NotShortest(number));
        }
        self.rest = &self.rest[width..];
        self.at += width;
        Ok(number)
    }

    #[cold]
    fn truncated(&self, needed: u64) -> DecodeError {
        DecodeError::Truncated { needed, left: self.rest.len() }
    }
}

/// Bytes of a TLV-TYPE or TLV-LENGTH.
#[inline]
pub const fn number_len(number: u64) -> usize {
    match number {
        0..=252 => 1,
        253..=0xFFFF => 3,
        0x1_0000..=0xFFFF_FFFF => 5,
        _ => 9,
    }
}

/// Bytes of an element with `value_len` bytes of value.
#[inline]
pub const fn element_len(kind: u32, value_len: usize) -> usize {
    number_len(kind as u64) + number_len(value_len as u64) + value_len
}

/// Bytes of the shortest NonNegativeInteger that holds `number`.
#[inline]
pub const fn integer_len(number: u64) -> usize {
    match number {
        0..=0xFF => 1,
        0x100..=0xFFFF => 2,
        0x1_0000..=0xFFFF_FFFF => 4,
        _ => 8,
    }
}

/// Appends a TLV-TYPE or TLV-LENGTH.
#[inline]
pub fn write_number(out: &mut Vec<u8>, number: u64) {
    let bytes = number.to_be_bytes();
    match number_len(number) {
        1 => out.push(bytes[7]),
        3 => out.extend_from_slice(&[253, bytes[6], bytes[7]]),
        5 => out.extend_from_slice(&[254, bytes[4], bytes[5], bytes[6], bytes[7]]),
        _ => {
            out.push(255);
            out.extend_from_slice(&bytes);
        }
    }
}

/// Appends type and length of an element; its value is appended by the caller.
#[inline]
pub fn write_header(out: &mut Vec<u8>, kind: u32, value_len: usize) {
    write_number(out, u64::from(kind));
    write_number(out, value_len as u64);
}

/// Appends an element to `out`.
#[inline]
pub fn write_element(out: &mut Vec<u8>, kind: u32, value: &[u8]) {
    write_header(out, kind, value.len());
    out.extend_from_slice(value);
}

/// Appends an element whose value is `number` as the shortest NonNegativeInteger.
#[inline]
pub fn write_integer(out: &mut Vec<u8>, kind: u32, number: u64) {
    let len = integer_len(number);
    write_header(out, kind, len);
    out.extend_from_slice(&number.to_be_bytes()[8 - len..]);
}

#[cfg(test)]
mod tests;
