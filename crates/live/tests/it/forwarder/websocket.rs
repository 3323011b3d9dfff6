//! Faces over WebSocket: a client written with the library, against a whole forwarder.

use std::net::TcpStream;

use bytes::Bytes;
use tidegate_live::nfd::{ControlParameters, ControlResponse};
use tidegate_wire::{DataView, decode_frame};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

use super::bench::{Forwarder, answer, interest};
use super::management::{elements, fetch, nfd};
use super::neighbours::signed;

const NAME: &[u8] = &[8, 1, b'w'];

fn start(name: &str) -> Forwarder {
    let listen = "[listen]\nudp = []\ntcp = []\nwebsocket = [\"127.0.0.1:0\"]";
    Forwarder::configured(name, listen, tidegate_schemes::SCHEMES)
}

/// A page of the site `origin`, or a program.
fn page(forwarder: &Forwarder, origin: Option<&str>) -> WebSocket<TcpStream> {
    let uri = forwarder.listening.iter().find(|uri| uri.starts_with("ws://")).expect("listens");
    let mut request = uri.into_client_request().expect("a URI");
    if let Some(origin) = origin {
        request.headers_mut().insert("Origin", origin.parse().expect("a header"));
    }
    let stream = TcpStream::connect(uri.trim_start_matches("ws://")).expect("listens");
    stream.set_read_timeout(Some(std::time::Duration::from_secs(10))).expect("a timeout");
    tungstenite::client(request, stream).expect("accepted").0
}

fn send(page: &mut WebSocket<TcpStream>, frame: Bytes) {
    page.send(Message::Binary(frame)).expect("connected");
}

/// The Data of the next message.
fn receive(page: &mut WebSocket<TcpStream>) -> Bytes {
    let Message::Binary(frame) = page.read().expect("connected") else { panic!("no packet") };
    decode_frame(frame).expect("a frame").fragment
}

#[test]
fn a_page_fetches_what_an_application_produces_and_is_listed_as_in_nfd() {
    let forwarder = start("ws-fetch");
    let mut producer = forwarder.producer(NAME);
    let mut page = page(&forwarder, Some("https://example.com"));
    for segment in 0..100 {
        send(&mut page, interest(NAME, segment));
    }
    answer(&mut producer, 100, 1_000);
    for segment in 0..100 {
        let data = receive(&mut page);
        let name = DataView::parse(&data).expect("a Data").name.components().to_vec();
        assert_eq!(name, [NAME, &[50, 1, segment]].concat());
    }
    let listed = fetch(&mut forwarder.consumer(), &nfd(&[b"faces", b"list"]));
    let faces: Vec<_> = elements(&listed).into_iter().map(|(_, face)| elements(&face)).collect();
    let starts = |face: &[(u32, Vec<u8>)], kind, start: &[u8]| {
        face.iter().any(|(known, value)| *known == kind && value.starts_with(start))
    };
    let mut pages = faces.iter().filter(|face| starts(face, 114, b"wsclient://127.0.0.1:"));
    let face = pages.next().expect("listed");
    // Local URI, non-local scope, on demand, point-to-point, no limit on packets, 100 Interests.
    assert!(starts(face, 129, b"ws://127.0.0.1:"), "{face:?}");
    for field in [(132, vec![0]), (133, vec![1]), (134, vec![0]), (137, vec![0x22, 0x60]), (144, vec![100])] {
        assert!(face.contains(&field), "{field:?} of {face:?}");
    }
}

#[test]
fn a_program_on_this_machine_registers_a_prefix_and_a_page_of_another_site_does_not() {
    let forwarder = start("ws-register");
    let parameters = ControlParameters { name: Some(NAME.to_vec()), ..ControlParameters::default() };
    let command = || signed("localhost", ["rib", "register"], Some(&parameters.encode()), None);
    let mut program = page(&forwarder, None);
    send(&mut program, command().into());
    let data = receive(&mut program);
    let content = DataView::parse(&data).expect("a Data").content.to_vec();
    assert!(ControlResponse::decode(&content).expect("a response").is_ok());
    let mut stranger = page(&forwarder, Some("https://example.com"));
    send(&mut stranger, command().into());
    send(&mut stranger, interest(&[8, 1, b'x'], 0));
    let Message::Binary(frame) = stranger.read().expect("connected") else { panic!("no packet") };
    // The command is not answered; a Nack is the answer to the Interest behind it.
    assert!(frame.starts_with(&[100]), "{frame:?}");
}

#[test]
fn a_page_that_violates_the_protocol_loses_its_face_and_no_other() {
    let forwarder = start("ws-hostile");
    let mut producer = forwarder.producer(NAME);
    let (mut first, mut second) = (page(&forwarder, None), page(&forwarder, None));
    second.send(Message::text("no packet")).expect("connected");
    first.send(Message::binary(vec![0; 100_000])).expect("connected");
    // The forwarder closes the connection in the way of the protocol, as far as that is still possible.
    assert!(matches!(first.read(), Err(_) | Ok(Message::Close(_))));
    send(&mut second, interest(NAME, 1));
    answer(&mut producer, 1, 10);
    assert!(receive(&mut second).starts_with(&[6]));
}
