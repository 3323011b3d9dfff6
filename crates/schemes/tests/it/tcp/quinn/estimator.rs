//! Round-trip estimators of quinn, which only a connection of it can make.
//!
//! A client opens a connection without cryptography; what a server answers to its first datagram is written here: an
//! Initial packet (RFC 9000 §17.2.2) with an ACK frame (§19.3) for packet 0. The controller is asked what it was shown.

use std::any::Any;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use quinn_proto::congestion::{Controller, ControllerFactory};
use quinn_proto::crypto::{
    self, CryptoError, ExportKeyingMaterialError, HeaderKey, HmacKey, KeyPair, Keys, PacketKey, Session,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{
    ClientConfig, ConnectError, ConnectionId, DatagramEvent, Endpoint, EndpointConfig,
    RandomConnectionIdGenerator, RttEstimator, Side, TransportConfig, TransportError,
};

/// An estimator that says `rtt`: the connection begins with that estimate, and its first ACK comes after it.
pub fn estimator(rtt: Duration) -> RttEstimator {
    let shown = Shown::default();
    let mut transport = TransportConfig::default();
    transport.initial_rtt(rtt).congestion_controller_factory(Arc::new(shown.clone()));
    let mut config = ClientConfig::new(Arc::new(Plain));
    config.transport_config(Arc::new(transport));
    config.initial_dst_cid_provider(Arc::new(|| ConnectionId::new(&SERVER)));

    let mut own = EndpointConfig::new(Arc::new(Plain));
    own.rng_seed(Some([0; 32])).cid_generator(|| Box::new(RandomConnectionIdGenerator::new(0)));
    let mut endpoint = Endpoint::new(Arc::new(own), None, false, None);
    let (server, now) = (SocketAddr::from((Ipv4Addr::LOCALHOST, 1)), Instant::now());
    let (handle, mut connection) = endpoint.connect(now, config, server, "").expect("a client connects");
    let mut datagram = Vec::new();
    assert!(connection.poll_transmit(now, 1, &mut datagram).is_some(), "the first datagram leaves");
    let answer = BytesMut::from(&ACK_OF_THE_FIRST_PACKET[..]);
    let event = endpoint.handle(now + rtt, server, None, None, answer, &mut Vec::new());
    let Some(DatagramEvent::ConnectionEvent(to, event)) = event else { panic!("the answer has no taker") };
    assert_eq!(to, handle);
    connection.handle_event(event);
    let estimator = shown.0.lock().expect("one thread").take().expect("an ACK was told of");
    assert_eq!(estimator.get(), rtt);
    estimator
}

/// Connection ID of the server.
const SERVER: [u8; 8] = *b"tidegate";

/// Initial, version 1, to a client without connection ID, no token, 16 bytes: packet 0 says that packet 0 arrived; the
/// rest is padding.
const ACK_OF_THE_FIRST_PACKET: [u8; 32] = {
    let mut packet = [0; 32];
    let head = [0xc0, 0, 0, 0, 1, 0, 8];
    let mut at = 0;
    while at < head.len() {
        packet[at] = head[at];
        at += 1;
    }
    while at < head.len() + SERVER.len() {
        packet[at] = SERVER[at - head.len()];
        at += 1;
    }
    // Token length 0, length 15: the number 0 of one byte, ACK up to 0 without delay and further ranges.
    packet[at + 1] = 15;
    packet[at + 3] = 2;
    packet
};

/// What the last ACK showed a controller.
#[derive(Clone, Default)]
struct Shown(Arc<Mutex<Option<RttEstimator>>>);

impl ControllerFactory for Shown {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
        Box::new(Self::clone(&self))
    }
}

impl Controller for Shown {
    fn on_ack(&mut self, _: Instant, _: Instant, _: u64, _: bool, rtt: &RttEstimator) {
        *self.0.lock().expect("one thread") = Some(*rtt);
    }
    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}
    fn on_mtu_update(&mut self, _: u16) {}
    fn window(&self) -> u64 {
        1 << 20
    }
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
    fn initial_window(&self) -> u64 {
        self.window()
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Keys that leave packets as they are.
struct Plain;

impl crypto::ClientConfig for Plain {
    fn start_session(
        self: Arc<Self>,
        _: u32,
        _: &str,
        _: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(Opening(vec![0])))
    }
}

/// A handshake of which the first bytes leave and nothing more is heard.
struct Opening(Vec<u8>);

impl Session for Opening {
    fn initial_keys(&self, _: &ConnectionId, _: Side) -> Keys {
        let header = || Box::new(Plain) as Box<dyn HeaderKey>;
        let packet = || Box::new(Plain) as Box<dyn PacketKey>;
        Keys {
            header: KeyPair { local: header(), remote: header() },
            packet: KeyPair { local: packet(), remote: packet() },
        }
    }
    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }
    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }
    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }
    fn early_data_accepted(&self) -> Option<bool> {
        None
    }
    fn is_handshaking(&self) -> bool {
        true
    }
    fn read_handshake(&mut self, _: &[u8]) -> Result<bool, TransportError> {
        Ok(false)
    }
    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(None)
    }
    fn write_handshake(&mut self, buffer: &mut Vec<u8>) -> Option<Keys> {
        buffer.append(&mut self.0);
        None
    }
    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        None
    }
    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
        false
    }
    fn export_keying_material(
        &self,
        _: &mut [u8],
        _: &[u8],
        _: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}

impl HeaderKey for Plain {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}
    fn encrypt(&self, _: usize, _: &mut [u8]) {}
    fn sample_size(&self) -> usize {
        0
    }
}

impl PacketKey for Plain {
    fn encrypt(&self, _: u64, _: &mut [u8], _: usize) {}
    fn decrypt(&self, _: u64, _: &[u8], _: &mut BytesMut) -> Result<(), CryptoError> {
        Ok(())
    }
    fn tag_len(&self) -> usize {
        0
    }
    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }
    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

/// Signs what a stateless reset would carry; none is sent.
impl HmacKey for Plain {
    fn sign(&self, _: &[u8], signature: &mut [u8]) {
        signature.fill(0);
    }
    fn signature_len(&self) -> usize {
        32
    }
    fn verify(&self, _: &[u8], _: &[u8]) -> Result<(), CryptoError> {
        Err(CryptoError)
    }
}
