//! Messages of management, and texts of users: decoded, encoded, decoded again.

use std::net::SocketAddr;

use tidegate_core::ndn::name::NameTable;
use tidegate_live::daemon::management::request::{Dataset, Request, RequestRefusal};
use tidegate_live::daemon::management::verb::Verb;
use tidegate_live::daemon::status::{self, StatusLine};
use tidegate_live::nfd::{ControlParameters, ControlResponse, FaceQueryFilter, PrefixAnnouncement};
use tidegate_live::registration::read_response;
use tidegate_live::uri::FaceUri;
use tidegate_live::{name_uri, uplink};
use tidegate_wire::{DataBuilder, InterestBuilder, InterestStamp, InterestView, Signer};

/// The first byte says what the others are.
pub fn check(data: &[u8]) {
    let Some((kind, bytes)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(bytes);
    match kind % 13 {
        0 => parameters(bytes),
        1 => response(bytes),
        2 => answer(bytes),
        3 => command(bytes),
        4 => status(&text),
        5 => name_text(&text),
        6 => name(bytes),
        7 => face_uri(&text),
        8 => address(bytes),
        9 => client_conf(&text),
        10 => query(bytes),
        11 => request(bytes),
        _ => announcement(bytes),
    }
}

fn parameters(bytes: &[u8]) {
    let Ok(read) = ControlParameters::decode(bytes) else { return };
    assert_eq!(ControlParameters::decode(&read.encode()), Ok(read));
}

fn response(bytes: &[u8]) {
    let Ok(read) = ControlResponse::decode(bytes) else { return };
    assert_eq!(read.is_ok(), read.code / 100 == 2);
    assert_eq!(ControlResponse::decode(&read.encode()), Ok(read));
}

/// A whole Data from a forwarder, and one of ours with these bytes in it.
fn answer(bytes: &[u8]) {
    let _ = read_response(bytes).map_err(|why| assert!(!why.to_string().is_empty()));
    let data = DataBuilder { name: &[8, 1, b'a'], content: bytes, ..DataBuilder::default() };
    let Ok(data) = data.sign(&Signer::Digest) else { return };
    let read = ControlResponse::decode(bytes).ok().filter(ControlResponse::is_ok);
    assert_eq!(read_response(&data).ok(), read.map(|read| read.parameters.unwrap_or_default()));
}

/// A whole Interest, and a registration of ours with these bytes behind the verb.
fn command(bytes: &[u8]) {
    if let Ok(interest) = InterestView::parse(bytes) {
        let _ = Request::read(&interest).map_err(|why| assert!((400..600).contains(&why.code)));
    }
    let read = read_signed(&[b"localhost", b"nfd", b"rib", b"register", bytes]);
    if read == Ok(Request::Foreign) {
        return;
    }
    match ControlParameters::decode(bytes) {
        Ok(parameters) => assert_eq!(read, Ok(Request::Command(Verb::RibRegister, Box::new(parameters)))),
        Err(_) => assert_eq!(read.map_err(|why| why.code), Err(400)),
    }
}

/// A filter, alone and in the name of a query.
fn query(bytes: &[u8]) {
    let filter = FaceQueryFilter::decode(bytes);
    let read = read_signed(&[b"localhost", b"nfd", b"faces", b"query", bytes]);
    if read == Ok(Request::Foreign) {
        return;
    }
    match filter {
        Ok(filter) => {
            let expected = Dataset::Faces(Box::new(filter));
            assert_eq!(read, Ok(Request::Dataset(expected)));
        }
        Err(_) => assert_eq!(read.map_err(|why| (why.code, why.is_dataset)), Err((400, true))),
    }
}

/// Modules and verbs of which the first byte selects one, and parameters behind them.
const REQUESTS: [[&[u8]; 2]; 16] = [
    [b"faces", b"create"],
    [b"faces", b"update"],
    [b"faces", b"destroy"],
    [b"faces", b"list"],
    [b"faces", b"channels"],
    [b"faces", b"events"],
    [b"fib", b"add-nexthop"],
    [b"fib", b"remove-nexthop"],
    [b"fib", b"list"],
    [b"rib", b"unregister"],
    [b"rib", b"announce"],
    [b"cs", b"config"],
    [b"cs", b"erase"],
    [b"strategy-choice", b"set"],
    [b"strategy-choice", b"unset"],
    [b"status", b"general"],
];

/// A request of any kind; a command has only the fields that its verb permits, or is refused.
fn request(bytes: &[u8]) {
    let Some((which, bytes)) = bytes.split_first() else { return };
    let [module, verb] = REQUESTS[usize::from(*which) % REQUESTS.len()];
    match read_signed(&[b"localhost", b"nfd", module, verb, bytes]) {
        Ok(Request::Command(verb, parameters)) => {
            assert_eq!(ControlParameters::decode(bytes).as_ref(), Ok(&*parameters));
            let _ = verb.check(&parameters).map_err(|why| assert_eq!(why.code, 400));
        }
        Ok(_) => {}
        Err(why) => assert!((400..600).contains(&why.code)),
    }
}

/// An announcement of a prefix, alone and in a command.
fn announcement(bytes: &[u8]) {
    let read = PrefixAnnouncement::decode(bytes);
    if let Ok(announcement) = &read {
        for now_ms in [0, 1_767_225_600_000, u64::MAX] {
            let lifetime = announcement.lifetime_ms(now_ms);
            assert!(lifetime.is_none_or(|lifetime| lifetime <= announcement.expiration_ms));
        }
    }
    let mut name = Vec::new();
    for word in [b"localhost", &b"nfd"[..], b"rib", b"announce"] {
        tidegate_wire::name::push_component(&mut name, 8, word);
    }
    let interest = InterestBuilder { name: &name, parameters: Some(bytes), ..InterestBuilder::default() };
    let Ok(interest) = interest.sign(&Signer::Digest, &InterestStamp::default()) else { return };
    let request = Request::read(&InterestView::parse(&interest).expect("an Interest of ours"));
    match read {
        Ok(announcement) => assert_eq!(request, Ok(Request::Announcement(Box::new(announcement)))),
        Err(_) => assert!(matches!(request, Err(why) if why.code == 400 || why.code == 403)),
    }
}

/// The request of a signed Interest of these components; that of a foreign name if they are too long for one.
fn read_signed(words: &[&[u8]]) -> Result<Request, RequestRefusal> {
    let mut name = Vec::new();
    words.iter().for_each(|word| tidegate_wire::name::push_component(&mut name, 8, word));
    let interest = InterestBuilder { name: &name, ..InterestBuilder::default() };
    match interest.sign(&Signer::Digest, &InterestStamp::default()) {
        Ok(interest) => Request::read(&InterestView::parse(&interest).expect("an Interest of ours")),
        Err(_) => Ok(Request::Foreign),
    }
}

/// Any text is read; a value may be any text.
fn status(text: &str) {
    for line in status::read(text) {
        assert!(line.fields.iter().all(|(key, _)| !key.contains(['=', ' '])));
    }
    let lines = [StatusLine::new("face").with("uri", text).with("id", 1), StatusLine::new("route")];
    assert_eq!(status::read(&status::write(&lines)), lines);
}

fn name_text(text: &str) {
    let Ok(components) = name_uri::parse(text) else { return };
    assert_eq!(name_uri::parse(&name_uri::show(&components)), Ok(components));
}

fn name(components: &[u8]) {
    let mut names = NameTable::new();
    let Ok(name) = names.intern(components) else {
        assert!(name_uri::show(components).starts_with('/'));
        return;
    };
    let shown = name_uri::show(components);
    assert_eq!(name_uri::parse(&shown).as_deref(), Ok(components), "{shown}");
    assert_eq!(name_uri::parse(&names.uri(name)).as_deref(), Ok(components), "{shown}");
}

fn face_uri(text: &str) {
    let checked = FaceUri::check(text);
    // Anything else might ask the network.
    if text.starts_with("unix://") {
        let uri = FaceUri::resolve(text);
        assert_eq!(uri.as_ref().map(|_| ()), checked.as_ref().copied());
        if let Ok(uri) = uri {
            assert_eq!(FaceUri::resolve(&uri.to_string()), Ok(uri));
        }
    }
    if let Err(why) = checked {
        assert!(why.to_string().contains("face URI"));
    }
}

fn address(bytes: &[u8]) {
    let port = bytes.first().map_or(6363, |port| u16::from(*port) * 257);
    let address = match (bytes.first_chunk::<4>(), bytes.first_chunk::<16>()) {
        (_, Some(address)) => SocketAddr::from((*address, port)),
        (Some(address), None) => SocketAddr::from((*address, port)),
        _ => return,
    };
    for uri in [FaceUri::Udp(address), FaceUri::Tcp(address)] {
        assert_eq!(FaceUri::resolve(&uri.to_string()), Ok(uri));
    }
}

fn client_conf(text: &str) {
    let Some((line, value)) = uplink::transport_line(text) else { return };
    let stated = line.checked_sub(1).and_then(|line| text.lines().nth(line)).expect("a line of the text");
    assert!(stated.contains(value) && !value.contains(';') && value.trim() == value);
}
