//! Commands under `/localhop/nfd` from a neighbour, and announcements of prefixes.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tidegate_core::units::Span;
use tidegate_live::client::{Answer, Client};
use tidegate_live::clock::MonotonicClock;
use tidegate_live::key_store::to_base64;
use tidegate_live::nfd::{ControlParameters, ControlResponse};
use tidegate_wire::tlv::types;
use tidegate_wire::{
    CertificateSettings, DataBuilder, DataView, InterestBuilder, InterestStamp, KeyAlgorithm, KeySigner,
    Signer, ValidityPeriod, name, rdr,
};

use crate::applications::bench::file;

use super::bench::Forwarder;
use super::management::{about, done, elements, fetch, nfd};

/// A signed Interest under `scope`, with a last component if there are parameters for the name.
pub fn signed(
    scope: &str,
    words: [&str; 2],
    parameters: Option<&[u8]>,
    announcement: Option<&[u8]>,
) -> Vec<u8> {
    signed_by(&Signer::Digest, None, scope, words, (parameters, announcement))
}

/// As [`signed`], by `signer` at a time in milliseconds since 1970.
pub fn signed_by(
    signer: &Signer,
    time_ms: Option<u64>,
    scope: &str,
    words: [&str; 2],
    (parameters, announcement): (Option<&[u8]>, Option<&[u8]>),
) -> Vec<u8> {
    let mut requested = Vec::new();
    for word in [scope.as_bytes(), b"nfd", words[0].as_bytes(), words[1].as_bytes()] {
        name::push_component(&mut requested, 8, word);
    }
    parameters.into_iter().for_each(|parameters| name::push_component(&mut requested, 8, parameters));
    let interest =
        InterestBuilder { name: &requested, parameters: announcement, ..InterestBuilder::default() };
    // The content store would answer a command that is repeated as it was.
    let nonce = COMMANDS.fetch_add(1, Ordering::Relaxed).to_be_bytes();
    let stamp = InterestStamp { nonce: Some(&nonce), time_ms, ..InterestStamp::default() };
    interest.sign(signer, &stamp).expect("valid").to_vec()
}

/// Number of commands that were signed.
static COMMANDS: AtomicU64 = AtomicU64::new(0);

/// `/a/KEY/k`.
const KEY_NAME: &[u8] = b"\x08\x01a\x08\x03KEY\x08\x01k";

/// A neighbour over UDP, which the forwarder has a face to.
pub struct Neighbour {
    pub socket: UdpSocket,
    face_id: Option<u64>,
}

impl Neighbour {
    pub fn new(client: &mut Client) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
        let uri = Some(format!("udp4://{}", socket.local_addr().expect("bound")));
        let created =
            done(client, ["faces", "create"], &ControlParameters { uri, ..ControlParameters::default() });
        let address = created.local_uri.expect("given");
        socket.connect(address.trim_start_matches("udp4://")).expect("an address");
        Self { socket, face_id: created.face_id }
    }

    /// The response to a command; `None` if there is no Data within `patience`.
    fn command(&self, sent: &[u8], patience: Duration) -> Option<ControlResponse> {
        self.socket.set_read_timeout(Some(patience)).expect("a socket");
        self.socket.send(sent).expect("sent");
        let mut received = [0; 9_000];
        let len = self.socket.recv(&mut received).ok()?;
        let data = DataView::parse(&received[..len]).ok()?;
        Some(ControlResponse::decode(data.content).expect("a response"))
    }

    #[track_caller]
    fn response(&self, verb: &str, parameters: &ControlParameters) -> ControlResponse {
        let sent = signed("localhop", ["rib", verb], Some(&parameters.encode()), None);
        self.command(&sent, Duration::from_secs(10)).expect("a response")
    }
}

/// Long enough for a response, if there were one.
const MOMENT: Duration = Duration::from_millis(300);

#[test]
fn a_neighbour_registers_routes_to_itself_where_that_is_configured() {
    let forwarder = Forwarder::start("neighbour", "[management]\nlocalhop = true\n");
    let mut client = forwarder.consumer();
    let neighbour = Neighbour::new(&mut client);
    let registered = neighbour.response("register", &about("/far"));
    assert_eq!(registered.code, 200, "{registered}");
    assert_eq!(registered.parameters.and_then(|given| given.face_id), neighbour.face_id);
    let other = ControlParameters { face_id: Some(1), ..about("/other") };
    assert_eq!(neighbour.response("register", &other).code, 403);
    for reserved in ["/localhost/nfd", "/localhost", "/localhost/app", "/localhop/x"] {
        assert_eq!(neighbour.response("register", &about(reserved)).code, 403, "{reserved}");
    }
    let fixed = ControlParameters { origin: Some(255), ..about("/fixed") };
    assert_eq!(neighbour.response("register", &fixed).code, 403);
    // An application has to be permitted under /localhost.
    let sent = signed("localhop", ["rib", "register"], Some(&about("/app").encode()), None);
    match client.express(sent.into(), Span::from_secs(10)).expect("connected") {
        Answer::Data(data) => {
            let data = DataView::parse(&data.body).expect("a Data");
            assert_eq!(ControlResponse::decode(data.content).expect("a response").code, 403);
        }
        other => panic!("{other:?}"),
    }
    let own = ControlParameters { face_id: neighbour.face_id, ..about("/far") };
    assert_eq!(neighbour.response("unregister", &own).code, 200);
    // Nothing else is there for neighbours, in either scope.
    for (scope, words) in [("localhop", ["faces", "destroy"]), ("localhost", ["rib", "register"])] {
        let sent = signed(scope, words, Some(&about("/far").encode()), None);
        assert_eq!(neighbour.command(&sent, MOMENT), None, "{scope} {words:?}");
    }
}

#[test]
fn a_neighbour_with_a_known_key_registers_routes_and_nobody_repeats_its_commands() {
    let known = |number| {
        let key = KeySigner::from_bytes(KeyAlgorithm::P256, &[number; 32], KEY_NAME).expect("a key");
        (key.public_key(), Signer::Key(Box::new(key)))
    };
    let ((public_key, signer), (_, other)) = (known(1), known(2));
    let settings = CertificateSettings {
        key_name: KEY_NAME,
        public_key: &public_key,
        issuer: b"self",
        version: 1,
        validity: ValidityPeriod { not_before: 0, not_after: u32::MAX.into() },
    };
    let certificate = to_base64(&settings.issue(&signer).expect("small"));
    let path = file("known-key.cert", certificate.as_bytes());
    let key = format!("[[management.key]]\ncertificate = {path:?}\ncommands = [\"rib\"]\n");
    let forwarder = Forwarder::start("known-key", &key);
    let neighbour = Neighbour::new(&mut forwarder.consumer());
    let register = |signer: &Signer, time_ms| {
        let parameters = about("/far").encode();
        let content = (Some(&parameters[..]), None);
        let sent = signed_by(signer, time_ms, "localhop", ["rib", "register"], content);
        neighbour.command(&sent, Duration::from_secs(10)).expect("a response")
    };
    let now = MonotonicClock::wall_micros() / 1_000 + 1;
    assert_eq!(register(&other, Some(now)).code, 403);
    assert_eq!(register(&Signer::Digest, Some(now)).code, 403);
    assert_eq!(register(&signer, None).code, 403);
    let registered = register(&signer, Some(now));
    assert_eq!(registered.code, 200, "{registered}");
    let again = register(&signer, Some(now));
    assert_eq!(again.code, 403, "{again}");
    assert_eq!(register(&signer, Some(now + 1)).code, 200);
    // Each costs a verification, which are limited; what is refused for its time costs none.
    assert!((0..200).any(|_| register(&other, Some(now + 2)).code == 503));
    assert!((0..20).all(|_| register(&other, Some(1)).code == 403));
}

#[test]
fn a_neighbour_registers_nothing_by_default() {
    let forwarder = Forwarder::start("no-neighbour", "");
    let mut client = forwarder.consumer();
    let neighbour = Neighbour::new(&mut client);
    let sent = signed("localhop", ["rib", "register"], Some(&about("/far").encode()), None);
    assert_eq!(neighbour.command(&sent, MOMENT), None);
    assert_eq!(elements(&fetch(&mut client, &nfd(&[b"rib", b"list"]))).len(), 2);
    // Not even if a route leads to the management.
    done(&mut client, ["rib", "register"], &ControlParameters { face_id: Some(1), ..about("/localhop") });
    assert_eq!(neighbour.response("register", &about("/far")).code, 403);
}

#[test]
fn a_neighbour_has_a_limited_number_of_routes_and_renews_them_at_the_limit() {
    let forwarder = Forwarder::start("neighbour-limit", "[management]\nlocalhop = true\n");
    let neighbour = Neighbour::new(&mut forwarder.consumer());
    for place in 0..1_000 {
        assert_eq!(neighbour.response("register", &about(&format!("/far/{place}"))).code, 200, "{place}");
    }
    assert_eq!(neighbour.response("register", &about("/far/1000")).code, 503);
    assert_eq!(neighbour.response("register", &about("/far/7")).code, 200);
    assert_eq!(neighbour.response("unregister", &about("/far/7")).code, 200);
    assert_eq!(neighbour.response("register", &about("/far/1000")).code, 200);
}

#[test]
fn a_neighbour_whose_commands_change_many_routes_has_a_budget_and_the_own_user_has_none() {
    let forwarder = Forwarder::start("neighbour-budget", "[management]\nlocalhop = true\n");
    let mut client = forwarder.consumer();
    let neighbour = Neighbour::new(&mut client);
    (0..3_000).for_each(|place| _ = done(&mut client, ["rib", "register"], &about(&format!("/{place}"))));
    // Each change of the default route's cost is one of all prefixes.
    let codes = (0..20).map(|cost| {
        let parameters = ControlParameters { cost: Some(cost), ..about("/") };
        neighbour.response("register", &parameters).code
    });
    let codes: Vec<u64> = codes.collect();
    assert!(codes[0] == 200 && codes.contains(&503), "{codes:?}");
    for cost in 0..20 {
        done(&mut client, ["rib", "register"], &ControlParameters { cost: Some(cost), ..about("/") });
    }
}

/// Announcement of `/a` for a minute.
fn announcement(content: &[u8]) -> Vec<u8> {
    let mut name = about("/a").name.expect("given");
    name::push_component(&mut name, types::KEYWORD_NAME_COMPONENT as u16, b"PA");
    rdr::push_version(&mut name, 1);
    name::push_segment(&mut name, 0);
    let data = DataBuilder { name: &name, content_type: 5, content, ..DataBuilder::default() };
    data.sign(&Signer::Digest).expect("small").to_vec()
}

#[test]
fn an_announced_prefix_is_a_route_with_origin_cost_and_time_of_nfd() {
    let forwarder = Forwarder::start("announced", "");
    let mut client = forwarder.consumer();
    let mut announce = |packet: &[u8]| {
        let interest = signed("localhost", ["rib", "announce"], None, Some(packet));
        match client.express(interest.into(), Span::from_secs(10)).expect("connected") {
            Answer::Data(data) => {
                let data = DataView::parse(&data.body).expect("a Data");
                ControlResponse::decode(data.content).expect("a response")
            }
            other => panic!("{other:?}"),
        }
    };
    let response = announce(&announcement(&[109, 2, 234, 96]));
    assert_eq!(response.code, 200, "{response}");
    let given = response.parameters.expect("parameters");
    let (origin, cost, flags) = (Some(129), Some(2_048), Some(1));
    let expected = ControlParameters { origin, cost, flags, expiration_ms: Some(60_000), ..about("/a") };
    assert_eq!(given, ControlParameters { face_id: given.face_id, ..expected });
    assert_eq!(announce(&announcement(&[])).code, 400);
    assert_eq!(announce(&[6, 0]).code, 400);
    let mut damaged = announcement(&[109, 2, 234, 96]);
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    assert_eq!(announce(&damaged).code, 403);
    let times = [&[253, 0, 254, 15][..], b"20200101T000000", &[253, 0, 255, 15], b"20200102T000000"].concat();
    let past = [&[109, 2, 234, 96, 253, 0, 253, times.len() as u8][..], &times].concat();
    assert_eq!(announce(&announcement(&past)).code, 403);
}
