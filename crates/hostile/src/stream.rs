//! A byte stream in whatever pieces: always the same frames, and never more memory than for one of them.

use bytes::Bytes;
use tidegate_live::framing::{FramingError, MAX_ELEMENT, Splitter, element_len};

/// Bytes of memory that a stream may hold.
const MEMORY: usize = 2 * MAX_ELEMENT;

/// The first bytes say how long the pieces are, the others are the stream.
pub fn check(data: &[u8]) {
    let Some((lengths, stream)) = data.split_first_chunk::<4>() else { return };
    // Some inputs again and again, so that a small one fills more memory than is given.
    let times = if lengths[0] >= 0xF0 { usize::from(lengths[0] & 15) + 1 } else { 1 };
    let repeated = stream.repeat(times);
    let pieces: Vec<&[u8]> = pieces(&repeated, lengths);
    let whole = cut(&[&repeated]);
    assert_eq!(cut(&pieces), whole);
    is_the_beginning_of(&repeated, &whole);
}

/// The stream in pieces of 0 to 16 KiB.
fn pieces<'a>(mut stream: &'a [u8], lengths: &[u8; 4]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for length in lengths[1..].iter().cycle().take(2_000) {
        let len = usize::from(length % 64) << (length / 64 * 3);
        let (piece, rest) = stream.split_at(len.min(stream.len()));
        pieces.push(piece);
        stream = rest;
    }
    pieces.push(stream);
    pieces
}

fn cut(pieces: &[&[u8]]) -> (Vec<Bytes>, Option<FramingError>) {
    let (mut splitter, mut frames) = (Splitter::new(), Vec::new());
    for piece in pieces {
        let outcome = splitter.push(piece, |frame| frames.push(Bytes::copy_from_slice(frame)));
        assert!(splitter.pending() < MAX_ELEMENT && splitter.memory() <= MEMORY);
        if let Err(why) = outcome {
            assert_eq!(splitter.push(b"\x05\x01x", |_| panic!("the stream is over")), Err(why));
            return (frames, Some(why));
        }
    }
    (frames, None)
}

/// The frames are the stream from its beginning, and what is left is no frame.
fn is_the_beginning_of(stream: &[u8], (frames, fault): &(Vec<Bytes>, Option<FramingError>)) {
    let mut rest = stream;
    for frame in frames {
        assert!(!frame.is_empty() && frame.len() <= MAX_ELEMENT);
        assert_eq!(element_len(rest), Ok(Some(frame.len())));
        rest = rest.strip_prefix(&frame[..]).expect("the frames stand in the stream in order");
    }
    match element_len(rest) {
        Ok(len) => assert!(fault.is_none() && len.is_none_or(|len| len > rest.len())),
        Err(why) => assert_eq!(Some(why), *fault),
    }
}
