//! The key that signs an object, found by certificates that lead to a trust anchor.
//!
//! Certificates are fetched by the names in KeyLocators.

use bytes::Bytes;
use tidegate_core::ndn::packet::NackReason;
use tidegate_core::units::Span;
use tidegate_wire::name::push_segment;
use tidegate_wire::{Certificate, DataView, InterestBuilder, KeyLocator, rdr};

use super::FetchError;
use super::discovery::{Attempts, LIFETIME, pause};
use crate::client::{Answer, Client};
use crate::clock::MonotonicClock;
use crate::name_uri::show;
use crate::trust_policy::{MAX_CERTIFICATES, TrustPolicy};

/// The certificate of the signer of the object `name` (concatenated components), which leads to a trust anchor of `policy`: the
/// signer of its metadata, or of its first segment if `name` is that of a version. If the forwarder has no route to it, it may
/// get one for the time `wait`.
///
/// # Errors
/// When the Data or a certificate is not there, not valid now, or not signed by whom it should be.
pub fn signer_of(
    client: &mut Client,
    (name, is_version): (&[u8], bool),
    policy: &TrustPolicy,
    wait: Span,
) -> Result<Certificate, FetchError> {
    let mut requested = name.to_vec();
    if is_version {
        push_segment(&mut requested, 0)
    } else {
        rdr::push_metadata(&mut requested)
    }
    let until = client.now() + wait;
    let packet = loop {
        match request(client, &requested) {
            Err(FetchError::NoRoute) if client.now() < until => pause(client)?,
            outcome => break outcome?,
        }
    };
    let data = DataView::parse(&packet).map_err(|why| FetchError::Untrusted(why.to_string()))?;
    let chain = Chain { policy, now: MonotonicClock::wall_micros() / 1_000_000 };
    let signer = chain.signer(client, &data, MAX_CERTIFICATES)?;
    // Otherwise the answer to another name would choose the signer.
    if data.name.components().starts_with(name) {
        Ok(signer)
    } else {
        Err(untrusted(&data, "is of another name"))
    }
}

/// Conditions under which a signer is trusted.
struct Chain<'a> {
    policy: &'a TrustPolicy,
    /// The present, seconds since 1970.
    now: u64,
}

impl Chain<'_> {
    /// The certificate of the signer of a Data, whose signature it verifies; at most `left` certificates are fetched.
    fn signer(
        &self,
        client: &mut Client,
        data: &DataView<'_>,
        left: usize,
    ) -> Result<Certificate, FetchError> {
        let Some(KeyLocator::Name(locator)) = data.signature.key_locator else {
            return Err(untrusted(data, "has no name of a key in its signature"));
        };
        let certificate = match self.policy.anchor(locator.components(), self.now) {
            Some(anchor) => anchor.clone(),
            None if left == 0 => {
                return Err(untrusted(data, "is too many certificates away from a trust anchor"));
            }
            None => self.fetch(client, locator.components(), left)?,
        };
        self.policy.check_data(data, &certificate, self.now).map_err(|why| untrusted(data, &why))?;
        Ok(certificate)
    }

    /// The certificate that a KeyLocator denotes, verified.
    fn fetch(&self, client: &mut Client, locator: &[u8], left: usize) -> Result<Certificate, FetchError> {
        let packet = request(client, locator).map_err(|why| match why {
            FetchError::NoRoute => {
                FetchError::Untrusted(format!("no route to the certificate {}", show(locator)))
            }
            why => why,
        })?;
        let certificate = Certificate::parse(packet)
            .map_err(|why| FetchError::Untrusted(format!("the certificate {}: {why}", show(locator))))?;
        let data =
            DataView::parse(certificate.packet()).map_err(|why| FetchError::Untrusted(why.to_string()))?;
        if !certificate.is_denoted_by(locator) {
            return Err(untrusted(&data, &format!("is not the certificate {}", show(locator))));
        }
        self.signer(client, &data, left - 1)?;
        Ok(certificate)
    }
}

/// Checks that the signer of an object may also sign the segments of the version `name` (concatenated components).
///
/// # Errors
/// When the policy does not permit it.
pub fn check_version_signer(
    policy: &TrustPolicy,
    name: &[u8],
    signer: &Certificate,
) -> Result<(), FetchError> {
    let mut first = name.to_vec();
    push_segment(&mut first, 0);
    let refusal = |why: String| FetchError::Untrusted(format!("{} {why}", show(&first)));
    policy.check_signer(&first, signer).map_err(refusal)
}

fn untrusted(data: &DataView<'_>, why: &str) -> FetchError {
    FetchError::Untrusted(format!("{} {why}", show(data.name.components())))
}

/// The Data of `name`, or under it.
fn request(client: &mut Client, name: &[u8]) -> Result<Bytes, FetchError> {
    let attempts = Attempts::new(client.now());
    while let Some(wait) = attempts.next(client.now()) {
        let nonce = (client.nonces().bits() >> 32) as u32;
        let interest = InterestBuilder {
            name,
            can_be_prefix: true,
            nonce: Some(nonce),
            lifetime: Some(LIFETIME),
            ..InterestBuilder::default()
        };
        let interest = interest.build().map_err(|why| FetchError::Name(why.to_string()))?;
        match client.express(interest, wait)? {
            Answer::Data(data) => return Ok(data.body.clone()),
            Answer::Nack(NackReason::NoRoute) => return Err(FetchError::NoRoute),
            Answer::Nack(reason) => {
                return Err(FetchError::Untrusted(format!("{}: Nack {reason:?}", show(name))));
            }
            Answer::Timeout => {}
        }
    }
    Err(FetchError::Untrusted(format!("no Data for {}", show(name))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::StreamFace;
    use crate::transport::Transport;
    use tidegate_wire::{CertificateSettings, DataBuilder, KeyAlgorithm, KeySigner, Signer, ValidityPeriod};

    /// `/a/KEY/k`.
    const KEY_NAME: &[u8] = b"\x08\x01a\x08\x03KEY\x08\x01k";

    fn key(number: u8) -> KeySigner {
        KeySigner::from_bytes(KeyAlgorithm::P256, &[number; 32], KEY_NAME).expect("a key")
    }

    fn anchor() -> Certificate {
        let settings = CertificateSettings {
            key_name: KEY_NAME,
            public_key: &key(1).public_key(),
            issuer: b"self",
            version: 1,
            validity: ValidityPeriod { not_before: 100, not_after: 200 },
        };
        let issued = settings.issue(&Signer::Key(Box::new(key(1)))).expect("small");
        Certificate::parse(issued).expect("a certificate")
    }

    /// Outcome for a Data of this name, signed by this signer, at a time.
    fn outcome(name: &[u8], signer: &Signer, now: u64) -> Result<(), String> {
        let (near, _far) = StreamFace::pair().expect("sockets");
        let mut client = Client::over(Transport::Stream(near)).expect("descriptors");
        let bytes = DataBuilder { name, ..DataBuilder::default() }.sign(signer).expect("small");
        let data = DataView::parse(&bytes).expect("valid");
        let policy = TrustPolicy::hierarchical(vec![anchor()]);
        let chain = Chain { policy: &policy, now };
        chain.signer(&mut client, &data, 0).map(|_| ()).map_err(|why| why.to_string())
    }

    #[test]
    fn an_anchor_signs_names_under_its_identity_while_it_is_valid() {
        let anchored = Signer::Key(Box::new(key(1)));
        let (own, other) = (&b"\x08\x01a\x08\x01x"[..], &b"\x08\x01b"[..]);
        for now in [100, 200] {
            assert_eq!(outcome(own, &anchored, now), Ok(()));
        }
        let refused = |name, signer: &Signer, now, stated: &str| {
            let why = outcome(name, signer, now).expect_err("not trusted");
            assert!(why.contains(stated), "{why}");
        };
        refused(own, &anchored, 99, "is not valid now");
        refused(own, &anchored, 201, "is not valid now");
        refused(other, &anchored, 150, "is not under the identity of its signer, /a");
        refused(own, &Signer::Key(Box::new(key(2))), 150, "has not the signature of /a");
        refused(own, &Signer::Digest, 150, "has no name of a key");
    }
}
