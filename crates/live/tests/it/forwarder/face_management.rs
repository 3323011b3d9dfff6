//! Module `faces` of NFD's management protocol: creation, change, destruction, notifications, reconnection.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use tidegate_core::units::Span;
use tidegate_live::client::{Answer, Client};
use tidegate_live::listen::StreamListener;
use tidegate_live::nfd::{ControlParameters, ControlResponse};
use tidegate_live::transport::Transport;
use tidegate_wire::tlv::TlvReader;
use tidegate_wire::{DataView, InterestBuilder};

use super::bench::{Forwarder, interest};
use super::management::{about, command, done, elements, fetch, nfd, request};
use super::neighbours::signed;

/// Parameters to create a face to `uri`.
pub fn to(uri: &str) -> ControlParameters {
    ControlParameters { uri: Some(uri.to_owned()), ..ControlParameters::default() }
}

/// Parameters about the face of this number.
pub fn of(face_id: Option<u64>) -> ControlParameters {
    ControlParameters { face_id, ..ControlParameters::default() }
}

fn body(content: &[u8]) -> ControlParameters {
    ControlResponse::decode(content).expect("a response").parameters.expect("parameters")
}

/// A UDP socket that stays silent, and its URI.
pub fn peer() -> (UdpSocket, String) {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    let uri = format!("udp4://{}", socket.local_addr().expect("bound"));
    (socket, uri)
}

/// Content of the FaceStatus of this number; `None` if there is none.
fn status(client: &mut Client, face_id: Option<u64>) -> Option<Vec<(u32, Vec<u8>)>> {
    let mut filter = vec![150, 10, 105, 8];
    filter.extend_from_slice(&face_id.expect("a number").to_be_bytes());
    let content = fetch(client, &nfd(&[b"faces", b"query", &filter]));
    elements(&content).first().map(|(_, value)| elements(value))
}

#[test]
fn a_face_is_created_found_again_changed_and_destroyed() {
    let forwarder = Forwarder::start("face-life", "");
    let mut client = forwarder.consumer();
    let (_socket, uri) = peer();
    let created = done(&mut client, ["faces", "create"], &ControlParameters { mtu: Some(1_200), ..to(&uri) });
    let local_uri = created.local_uri.clone().expect("given");
    assert!(local_uri.starts_with("udp4://127.0.0.1:"), "{local_uri}");
    let expected = ControlParameters {
        face_id: created.face_id,
        local_uri: Some(local_uri),
        flags: Some(4),
        persistency: Some(0),
        mtu: Some(1_200),
        ..to(&uri)
    };
    assert_eq!(created, expected);
    // The same address in another form, as ndnd sends it.
    let (code, content) = command(&mut client, ["faces", "create"], &to(&uri.replace("udp4", "udp")));
    assert_eq!((code, body(&content)), (409, ControlParameters { mtu: None, ..expected.clone() }));
    let change = ControlParameters { persistency: Some(2), mtu: Some(u64::MAX), ..of(created.face_id) };
    let changed = done(&mut client, ["faces", "update"], &change);
    let unnamed = ControlParameters { uri: None, local_uri: None, ..expected };
    assert_eq!(changed, ControlParameters { persistency: Some(2), mtu: Some(1_400), ..unnamed });
    let found = status(&mut client, created.face_id).expect("listed");
    assert!(found.contains(&(133, vec![2])) && found.contains(&(137, vec![5, 120])), "{found:?}");
    for _ in 0..2 {
        assert_eq!(done(&mut client, ["faces", "destroy"], &of(created.face_id)), of(created.face_id));
        assert_eq!(status(&mut client, created.face_id), None);
    }
    assert_eq!(command(&mut client, ["faces", "update"], &change).0, 404);
}

#[test]
fn properties_that_a_face_cannot_have_are_refused_and_nothing_is_changed() {
    let forwarder = Forwarder::start("face-properties", "");
    let mut client = forwarder.consumer();
    let (_socket, uri) = peer();
    let other = |change: fn(&mut ControlParameters)| {
        let mut parameters = to(&uri);
        change(&mut parameters);
        parameters
    };
    for (parameters, code) in [
        (to("udp4://host.example:6363"), 400),
        (to("nonsense"), 400),
        (to("udp4://[::1]:1"), 400),
        (to("unix:///tmp/x"), 406),
        (to("ether://[00:00:00:00:00:01]"), 406),
        (to("udp4://224.0.23.170:56363"), 406),
        (to("udp4://127.0.0.1:0"), 406),
        (other(|wrong| wrong.local_uri = Some("udp4://127.0.0.1:1".to_owned())), 406),
        (other(|wrong| wrong.persistency = Some(1)), 406),
        (other(|wrong| wrong.persistency = Some(3)), 400),
        (other(|wrong| wrong.mtu = Some(63)), 406),
        (ControlParameters { flags: Some(2), mask: Some(2), ..to("tcp4://127.0.0.1:1") }, 406),
        (other(|wrong| wrong.flags = Some(4)), 400),
        (other(|wrong| wrong.face_id = Some(7)), 400),
        (ControlParameters { mtu: Some(1_400), ..to("tcp4://127.0.0.1:1") }, 406),
    ] {
        assert_eq!(command(&mut client, ["faces", "create"], &parameters).0, code, "{parameters:?}");
    }
    let marking = ControlParameters { flags: Some(0), mask: Some(4), ..to(&uri) };
    let created = done(&mut client, ["faces", "create"], &marking);
    assert_eq!((created.flags, created.mtu), (Some(0), None));
    let marking = |interval| ControlParameters { marking_interval_ns: Some(interval), ..Default::default() };
    for (wrong, flags) in [(marking(5_000_000), None), (marking(1), Some(4))] {
        let wrong = ControlParameters { flags, mask: flags, ..wrong };
        let update = ControlParameters { face_id: created.face_id, ..wrong.clone() };
        let (code, content) = command(&mut client, ["faces", "update"], &update);
        assert_eq!((code, body(&content)), (409, wrong));
    }
    let local_fields = ControlParameters { flags: Some(1), mask: Some(1), ..of(created.face_id) };
    assert_eq!(command(&mut client, ["faces", "update"], &local_fields).0, 409);
    let offending = ControlParameters { flags: Some(3), mask: Some(3), mtu: Some(1), ..Default::default() };
    let wrong = ControlParameters { persistency: Some(2), face_id: created.face_id, ..offending.clone() };
    let (code, content) = command(&mut client, ["faces", "update"], &wrong);
    assert_eq!((code, body(&content)), (409, offending));
    let unchanged = done(&mut client, ["faces", "update"], &of(created.face_id));
    assert_eq!(unchanged.persistency, Some(0));
    let found = status(&mut client, created.face_id).expect("listed");
    assert!(found.contains(&(137, vec![5, 120])) && found.iter().all(|(kind, _)| *kind != 135), "{found:?}");
    // The client's own face: a Unix stream that it opened.
    for own in [
        ControlParameters { persistency: Some(2), ..ControlParameters::default() },
        ControlParameters { mtu: Some(1_400), ..ControlParameters::default() },
        ControlParameters { flags: Some(2), mask: Some(2), ..ControlParameters::default() },
    ] {
        let (code, content) = command(&mut client, ["faces", "update"], &own);
        assert_eq!((code, body(&content)), (409, own));
    }
    assert_eq!(done(&mut client, ["faces", "update"], &Default::default()).persistency, Some(1));
    assert_eq!(command(&mut client, ["faces", "destroy"], &of(Some(1))).0, 406);
    assert_eq!(command(&mut client, ["faces", "destroy"], &of(Some(0))).0, 400);
}

#[test]
fn reliability_of_a_face_over_udp_is_switched_by_its_flag() {
    let forwarder = Forwarder::start("face-reliability", "");
    let mut client = forwarder.consumer();
    let (_socket, uri) = peer();
    let with = |flags, more| ControlParameters { flags: Some(flags), mask: Some(2), ..more };
    let created = done(&mut client, ["faces", "create"], &with(2, to(&uri)));
    assert_eq!(created.flags, Some(6));
    let off = done(&mut client, ["faces", "update"], &with(0, of(created.face_id)));
    assert_eq!(off.flags, Some(4));
    assert_eq!(done(&mut client, ["faces", "update"], &with(2, of(created.face_id))).flags, Some(6));
}

#[test]
fn marking_of_a_new_face_is_as_requested() {
    let forwarder = Forwarder::start("face-marking", "");
    let mut client = forwarder.consumer();
    let (_socket, uri) = peer();
    let (marking_interval_ns, marking_threshold_bytes) = (Some(5_000_000), Some(1_000));
    let wanted = ControlParameters { marking_interval_ns, marking_threshold_bytes, ..to(&uri) };
    let created = done(&mut client, ["faces", "create"], &wanted);
    let marking = (created.marking_interval_ns, created.marking_threshold_bytes);
    assert_eq!(marking, (marking_interval_ns, marking_threshold_bytes));
    // nfdc sends both again when the face exists.
    let again = ControlParameters { face_id: created.face_id, uri: None, ..wanted };
    assert_eq!(command(&mut client, ["faces", "update"], &again).0, 200);
    let other = ControlParameters { marking_threshold_bytes: Some(2_000), ..again.clone() };
    assert_eq!(done(&mut client, ["faces", "update"], &other).marking_threshold_bytes, Some(2_000));
    let off = ControlParameters { flags: Some(0), mask: Some(4), ..of(created.face_id) };
    assert_eq!(done(&mut client, ["faces", "update"], &off).flags, Some(0));
    let on = ControlParameters { flags: Some(4), mask: Some(4), ..again };
    let marked = done(&mut client, ["faces", "update"], &on);
    assert_eq!((marked.flags, marked.marking_threshold_bytes), (Some(4), marking_threshold_bytes));
}

#[test]
fn a_subscriber_gets_every_change_of_a_face() {
    let forwarder = Forwarder::start("face-events", "");
    let mut client = forwarder.consumer();
    let (_socket, uri) = peer();
    let events = nfd(&[b"faces", b"events"]);
    let mut subscriber = forwarder.consumer();
    let awaiting = std::thread::spawn({
        let events = events.clone();
        move || request(&mut subscriber, &events, true)
    });
    awaiting
        .join()
        .map(|packet| DataView::parse(&packet).map(|_| ()).expect("a Data"))
        .expect("the own face");
    let created = done(&mut client, ["faces", "create"], &to(&uri));
    let packet = request(&mut client, &events, true);
    let data = DataView::parse(&packet).expect("a Data");
    let last = data.name.last().expect("a number");
    assert_eq!(last.kind, 58);
    let fields = elements(&elements(data.content)[0].1);
    let kinds: Vec<u32> = fields.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [193, 105, 114, 129, 132, 133, 134, 108]);
    assert_eq!((&fields[0].1[..], &fields[2].1[..]), (&[1][..], uri.as_bytes()));
    // The next one is awaited by its number before it exists.
    let mut next = events.clone();
    tidegate_wire::tlv::write_integer(&mut next, 58, last.integer().expect("a number") + 1);
    let awaited = InterestBuilder { name: &next, nonce: Some(1), ..InterestBuilder::default() };
    let awaited = client.packet(awaited.build().expect("valid")).expect("ours");
    client.send(&awaited);
    done(&mut client, ["faces", "destroy"], &of(created.face_id));
    let mut inbox = Vec::new();
    let until = client.now() + Span::from_secs(10);
    while inbox.is_empty() {
        assert!(client.now() < until, "no notification");
        client.exchange(Some(until), &mut inbox).expect("connected");
    }
    let data = DataView::parse(&inbox[0].body).expect("a Data");
    assert_eq!(data.name.components(), next);
    assert_eq!(elements(&elements(data.content)[0].1)[0], (193, vec![2]));
}

/// The next connection at the listener.
fn accept(listener: &TcpListener) -> TcpStream {
    let until = std::time::Instant::now() + Duration::from_secs(20);
    listener.set_nonblocking(true).expect("a socket");
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false).expect("a socket");
                stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket");
                return stream;
            }
            Err(_) => assert!(std::time::Instant::now() < until, "nobody connects"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_permanent_face_is_connected_again_with_its_number_and_its_routes() {
    let forwarder = Forwarder::start("face-permanent", "");
    let mut client = forwarder.consumer();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let uri = format!("tcp4://{}", listener.local_addr().expect("bound"));
    let permanent = ControlParameters { persistency: Some(2), ..to(&uri) };
    let created = done(&mut client, ["faces", "create"], &permanent);
    assert_eq!((created.persistency, created.mtu), (Some(2), None));
    done(&mut client, ["rib", "register"], &ControlParameters { face_id: created.face_id, ..about("/far") });
    drop(accept(&listener));
    let mut again = accept(&listener);
    assert!(status(&mut client, created.face_id).is_some());
    let mut received = [0; 64];
    // Until the connection is established at the forwarder, it has no route.
    for segment in 0..1_000 {
        let name = about("/far").name.expect("given");
        match client.express(interest(&name, segment), Span::from_millis(20)).expect("connected") {
            Answer::Timeout => break,
            Answer::Nack(_) => std::thread::sleep(Duration::from_millis(5)),
            Answer::Data(data) => panic!("{data:?}"),
        }
    }
    let length = again.read(&mut received).expect("an Interest");
    assert!(received[..length].windows(5).any(|part| part == [8, 3, b'f', b'a', b'r']), "{received:?}");
}

#[test]
fn a_permanent_face_without_a_peer_stays_and_is_connected_when_there_is_one() {
    let forwarder = Forwarder::start("face-absent", "");
    let mut client = forwarder.consumer();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("bound");
    let permanent = ControlParameters { persistency: Some(2), ..to(&format!("tcp4://{address}")) };
    let created = done(&mut client, ["faces", "create"], &permanent);
    drop(accept(&listener));
    drop(listener);
    done(&mut client, ["rib", "register"], &ControlParameters { face_id: created.face_id, ..about("/far") });
    let name = about("/far").name.expect("given");
    let mut request =
        |segment| client.express(interest(&name, segment), Span::from_millis(500)).expect("connected");
    // The first Interest may leave before the connection is refused.
    let refused = (0..20).find(|segment| matches!(request(*segment), Answer::Nack(_)));
    assert!(refused.is_some());
    assert!(matches!(request(100), Answer::Nack(_)));
    let listener = TcpListener::bind(address).expect("the port is free again");
    let mut peer = accept(&listener);
    let sent = (200..1_200).find(|segment| matches!(request(*segment), Answer::Timeout));
    assert!(sent.is_some());
    let mut received = [0; 64];
    let length = peer.read(&mut received).expect("an Interest");
    assert!(received[..length].windows(5).any(|part| part == [8, 3, b'f', b'a', b'r']), "{received:?}");
    assert!(status(&mut client, created.face_id).is_some());
}

#[test]
fn a_face_whose_peer_refuses_the_connection_is_not_created() {
    let forwarder = Forwarder::start("face-refused", "");
    let mut client = forwarder.consumer();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let uri = format!("tcp4://{}", listener.local_addr().expect("bound"));
    drop(listener);
    for persistency in [None, Some(2)] {
        let requested = ControlParameters { persistency, ..to(&uri) };
        assert_eq!(command(&mut client, ["faces", "create"], &requested).0, 504);
    }
    let listed = fetch(&mut client, &nfd(&[b"faces", b"list"]));
    assert!(!listed.windows(uri.len()).any(|part| part == uri.as_bytes()));
}

#[test]
fn a_command_that_is_sent_again_is_carried_out_again() {
    let forwarder = Forwarder::start("command-again", "");
    let mut client = forwarder.consumer();
    let (_socket, uri) = peer();
    let create = signed("localhost", ["faces", "create"], Some(&to(&uri).encode()), None);
    let mut send = || match client.express(create.clone().into(), Span::from_secs(10)).expect("connected") {
        Answer::Data(data) => {
            let content = DataView::parse(&data.body).expect("a Data").content.to_vec();
            ControlResponse::decode(&content).expect("a response").code
        }
        other => panic!("{other:?}"),
    };
    assert_eq!([send(), send()], [200, 409]);
}

#[test]
fn a_name_with_too_many_components_is_refused_as_too_long() {
    let forwarder = Forwarder::start("long-name", "");
    let mut client = forwarder.consumer();
    for count in [33, 500] {
        let long = ControlParameters { name: Some([8, 1, b'a'].repeat(count)), ..Default::default() };
        assert_eq!(command(&mut client, ["rib", "register"], &long).0, 414, "{count}");
    }
}

#[test]
fn a_persistent_face_ends_with_its_connection() {
    let forwarder = Forwarder::start("face-persistent", "");
    let mut client = forwarder.consumer();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let created = done(
        &mut client,
        ["faces", "create"],
        &to(&format!("tcp4://{}", listener.local_addr().expect("bound"))),
    );
    drop(accept(&listener));
    let until = client.now() + Span::from_secs(10);
    while status(&mut client, created.face_id).is_some() {
        assert!(client.now() < until, "the face stays");
    }
}

#[test]
fn a_peer_to_which_the_forwarder_connected_sends_no_commands() {
    let forwarder = Forwarder::start("face-commands", "");
    let mut client = forwarder.consumer();
    let listener = StreamListener::tcp(([127, 0, 0, 1], 0).into()).expect("a port is free");
    done(&mut client, ["faces", "create"], &to(&listener.uri().to_string()));
    // The connection was begun before the response, and waits to be accepted.
    let stream = listener.accept().expect("listening").expect("a connection");
    let mut peer = Client::over(Transport::Stream(stream)).expect("descriptors");
    assert_eq!(command(&mut peer, ["rib", "register"], &about("/a")).0, 403);
    assert!(fetch(&mut peer, &nfd(&[b"status", b"general"])).starts_with(&[128]));
}

/// Bytes that arrive before `count` elements of NDN are complete.
fn read_elements(stream: &mut UnixStream, count: usize) -> Vec<u8> {
    let mut received = Vec::new();
    let is_complete = |bytes: &[u8]| {
        let mut reader = TlvReader::new(bytes);
        std::iter::from_fn(|| reader.next().ok().flatten()).count() >= count
    };
    while !is_complete(&received) {
        let mut bytes = [0; 9_000];
        let length = stream.read(&mut bytes).expect("in time");
        assert!(length > 0, "the connection ended after {received:?}");
        received.extend_from_slice(&bytes[..length]);
    }
    received
}

#[test]
fn an_application_with_local_fields_gets_the_face_of_each_interest() {
    let forwarder = Forwarder::start("face-local-fields", "");
    let mut producer = forwarder.stream();
    producer.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket");
    let mut send = |verb: [&str; 2], parameters: &ControlParameters| {
        let sent = signed("localhost", verb, Some(&parameters.encode()), None);
        producer.write_all(&sent).expect("connected");
        read_elements(&mut producer, 1)
    };
    send(["rib", "register"], &about("/a"));
    let local_fields = ControlParameters { flags: Some(1), mask: Some(1), ..ControlParameters::default() };
    let enabled = send(["faces", "update"], &local_fields);
    let data = DataView::parse(&enabled).expect("a Data");
    assert_eq!(body(data.content).flags, Some(5));
    let mut client = forwarder.consumer();
    let own = done(&mut client, ["faces", "update"], &ControlParameters::default()).face_id.expect("given");
    let name = about("/a").name.expect("given");
    client.express(interest(&name, 1), Span::from_millis(1)).expect("connected");
    // IncomingFaceId (812) with two bytes.
    let field = [&[0xFD, 3, 44, 2][..], &(own as u16).to_be_bytes()].concat();
    let received = read_elements(&mut producer, 1);
    assert!(received[0] == 100 && received.windows(6).any(|part| part == field), "{received:?}");
    let mut send = |parameters: &ControlParameters| {
        producer
            .write_all(&signed("localhost", ["faces", "update"], Some(&parameters.encode()), None))
            .expect("connected");
        read_elements(&mut producer, 1)
    };
    send(&ControlParameters { flags: Some(0), ..local_fields });
    client.express(interest(&name, 2), Span::from_millis(1)).expect("connected");
    assert_eq!(read_elements(&mut producer, 1)[0], 5);
}
