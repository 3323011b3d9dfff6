//! NFD's management protocol, as a client at the Unix socket meets it.

use tidegate_core::ndn::name::Segment;
use tidegate_core::units::Span;
use tidegate_live::client::{Answer, Client};
use tidegate_live::nfd::{ControlParameters, ControlResponse};
use tidegate_wire::tlv::{TlvReader, types};
use tidegate_wire::{DataView, InterestBuilder, InterestStamp, Signer, name};

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

/// The response to a command with these parameters, and the element that it is in.
pub fn command(client: &mut Client, words: [&str; 2], parameters: &ControlParameters) -> (u64, Vec<u8>) {
    let parameters = parameters.encode();
    let name = nfd(&[words[0].as_bytes(), words[1].as_bytes(), &parameters]);
    let interest = InterestBuilder { name: &name, ..InterestBuilder::default() };
    let nonce = client.nonces().bits().to_be_bytes();
    let stamp = InterestStamp { nonce: Some(&nonce), ..InterestStamp::default() };
    let interest = interest.sign(&Signer::Digest, &stamp).expect("valid");
    match client.express(interest, Span::from_secs(10)).expect("connected") {
        Answer::Data(data) => {
            let content = DataView::parse(&data.body).expect("a Data").content.to_vec();
            (ControlResponse::decode(&content).expect("a response").code, content)
        }
        other => panic!("{other:?} for {words:?}"),
    }
}

/// The parameters in the response to a command that is carried out.
#[track_caller]
pub fn done(client: &mut Client, words: [&str; 2], parameters: &ControlParameters) -> ControlParameters {
    let (code, content) = command(client, words, parameters);
    let response = ControlResponse::decode(&content).expect("a response");
    assert_eq!(code, 200, "{words:?}: {response}");
    response.parameters.expect("a response has its parameters")
}

/// Parameters with the prefix `uri`.
pub fn about(uri: &str) -> ControlParameters {
    let name = Some(tidegate_live::name_uri::parse(uri).expect("valid"));
    ControlParameters { name, ..ControlParameters::default() }
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
fn a_dataset_of_several_segments_is_one_version_and_a_command_makes_the_next_one() {
    let forwarder = Forwarder::start("segments", "");
    let mut client = forwarder.consumer();
    for place in 0..300u32 {
        let prefix = format!("/long/enough/that/it/needs/several/segments/{place}");
        let prefix = tidegate_live::name_uri::parse(&prefix).expect("valid");
        tidegate_live::registration::register(&mut client, &prefix, &Signer::Digest).expect("registered");
    }
    let list = nfd(&[b"rib", b"list"]);
    let content = fetch(&mut client, &list);
    assert_eq!(elements(&content).len(), 302);
    let first = request(&mut client, &list, true);
    tidegate_live::registration::register(&mut client, &[8, 1, b'x'], &Signer::Digest).expect("registered");
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

#[test]
fn a_next_hop_is_added_changed_and_removed_without_a_route() {
    let forwarder = Forwarder::start("fib", "");
    let mut client = forwarder.consumer();
    let added = done(&mut client, ["fib", "add-nexthop"], &about("/a"));
    let face_id = added.face_id;
    assert_eq!(added, ControlParameters { face_id, cost: Some(0), ..about("/a") });
    assert!(face_id.is_some_and(|number| number > 255));
    let changed = ControlParameters { face_id, cost: Some(7), ..about("/a") };
    assert_eq!(done(&mut client, ["fib", "add-nexthop"], &changed), changed);
    let listed = elements(&fetch(&mut client, &nfd(&[b"fib", b"list"])));
    let entry = listed.iter().find(|(_, value)| value.starts_with(&[7, 3, 8, 1, b'a'])).expect("listed");
    assert!(entry.1.ends_with(&[106, 1, 7]), "{entry:?}");
    assert_eq!(elements(&fetch(&mut client, &nfd(&[b"rib", b"list"]))).len(), 2);
    let removed = ControlParameters { face_id, ..about("/a") };
    assert_eq!(done(&mut client, ["fib", "remove-nexthop"], &removed), removed);
    assert_eq!(elements(&fetch(&mut client, &nfd(&[b"fib", b"list"]))).len(), 2);
    assert_eq!(done(&mut client, ["fib", "remove-nexthop"], &removed), removed);
    let gone = ControlParameters { face_id: Some(9_999), ..about("/a") };
    assert_eq!(done(&mut client, ["fib", "remove-nexthop"], &gone), gone);
    assert_eq!(command(&mut client, ["fib", "add-nexthop"], &gone).0, 410);
}

#[test]
fn a_route_registered_again_is_changed_and_only_its_own_fields_come_back() {
    let forwarder = Forwarder::start("rib", "");
    let mut client = forwarder.consumer();
    let first = done(&mut client, ["rib", "register"], &about("/a"));
    let route = ControlParameters { origin: Some(0), cost: Some(0), flags: Some(1), ..about("/a") };
    assert_eq!(first, ControlParameters { face_id: first.face_id, ..route.clone() });
    let again = ControlParameters { cost: Some(3), flags: Some(2), expiration_ms: Some(60_000), ..route };
    let again = ControlParameters { face_id: first.face_id, ..again };
    assert_eq!(done(&mut client, ["rib", "register"], &again), again);
    let listed = elements(&fetch(&mut client, &nfd(&[b"rib", b"list"])));
    let routes: Vec<_> = listed.iter().filter(|(_, value)| value.starts_with(&[7, 3, 8, 1, b'a'])).collect();
    assert_eq!((routes.len(), kinds(&elements(&routes[0].1)[1].1)), (1, vec![105, 111, 106, 108, 109]));
    let unregistered = done(&mut client, ["rib", "unregister"], &about("/a"));
    let expected = ControlParameters { face_id: first.face_id, origin: Some(0), ..about("/a") };
    assert_eq!(unregistered, expected);
    let gone = ControlParameters { face_id: Some(9_999), origin: Some(0), ..about("/a") };
    assert_eq!(done(&mut client, ["rib", "unregister"], &gone), gone);
}

#[test]
fn the_content_store_is_configured_and_erased() {
    let forwarder = Forwarder::start("cs", "");
    let mut producer = forwarder.producer(&about("/a").name.expect("given"));
    let mut client = forwarder.consumer();
    let requester = std::thread::spawn({
        let mut client = forwarder.consumer();
        move || {
            for segment in 0..3 {
                let interest = super::bench::interest(&[8, 1, b'a'], segment);
                let answer = client.express(interest, Span::from_secs(10)).expect("connected");
                assert!(matches!(answer, Answer::Data(_)));
            }
        }
    });
    super::bench::answer(&mut producer, 3, 100);
    requester.join().expect("three answers");
    let erase = |count| ControlParameters { count, ..about("/a") };
    assert_eq!(done(&mut client, ["cs", "erase"], &erase(Some(2))), erase(Some(2)));
    assert_eq!(done(&mut client, ["cs", "erase"], &erase(None)), erase(Some(1)));
    assert_eq!(done(&mut client, ["cs", "erase"], &erase(None)), erase(Some(0)));
    assert_eq!(command(&mut client, ["cs", "erase"], &erase(Some(0))).0, 400);
    let both = ControlParameters { capacity: Some(65_536), flags: Some(3), ..ControlParameters::default() };
    assert_eq!(done(&mut client, ["cs", "config"], &ControlParameters::default()), both);
    let change = ControlParameters {
        capacity: Some(9),
        flags: Some(0),
        mask: Some(1),
        ..ControlParameters::default()
    };
    let changed = ControlParameters { flags: Some(2), mask: None, ..change.clone() };
    assert_eq!(done(&mut client, ["cs", "config"], &change), changed);
    let info = elements(&fetch(&mut client, &nfd(&[b"cs", b"info"])));
    assert!(info[0].1.starts_with(&[131, 1, 9, 108, 1, 2]), "{info:?}");
}

#[test]
fn the_strategy_of_a_prefix_is_set_listed_and_unset() {
    let forwarder = Forwarder::start("strategies", "");
    let mut client = forwarder.consumer();
    let with = |strategy: &str| ControlParameters { strategy: about(strategy).name, ..about("/a") };
    let multicast = "/localhost/nfd/strategy/multicast";
    let set = done(&mut client, ["strategy-choice", "set"], &with(multicast));
    assert_eq!(set, with(&format!("{multicast}/v=5")));
    let list = |client: &mut Client| elements(&fetch(client, &nfd(&[b"strategy-choice", b"list"])));
    assert_eq!(list(&mut client).len(), 2);
    assert_eq!(done(&mut client, ["strategy-choice", "unset"], &about("/a")), about("/a"));
    assert_eq!(done(&mut client, ["strategy-choice", "unset"], &about("/a")), about("/a"));
    assert_eq!(list(&mut client).len(), 1);
    for (strategy, code) in [("/localhost/nfd/strategy/asf", 404), (&format!("{multicast}/v=0"), 409)] {
        assert_eq!(command(&mut client, ["strategy-choice", "set"], &with(strategy)).0, code, "{strategy}");
    }
    assert_eq!(command(&mut client, ["strategy-choice", "unset"], &about("/")).0, 400);
    let root = ControlParameters { strategy: about(multicast).name, ..about("/") };
    assert_eq!(command(&mut client, ["strategy-choice", "set"], &root).0, 200);
    let strategies = list(&mut client);
    assert!(strategies.len() == 1 && strategies[0].1.windows(9).any(|word| word == b"multicast"));
}

#[test]
fn wrong_fields_are_refused_with_empty_parameters_behind_the_text() {
    let forwarder = Forwarder::start("fields", "");
    let mut client = forwarder.consumer();
    let long = "/a".repeat(33);
    for (words, parameters, code) in [
        (["rib", "register"], ControlParameters::default(), 400),
        (["rib", "register"], ControlParameters { mask: Some(1), ..about("/a") }, 400),
        (["rib", "register"], ControlParameters { cost: Some(1 << 32), ..about("/a") }, 400),
        (["rib", "register"], about(&long), 414),
        (["rib", "unregister"], ControlParameters { cost: Some(1), ..about("/a") }, 400),
        (["strategy-choice", "set"], about("/a"), 400),
        (["rib", "grow"], about("/a"), 501),
    ] {
        let (found, content) = command(&mut client, words, &parameters);
        assert_eq!(found, code, "{words:?} {parameters:?}");
        let fields = elements(&elements(&content)[0].1);
        assert_eq!(fields.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), [102, 103, 104]);
        assert!(!fields[1].1.is_empty() && fields[2].1.is_empty(), "{fields:?}");
    }
    assert_eq!(command(&mut client, ["rib", "register"], &about(&"/a".repeat(32))).0, 200);
}
