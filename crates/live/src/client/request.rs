//! One Interest and its answer.

use bytes::Bytes;
use tidegate_core::ndn::packet::{Interest, Kind, NackReason, Packet};
use tidegate_core::units::{Span, Time};
use tidegate_wire::{Certificate, DataView, InterestView};

use super::{Client, ClientError};

/// Maximum number of packets held that arrive while a request is outstanding.
const MAX_UNCLAIMED: usize = 4096;

/// Outcome of an expressed Interest.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The Data that satisfies the Interest.
    Data(Packet<Bytes>),
    /// The Interest was refused with this reason.
    Nack(NackReason),
    /// No answer arrived within its lifetime.
    Timeout,
}

impl Client {
    /// Sends an Interest, given as complete bytes, and waits for its answer for at most `patience`. Other
    /// packets that arrive meanwhile are returned by the next [`exchange`](Self::exchange).
    ///
    /// # Errors
    /// When the connection is lost, the application was asked to stop, or the bytes are no Interest.
    pub fn express(&mut self, interest: Bytes, patience: Span) -> Result<Answer, ClientError> {
        let requested = self.packet(interest)?;
        self.send(&requested);
        let until = self.now() + patience;
        let mut others = Vec::new();
        self.is_requesting = true;
        let outcome = self.answer_to(&requested, until, &mut others);
        self.is_requesting = false;
        others.truncate(MAX_UNCLAIMED);
        self.unclaimed.extend(others);
        outcome
    }

    /// While it waits for answers, the client answers Interests for `certificate`: the forwarder may need it to verify a
    /// command, and has no route to it before that.
    pub fn present(&mut self, certificate: Certificate) {
        self.certificate = Some(certificate);
    }

    /// Our certificate, if this packet is an Interest for it.
    fn certificate_for(&mut self, packet: &Packet<Bytes>) -> Option<Packet<Bytes>> {
        let Kind::Interest(interest) = packet.header.kind else { return None };
        let requested = InterestView::parse(&packet.body).ok()?;
        let found =
            self.certificate.as_ref()?.packet_for(requested.name.components(), interest.can_be_prefix)?;
        self.packet(found.clone()).ok()
    }

    fn answer_to(
        &mut self,
        requested: &Packet<Bytes>,
        until: Time,
        others: &mut Vec<Packet<Bytes>>,
    ) -> Result<Answer, ClientError> {
        let mut inbox = Vec::new();
        loop {
            self.exchange(Some(until), &mut inbox)?;
            let mut answer = None;
            for packet in inbox.drain(..) {
                match self.as_answer(requested, &packet) {
                    Some(found) if answer.is_none() => answer = Some(found),
                    // Other Data may belong to a fetch or a registration on the same connection.
                    _ => match self.certificate_for(&packet) {
                        Some(certificate) => self.send(&certificate),
                        None => others.push(packet),
                    },
                }
            }
            others.truncate(MAX_UNCLAIMED);
            match answer {
                Some(answer) => return Ok(answer),
                None if self.now() >= until => return Ok(Answer::Timeout),
                None => {}
            }
        }
    }

    /// Answer that `packet` gives to the Interest `requested`; `None` if it answers another one.
    fn as_answer(&self, requested: &Packet<Bytes>, packet: &Packet<Bytes>) -> Option<Answer> {
        let Kind::Interest(interest) = requested.header.kind else { return None };
        match packet.header.kind {
            Kind::Data(_) if answers(&interest, requested, packet) => Some(Answer::Data(packet.clone())),
            // By nonce as well: a Nack for an earlier Interest of this name may still arrive.
            Kind::Nack(nack)
                if packet.header.name == requested.header.name && nack.interest.nonce == interest.nonce =>
            {
                Some(Answer::Nack(nack.reason))
            }
            _ => None,
        }
    }
}

/// Whether a Data has the name of the Interest, or a longer one if `CanBePrefix` allows it.
fn answers(interest: &Interest, requested: &Packet<Bytes>, data: &Packet<Bytes>) -> bool {
    let (Ok(requested), Ok(data)) = (InterestView::parse(&requested.body), DataView::parse(&data.body))
    else {
        return false;
    };
    // Components are whole elements, so that a name begins with another where their bytes do.
    let (requested, found) = (requested.name.components(), data.name.components());
    if interest.can_be_prefix { found.starts_with(requested) } else { found == requested }
}
