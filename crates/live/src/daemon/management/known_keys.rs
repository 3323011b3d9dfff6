//! Commands that are permitted because of the key that signed them.
//!
//! As in NFD's `authorizations`, a certificate permits commands of some modules; so do, if configured, those that it has certified, and
//! the rules of a trust schema permit registrations. Certificates are verified when the configuration is read. A command has a SignatureTime that
//! differs from the present by at most [`GRACE`] and is later than that of any accepted command of its key, and later than
//! the start of the forwarder: a recorded command cannot be sent again.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use tidegate_core::units::Span;
use tidegate_wire::{Certificate, InterestView, KeyLocator, ValidityPeriod, Verifier};

use super::super::config::{CommandKey, ForwarderConfig};
use super::super::start::StartError;
use super::authority::{CommandReach, CommandSource};
use super::request::RequestRefusal;
use super::wrong_signatures::WrongSignatures;
use crate::key_store::{read_certificate, read_certificates};
use crate::name_uri::show;
use crate::trust_policy::TrustPolicy;

/// Maximum difference between the clocks of a client and of the forwarder, as in ndn-cxx's
/// `ValidationPolicyCommandInterest`.
const GRACE: Span = Span::from_secs(120);

/// A key whose commands are permitted.
#[derive(Clone, Debug)]
struct KnownKey {
    certificate: Certificate,
    /// Time within which its certificate is valid, and those that lead from it to a trust anchor are.
    validity: ValidityPeriod,
    modules: Vec<String>,
    /// Trust schema that permits prefixes; `None` if all of them are permitted.
    schema: Option<Arc<TrustPolicy>>,
}

/// What a command is about and where it comes from, as far as its permission depends on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommandSubject<'a> {
    /// Module of the command.
    pub module: &'a str,
    /// Prefix in its parameters, concatenated components; empty if there is none.
    pub prefix: &'a [u8],
    pub source: CommandSource,
}

impl KnownKey {
    fn is_for(&self, module: &str) -> bool {
        self.modules.iter().any(|permitted| permitted == module)
    }

    /// What its commands may change. A trust schema is about prefixes, not about the faces of others.
    fn reach(&self) -> CommandReach {
        if self.schema.is_some() { CommandReach::OwnUser } else { CommandReach::All }
    }

    /// Checks that the key may send a command.
    ///
    /// # Errors
    /// The reason, as a sentence.
    fn check(&self, CommandSubject { module, prefix, .. }: CommandSubject<'_>) -> Result<(), String> {
        let of_key = |why: &str| format!("the key {} {why}", show(self.certificate.key_name()));
        if !self.is_for(module) {
            let source =
                if self.schema.is_some() { "trust_schema" } else { "commands in [[management.key]]" };
            return Err(of_key(&format!("may not send {module} commands ({source})")));
        }
        let Some(schema) = &self.schema else { return Ok(()) };
        let checked = schema.check_signer(prefix, &self.certificate);
        checked.map_err(|why| format!("the prefix {} {why}", show(prefix)))
    }
}

/// Maximum number of keys whose certificates were fetched; the oldest is then fetched again when it is needed.
const MAX_FETCHED: usize = 256;

/// The keys of a configuration, and what they have signed.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct KnownKeys {
    keys: Vec<KnownKey>,
    /// The trust schema, if there is one.
    schema: Option<Arc<TrustPolicy>>,
    /// Keys whose certificates were fetched for commands, the oldest first.
    fetched: VecDeque<KnownKey>,
    /// Time of the last command of each key that has sent any, milliseconds since 1970.
    last: BTreeMap<Vec<u8>, u64>,
    /// Time before which no command counts, milliseconds since 1970.
    since: u64,
    wrong: WrongSignatures,
}

impl KnownKeys {
    /// The keys of certificates in files; no command from before `since`, in milliseconds since 1970, is accepted.
    ///
    /// # Errors
    /// When a file is no certificate, or the trust schema has a mistake.
    pub fn read(config: &ForwarderConfig, since: u64) -> Result<Self, StartError> {
        let folder = config.certificates.as_deref().map_or_else(|| Ok(Vec::new()), read_certificates);
        let others = folder.map_err(|why| StartError::new("management.certificates", why))?;
        let (mut keys, mut schema) = (Vec::new(), None);
        for configured in &config.command_keys {
            let certificate = read_certificate(&configured.certificate);
            let certificate = certificate.map_err(|why| StartError::new("management.key", why))?;
            keys.extend(keys_of(configured, certificate, &others));
        }
        if let Some(file) = &config.trust_schema {
            let read = TrustPolicy::read_schema(file);
            let read = read.map_err(|why| StartError::new("management.trust_schema", why))?;
            let read = schema.insert(Arc::new(read));
            keys.extend(keys_by(read, &others));
        }
        Ok(Self { keys, schema, since, ..Self::default() })
    }

    /// These keys, with the times of commands that `earlier` accepted.
    pub fn after(self, earlier: &Self) -> Self {
        Self { last: earlier.last.clone(), since: earlier.since, wrong: earlier.wrong.clone(), ..self }
    }

    /// The name of the key that a command from `source` states (concatenated components), if it is not known at about `now`, in
    /// milliseconds since 1970, and certificates of a trust schema may make it known.
    pub(super) fn unknown_key<'a>(
        &mut self,
        command: &InterestView<'a>,
        source: CommandSource,
        now: u64,
    ) -> Option<&'a [u8]> {
        let Some(KeyLocator::Name(locator)) = command.signature.as_ref()?.key_locator else { return None };
        let is_denoted = |key: &KnownKey| key.certificate.is_denoted_by(locator.components());
        // A certificate that was fetched and is no longer valid may have been renewed.
        let is_fetched = |key: &KnownKey| is_denoted(key) && key.validity.includes(now / 1_000);
        let is_known = self.keys.iter().any(is_denoted) || self.fetched.iter().any(is_fetched);
        let may_be = self.schema.is_some() && !is_known && self.wrong.may_verify(source, now / 1_000);
        may_be.then_some(locator.components())
    }

    /// Whether a KeyLocator (concatenated components) denotes an anchor of the trust schema.
    pub(super) fn is_anchor(&self, locator: &[u8]) -> bool {
        let schema = self.schema.as_ref();
        schema.is_some_and(|schema| schema.anchors().iter().any(|anchor| anchor.is_denoted_by(locator)))
    }

    /// Takes in certificates for a command from `source`, of which the last states that an anchor has issued it, at about `now`, in
    /// milliseconds since 1970.
    ///
    /// # Errors
    /// The reason if they do not lead to an anchor, or not now.
    pub(super) fn learn(
        &mut self,
        chain: &[Certificate],
        source: CommandSource,
        now: u64,
    ) -> Result<(), String> {
        let (Some(schema), Some(first)) = (&self.schema, chain.first()) else {
            return Err("no trust schema is configured".to_owned());
        };
        let certified = schema.certified(chain);
        let is_valid = |(certificate, validity): &(Certificate, ValidityPeriod)| {
            certificate.key_name() == first.key_name() && validity.includes(now / 1_000)
        };
        if !certified.iter().any(is_valid) {
            self.wrong.record(source);
            return Err(format!(
                "the key {} is not certified by the trust schema, or not now",
                show(first.key_name())
            ));
        }
        self.fetched.extend(certified.into_iter().map(|certified| key_by(schema, certified)));
        self.fetched.drain(..self.fetched.len().saturating_sub(MAX_FETCHED));
        Ok(())
    }

    /// Whether a key may send commands of `module`.
    pub fn are_for(&self, module: &str) -> bool {
        self.keys.iter().any(|key| key.is_for(module))
    }

    /// Checks that a known key has signed a command with this subject at about `now`, in milliseconds since 1970, and notes its time.
    /// Returns what the command may change.
    ///
    /// # Errors
    /// 403 with the reason, 503 for a source of many wrong signatures; `None` if it states no known key.
    pub(super) fn accept(
        &mut self,
        command: &InterestView<'_>,
        subject: CommandSubject<'_>,
        now: u64,
    ) -> Result<CommandReach, Option<RequestRefusal>> {
        let signature = command.signature.as_ref().ok_or(None)?;
        let Some(KeyLocator::Name(locator)) = signature.key_locator else { return Err(None) };
        let is_denoted = |key: &&KnownKey| key.certificate.is_denoted_by(locator.components());
        let may = |key: &&KnownKey| key.validity.includes(now / 1_000) && key.check(subject).is_ok();
        // Of several certificates of a key, a renewed one or one for other modules may be behind one that does not permit it.
        let all = || self.keys.iter().chain(&self.fetched);
        let key = all().filter(is_denoted).find(may).or_else(|| all().find(is_denoted)).ok_or(None)?;
        let name = key.certificate.key_name();
        let refusal =
            |why: String| Err(Some(RequestRefusal::new(403, format!("the key {} {why}", show(name)))));
        if !key.validity.includes(now / 1_000) {
            return refusal("has a certificate that is not valid now".to_owned());
        }
        key.check(subject).map_err(|why| Some(RequestRefusal::new(403, why)))?;
        let Some(time) = signature.time_ms else { return refusal("gave no SignatureTime".to_owned()) };
        if time.abs_diff(now) > GRACE.as_nanos() / 1_000_000 {
            return refusal(format!(
                "gave a SignatureTime that differs by more than {GRACE} from the present"
            ));
        }
        let last = self.last.get(name).copied().unwrap_or_default().max(self.since);
        if time <= last {
            return refusal(
                "gave a SignatureTime that is not later than that of the last command".to_owned(),
            );
        }
        // Last, as it costs by far the most, and everybody can state a known key.
        if !self.wrong.may_verify(subject.source, now / 1_000) {
            let text = "too many commands had wrong signatures within this second; try again later";
            return Err(Some(RequestRefusal::new(503, text)));
        }
        if Verifier::Key(key.certificate.public_key().clone()).verify_interest(command).is_err() {
            self.wrong.record(subject.source);
            return refusal("has not made the signature".to_owned());
        }
        self.last.insert(name.to_vec(), time);
        Ok(key.reach())
    }
}

/// A configured key, and those that it has certified, if they may send its commands.
fn keys_of(configured: &CommandKey, certificate: Certificate, others: &[Certificate]) -> Vec<KnownKey> {
    let validity = certificate.validity();
    let mut certified = vec![(certificate.clone(), validity)];
    if configured.includes_certified {
        certified.extend(TrustPolicy::hierarchical(vec![certificate]).certified(others));
    }
    let known = |(certificate, validity)| KnownKey {
        certificate,
        validity,
        modules: configured.modules.clone(),
        schema: None,
    };
    certified.into_iter().map(known).collect()
}

/// The keys whose certificates lead to an anchor of a trust schema, and the anchors.
fn keys_by(schema: &Arc<TrustPolicy>, others: &[Certificate]) -> Vec<KnownKey> {
    let anchors = schema.anchors().iter().map(|anchor| (anchor.clone(), anchor.validity()));
    anchors.chain(schema.certified(others)).map(|certified| key_by(schema, certified)).collect()
}

/// A key that a trust schema permits to register prefixes.
fn key_by(schema: &Arc<TrustPolicy>, (certificate, validity): (Certificate, ValidityPeriod)) -> KnownKey {
    KnownKey { certificate, validity, modules: vec!["rib".to_owned()], schema: Some(schema.clone()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use tidegate_wire::{
        CertificateSettings, InterestBuilder, InterestStamp, KeyAlgorithm, KeySigner, Signer, ValidityPeriod,
    };

    /// `/a/KEY/k`.
    const KEY_NAME: &[u8] = b"\x08\x01a\x08\x03KEY\x08\x01k";

    fn key(number: u8) -> Signer {
        let key = KeySigner::from_bytes(KeyAlgorithm::P256, &[number; 32], KEY_NAME).expect("a key");
        Signer::Key(Box::new(key))
    }

    /// Keys of which `/a` may send rib commands, valid from 100 s to 1000 s; started at 200 s.
    fn known() -> KnownKeys {
        let key = KeySigner::from_bytes(KeyAlgorithm::P256, &[1; 32], KEY_NAME).expect("a key");
        let settings = CertificateSettings {
            key_name: KEY_NAME,
            public_key: &key.public_key(),
            issuer: b"self",
            version: 1,
            validity: ValidityPeriod { not_before: 100, not_after: 1_000 },
        };
        let issued = settings.issue(&Signer::Key(Box::new(key))).expect("small");
        let certificate = Certificate::parse(issued).expect("a certificate");
        let (validity, modules) = (certificate.validity(), vec!["rib".to_owned()]);
        let keys = vec![KnownKey { certificate, validity, modules, schema: None }];
        KnownKeys { keys, since: 200_000, ..KnownKeys::default() }
    }

    fn command(signer: &Signer, time_ms: Option<u64>) -> Bytes {
        let interest = InterestBuilder { name: b"\x08\x01x", ..InterestBuilder::default() };
        interest.sign(signer, &InterestStamp { time_ms, ..InterestStamp::default() }).expect("valid")
    }

    #[track_caller]
    fn accepted(
        keys: &mut KnownKeys,
        sent: &Bytes,
        module: &str,
        now: u64,
    ) -> Result<CommandReach, Option<RequestRefusal>> {
        let source = CommandSource::User(None);
        let subject = CommandSubject { module, prefix: b"\x08\x01x", source };
        keys.accept(&InterestView::parse(sent).expect("ours"), subject, now)
    }

    #[track_caller]
    fn assert_refused(outcome: Result<CommandReach, Option<RequestRefusal>>, stated: &str) {
        let why = outcome.expect_err("refused").expect("a reason");
        assert!(why.text.contains(stated), "{why:?}");
    }

    #[test]
    fn a_command_is_accepted_once_and_none_that_is_older() {
        let mut keys = known();
        let first = command(&key(1), Some(300_000));
        assert_eq!(accepted(&mut keys, &first, "rib", 300_005), Ok(CommandReach::All));
        assert_refused(accepted(&mut keys, &first, "rib", 300_006), "not later");
        assert_refused(accepted(&mut keys, &command(&key(1), Some(299_999)), "rib", 300_006), "not later");
        assert_eq!(
            accepted(&mut keys, &command(&key(1), Some(300_001)), "rib", 300_006),
            Ok(CommandReach::All)
        );
        // A configuration that is read again does not forget them.
        let mut reloaded = known().after(&keys);
        assert_refused(accepted(&mut reloaded, &first, "rib", 300_007), "not later");
    }

    #[test]
    fn a_command_is_of_the_present_and_not_from_before_the_start() {
        let refused = |time, now, stated| {
            assert_refused(accepted(&mut known(), &command(&key(1), time), "rib", now), stated);
        };
        refused(None, 300_000, "no SignatureTime");
        refused(Some(300_000), 420_001, "more than 120s");
        refused(Some(420_001), 300_000, "more than 120s");
        refused(Some(199_000), 201_000, "not later");
        refused(Some(1_001_000), 1_001_000, "not valid now");
        assert_eq!(
            accepted(&mut known(), &command(&key(1), Some(300_000)), "rib", 420_000),
            Ok(CommandReach::All)
        );
    }

    #[test]
    fn another_key_and_another_module_are_refused() {
        let at = Some(300_000);
        assert_refused(accepted(&mut known(), &command(&key(2), at), "rib", 300_000), "has not made");
        assert_refused(accepted(&mut known(), &command(&key(1), at), "faces", 300_000), "may not send faces");
        assert_eq!(accepted(&mut known(), &command(&Signer::Digest, at), "rib", 300_000), Err(None));
        assert!(known().are_for("rib") && !known().are_for("faces"));
    }

    #[test]
    fn what_costs_little_is_checked_before_the_signature_and_wrong_signatures_have_a_bound() {
        let (mut keys, at) = (known(), Some(300_000));
        // Another key has signed all of these in the name of the known one.
        for (module, time, stated) in [
            ("rib", Some(1), "more than 120s"),
            ("faces", at, "may not send faces"),
            ("rib", None, "no SignatureTime"),
        ] {
            assert_refused(accepted(&mut keys, &command(&key(2), time), module, 300_000), stated);
        }
        let forged = command(&key(2), at);
        let outcomes = (0..20).map(|_| accepted(&mut keys, &forged, "rib", 300_000).expect_err("forged"));
        let codes: Vec<u64> = outcomes.map(|why| why.expect("a reason").code).collect();
        assert_eq!((&codes[..8], &codes[8..]), (&[403; 8][..], &[503; 12][..]));
        let sent = command(&key(1), Some(301_000));
        assert_eq!(accepted(&mut keys, &sent, "rib", 301_000), Ok(CommandReach::All), "in the next second");
    }

    #[test]
    fn any_certificate_of_a_key_permits_what_it_is_for() {
        let mut keys = known();
        let second = KnownKey { modules: vec!["faces".to_owned()], ..keys.keys[0].clone() };
        keys.keys.push(second);
        for (module, at) in [("faces", 300_000), ("rib", 300_001)] {
            assert_eq!(
                accepted(&mut keys, &command(&key(1), Some(at)), module, at),
                Ok(CommandReach::All),
                "{module}"
            );
        }
        assert_refused(
            accepted(&mut keys, &command(&key(1), Some(300_002)), "cs", 300_002),
            "may not send cs",
        );
    }
}
