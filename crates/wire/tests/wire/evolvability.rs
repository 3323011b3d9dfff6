//! Which elements count, which are ignored and which make a packet unreadable (packet format 0.3).

use tidegate_wire::{DataView, DecodeError, InterestView};

use crate::tlvs::{data, interest, long, name, tlv};

const CAN_BE_PREFIX: &[u8] = &[33, 0];
const MUST_BE_FRESH: &[u8] = &[18, 0];
const NONCE: &[u8] = &[10, 4, 1, 2, 3, 4];
const LIFETIME: &[u8] = &[12, 1, 100];
const HOP_LIMIT: &[u8] = &[34, 1, 9];

fn read(bytes: &[u8]) -> Result<InterestView<'_>, DecodeError> {
    InterestView::parse(bytes)
}

#[track_caller]
fn assert_critical(result: Option<DecodeError>, element: u32, inside: u32) {
    assert_eq!(result, Some(DecodeError::Critical { element, inside }));
}

#[track_caller]
fn assert_out_of_order(result: Option<DecodeError>, element: u32, inside: u32) {
    assert_eq!(result, Some(DecodeError::OutOfOrder { element, inside }));
}

#[test]
fn an_unknown_element_is_critical_up_to_31_and_when_odd() {
    for kind in [1, 3, 9, 11, 14, 31, 35, 61, 251] {
        assert_critical(read(&interest(&[&tlv(kind, &[])])).err(), u32::from(kind), 5);
        assert_critical(DataView::parse(&data(&[&tlv(kind, &[])])).err(), u32::from(kind), 6);
    }
    for kind in [32, 60, 128, 252] {
        assert!(read(&interest(&[&tlv(kind, &[b"x"])])).is_ok(), "{kind}");
        assert!(DataView::parse(&data(&[&tlv(kind, &[b"x"])])).is_ok(), "{kind}");
    }
    assert!(read(&interest(&[&long(510, b"x")])).is_ok());
    assert_critical(read(&interest(&[&long(511, b"x")])).err(), 511, 5);
}

#[test]
fn elements_before_and_between_known_ones_are_ignored_where_they_may_be() {
    let unknown = tlv(126, &[b"??"]);
    let bytes =
        tlv(5, &[&name(), &unknown, CAN_BE_PREFIX, &unknown, MUST_BE_FRESH, NONCE, &unknown, LIFETIME]);
    let view = read(&bytes).expect("valid");
    assert!(view.can_be_prefix && view.must_be_fresh);
    assert_eq!((view.nonce, view.lifetime.map(|lifetime| lifetime.0)), (Some(0x0102_0304), Some(100)));
}

#[test]
fn the_name_comes_first() {
    let unknown = tlv(126, &[]);
    let missing = |inside| Some(DecodeError::Missing { element: 7, inside });
    assert_eq!(read(&tlv(5, &[&unknown, &name()])).err(), missing(5));
    assert_eq!(read(&tlv(5, &[NONCE])).err(), missing(5));
    assert_eq!(read(&tlv(5, &[])).err(), missing(5));
    assert_eq!(DataView::parse(&tlv(6, &[&unknown, &name()])).err(), missing(6));
}

#[test]
fn an_interest_needs_a_name_component_and_a_data_does_not() {
    assert!(matches!(read(&tlv(5, &[&[7, 0], NONCE])), Err(DecodeError::Name(_))));
    let bytes = tlv(6, &[&[7, 0], &tlv(22, &[&[27, 1, 0]]), &tlv(23, &[])]);
    assert!(DataView::parse(&bytes).expect("valid").name.is_empty());
}

#[test]
fn a_critical_element_out_of_order_or_twice_is_refused() {
    let body = |parts: &[&[u8]]| read(&tlv(5, &[&name(), &parts.concat()])).err();
    assert_out_of_order(body(&[MUST_BE_FRESH, CAN_BE_PREFIX]), 33, 5);
    assert_out_of_order(body(&[NONCE, MUST_BE_FRESH]), 18, 5);
    assert_out_of_order(body(&[LIFETIME, NONCE]), 10, 5);
    assert_out_of_order(body(&[NONCE, NONCE]), 10, 5);
    assert_out_of_order(body(&[HOP_LIMIT, LIFETIME]), 12, 5);
    assert_out_of_order(body(&[&name()]), 7, 5);
    assert_out_of_order(DataView::parse(&data(&[&tlv(21, &[]), &tlv(20, &[])])).err(), 20, 6);
    assert_out_of_order(DataView::parse(&data(&[&tlv(21, &[]), &tlv(21, &[])])).err(), 21, 6);
}

#[test]
fn a_hop_limit_out_of_order_is_ignored() {
    let bytes = interest(&[HOP_LIMIT, &[34, 1, 200], &[34, 0]]);
    assert_eq!(read(&bytes).expect("valid").hop_limit, Some(9));
}

#[test]
fn elements_have_the_lengths_of_the_format() {
    let refused = |parts: &[&[u8]]| {
        let result = read(&tlv(5, &[&name(), &parts.concat()])).err();
        assert!(matches!(result, Some(DecodeError::Length { .. })), "{parts:?}: {result:?}");
    };
    refused(&[&[33, 1, 0]]);
    refused(&[&[18, 1, 0]]);
    refused(&[&[10, 3, 1, 2, 3]]);
    refused(&[&[10, 5, 1, 2, 3, 4, 5]]);
    refused(&[&[12, 3, 1, 2, 3]]);
    refused(&[&[12, 0]]);
    refused(&[&[34, 0]]);
    refused(&[&[34, 2, 1, 2]]);
}

#[test]
fn a_lifetime_is_cut_to_32_bits_of_milliseconds() {
    let lifetime = |value: &[u8]| {
        let bytes = interest(&[&tlv(12, &[value])]);
        read(&bytes).expect("valid").lifetime.expect("given").0
    };
    assert_eq!(lifetime(&[0]), 0);
    assert_eq!(lifetime(&[0, 0, 0, 7]), 7, "a NonNegativeInteger need not be the shortest");
    assert_eq!(lifetime(&[0, 0, 0, 1, 0, 0, 0, 0]), u32::MAX);
}

#[test]
fn parameters_and_their_digest_go_together() {
    let digest = tlv(2, &[&[5; 32]]);
    let of = |components: &[&[u8]], parts: &[&[u8]]| {
        read(&tlv(5, &[&tlv(7, components), NONCE, &parts.concat()])).map(|view| view.parameters.is_some())
    };
    let (component, parameters) = (tlv(8, &[b"a"]), tlv(36, &[b"x"]));
    assert_eq!(of(&[&component, &digest], &[&parameters]), Ok(true));
    assert_eq!(of(&[&digest, &component], &[&parameters]), Ok(true));
    assert_eq!(of(&[&component], &[]), Ok(false));
    for (components, parts) in [
        (&[&component[..]][..], &[&parameters[..]][..]),
        (&[&component, &digest], &[]),
        (&[&component, &digest, &digest], &[&parameters]),
    ] {
        assert!(matches!(of(components, parts), Err(DecodeError::ParametersDigest(_))), "{components:?}");
    }
}

#[test]
fn a_signature_counts_only_behind_parameters_and_whole() {
    let info = tlv(44, &[&[27, 1, 0]]);
    let value = tlv(46, &[&[1; 32]]);
    let bytes = interest(&[&info, &value]);
    let view = read(&bytes).expect("valid");
    assert!(view.signature.is_none());
    assert_eq!(view.signed_parts().concat(), tlv(8, &[b"a"]), "nothing but the name");
    let digest_name = tlv(7, &[&tlv(8, &[b"a"]), &tlv(2, &[&[5; 32]])]);
    let signed = |parts: &[&[u8]]| {
        let bytes = tlv(5, &[&digest_name, NONCE, &tlv(36, &[]), &parts.concat()]);
        read(&bytes).expect("valid").signature.is_some()
    };
    assert!(signed(&[&info, &value]));
    assert!(!signed(&[&info]));
    assert!(!signed(&[&value]));
    assert!(!signed(&[&value, &info]), "in this order both are ignored");
}

#[test]
fn a_data_needs_both_halves_of_its_signature() {
    let parts = [name(), tlv(22, &[&[27, 1, 0]]), tlv(23, &[])];
    assert!(DataView::parse(&tlv(6, &[&parts[0], &parts[1], &parts[2]])).is_ok());
    let without = |a: usize, b: usize| DataView::parse(&tlv(6, &[&parts[a], &parts[b]])).err();
    assert_eq!(without(0, 1), Some(DecodeError::Missing { element: 23, inside: 6 }));
    assert_eq!(without(0, 2), Some(DecodeError::Missing { element: 22, inside: 6 }));
}

#[test]
fn meta_info_follows_the_same_rules() {
    let meta = |parts: &[&[u8]]| {
        let bytes = data(&[&tlv(20, parts)]);
        DataView::parse(&bytes).map(|view| (view.content_type, view.freshness.0, view.final_segment().0))
    };
    let none = u32::MAX;
    assert_eq!(meta(&[]), Ok((0, 0, none)));
    assert_eq!(meta(&[&[24, 1, 2], &[25, 2, 1, 0], &[26, 3, 50, 1, 7]]), Ok((2, 256, 7)));
    assert_eq!(meta(&[&[25, 1, 9], &tlv(200, &[b"app"]), &[26, 3, 50, 1, 7]]), Ok((0, 9, 7)));
    assert_eq!(meta(&[&[26, 3, 8, 1, 7]]), Ok((0, 0, none)), "no segment number");
    assert_eq!(meta(&[&[26, 4, 50, 2, 0, 7]]), Ok((0, 0, none)), "not the shortest");
    assert_critical(meta(&[&[27, 0]]).err(), 27, 20);
    assert_out_of_order(meta(&[&[25, 1, 9], &[24, 1, 0]]).err(), 24, 20);
    assert!(meta(&[&[26, 0]]).is_err(), "no component");
    assert!(meta(&[&[26, 6, 50, 1, 7, 50, 1, 8]]).is_err(), "two components");
    assert!(meta(&[&[25, 3, 1, 2, 3]]).is_err(), "three bytes of freshness");
}

#[test]
fn signature_info_follows_the_same_rules() {
    let info = |parts: &[&[u8]]| {
        let bytes = tlv(6, &[&name(), &tlv(22, parts), &tlv(23, &[])]);
        DataView::parse(&bytes).map(|view| view.signature.kind)
    };
    assert_eq!(info(&[&[27, 1, 5]]), Ok(5));
    assert_eq!(info(&[&[27, 1, 3], &tlv(28, &[&name()]), &tlv(200, &[]), &long(253, &[])]), Ok(3));
    assert_eq!(info(&[]), Err(DecodeError::Missing { element: 27, inside: 22 }));
    assert_critical(info(&[&[27, 1, 0], &[31, 0]]).err(), 31, 22);
    assert_critical(info(&[&[27, 1, 0], &long(255, &[])]).err(), 255, 22);
    assert_out_of_order(info(&[&tlv(28, &[&name()]), &[27, 1, 0]]).err(), 27, 22);
    assert!(info(&[&[27, 3, 0, 0, 0]]).is_err(), "three bytes of type");
    assert!(info(&[&[27, 1, 3], &tlv(28, &[&tlv(7, &[&[8, 9]])])]).is_err(), "a broken key name");
}
