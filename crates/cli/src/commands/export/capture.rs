//! A packet capture: simulated packets are encoded as they would be on a real link.
//!
//! Content is zeros, as long as simulated. Signatures are digests (DigestSha256, 32 bytes) where simulated sizes
//! count 5 bytes, so that captured packets are a little longer than simulated ones.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use tidegate_core::ndn::name::{Name, NameTable, Segment};
use tidegate_core::ndn::packet::{Data, Header, Interest, Kind, Packet};
use tidegate_core::observe::event::{Event, EventMask};
use tidegate_core::observe::records::EventRecord;
use tidegate_core::units::Time;
use tidegate_pages::export::Network;
use tidegate_pages::export::pcapng::Capture;
use tidegate_wire::{DataBuilder, FrameBatch, InterestBuilder, LinkEncoder, Signer, name::push_segment};

use super::create;
use crate::command_line::listed;
use crate::exit::Failure;
use crate::replay::ReplaySource;
use crate::results::cannot;

/// Writes `packets.pcapng` with the packets on the links called `only`, or on all links.
pub(super) fn pcapng(source: &ReplaySource, out: &Path, only: &[String]) -> Result<Vec<PathBuf>, Failure> {
    let network = source.network();
    let interfaces = interfaces(source, &network, only)?;
    let names: Vec<String> =
        interfaces.iter().map(|direction| interface_name(&network, *direction)).collect();
    let path = out.join("packets.pcapng");
    let application = concat!("tidegate ", env!("CARGO_PKG_VERSION"));
    let capture =
        Capture::new(create(&path)?, application, &names).map_err(|why| cannot("write", &path, &why))?;
    let mut writer = Writer { capture, interfaces, encoder: Encoder::new(source) };
    let mut fault = None;
    source.watch(EventMask::PACKETS, &mut |events| {
        for event in events {
            // The simulation runs to its end; only the first fault is reported.
            if let (None, Err(why)) = (&fault, writer.take(&network, event)) {
                fault = Some(Failure::error(format!("{}: {why}", path.display())));
            }
        }
    })?;
    match fault {
        Some(fault) => Err(fault),
        None => {
            writer.capture.finish().map_err(|why| cannot("write", &path, &why))?;
            Ok(vec![path])
        }
    }
}

/// The link directions to capture, in order.
fn interfaces(source: &ReplaySource, network: &Network, only: &[String]) -> Result<Vec<u32>, Failure> {
    let links = &source.plan.links;
    if let Some(unknown) = only.iter().find(|name| links.iter().all(|link| link.name != **name)) {
        let known = listed(links.iter().map(|link| link.name.as_str()));
        return Err(Failure::usage(format!("--link: link {unknown:?} is not known; links: {known}")));
    }
    let is_required =
        |direction: &u32| only.is_empty() || only.contains(&links[*direction as usize / 2].name);
    Ok((0..network.directions.len() as u32).filter(is_required).collect())
}

fn interface_name(network: &Network, direction: u32) -> String {
    let (from, to) = network.directions[direction as usize];
    format!("{} -> {}", network.node_name(from), network.node_name(to))
}

struct Writer<W> {
    capture: Capture<W>,
    interfaces: Vec<u32>,
    encoder: Encoder,
}

impl<W: std::io::Write> Writer<W> {
    fn take(&mut self, network: &Network, record: &EventRecord) -> Result<(), String> {
        let Event::Sent { face, header } = record.event else { return Ok(()) };
        let Some(direction) = network.direction(record.node, face) else { return Ok(()) };
        // `interfaces` collects directions in ascending order.
        let Ok(interface) = self.interfaces.binary_search(&direction) else { return Ok(()) };
        let (from, to) = network.directions[direction as usize];
        self.push(interface as u32, record.time, [from, to], &header)
    }

    fn push(&mut self, interface: u32, at: Time, ends: [u32; 2], header: &Header) -> Result<(), String> {
        match self.encoder.frame(header)? {
            Some(frame) => self.capture.push(interface, at, ends, frame).map_err(|why| why.to_string()),
            None => Ok(()),
        }
    }
}

/// Makes the bytes of simulated packets.
struct Encoder {
    names: NameTable,
    link: LinkEncoder,
    signer: Signer,
    batch: FrameBatch,
    frame: Vec<u8>,
    zeros: Vec<u8>,
}

impl Encoder {
    fn new(source: &ReplaySource) -> Self {
        Self {
            names: tidegate_sim::world::interned(&source.plan),
            // Without an MTU no packet is split, so that each makes one frame.
            link: LinkEncoder::new(None, 0),
            signer: Signer::Digest,
            batch: FrameBatch::new(),
            frame: Vec::new(),
            zeros: Vec::new(),
        }
    }

    /// The frame of a packet; `None` for packets of other protocols than NDN.
    fn frame(&mut self, header: &Header) -> Result<Option<&[u8]>, String> {
        let body = match &header.kind {
            Kind::Interest(interest) => self.interest(header.name, interest)?,
            // A Nack carries the Interest that it rejects; the link header has the reason.
            Kind::Nack(nack) => self.interest(header.name, &nack.interest)?,
            Kind::Data(data) => self.data(header.name, data)?,
            // The encoder writes the name-only Data of a loss notice itself.
            Kind::LossNotice(_) => Bytes::new(),
            Kind::Tcp(_) => return Ok(None),
        };
        self.batch.clear();
        let packet = Packet::new(*header, body);
        self.link.encode(&packet, None, &self.names, &mut self.batch).map_err(|why| why.to_string())?;
        let Some((head, body)) = self.batch.iter().next() else { return Ok(None) };
        self.frame.clear();
        self.frame.extend_from_slice(head);
        self.frame.extend_from_slice(body);
        Ok(Some(&self.frame))
    }

    fn components(&self, name: Name) -> Vec<u8> {
        let mut components = Vec::new();
        self.names.write_components(name, &mut components);
        components
    }

    fn interest(&self, name: Name, interest: &Interest) -> Result<Bytes, String> {
        let builder = InterestBuilder {
            name: &self.components(name),
            can_be_prefix: interest.can_be_prefix,
            must_be_fresh: interest.must_be_fresh,
            nonce: Some(interest.nonce),
            lifetime: Some(interest.lifetime),
            hop_limit: interest.hop_limit,
            ..InterestBuilder::default()
        };
        builder.build().map_err(|why| why.to_string())
    }

    fn data(&mut self, name: Name, data: &Data) -> Result<Bytes, String> {
        self.zeros.resize(data.payload as usize, 0);
        let mut last = Vec::new();
        if data.final_segment != Segment::NONE {
            push_segment(&mut last, data.final_segment.0);
        }
        let builder = DataBuilder {
            name: &self.components(name),
            freshness: Some(data.freshness),
            final_block: (!last.is_empty()).then_some(last.as_slice()),
            content: &self.zeros,
            ..DataBuilder::default()
        };
        builder.sign(&self.signer).map_err(|why| why.to_string())
    }
}
