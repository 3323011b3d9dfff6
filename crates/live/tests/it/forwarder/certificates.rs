//! Certificates that the forwarder requests for commands of neighbours whose keys it does not know.

use bytes::Bytes;
use tidegate_live::clock::MonotonicClock;
use tidegate_live::key_store::to_base64;
use tidegate_live::nfd::ControlResponse;
use tidegate_wire::{
    CertificateSettings, DataView, KeyAlgorithm, KeySigner, Signer, ValidityPeriod, decode_frame,
};

use super::bench::Forwarder;
use super::management::about;
use super::neighbours::{Neighbour, signed_by};
use crate::applications::bench::file;

/// `/o/KEY/k`, whose key certifies.
const OFFICE: &[u8] = b"\x08\x01o\x08\x03KEY\x08\x01k";

/// `/a/KEY/k`.
const USER: &[u8] = b"\x08\x01a\x08\x03KEY\x08\x01k";

fn key(number: u8, name: &[u8]) -> KeySigner {
    KeySigner::from_bytes(KeyAlgorithm::P256, &[number; 32], name).expect("a key")
}

/// A certificate of the key of `number`, named `subject`, by `issuer`.
fn certificate(number: u8, subject: &[u8], issuer: KeySigner) -> Bytes {
    let settings = CertificateSettings {
        key_name: subject,
        public_key: &key(number, subject).public_key(),
        issuer: b"i",
        version: 1,
        validity: ValidityPeriod { not_before: 0, not_after: u32::MAX.into() },
    };
    settings.issue(&Signer::Key(Box::new(issuer))).expect("small")
}

/// A forwarder with the rule that users sign what is below their names, and are certified by the office.
fn forwarder() -> Forwarder {
    let anchor = certificate(1, OFFICE, key(1, OFFICE));
    file("office.cert", to_base64(&anchor).as_bytes());
    let schema = "format = 1\n[[anchor]]\ncertificate = \"office.cert\"\n\
                  [[rule]]\ndata = \"/{user}/**\"\nsigner = \"/{user}/KEY/*\"\n\
                  [[rule]]\ndata = \"/{user}/KEY/*/*/*\"\nsigner = \"/o/KEY/*\"\n";
    let path = file("fetched.toml", schema.as_bytes());
    Forwarder::start("fetched", &format!("[management]\ntrust_schema = {path:?}\n"))
}

/// Sends a registration of `/a/x` signed by the key of `number`, as that of the user.
fn send_command(neighbour: &Neighbour, number: u8) {
    let parameters = about("/a/x").encode();
    let now = Some(MonotonicClock::wall_micros() / 1_000 + 1);
    let signer = Signer::Key(Box::new(key(number, USER)));
    let sent = signed_by(&signer, now, "localhop", ["rib", "register"], (Some(&parameters), None));
    neighbour.socket.send(&sent).expect("sent");
}

/// The next packet that a neighbour receives.
fn receive(neighbour: &Neighbour) -> Bytes {
    neighbour.socket.set_read_timeout(Some(std::time::Duration::from_secs(10))).expect("a socket");
    let mut received = [0; 9_000];
    let len = neighbour.socket.recv(&mut received).expect("a packet");
    decode_frame(Bytes::copy_from_slice(&received[..len])).expect("a frame").fragment
}

/// The code in the response that a neighbour receives, after it has answered the request for its certificate, if any.
fn code(neighbour: &Neighbour, own: &Bytes) -> u64 {
    loop {
        let packet = receive(neighbour);
        match DataView::parse(&packet) {
            Ok(data) => return ControlResponse::decode(data.content).expect("a response").code,
            Err(_) => neighbour.socket.send(own).map(|_| ()).expect("sent"),
        }
    }
}

#[test]
fn a_forged_certificate_is_neither_kept_nor_in_the_way_of_the_true_one() {
    let forwarder = forwarder();
    let mut client = forwarder.consumer();
    let [honest, other] = [(); 2].map(|()| Neighbour::new(&mut client));
    let (own, forged) = (certificate(2, USER, key(1, OFFICE)), certificate(3, USER, key(3, USER)));
    send_command(&other, 3);
    assert_eq!(code(&other, &forged), 403);
    // The second one is asked while the answer of the first one is outstanding, which comes first.
    send_command(&other, 3);
    receive(&other);
    send_command(&honest, 2);
    let asked = receive(&honest);
    assert!(DataView::parse(&asked).is_err(), "it is asked itself: {asked:?}");
    other.socket.send(&forged).expect("sent");
    assert_eq!(code(&other, &forged), 403);
    honest.socket.send(&own).expect("sent");
    assert_eq!(code(&honest, &own), 200);
    // It is known now.
    send_command(&honest, 2);
    let response = receive(&honest);
    let response = DataView::parse(&response).expect("no request").content.to_vec();
    assert_eq!(ControlResponse::decode(&response).expect("a response").code, 200);
}
