//! Certificates for commands whose key is not known: they are fetched by the names in KeyLocators, until one leads to an anchor
//! of the trust schema, and the command is then decided as any other. Its response waits meanwhile.

use bytes::Bytes;
use tidegate_core::ndn::face::{FaceId, NodeId};
use tidegate_core::ndn::fib::NoRoutes;
use tidegate_core::ndn::forwarder::Steering;
use tidegate_core::ndn::name::Name;
use tidegate_core::ndn::packet::{Kind, Millis, Packet};
use tidegate_core::ndn::pit::Selector;
use tidegate_core::units::{Span, Time};
use tidegate_wire::{Certificate, DataView, InterestBuilder, InterestView, KeyLocator};

use super::super::face::{Face, Line};
use super::super::timers::Due;
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

/// Maximum number of commands from other machines that wait for certificates, and the same of this machine.
const MAX_FETCHES: usize = 32;

/// Time for which a command waits whatever others do.
const UNDISTURBED: Span = Span::from_millis(500);

/// The same of one source.
const MAX_OF_SOURCE: usize = 8;

/// Maximum number of requests of a command that are made again.
const MAX_REPEATS: u32 = 64;

/// Interval between requests for one certificate.
const ASK_AGAIN: Span = Span::from_secs(1);

/// Time after which a request is made again that a strategy has suppressed, since it followed one to somebody else too closely.
const AFTER_SUPPRESSION: Span = Span::from_millis(50);

/// Maximum number of Data under the name of a certificate that are removed from the content store.
const MAX_ERASED: usize = 64;

/// A command that waits for certificates.
#[derive(Debug)]
pub(in super::super) struct KeyFetch {
    command: Bytes,
    /// Face on which it arrived, and the number of that.
    from: (FaceId, u64),
    /// Face that the present request was sent to; `None` if it went by a route.
    asked: Option<FaceId>,
    /// Number of requests that were made again.
    repeats: u32,
    /// Time at which the request is made again.
    ask_again: Time,
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
    /// certificates for it; returns whether it did.
    ///
    /// # Errors
    /// 503 if too many commands wait for certificates.
    pub(super) fn awaits_certificate(
        &mut self,
        command: &Packet<Bytes>,
        from: FaceId,
    ) -> Result<bool, RequestRefusal> {
        let source = self.source_of_command(from);
        let Some(number) = self.number_of(from) else { return Ok(false) };
        let Ok(view) = InterestView::parse(&command.body) else { return Ok(false) };
        let Some(wanted) = self.known_keys.unknown_key(&view, source, wall_millis()) else {
            return Ok(false);
        };
        if !self.may_fetch(source) {
            return Err(RequestRefusal::new(503, "too many commands wait for certificates; try again later"));
        }
        let mut fetch = KeyFetch {
            command: command.body.clone(),
            from: (from, number),
            asked: None,
            repeats: 0,
            ask_again: self.now + ASK_AGAIN,
            source,
            until: self.now + PATIENCE,
            wanted: wanted.to_vec(),
            found: Vec::new(),
        };
        self.timers.set(fetch.until, Due::Certificates);
        let is_same = |other: &&KeyFetch| other.from == fetch.from && other.wanted == fetch.wanted;
        match self.key_fetches.iter().find(is_same) {
            Some(other) => fetch.asked = other.asked,
            None => self.request_certificate(&mut fetch),
        }
        self.key_fetches.push(fetch);
        Ok(true)
    }

    /// Whether one more command of `source` may wait for certificates. Where other machines have all their places, one
    /// that has waited for long ends for it: whoever forges addresses must not keep others out.
    fn may_fetch(&mut self, source: CommandSource) -> bool {
        if self.key_fetches.iter().filter(|fetch| fetch.source == source).count() >= MAX_OF_SOURCE {
            return false;
        }
        let of_kind = |fetch: &KeyFetch| fetch.source.is_remote() == source.is_remote();
        if self.key_fetches.iter().filter(|fetch| of_kind(fetch)).count() < MAX_FETCHES {
            return true;
        }
        // They are in the order of their beginning unless they were asked again.
        let is_long = |fetch: &KeyFetch| of_kind(fetch) && fetch.until + UNDISTURBED <= self.now + PATIENCE;
        let Some(place) = self.key_fetches.iter().position(is_long) else { return false };
        let ended = self.key_fetches.remove(place);
        self.end_fetch(&ended, Err("others wait for certificates, too"));
        true
    }

    /// Requests the next certificate where a route leads to or, without one, of whoever sent the command. What the content store
    /// has does not count then: anybody can have put it there by a command.
    fn request_certificate(&mut self, fetch: &mut KeyFetch) {
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
        let is_steered = route.hops.is_empty() && self.number_of(face) == Some(number);
        fetch.asked = is_steered.then_some(face);
        if is_steered {
            self.erase_own(packet.header.name.prefix, MAX_ERASED);
            let name = packet.header.name;
            self.forward_own(packet, Steering::NextHop(Some(face)));
            let is_sent = self.is_requested(name, face);
            fetch.ask_again = self.now + if is_sent { ASK_AGAIN } else { AFTER_SUPPRESSION };
        } else {
            self.receive(MANAGEMENT, packet);
            fetch.ask_again = self.now + ASK_AGAIN;
        }
        self.timers.set(fetch.ask_again, Due::Certificates);
    }

    /// Whether an Interest of this name, with CanBePrefix, was sent to a face and is pending.
    fn is_requested(&self, name: Name, face: FaceId) -> bool {
        let pit = self.node.forwarder().pit();
        let entry = pit.find_selected(name, Selector { can_be_prefix: true, must_be_fresh: false });
        entry.is_some_and(|id| pit.entry(id).out_record(face).is_some())
    }

    /// Takes an answer that has just arrived on `face` out of the queue of management, if one has.
    pub(in super::super) fn note_certificate(&mut self, face: FaceId) {
        if let Some(Some(Face { line: Line::Internal(waiting), .. })) = self.faces.get_mut(MANAGEMENT.index())
            && waiting.back().is_some_and(|packet| !matches!(packet.header.kind, Kind::Interest(_)))
            && let Some(packet) = waiting.pop_back()
        {
            self.certificates.push((packet, face));
        }
    }

    /// Takes in the answers that have arrived.
    pub(super) fn take_noted_certificates(&mut self) {
        for (packet, face) in std::mem::take(&mut self.certificates) {
            self.take_certificate(&packet, Some(face));
        }
    }

    /// Takes in the answer to a request for certificates, a Data or an Interest that was refused, from a face or the content
    /// store.
    pub(super) fn take_certificate(&mut self, packet: &Packet<Bytes>, source: Option<FaceId>) {
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
        let mut is_wrong = false;
        for mut fetch in answered {
            if fetch.asked.is_some() && fetch.asked != source {
                // It answers a request to somebody else, and has ended this one.
                self.repeat_request(fetch);
                continue;
            }
            let step = match &certificate {
                Ok(certificate) => self.step(&mut fetch, certificate.clone()),
                Err(why) => ChainStep::Fail(why.clone()),
            };
            match step {
                ChainStep::Request(wanted) => {
                    let mut fetch = KeyFetch { wanted, ..fetch };
                    self.request_certificate(&mut fetch);
                    self.key_fetches.push(fetch);
                }
                ChainStep::Complete => is_wrong |= !self.end_fetch(&fetch, Ok(())),
                ChainStep::Fail(why) => is_wrong |= !self.end_fetch(&fetch, Err(&why)),
            }
        }
        if is_wrong {
            self.erase_own(packet.header.name.prefix, MAX_ERASED);
        }
    }

    fn repeat_request(&mut self, mut fetch: KeyFetch) {
        fetch.repeats += 1;
        if fetch.repeats > MAX_REPEATS {
            self.end_fetch(&fetch, Err("others answer for it"));
            return;
        }
        self.request_certificate(&mut fetch);
        self.key_fetches.push(fetch);
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

    /// Ends the fetches that take too long, and repeats requests without an answer.
    pub(in super::super) fn serve_key_fetches(&mut self) {
        let now = self.now;
        let due: Vec<KeyFetch> =
            self.key_fetches.extract_if(.., |fetch| fetch.ask_again <= now && fetch.until > now).collect();
        due.into_iter().for_each(|fetch| self.repeat_request(fetch));
        let late: Vec<KeyFetch> = self.key_fetches.extract_if(.., |fetch| fetch.until <= now).collect();
        for fetch in late {
            self.end_fetch(&fetch, Err("nobody answers"));
        }
    }

    /// Responds to a command whose certificates were all fetched, or of which one cannot be; returns whether its key is known now.
    fn end_fetch(&mut self, fetch: &KeyFetch, outcome: Result<(), &str>) -> bool {
        let learned = outcome.map_err(|why| format!("the certificate {}: {why}", show(&fetch.wanted)));
        let learned = learned.and_then(|()| self.known_keys.learn(&fetch.found, fetch.source, wall_millis()));
        let is_known = learned.is_ok();
        let Some(command) = self.own_packet(fetch.command.clone()) else { return is_known };
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
        is_known
    }
}
