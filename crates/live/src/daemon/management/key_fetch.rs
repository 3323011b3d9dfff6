//! Certificates for commands whose key is not known: they are fetched by the names in KeyLocators, until one leads to an anchor
//! of the trust schema, and the command is then decided as any other. Its response waits meanwhile.

use bytes::Bytes;
use tidegate_core::ndn::face::{FaceId, NodeId};
use tidegate_core::ndn::fib::NoRoutes;
use tidegate_core::ndn::forwarder::Steering;
use tidegate_core::ndn::packet::{Kind, Millis, Packet};
use tidegate_core::units::{Span, Time};
use tidegate_wire::{Certificate, DataView, InterestBuilder, InterestView, KeyLocator};

use super::super::{Daemon, MANAGEMENT};
use super::authority::CommandSource;
use super::request::RequestRefusal;
use super::wall_millis;
use crate::name_uri::show;
use crate::trust_policy::MAX_CERTIFICATES;

/// Maximum time for all certificates of a command: less than the lifetime of its Interest, 4 s by default.
const PATIENCE: Span = Span::from_secs(3);

/// Lifetime of the requests.
const LIFETIME: Millis = Millis(3_000);

/// Maximum number of commands that wait for certificates; a further one is refused.
const MAX_FETCHES: usize = 32;

/// The same of one source.
const MAX_OF_SOURCE: usize = 4;

/// A command that waits for certificates.
#[derive(Debug)]
pub(in super::super) struct KeyFetch {
    command: Bytes,
    /// Face on which it arrived, and the number of that.
    from: (FaceId, u64),
    source: CommandSource,
    until: Time,
    /// Name that is requested now, concatenated components.
    wanted: Vec<u8>,
    /// Certificates that were fetched, the one of the command's key first; none is verified yet.
    found: Vec<Certificate>,
}

/// What follows from a certificate.
enum ChainStep {
    /// The next one is needed, of this name.
    Request(Vec<u8>),
    /// An anchor has issued it.
    Complete,
    /// It leads nowhere, for this reason.
    Fail(String),
}

impl Daemon {
    /// Postpones the response to a command from `from` that was refused because its key is not known, if there may be
    /// certificates for it.
    pub(super) fn awaits_certificate(&mut self, command: &Packet<Bytes>, from: FaceId) -> bool {
        let source = self.source_of_command(from);
        let Some(number) = self.number_of(from) else { return false };
        let Ok(view) = InterestView::parse(&command.body) else { return false };
        let of_source = self.key_fetches.iter().filter(|fetch| fetch.source == source).count();
        if self.key_fetches.len() >= MAX_FETCHES || of_source >= MAX_OF_SOURCE {
            return false;
        }
        let Some(wanted) = self.known_keys.unknown_key(&view, source, wall_millis()) else { return false };
        let fetch = KeyFetch {
            command: command.body.clone(),
            from: (from, number),
            source,
            until: self.now + PATIENCE,
            wanted: wanted.to_vec(),
            found: Vec::new(),
        };
        self.request_certificate(&fetch);
        self.key_fetches.push(fetch);
        true
    }

    /// Requests the next certificate where a route leads to or, without one, of whoever sent the command.
    fn request_certificate(&mut self, fetch: &KeyFetch) {
        let nonce = (self.nonces.bits() >> 32) as u32;
        let interest = InterestBuilder {
            name: &fetch.wanted,
            can_be_prefix: true,
            nonce: Some(nonce),
            lifetime: Some(LIFETIME),
            ..InterestBuilder::default()
        };
        let Ok(interest) = interest.build() else { return };
        let Some(packet) = self.own_packet(interest) else { return };
        let fib = self.node.forwarder_mut().fib_mut();
        let route = fib.lookup(packet.header.name.prefix, &self.names, &NoRoutes, NodeId(0));
        let (face, number) = fetch.from;
        if route.hops.is_empty() && self.number_of(face) == Some(number) {
            self.forward_own(packet, Steering::NextHop(Some(face)));
        } else {
            self.receive(MANAGEMENT, packet);
        }
    }

    /// Takes in the answer to a request for certificates: a Data, or an Interest that was refused.
    pub(super) fn take_certificate(&mut self, packet: &Packet<Bytes>) {
        let certificate = match packet.header.kind {
            Kind::Data(_) => Certificate::parse(packet.body.clone()).map_err(|why| why.to_string()),
            _ => Err("no route leads to it".to_owned()),
        };
        let mut name = Vec::new();
        self.names.write_components(packet.header.name, &mut name);
        let is_answered = |fetch: &mut KeyFetch| match &certificate {
            Ok(certificate) => certificate.is_denoted_by(&fetch.wanted),
            // A Data that is no certificate may have a longer name than the request.
            Err(_) => name.starts_with(&fetch.wanted),
        };
        let answered: Vec<KeyFetch> = self.key_fetches.extract_if(.., is_answered).collect();
        for mut fetch in answered {
            let step = match &certificate {
                Ok(certificate) => self.step(&mut fetch, certificate.clone()),
                Err(why) => ChainStep::Fail(why.clone()),
            };
            match step {
                ChainStep::Request(wanted) => {
                    let fetch = KeyFetch { wanted, ..fetch };
                    self.request_certificate(&fetch);
                    self.key_fetches.push(fetch);
                }
                ChainStep::Complete => self.end_fetch(&fetch, Ok(())),
                ChainStep::Fail(why) => self.end_fetch(&fetch, Err(&why)),
            }
        }
    }

    fn step(&self, fetch: &mut KeyFetch, certificate: Certificate) -> ChainStep {
        let Ok(data) = DataView::parse(certificate.packet()) else {
            return ChainStep::Fail("it is no Data".to_owned());
        };
        let Some(KeyLocator::Name(locator)) = data.signature.key_locator else {
            return ChainStep::Fail("it has no name of a key in its signature".to_owned());
        };
        let issuer = locator.components().to_vec();
        fetch.found.push(certificate.clone());
        if self.known_keys.is_anchor(&issuer) {
            ChainStep::Complete
        } else if certificate.is_denoted_by(&issuer) {
            ChainStep::Fail("it is self-signed, and no anchor of the trust schema".to_owned())
        } else if fetch.found.len() >= MAX_CERTIFICATES {
            ChainStep::Fail("it is too many certificates away from an anchor".to_owned())
        } else {
            ChainStep::Request(issuer)
        }
    }

    /// Ends the fetches that take too long.
    pub(in super::super) fn end_late_fetches(&mut self) {
        let now = self.now;
        let late: Vec<KeyFetch> = self.key_fetches.extract_if(.., |fetch| fetch.until <= now).collect();
        for fetch in late {
            self.end_fetch(&fetch, Err("nobody answers"));
        }
    }

    /// Responds to a command whose certificates were all fetched, or of which one cannot be.
    fn end_fetch(&mut self, fetch: &KeyFetch, outcome: Result<(), &str>) {
        let learned = outcome.map_err(|why| format!("the certificate {}: {why}", show(&fetch.wanted)));
        let learned = learned.and_then(|()| self.known_keys.learn(&fetch.found, fetch.source, wall_millis()));
        let Some(command) = self.own_packet(fetch.command.clone()) else { return };
        let data = match learned {
            Ok(()) => self.answer(&command),
            Err(why) => match InterestView::parse(&fetch.command) {
                Ok(view) => self.response(&view, Err(RequestRefusal::new(403, why))),
                Err(_) => None,
            },
        };
        if let Some(data) = data {
            self.publish(data);
        }
    }
}
