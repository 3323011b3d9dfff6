//! Link frames (NDNLPv2): which fields are read, which ignored, which make a frame unreadable.

use bytes::Bytes;
use tidegate_core::link::framed::Cut;
use tidegate_core::ndn::name::NameTable;
use tidegate_core::ndn::packet::{Kind, NackReason};
use tidegate_core::scheme::signal::{Class, Signal};
use tidegate_core::units::ByteCount;
use tidegate_wire::{
    DataBuilder, DecodeError, FrameBatch, LinkEncoder, LpFields, LpPacket, PathProbe, Signer, decode_frame,
    decode_packet, loss_notice_size, write_acks, write_path_probe,
};

use crate::tlvs::{data, interest, long, name, tlv};

fn frame(parts: &[&[u8]]) -> Result<LpPacket, DecodeError> {
    decode_frame(Bytes::from(tlv(100, parts)))
}

fn fields(parts: &[&[u8]]) -> Result<LpFields, DecodeError> {
    frame(&[&parts.concat(), &tlv(80, &[b"x"])]).map(|packet| packet.fields)
}

fn decode(lp: LpPacket, names: &mut NameTable) -> Result<Kind, DecodeError> {
    decode_packet(&lp.fields, lp.fragment, names, &mut || 1).map(|packet| packet.header.kind)
}

const SEQUENCE: &[u8] = &[81, 8, 0, 0, 0, 0, 0, 0, 0, 9];

#[test]
fn a_bare_packet_is_a_frame_without_fields() {
    for bytes in [interest(&[]), data(&[])] {
        let lp = decode_frame(Bytes::from(bytes.clone())).expect("valid");
        assert_eq!((lp.fields, &lp.fragment[..]), (LpFields::default(), &bytes[..]));
    }
}

#[test]
fn anything_else_is_no_frame() {
    for bytes in [&[][..], &[7, 0], &[100], &[100, 1], &[100, 0, 0], &[80, 0]] {
        assert!(decode_frame(Bytes::copy_from_slice(bytes)).is_err(), "{bytes:?}");
    }
}

#[test]
fn a_frame_without_fragment_is_idle() {
    assert!(frame(&[]).expect("valid").fragment.is_empty());
    assert!(frame(&[&long(832, &[1])]).expect("valid").fragment.is_empty());
}

#[test]
fn a_field_in_800_to_959_is_ignored_when_a_multiple_of_four() {
    for kind in [804, 812, 844, 848, 884, 936] {
        assert_eq!(fields(&[&long(kind, &[0; 9])]), Ok(LpFields::default()), "{kind}");
    }
    for kind in [802, 801, 833, 902, 955, 796, 960, 964] {
        let critical = DecodeError::Critical { element: u32::from(kind), inside: 100 };
        assert_eq!(fields(&[&long(kind, &[])]), Err(critical), "{kind}");
    }
    assert!(matches!(fields(&[&[84, 1, 0]]), Err(DecodeError::Critical { .. })));
}

#[test]
fn a_next_hop_and_a_cache_policy_are_read() {
    let next_hop = fields(&[&long(816, &[1, 2])]).map(|fields| fields.next_hop);
    assert_eq!(next_hop, Ok(Some(258)));
    let no_cache = |policy: &[u8]| fields(&[&long(820, policy)]).map(|fields| fields.no_cache);
    assert_eq!((no_cache(&long(821, &[1])), no_cache(&long(821, &[2]))), (Ok(true), Ok(false)));
    // NFD drops such frames as well.
    assert!(no_cache(&[]).is_err() && no_cache(&long(822, &[1])).is_err());
    assert!(fields(&[&long(816, &[0; 9])]).is_err());
}

#[test]
fn a_probe_of_the_path_has_the_size_that_is_tried_and_its_reply_is_never_larger() {
    let written = |probe, size| {
        let mut batch = FrameBatch::new();
        write_path_probe(probe, size, &mut batch);
        batch.iter().map(|(head, body)| [head, body].concat()).collect::<Vec<_>>().concat()
    };
    for size in [0, 14, 273, 274, 1400, 1472, 8800] {
        let request = written(PathProbe::Request(7), size);
        assert_eq!(request.len(), if size < 274 { 14 } else { size });
        let read = decode_frame(Bytes::from(request)).expect("valid");
        assert_eq!((read.fields.path_probe, read.fragment.len()), (Some(PathProbe::Request(7)), 0));
        let reply = written(PathProbe::Reply(u64::MAX), size);
        assert_eq!(reply.len(), 14);
        let read = decode_frame(Bytes::from(reply)).expect("valid");
        assert_eq!(read.fields.path_probe, Some(PathProbe::Reply(u64::MAX)));
    }
}

#[test]
fn a_probe_without_a_whole_number_makes_its_frame_unreadable() {
    for kind in [824, 828] {
        let length = DecodeError::Length { element: u32::from(kind), bytes: 7, accepted: "at least 8" };
        assert_eq!(fields(&[&long(kind, &[0; 7])]), Err(length));
        assert!(fields(&[&long(kind, &[0; 9])]).is_ok());
    }
}

#[test]
fn fields_ascend_with_the_fragment_last() {
    let order = |kind| Err(DecodeError::OutOfOrder { element: kind, inside: 100 });
    assert_eq!(fields(&[&long(832, &[1]), &long(800, &[])]), order(800));
    assert_eq!(fields(&[&[83, 1, 1], &[82, 1, 0]]), order(82));
    assert_eq!(frame(&[&tlv(80, &[b"x"]), &[98, 1, 1]]).map(|lp| lp.fields), order(98));
    assert_eq!(frame(&[&tlv(80, &[b"x"]), &tlv(80, &[b"y"])]).map(|lp| lp.fields), order(80));
}

#[test]
fn a_known_field_stands_once_and_acknowledgements_may_be_many() {
    let twice = |field: &[u8]| fields(&[field, field]).is_ok();
    for field in [SEQUENCE, &[82, 1, 0], &[83, 1, 1], &[98, 1, 1]] {
        assert!(!twice(field), "{field:?}");
    }
    for kind in [800, 832, 901, 904] {
        let value: &[u8] = if matches!(kind, 832 | 904) { &[1] } else { &[] };
        assert!(!twice(&long(kind, value)), "{kind}");
    }
    assert!(twice(&long(836, &[0; 8])));
}

#[test]
fn fragmentation_fields_are_held_to_their_forms() {
    let parsed = fields(&[SEQUENCE, &[82, 1, 3], &[83, 1, 4]]).expect("valid");
    assert_eq!((parsed.sequence, parsed.frag_index, parsed.frag_count), (Some(9), 3, 4));
    assert!(matches!(fields(&[&[81, 4, 0, 0, 0, 9]]), Err(DecodeError::Length { .. })), "not 8 bytes");
    assert!(matches!(fields(&[SEQUENCE, &[82, 1, 4], &[83, 1, 4]]), Err(DecodeError::Fragment { .. })));
    assert!(matches!(fields(&[SEQUENCE, &[83, 1, 0]]), Err(DecodeError::Fragment { .. })));
    let missing = DecodeError::Missing { element: 81, inside: 100 };
    assert_eq!(fields(&[&[82, 1, 0], &[83, 1, 2]]), Err(missing));
}

#[test]
fn a_token_has_1_to_32_bytes() {
    for len in 0..=33 {
        let result = fields(&[&tlv(98, &[&vec![7; len]])]);
        match result {
            Ok(fields) => assert_eq!(fields.token.expect("given").as_bytes(), vec![7; len]),
            Err(why) => assert!(len == 0 || len == 33, "{len}: {why}"),
        }
    }
}

#[test]
fn a_nack_is_one_whatever_its_reason() {
    let reason = |nack: &[u8]| fields(&[&long(800, nack)]).expect("valid").nack;
    assert_eq!(reason(&long(801, &[50])), Some(NackReason::Congestion));
    assert_eq!(reason(&long(801, &[0, 100])), Some(NackReason::Duplicate));
    assert_eq!(reason(&long(801, &[150])), Some(NackReason::NoRoute));
    for unknown in [&long(801, &[0])[..], &long(801, &[51]), &long(801, &[9; 8]), &[], &long(804, &[])] {
        assert_eq!(reason(unknown), Some(NackReason::NoRoute), "{unknown:?}");
    }
    assert!(fields(&[&long(800, &long(802, &[]))]).is_err());
    assert!(fields(&[&long(800, &long(801, &[1, 2, 3]))]).is_err());
}

#[test]
fn a_nack_carries_an_interest_and_a_loss_notice_the_name_of_a_data() {
    let mut names = NameTable::new();
    let nack = long(800, &[]);
    let notice = long(901, &[]);
    let mut with = |field: &[u8], packet: &[u8]| {
        decode(frame(&[field, &tlv(80, &[packet])]).expect("a frame"), &mut names).map(|kind| match kind {
            Kind::Nack(_) => "nack",
            Kind::LossNotice(_) => "notice",
            _ => "other",
        })
    };
    assert_eq!(with(&nack, &interest(&[])), Ok("nack"));
    assert!(with(&nack, &data(&[])).is_err());
    assert_eq!(with(&notice, &tlv(6, &[&name()])), Ok("notice"));
    assert!(with(&notice, &data(&[])).is_err());
    assert!(with(&notice, &interest(&[])).is_err());
    assert!(with(&[&nack[..], &notice].concat(), &tlv(6, &[&name()])).is_err());
    assert!(with(&[], &tlv(6, &[&name()])).is_err(), "no signature");
    assert!(fields(&[&long(901, &[0])]).is_err(), "a notice has no value");
}

#[test]
fn a_loss_notice_has_its_class_and_the_size_it_is_sent_with() {
    let mut names = NameTable::new();
    let bytes = tlv(100, &[&long(901, &[]), &tlv(80, &[&tlv(6, &[&name()])])]);
    let lp = decode_frame(Bytes::from(bytes.clone())).expect("a frame");
    let packet = decode_packet(&lp.fields, lp.fragment, &mut names, &mut || 1).expect("a notice");
    assert_eq!(packet.header.hop.class, Class::NOTICE);
    assert_eq!(packet.header.size().get(), bytes.len() as u64);
    let mut batch = FrameBatch::new();
    LinkEncoder::new(None, 0).encode(&packet, None, &names, &mut batch).expect("fits");
    let (head, body) = batch.iter().next().expect("one frame");
    assert_eq!([head, body].concat(), bytes);
    assert_eq!(loss_notice_size(5), packet.header.size());
}

#[test]
fn a_mark_saturates_and_zero_is_none() {
    let mark = |value: &[u8]| fields(&[&long(832, value)]).expect("valid").hop.mark;
    assert_eq!((mark(&[0]), mark(&[1]), mark(&[1, 0]), mark(&[9; 8])), (0, 1, 255, 255));
    assert!(fields(&[&long(832, &[])]).is_err());
}

#[test]
fn three_signals_are_kept_and_their_values_saturate() {
    let fields = fields(&[
        &long(904, &[9]),
        &long(912, &[0, 0, 0, 1, 0, 0, 0, 0]),
        &long(916, &[0, 5]),
        &long(944, &[1]),
    ]);
    let hop = fields.expect("valid").hop;
    let signal = |number| Signal::with_type(number).expect("a signal's number");
    assert_eq!(hop.get(signal(904)), Some(9));
    assert_eq!(hop.get(signal(912)), Some(u32::MAX));
    assert_eq!(hop.get(signal(916)), Some(5));
    assert_eq!(hop.get(signal(944)), None);
}

#[test]
fn a_packet_past_8800_bytes_is_refused() {
    let content = vec![0; 8_800];
    let mut bytes = vec![6, 253, 34, 100];
    bytes.extend_from_slice(&content);
    let result = decode_packet(&LpFields::default(), Bytes::from(bytes), &mut NameTable::new(), &mut || 1);
    assert_eq!(result.err(), Some(DecodeError::TooLarge(8_804)));
}

#[test]
fn a_simulated_line_cuts_packets_into_frames_of_the_sizes_that_are_really_sent() {
    for mtu in [128, 254, 255, 256, 257, 258, 279, 280, 281, 1280, 1500, 4000] {
        let mut encoder = LinkEncoder::new(Some(mtu), 7);
        for content in (0..600).chain([1400, 1477, 2900, 8000]) {
            let mut names = NameTable::new();
            let content = vec![7; content];
            let data = DataBuilder { name: &[8, 1, b'a'], content: &content, ..DataBuilder::default() };
            let bytes = data.sign(&Signer::Digest).expect("small enough");
            let size = ByteCount::new(bytes.len() as u64);
            let packet = decode_packet(&LpFields::default(), bytes, &mut names, &mut || 0).expect("a Data");
            let mut batch = FrameBatch::new();
            encoder.encode(&packet, None, &names, &mut batch).expect("it can be cut");
            let sent: Vec<u64> = batch.iter().map(|(head, body)| (head.len() + body.len()) as u64).collect();
            let cut = Cut::of(size, ByteCount::new(mtu as u64), None);
            let reported: Vec<u64> = (0..cut.count).map(|index| cut.size(index).get()).collect();
            assert_eq!(sent, reported, "{size} in {mtu}");
        }
    }
}

/// A label of NDNLPv2: TxSequence (840) or Ack (836).
fn label(kind: u16, number: u64) -> Vec<u8> {
    long(kind, &number.to_be_bytes())
}

#[test]
fn labels_are_numbers_of_eight_bytes_and_only_acknowledgements_may_be_many() {
    let lp = frame(&[&label(836, 7), &label(836, 5), &label(840, 1 << 40), &tlv(80, &[b"x"])]);
    let lp = lp.expect("valid");
    assert_eq!((lp.acks, lp.fields.tx_sequence), (vec![7, 5], Some(1 << 40)));
    assert!(fields(&[&label(840, 1), &label(840, 2)]).is_err());
    assert!(fields(&[&label(840, 1), &label(836, 2)]).is_err());
    for kind in [836, 840] {
        assert!(fields(&[&long(kind, &[1; 4])]).is_err(), "{kind}");
    }
}

#[test]
fn labels_stand_after_the_mark_and_before_signals() {
    const ROOM: Signal = Signal::new(872, tidegate_core::scheme::signal::Merge::Min);
    let mut names = NameTable::new();
    let lp = frame(&[&long(832, &[1]), &tlv(80, &[&data(&[])])]).expect("valid");
    let mut packet = decode_packet(&lp.fields, lp.fragment, &mut names, &mut || 1).expect("valid");
    assert!(packet.header.hop.set(ROOM, 3));
    let mut batch = FrameBatch::new();
    let frames = LinkEncoder::new(Some(1400), 9).cut(&packet, None, &names, true).expect("fits");
    frames[0].write(Some(6), &[4, 5], &mut batch);
    let sent: Vec<u8> = batch.iter().flat_map(|(head, body)| [head, body].concat()).collect();
    let fields =
        [SEQUENCE, &long(832, &[1]), &label(836, 4), &label(836, 5), &label(840, 6), &long(872, &[3])];
    assert_eq!(sent, tlv(100, &[&fields.concat(), &tlv(80, &[&data(&[])])]));
    assert_eq!(frames[0].byte_len() + 36, sent.len());
    let lp = decode_frame(Bytes::from(sent)).expect("valid");
    assert_eq!((lp.acks, lp.fields.tx_sequence, lp.fields.sequence), (vec![4, 5], Some(6), Some(9)));
}

#[test]
fn a_frame_with_its_number_and_as_many_acknowledgements_as_fit_is_not_larger_than_the_mtu() {
    let names = &mut NameTable::new();
    for mtu in (128..300).chain([1400, 8800]) {
        for len in [0, 40, 60, 80, 100, 200, 215, 222, 230, 240, 1_320, 1_360, 8_000] {
            let data = DataBuilder { name: &[8, 1, b'a'], content: &vec![7; len], ..DataBuilder::default() };
            let body = data.sign(&Signer::Digest).expect("small");
            let packet = decode_packet(&LpFields::default(), body, names, &mut || 1).expect("valid");
            for is_numbered in [false, true] {
                let mut batch = FrameBatch::new();
                let frames = LinkEncoder::new(Some(mtu), 0).cut(&packet, None, names, is_numbered);
                for frame in frames.expect("fits") {
                    let acks = vec![1; frame.room(mtu).saturating_sub(1)];
                    frame.write(Some(1), &acks, &mut batch);
                }
                let longest = batch.iter().map(|(head, body)| head.len() + body.len()).max();
                assert!(longest.is_some_and(|longest| longest <= mtu), "{mtu} {len}: {longest:?}");
            }
        }
    }
}

#[test]
fn acknowledgements_can_go_alone() {
    let mut batch = FrameBatch::new();
    write_acks(&[3, 4], &mut batch);
    let sent: Vec<u8> = batch.iter().flat_map(|(head, body)| [head, body].concat()).collect();
    assert_eq!(sent, tlv(100, &[&label(836, 3), &label(836, 4)]));
}
