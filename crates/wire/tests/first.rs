//! Smoke: one Interest through decoder and encoder.

use bytes::Bytes;
use tidegate_core::name::NameTable;
use tidegate_core::packet::Kind;
use tidegate_wire::{FrameBatch, LinkEncoder, Token, decode_frame, decode_packet};

#[test]
fn a_bare_interest_gets_nonce_and_hop_limit_of_its_header() {
    let mut names = NameTable::new();
    let frame = Bytes::from_static(&[5, 8, 7, 3, 8, 1, b'a', 34, 1, 9]);
    let lp = decode_frame(frame).expect("valid");
    let mut packet = decode_packet(&lp.fields, lp.fragment, &mut names, &mut || 0x0102_0304).expect("valid");
    let Kind::Interest(interest) = &mut packet.header.kind else { panic!("{packet:?}") };
    assert_eq!((interest.nonce, interest.hop_limit, interest.lifetime.0), (0x0102_0304, Some(9), 4_000));
    interest.hop_limit = Some(8);
    let mut batch = FrameBatch::new();
    LinkEncoder::new(None, 0).encode(&packet, None, &names, &mut batch).expect("fits");
    let (head, body) = batch.iter().next().expect("one");
    assert_eq!([head, body].concat(), [5, 14, 7, 3, 8, 1, b'a', 10, 4, 1, 2, 3, 4, 34, 1, 8]);
    batch.clear();
    let token = Token::new(&[1, 2]).expect("valid");
    LinkEncoder::new(None, 0).encode(&packet, Some(&token), &names, &mut batch).expect("fits");
    let (head, _) = batch.iter().next().expect("one");
    let again = decode_frame(Bytes::copy_from_slice(head)).expect("valid");
    assert_eq!(again.fields.token, Some(token));
    assert_eq!(again.fragment.len(), 16);
}
