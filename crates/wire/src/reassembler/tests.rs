use super::*;
use crate::token::Token;

fn fragment(sequence: u64, index: u64, count: u64, bytes: &[u8]) -> LpPacket {
    let fields = LpFields {
        sequence: Some(sequence),
        frag_index: index,
        frag_count: count,
        token: Token::new(&[index as u8 | 0x80]).ok(),
        ..LpFields::default()
    };
    LpPacket { fields, acks: Vec::new(), fragment: Bytes::copy_from_slice(bytes) }
}

fn at(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

#[test]
fn fragments_in_any_order_become_the_message_with_the_fields_of_the_first() {
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]] {
        let mut reassembler = Reassembler::new();
        let pieces = [&b"ab"[..], b"cde", b"f"];
        let mut results = order.map(|index| {
            let frame = fragment(u64::MAX.wrapping_add(index), index, 3, pieces[index as usize]);
            reassembler.accept(at(0), frame).expect("sound")
        });
        let whole = results[2].take().expect("complete");
        assert_eq!(results, [None, None, None]);
        assert_eq!(&*whole.fragment, b"abcdef", "{order:?}");
        assert_eq!(whole.fields, LpFields { token: Token::new(&[0x80]).ok(), ..LpFields::default() });
        assert_eq!((reassembler.len(), reassembler.byte_len()), (0, 0));
    }
}

#[test]
fn a_fragment_that_is_there_already_changes_nothing() {
    let mut reassembler = Reassembler::new();
    assert_eq!(reassembler.accept(at(0), fragment(7, 0, 2, b"ab")), Ok(None));
    assert_eq!(reassembler.accept(at(0), fragment(7, 0, 2, b"xy")), Ok(None));
    let whole = reassembler.accept(at(0), fragment(8, 1, 2, b"c")).expect("sound").expect("complete");
    assert_eq!(&*whole.fragment, b"abc");
}

#[test]
fn a_message_is_given_up_500_ms_after_its_last_fragment() {
    let mut reassembler = Reassembler::new();
    let _ = reassembler.accept(at(0), fragment(7, 0, 3, b"a"));
    let _ = reassembler.accept(at(499), fragment(8, 1, 3, b"b"));
    assert!(reassembler.accept(at(998), fragment(9, 2, 3, b"c")).expect("sound").is_some());
    let _ = reassembler.accept(at(1_000), fragment(20, 0, 2, b"a"));
    assert_eq!(reassembler.accept(at(1_500), fragment(21, 1, 2, b"b")), Ok(None));
    assert_eq!(reassembler.len(), 1);
    reassembler.expire(at(1_999));
    assert_eq!(reassembler.len(), 1);
    reassembler.expire(at(2_000));
    assert_eq!((reassembler.len(), reassembler.byte_len()), (0, 0));
}

#[test]
fn the_oldest_message_gives_way_to_the_65th() {
    let mut reassembler = Reassembler::new();
    for message in 0..65 {
        assert_eq!(reassembler.accept(at(0), fragment(message * 10, 0, 2, b"a")), Ok(None));
    }
    assert_eq!(reassembler.len(), MAX_PARTIAL);
    assert_eq!(reassembler.accept(at(0), fragment(1, 1, 2, b"b")), Ok(None), "the first is gone");
    assert!(reassembler.accept(at(0), fragment(641, 1, 2, b"b")).expect("sound").is_some());
}

#[test]
fn waiting_bytes_never_pass_the_bound() {
    let mut reassembler = Reassembler::new();
    for message in 0..1_000 {
        for index in 0..8 {
            let _ = reassembler.accept(at(0), fragment(message * 10 + index, index, 9, &[1; 1_000]));
            assert!(reassembler.byte_len() <= MAX_BYTES && reassembler.len() <= MAX_PARTIAL);
        }
    }
    assert!(reassembler.byte_len() > MAX_BYTES - 10_000, "{}", reassembler.byte_len());
}

#[test]
fn memory_reserved_for_fragments_to_come_counts() {
    let mut reassembler = Reassembler::new();
    for message in 0..64 {
        let _ = reassembler.accept(at(0), fragment(message * 200, 0, 128, &[1; 69]));
    }
    // 128 fragments of 69 bytes are a whole packet, for which there is room at once.
    let (bytes, each) = (reassembler.byte_len(), MAX_PACKET + 128 * size_of::<Piece>());
    assert_eq!((reassembler.len(), bytes), (MAX_BYTES / each, MAX_BYTES / each * each));
}

#[test]
fn a_message_larger_than_a_packet_is_dropped_whole() {
    let mut reassembler = Reassembler::new();
    assert_eq!(reassembler.accept(at(0), fragment(0, 0, 3, &[1; 8_000])), Ok(None));
    let result = reassembler.accept(at(0), fragment(1, 1, 3, &[1; 801]));
    assert_eq!(result, Err(DecodeError::TooLarge(8_801)));
    assert_eq!((reassembler.len(), reassembler.byte_len()), (0, 0));
}

#[test]
fn fragments_that_contradict_each_other_are_refused() {
    let mut reassembler = Reassembler::new();
    assert_eq!(reassembler.accept(at(0), fragment(0, 0, 3, b"a")), Ok(None));
    for frame in [
        fragment(1, 1, 4, b"b"),
        fragment(9, 9, 9, b"b"),
        fragment(9, 0, 129, b"b"),
        fragment(9, 1, 1, b"b"),
        fragment(9, 0, 0, b"b"),
        fragment(9, u64::MAX, u64::MAX, b"b"),
        fragment(1, 1, 3, b""),
    ] {
        let result = reassembler.accept(at(0), frame);
        assert!(matches!(result, Err(DecodeError::Fragment { .. })), "{result:?}");
    }
    assert_eq!((reassembler.len(), reassembler.byte_len()), (1, 3 + 3 * size_of::<Piece>()));
}

#[test]
fn a_frame_that_carries_nothing_is_no_message() {
    let idle = LpPacket { fields: LpFields::default(), acks: Vec::new(), fragment: Bytes::new() };
    assert_eq!(Reassembler::new().accept(at(0), idle), Ok(None));
}
