//! Type-length-value: the strict reader and the writer that everything else is made of.
//!
//! Strict as the NDN packet specification demands: numbers in their shortest form, types 1..=2^32-1, lengths
//! that fit what is there, NonNegativeIntegers of 1, 2, 4 or 8 bytes.

use std::ops::Range;

use crate::error::DecodeError;

/// TLV-TYPE numbers of packet format 0.3, NDNLPv2 and the naming conventions.
#[expect(missing_docs, reason = "the names are those of the specifications")]
pub mod types {
    pub const INTEREST: u32 = 5;
    pub const DATA: u32 = 6;
    pub const NAME: u32 = 7;

    pub const IMPLICIT_SHA256_DIGEST: u32 = 1;
    pub const PARAMETERS_SHA256_DIGEST: u32 = 2;
    pub const GENERIC_NAME_COMPONENT: u32 = 8;
    pub const KEYWORD_NAME_COMPONENT: u32 = 32;
    pub const SEGMENT_NAME_COMPONENT: u32 = 50;
    pub const VERSION_NAME_COMPONENT: u32 = 54;

    pub const CAN_BE_PREFIX: u32 = 33;
    pub const MUST_BE_FRESH: u32 = 18;
    pub const FORWARDING_HINT: u32 = 30;
    pub const NONCE: u32 = 10;
    pub const INTEREST_LIFETIME: u32 = 12;
    pub const HOP_LIMIT: u32 = 34;
    pub const APPLICATION_PARAMETERS: u32 = 36;
    pub const INTEREST_SIGNATURE_INFO: u32 = 44;
    pub const INTEREST_SIGNATURE_VALUE: u32 = 46;

    pub const META_INFO: u32 = 20;
    pub const CONTENT: u32 = 21;
    pub const SIGNATURE_INFO: u32 = 22;
    pub const SIGNATURE_VALUE: u32 = 23;
    pub const CONTENT_TYPE: u32 = 24;
    pub const FRESHNESS_PERIOD: u32 = 25;
    pub const FINAL_BLOCK_ID: u32 = 26;

    pub const SIGNATURE_TYPE: u32 = 27;
    pub const KEY_LOCATOR: u32 = 28;
    pub const KEY_DIGEST: u32 = 29;
    pub const SIGNATURE_NONCE: u32 = 38;
    pub const SIGNATURE_TIME: u32 = 40;
    pub const SIGNATURE_SEQ_NUM: u32 = 42;
    pub const VALIDITY_PERIOD: u32 = 253;

    pub const LP_PACKET: u32 = 100;
    pub const FRAGMENT: u32 = 80;
    pub const SEQUENCE: u32 = 81;
    pub const FRAG_INDEX: u32 = 82;
    pub const FRAG_COUNT: u32 = 83;
    pub const PIT_TOKEN: u32 = 98;
    pub const NACK: u32 = 800;
    pub const NACK_REASON: u32 = 801;
    pub const CONGESTION_MARK: u32 = 832;
    pub const ACK: u32 = 836;
    /// Ours: a loss notice. Odd, so that a node that does not know it drops the packet.
    pub const LOSS_NOTICE: u32 = 901;
}

/// One element and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Element<'a> {
    /// TLV-TYPE, 1..=2^32-1.
    pub kind: u32,
    /// TLV-VALUE.
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

    /// Where the TLV-VALUE stands in the packet.
    #[inline]
    pub const fn value_range(&self) -> Range<usize> {
        self.value_start..self.end()
    }

    /// The elements inside this one; their offsets count from the same beginning.
    #[inline]
    pub const fn inside(&self) -> Reader<'a> {
        Reader { rest: self.value, at: self.value_start }
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

    /// The value as `N` bytes; `accepted` is `N` in words for the error.
    ///
    /// # Errors
    /// When the value has another length.
    #[inline]
    pub fn bytes<const N: usize>(&self, accepted: &'static str) -> Result<[u8; N], DecodeError> {
        let wrong = |_| DecodeError::Length { element: self.kind, bytes: self.value.len(), accepted };
        self.value.try_into().map_err(wrong)
    }
}

/// Whether an unknown element of this type makes its packet unreadable.
#[inline]
pub const fn is_critical(kind: u32) -> bool {
    kind <= 31 || kind & 1 == 1
}

/// Reads elements one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Elements of `buffer`, offsets counted from its beginning.
    #[inline]
    pub const fn new(buffer: &'a [u8]) -> Self {
        Self { rest: buffer, at: 0 }
    }

    /// Elements of `buffer`, whose first byte is number `at` of the packet.
    #[inline]
    pub const fn at(buffer: &'a [u8], at: usize) -> Self {
        Self { rest: buffer, at }
    }

    /// The next element; `None` at the end.
    ///
    /// # Errors
    /// When what stands there is no whole element.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "an error ends the reading; an iterator would go on")]
    pub fn next(&mut self) -> Result<Option<Element<'a>>, DecodeError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let start = self.at;
        let kind = self.number()?;
        let kind = match u32::try_from(kind) {
            Ok(kind) if kind > 0 => kind,
            _ => return Err(DecodeError::Type(kind)),
        };
        let length = self.number()?;
        let left = self.rest.len();
        let Some((value, rest)) =
            usize::try_from(length).ok().and_then(|len| self.rest.split_at_checked(len))
        else {
            return Err(DecodeError::Truncated { needed: length, left });
        };
        let value_start = self.at;
        self.rest = rest;
        self.at += value.len();
        Ok(Some(Element { kind, value, start, value_start }))
    }

    /// The one element that fills what is left.
    ///
    /// # Errors
    /// When nothing is left, or more than one element.
    #[inline]
    pub fn only(mut self) -> Result<Element<'a>, DecodeError> {
        let Some(element) = self.next()? else {
            return Err(DecodeError::Truncated { needed: 2, left: 0 });
        };
        if self.rest.is_empty() { Ok(element) } else { Err(DecodeError::Trailing(self.rest.len())) }
    }

    /// A TLV-TYPE or TLV-LENGTH.
    #[inline]
    fn number(&mut self) -> Result<u64, DecodeError> {
        match self.rest {
            [first @ 0..=252, rest @ ..] => {
                self.rest = rest;
                self.at += 1;
                Ok(u64::from(*first))
            }
            _ => self.long_number(),
        }
    }

    #[cold]
    fn long_number_is_wrong(&self, width: u64) -> DecodeError {
        DecodeError::Truncated { needed: width, left: self.rest.len() }
    }

    #[inline]
    fn long_number(&mut self) -> Result<u64, DecodeError> {
        let (number, floor, width) = match *self.rest {
            [253, a, b, ..] => (u64::from(u16::from_be_bytes([a, b])), 253, 3),
            [254, a, b, c, d, ..] => (u64::from(u32::from_be_bytes([a, b, c, d])), 0x1_0000, 5),
            [255, a, b, c, d, e, f, g, h, ..] => {
                (u64::from_be_bytes([a, b, c, d, e, f, g, h]), 0x1_0000_0000, 9)
            }
            [253, ..] => return Err(self.long_number_is_wrong(3)),
            [254, ..] => return Err(self.long_number_is_wrong(5)),
            [255, ..] => return Err(self.long_number_is_wrong(9)),
            _ => return Err(self.long_number_is_wrong(1)),
        };
        if number < floor {
            return Err(DecodeError::NotShortest(number));
        }
        self.rest = &self.rest[width..];
        self.at += width;
        Ok(number)
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

/// Appends type and length of an element whose value follows.
#[inline]
pub fn write_header(out: &mut Vec<u8>, kind: u32, value_len: usize) {
    write_number(out, u64::from(kind));
    write_number(out, value_len as u64);
}

/// Appends an element.
#[inline]
pub fn write_element(out: &mut Vec<u8>, kind: u32, value: &[u8]) {
    write_header(out, kind, value.len());
    out.extend_from_slice(value);
}

/// Appends an element whose value is the shortest NonNegativeInteger that holds `number`.
#[inline]
pub fn write_integer(out: &mut Vec<u8>, kind: u32, number: u64) {
    let len = integer_len(number);
    write_header(out, kind, len);
    out.extend_from_slice(&number.to_be_bytes()[8 - len..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<(u32, Vec<u8>), DecodeError> {
        Reader::new(bytes).only().map(|element| (element.kind, element.value.to_vec()))
    }

    #[test]
    fn types_and_lengths_of_every_width_are_read_back() {
        for kind in [1, 252, 253, 65_535, 65_536, u32::MAX] {
            for len in [0, 1, 252, 253, 65_535, 65_536] {
                let mut bytes = Vec::new();
                write_element(&mut bytes, kind, &vec![7; len]);
                assert_eq!(bytes.len(), element_len(kind, len));
                assert_eq!(read(&bytes), Ok((kind, vec![7; len])));
            }
        }
    }

    #[test]
    fn a_number_that_has_a_shorter_form_is_refused() {
        for bytes in [
            &[253, 0, 7, 0][..],
            &[253, 0, 252, 0],
            &[254, 0, 0, 255, 255, 0],
            &[255, 0, 0, 0, 0, 255, 255, 255, 255, 0],
            &[7, 253, 0, 0],
        ] {
            assert!(matches!(read(bytes), Err(DecodeError::NotShortest(_))), "{bytes:?}");
        }
    }

    #[test]
    fn type_zero_and_types_past_32_bits_are_refused() {
        assert_eq!(read(&[0, 0]), Err(DecodeError::Type(0)));
        assert_eq!(read(&[255, 0, 0, 0, 1, 0, 0, 0, 0, 0]), Err(DecodeError::Type(1 << 32)));
    }

    #[test]
    fn a_length_past_the_end_is_refused_whatever_its_size() {
        for bytes in
            [&[7][..], &[7, 1], &[7, 255, 255, 255, 255, 255, 255, 255, 255, 255], &[7, 253, 1], &[254, 1]]
        {
            assert!(matches!(read(bytes), Err(DecodeError::Truncated { .. })), "{bytes:?}");
        }
    }

    #[test]
    fn bytes_after_the_only_element_are_refused() {
        assert_eq!(read(&[7, 0, 8]), Err(DecodeError::Trailing(1)));
        assert_eq!(read(&[]), Err(DecodeError::Truncated { needed: 2, left: 0 }));
    }

    #[test]
    fn a_non_negative_integer_has_one_two_four_or_eight_bytes() {
        for len in 0..=9 {
            let mut bytes = Vec::new();
            write_element(&mut bytes, 12, &vec![1; len]);
            let is_integer = Reader::new(&bytes).only().expect("whole").integer().is_ok();
            assert_eq!(is_integer, [1, 2, 4, 8].contains(&len), "{len} bytes");
        }
    }

    #[test]
    fn integers_are_written_in_their_shortest_form_and_read_back() {
        for (number, len) in
            [(0, 1), (255, 1), (256, 2), (65_535, 2), (65_536, 4), (1 << 32, 8), (u64::MAX, 8)]
        {
            let mut bytes = Vec::new();
            write_integer(&mut bytes, 12, number);
            let element = Reader::new(&bytes).only().expect("whole");
            assert_eq!((element.integer(), element.value.len()), (Ok(number), len));
        }
    }

    #[test]
    fn offsets_inside_an_element_count_from_the_packet() {
        let bytes = [7, 5, 8, 3, b'a', b'b', b'c'];
        let name = Reader::new(&bytes).only().expect("whole");
        let component = name.inside().only().expect("one component");
        assert_eq!((component.start, component.value_range()), (2, 4..7));
    }
}
