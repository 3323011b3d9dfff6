//! Devices in place of sockets, and the queues in front of them.

use bytes::Bytes;
use tidegate_core::arena::PacketId;
use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::name::NameTable;
use tidegate_core::ndn::node::{Device, Devices};
use tidegate_core::ndn::packet::{Kind, Packet, PacketArena};
use tidegate_core::queue::QueueDiscipline;
use tidegate_core::scheme::DeviceSetup;
use tidegate_core::scheme::params::{Setting, Settings};
use tidegate_core::units::{ByteCount, Time};
use tidegate_live::link_service::GenericLinkService;
use tidegate_live::tokens::TokenTable;
use tidegate_schemes::{SCHEMES, find};
use tidegate_wire::FrameBatch;

use super::invariants;

/// Device of one face of the bench.
#[derive(Debug)]
pub struct BenchPort {
    pub link: GenericLinkService,
    pub batch: FrameBatch,
    /// Packets that it takes now.
    pub room: u32,
    pub sent: u64,
    /// The last Interest that it sent.
    pub requested: Option<Packet<Bytes>>,
}

impl BenchPort {
    /// A device for frames of at most `mtu` bytes, with room for two packets.
    pub fn new(mtu: Option<usize>) -> Self {
        Self {
            link: GenericLinkService::new(mtu, 0),
            batch: FrameBatch::new(),
            room: 2,
            sent: 0,
            requested: None,
        }
    }
}

/// The devices as the node sees them.
pub struct Wires<'a> {
    pub packets: &'a mut PacketArena<Bytes>,
    pub ports: &'a mut [Option<BenchPort>],
    pub names: &'a NameTable,
    pub tokens: &'a TokenTable,
}

/// Device of one face, during a call; without a port for a face that was removed.
pub struct Wire<'a> {
    packets: &'a mut PacketArena<Bytes>,
    port: &'a mut Option<BenchPort>,
    names: &'a NameTable,
    tokens: &'a TokenTable,
}

impl Devices<Bytes> for Wires<'_> {
    type Device<'a>
        = Wire<'a>
    where
        Self: 'a;

    fn device(&mut self, face: FaceId) -> Wire<'_> {
        let Wires { packets, ports, names, tokens } = self;
        Wire { packets, port: &mut ports[face.index()], names, tokens }
    }

    fn packets(&mut self) -> &mut PacketArena<Bytes> {
        self.packets
    }
}

impl Device<Bytes> for Wire<'_> {
    fn is_free(&self) -> bool {
        self.port.as_ref().is_some_and(|port| port.room > 0)
    }

    fn packets(&mut self) -> &mut PacketArena<Bytes> {
        self.packets
    }

    fn transmit(&mut self, packet: PacketId, size: ByteCount) -> bool {
        let packet = self.packets.take(packet);
        assert_eq!(packet.header.size(), size);
        invariants::is_faithful(self.names, &packet);
        let port = self.port.as_mut().expect("only devices that are there are free");
        (port.room, port.sent) = (port.room - 1, port.sent + 1);
        port.link.send(Time::ZERO, &packet, self.names, self.tokens, &mut port.batch);
        port.batch.clear();
        if matches!(packet.header.kind, Kind::Interest(_)) {
            port.requested = Some(packet);
        }
        true
    }

    fn needs_service(&mut self, has_packets: bool, wake: Option<Time>) {
        assert!(self.port.is_some() && (has_packets || wake.is_some()));
    }
}

/// A discipline that has something to do with a few packets.
pub fn discipline(name: &str, device: &DeviceSetup) -> Box<dyn QueueDiscipline> {
    let scheme = find(SCHEMES, name).expect("a scheme");
    let settings = match name {
        "nfd-marking" => [("threshold", "1000B"), ("interval", "5ms")],
        _ => [("residence", "50ms"), ("interval", "1ms")],
    };
    let settings = settings.map(|(key, value)| (key.to_owned(), Setting::Text(value.to_owned())));
    let make = scheme.discipline.expect("a discipline");
    make(&Settings(settings.into()), device).expect("sound settings")
}
