//! Finds the end of TLV elements in a stream, and reassembles elements that arrive in pieces.

/// Maximum size of an element, bytes: the largest NDN packet (8800) with link fields around it.
pub const MAX_ELEMENT: usize = 8800 + 256;

/// Reason why a stream cannot be parsed further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FramingError {
    /// The type is 0, larger than 2^32-1, or not in its shortest form.
    #[error("stream: the type of an element is malformed")]
    Type,
    /// The length is not in its shortest form.
    #[error("stream: the length of an element is not in its shortest form")]
    Length,
    /// The element declares this size, bytes, beyond [`MAX_ELEMENT`].
    #[error("stream: an element of {0} bytes; at most {max} are accepted", max = MAX_ELEMENT)]
    TooLarge(u64),
}

/// Bytes of the element at the beginning of `stream`, header included; `None` if its header is not
/// complete yet.
///
/// # Errors
/// If no element can begin with these bytes, or it is larger than [`MAX_ELEMENT`].
pub fn element_len(stream: &[u8]) -> Result<Option<usize>, FramingError> {
    let Some((kind, kind_len)) = read_number(stream).map_err(|()| FramingError::Type)? else {
        return Ok(None);
    };
    // Packet format 0.3, section 1.2: types are 1 to 2^32-1.
    if kind == 0 || kind > u64::from(u32::MAX) {
        return Err(FramingError::Type);
    }
    let rest = stream.get(kind_len..).unwrap_or_default();
    let Some((len, len_len)) = read_number(rest).map_err(|()| FramingError::Length)? else {
        return Ok(None);
    };
    let whole = len.saturating_add((kind_len + len_len) as u64);
    match usize::try_from(whole) {
        Ok(whole) if whole <= MAX_ELEMENT => Ok(Some(whole)),
        _ => Err(FramingError::TooLarge(whole)),
    }
}

/// Splits a stream into its elements, whatever the pieces in which it arrives.
#[derive(Debug, Default)]
pub struct Splitter {
    /// Received bytes of an element that is not complete.
    rest: Vec<u8>,
    fault: Option<FramingError>,
}

impl Splitter {
    /// The beginning of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Processes the next bytes of the stream and passes every complete element to `take`.
    ///
    /// # Errors
    /// When no element can begin where the last one ended. Nothing after it can be parsed, so that
    /// every later call fails as well.
    pub fn push(&mut self, bytes: &[u8], mut take: impl FnMut(&[u8])) -> Result<(), FramingError> {
        // Where the next element begins is unknown after an error, so nothing is read any more.
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let outcome = self.split(bytes, &mut take);
        if let Err(fault) = outcome {
            (self.fault, self.rest) = (Some(fault), Vec::new());
        }
        outcome
    }

    /// Received bytes of an element that is not complete, below [`MAX_ELEMENT`].
    pub fn pending(&self) -> usize {
        self.rest.len()
    }

    /// Bytes of memory held, below twice [`MAX_ELEMENT`].
    pub fn memory(&self) -> usize {
        self.rest.capacity()
    }

    fn split(&mut self, mut bytes: &[u8], take: &mut impl FnMut(&[u8])) -> Result<(), FramingError> {
        while !self.rest.is_empty() && !bytes.is_empty() {
            bytes = self.complete(bytes, take)?;
        }
        while let Some(len) = element_len(bytes)?
            && let Some((element, others)) = bytes.split_at_checked(len)
        {
            take(element);
            bytes = others;
        }
        self.rest.extend_from_slice(bytes);
        Ok(())
    }

    /// Adds to the element that has begun what belongs to it, or a byte of its header; returns what follows.
    fn complete<'a>(
        &mut self,
        bytes: &'a [u8],
        take: &mut impl FnMut(&[u8]),
    ) -> Result<&'a [u8], FramingError> {
        let wanted = element_len(&self.rest)?.map_or(1, |len| len - self.rest.len());
        let (piece, others) = bytes.split_at(wanted.min(bytes.len()));
        self.rest.extend_from_slice(piece);
        if element_len(&self.rest)? == Some(self.rest.len()) {
            take(&self.rest);
            self.rest.clear();
        }
        Ok(others)
    }
}

/// A variable-size number and its length; `None` if it is not complete, an error if it could be shorter.
fn read_number(bytes: &[u8]) -> Result<Option<(u64, usize)>, ()> {
    let Some(first) = bytes.first() else { return Ok(None) };
    let (len, min) = match first {
        253 => (2, 253),
        254 => (4, 0x1_0000),
        255 => (8, 0x1_0000_0000),
        small => return Ok(Some((u64::from(*small), 1))),
    };
    let Some(digits) = bytes.get(1..1 + len) else { return Ok(None) };
    let number = digits.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    // NDN packet format 0.3: a number has its shortest form only.
    if number < min { Err(()) } else { Ok(Some((number, 1 + len))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_known_once_the_header_is_whole() {
        let header = [0x06, 253, 0x04, 0x00];
        for len in 0..header.len() {
            assert_eq!(element_len(&header[..len]), Ok(None), "{len} bytes");
        }
        assert_eq!(element_len(&header), Ok(Some(4 + 1024)));
        assert_eq!(element_len(&[253, 0x03, 0x20, 0]), Ok(Some(4)));
    }

    #[test]
    fn numbers_that_could_be_shorter_are_refused() {
        assert_eq!(element_len(&[253, 0, 6, 1]), Err(FramingError::Type));
        assert_eq!(element_len(&[0, 1]), Err(FramingError::Type));
        assert_eq!(element_len(&[255, 0, 0, 0, 1, 0, 0, 0, 0, 1]), Err(FramingError::Type));
        assert_eq!(element_len(&[6, 253, 0, 252]), Err(FramingError::Length));
    }

    #[test]
    fn an_element_larger_than_any_packet_is_refused_by_its_header() {
        let max = (MAX_ELEMENT - 4) as u16;
        let [high, low] = max.to_be_bytes();
        assert_eq!(element_len(&[6, 253, high, low]), Ok(Some(MAX_ELEMENT)));
        let [high, low] = (max + 1).to_be_bytes();
        assert_eq!(element_len(&[6, 253, high, low]), Err(FramingError::TooLarge(MAX_ELEMENT as u64 + 1)));
        assert_eq!(
            element_len(&[6, 255, 255, 255, 255, 255, 255, 255, 255, 255]),
            Err(FramingError::TooLarge(u64::MAX))
        );
    }
}
