//! NFD's management protocol, as a client at the Unix socket meets it.

use tidegate_core::ndn::name::Segment;
use tidegate_core::units::Span;
use tidegate_live::client::{Answer, Client};
use tidegate_live::nfd::ControlResponse;
use tidegate_wire::tlv::{TlvReader, types};
use tidegate_wire::{DataView, InterestBuilder, name};

use super::bench::Forwarder;

/// Components of `/localhost/nfd` with these words behind it.
pub fn nfd(words: &[&[u8]]) -> Vec<u8> {
    let mut name = Vec::new();
    let words = [b"localhost", &b"nfd"[..]].into_iter().chain(words.iter().copied());
    words.for_each(|word| name::push_component(&mut name, 8, word));
    name
}

/// The Data for `name`; a discovery if `is_first`.
pub fn request(client: &mut Client, name: &[u8], is_first: bool) -> Vec<u8> {
    let interest = InterestBuilder {
        name,
        can_be_prefix: is_first,
        must_be_fresh: is_first,
        ..InterestBuilder::default()
    };
    match client.express(interest.build().expect("valid"), Span::from_secs(10)).expect("connected") {
        Answer::Data(data) => data.body.to_vec(),
        other => panic!("{other:?} for {name:?}"),
    }
}

/// Whole content of the dataset under `name`, requested as ndn-cxx does.
pub fn fetch(client: &mut Client, name: &[u8]) -> Vec<u8> {
    let (mut content, mut next, mut number) = (Vec::new(), name.to_vec(), 0);
    loop {
        let packet = request(client, &next, number == 0);
        let data = DataView::parse(&packet).expect("a Data");
        let last = data.name.last().expect("a segment");
        assert_eq!((last.kind, last.integer()), (types::SEGMENT_NAME_COMPONENT, Ok(number)));
        content.extend_from_slice(data.content);
        let Segment(final_segment) = data.final_segment();
        if number == u64::from(final_segment) {
            return content;
        }
        number += 1;
        let all = data.name.components();
        next = all[..all.len() - (last.end() - last.start)].to_vec();
        name::push_segment(&mut next, number as u32);
    }
}

/// Types and values of the elements in `bytes`.
pub fn elements(bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let (mut reader, mut found) = (TlvReader::new(bytes), Vec::new());
    while let Some(element) = reader.next().expect("well-formed") {
        found.push((element.kind, element.value.to_vec()));
    }
    found
}

fn kinds(bytes: &[u8]) -> Vec<u32> {
    elements(bytes).into_iter().map(|(kind, _)| kind).collect()
}

#[test]
fn every_dataset_of_a_status_report_has_the_fields_that_ndn_cxx_requires() {
    let forwarder = Forwarder::start("datasets", "");
    let mut client = forwarder.consumer();
    let general = fetch(&mut client, &nfd(&[b"status", b"general"]));
    let order = [128, 129, 130, 131, 132, 133, 134, 135, 144, 145, 151, 146, 147, 152, 153, 154];
    assert_eq!(kinds(&general), order);
    for (words, entry, fields) in [
        ([&b"faces"[..], b"channels"], 130, &[129][..]),
        ([b"faces", b"list"], 128, &[105, 114, 129, 132, 133, 134, 135, 136, 137]),
        ([b"fib", b"list"], 128, &[7, 129]),
        ([b"rib", b"list"], 128, &[7, 129]),
        ([b"cs", b"info"], 128, &[131, 108, 135, 129, 130]),
        ([b"strategy-choice", b"list"], 128, &[7, 107]),
    ] {
        let content = elements(&fetch(&mut client, &nfd(&words)));
        let shown = String::from_utf8_lossy(&words.concat()).into_owned();
        assert!(!content.is_empty() && content.iter().all(|(kind, _)| *kind == entry), "{shown}");
        assert!(content.iter().all(|(_, value)| kinds(value).starts_with(fields)), "{shown}: {content:?}");
    }
}

#[test]
fn a_dataset_of_several_segments_is_one_version_and_the_next_request_gets_a_new_one() {
    let forwarder = Forwarder::start("segments", "");
    let mut client = forwarder.consumer();
    for place in 0..300u32 {
        let prefix = format!("/long/enough/that/it/needs/several/segments/{place}");
        let prefix = tidegate_live::name_uri::parse(&prefix).expect("valid");
        tidegate_live::registration::register(&mut client, &prefix).expect("registered");
    }
    let list = nfd(&[b"rib", b"list"]);
    let content = fetch(&mut client, &list);
    assert_eq!(elements(&content).len(), 302);
    let first = request(&mut client, &list, true);
    let second = request(&mut client, &list, true);
    let version = |packet: &[u8]| DataView::parse(packet).expect("a Data").name.components().to_vec();
    assert_ne!(version(&first), version(&second));
    assert_eq!(request(&mut client, &version(&first), false), first);
}

#[test]
fn a_query_selects_faces_and_a_malformed_filter_is_refused() {
    let forwarder = Forwarder::start("query", "");
    let mut client = forwarder.consumer();
    let mut query = |filter: &[u8]| fetch(&mut client, &nfd(&[b"faces", b"query", filter]));
    let found = elements(&query(&[150, 3, 105, 1, 1]));
    assert_eq!(found.len(), 1);
    assert_eq!(elements(&found[0].1)[1], (114, b"internal://".to_vec()));
    assert!(query(&[150, 3, 105, 1, 2]).is_empty());
    let packet = request(&mut client, &nfd(&[b"faces", b"query", &[7, 0]]), true);
    let data = DataView::parse(&packet).expect("a Data");
    let response = ControlResponse::decode(data.content).expect("a response");
    assert_eq!((data.content_type, response.code), (3, 400));
}
