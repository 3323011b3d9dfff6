//! Private keys and their certificates in a folder: for each key a file `ID.key` (PEM of PKCS#8, for its owner alone) and a
//! file `ID.cert` (base64 of the certificate, as `ndnsec` writes it), where ID is a hash of the key's name.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use base64ct::{Base64, Encoding};
use bytes::Bytes;
use tidegate_wire::{
    Certificate, CertificateError, CertificateSettings, DataView, KeyAlgorithm, KeyError, KeySigner,
    PublicKey, Signer, ValidityPeriod, Verifier, VerifyError, name, sha256,
};

use crate::armour;

/// Environment variable with the folder of keys.
pub const VARIABLE: &str = "TIDEGATE_KEYS";

/// Folder of keys within the home of a user.
const FOLDER: &str = ".ndn/tidegate-keys";

/// Maximum size of a file that is read, bytes.
const MAX_FILE: u64 = 64 << 10;

/// Maximum number of certificates in a folder that are read.
pub const MAX_CERTIFICATES: usize = 1_000;

/// Characters of base64 in one line, as `ndnsec` writes them.
const LINE: usize = 64;

/// A folder with keys.
#[derive(Clone, Debug)]
pub struct KeyStore {
    folder: PathBuf,
}

/// A key of the store with its certificate.
#[derive(Clone, Debug)]
pub struct StoredKey {
    /// The certificate of this key.
    pub certificate: Certificate,
    /// The key, which signs with its name as KeyLocator.
    pub signer: KeySigner,
}

/// Reason why a key cannot be stored, found or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyStoreError {
    /// A file or folder cannot be read or written.
    #[error("{path}: {why}")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// Error of the system.
        why: io::Error,
    },
    /// A file has no certificate.
    #[error("{path}: {why}")]
    Certificate {
        /// The file with the certificate.
        path: PathBuf,
        /// Error of the certificate.
        why: CertificateError,
    },
    /// A file is neither base64 nor PEM.
    #[error("{0}: it is neither base64 nor has PEM blocks of base64")]
    Base64(PathBuf),
    /// A file has no private key.
    #[error("{path}: {why}")]
    Key {
        /// The file with the key.
        path: PathBuf,
        /// Error of the key.
        why: KeyError,
    },
    /// The certificate is not for the key.
    #[error("{0}: the certificate is not that of the private key")]
    Mismatch(PathBuf),
    /// There is no such key.
    #[error(
        "no key of {name} in {folder}; `tidegate key list` lists them, `tidegate key generate` makes one"
    )]
    NoKey {
        /// Name that was looked for, as a URI.
        name: String,
        /// Folder of the keys.
        folder: PathBuf,
    },
    /// A certificate cannot be made.
    #[error("the certificate cannot be made: {0}")]
    Issue(String),
}

/// Fields of a new certificate besides the key.
#[derive(Clone, Copy, Debug)]
pub struct IssueSettings<'a> {
    /// Issuer's part of the name: `self` for a self-signed certificate, `NA` by default.
    pub issuer: &'a [u8],
    /// The present, milliseconds since 1970.
    pub now_ms: u64,
    /// Duration for which it is valid, seconds.
    pub valid_seconds: u64,
}

impl KeyStore {
    /// The keys in `folder`, which need not exist.
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The keys of this user: in the folder of [`VARIABLE`], or else in `.ndn/tidegate-keys` of the home. `None` without
    /// either.
    pub fn of_process() -> Option<Self> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let folder = set(VARIABLE).map(PathBuf::from);
        folder.or_else(|| Some(PathBuf::from(set("HOME")?).join(FOLDER))).map(Self::at)
    }

    /// Makes a key for `identity` (concatenated components) with a self-signed certificate, and stores both. `random` is 32
    /// bytes for the key and 8 for its name.
    ///
    /// # Errors
    /// When the files cannot be written.
    pub fn generate(
        &self,
        identity: &[u8],
        algorithm: KeyAlgorithm,
        random: ([u8; 32], [u8; 8]),
        settings: IssueSettings<'_>,
    ) -> Result<StoredKey, KeyStoreError> {
        let mut key_name = identity.to_vec();
        name::push_component(&mut key_name, 8, b"KEY");
        name::push_component(&mut key_name, 8, &random.1);
        let signer = KeySigner::from_bytes(algorithm, &random.0, &key_name);
        let signer = signer.map_err(|why| KeyStoreError::Issue(why.to_string()))?;
        let issued =
            issue(&key_name, &signer.public_key(), &Signer::Key(Box::new(signer.clone())), settings)?;
        self.store(&issued, &signer)?;
        Ok(StoredKey { certificate: issued, signer })
    }

    /// Stores a key with its certificate, in place of those of the same name.
    ///
    /// # Errors
    /// When the files cannot be written.
    pub fn store(&self, certificate: &Certificate, signer: &KeySigner) -> Result<(), KeyStoreError> {
        let fault = |path: &Path, why| KeyStoreError::File { path: path.to_owned(), why };
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)
            .map_err(|why| fault(&self.folder, why))?;
        let id = id_of(certificate.key_name());
        let (key, cert) = (self.folder.join(format!("{id}.key")), self.folder.join(format!("{id}.cert")));
        write_new(&key, signer.to_pem().as_bytes(), 0o600).map_err(|why| fault(&key, why))?;
        write_new(&cert, to_base64(certificate.packet()).as_bytes(), 0o644).map_err(|why| fault(&cert, why))
    }

    /// All keys, ordered by name.
    ///
    /// # Errors
    /// When a file cannot be read, or has not what it should have.
    pub fn keys(&self) -> Result<Vec<StoredKey>, KeyStoreError> {
        let certificates = match certificate_files(&self.folder) {
            Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            found => found.map_err(|why| KeyStoreError::File { path: self.folder.clone(), why })?,
        };
        let mut keys: Vec<StoredKey> =
            certificates.iter().map(|path| read(path)).collect::<Result<_, _>>()?;
        keys.sort_by(|one, other| one.certificate.name().cmp(other.certificate.name()));
        Ok(keys)
    }

    /// The key of `wanted`: an identity, of several keys that with the newest certificate, or the name of a key or certificate.
    ///
    /// # Errors
    /// When there is none, or a file cannot be read.
    pub fn find(&self, wanted: &[u8]) -> Result<StoredKey, KeyStoreError> {
        let is_it =
            |key: &StoredKey| key.certificate.identity() == wanted || key.certificate.is_denoted_by(wanted);
        let found =
            self.keys()?.into_iter().filter(is_it).max_by_key(|key| key.certificate.validity().not_before);
        let name = || crate::name_uri::show(wanted);
        found.ok_or_else(|| KeyStoreError::NoKey { name: name(), folder: self.folder.clone() })
    }
}

/// A certificate for the key `key_name`, signed by `by`.
///
/// # Errors
/// When it is larger than a packet.
pub fn issue(
    key_name: &[u8],
    public_key: &PublicKey,
    by: &Signer,
    settings: IssueSettings<'_>,
) -> Result<Certificate, KeyStoreError> {
    let IssueSettings { issuer, now_ms, valid_seconds } = settings;
    let now = now_ms / 1_000;
    let validity = ValidityPeriod { not_before: now, not_after: now.saturating_add(valid_seconds) };
    let stated = CertificateSettings { key_name, public_key, issuer, version: now_ms, validity };
    let packet = stated.issue(by).map_err(|why| KeyStoreError::Issue(why.to_string()))?;
    Certificate::parse(packet).map_err(|why| KeyStoreError::Issue(why.to_string()))
}

/// Whether a certificate is signed by its own key.
///
/// # Errors
/// When it is not.
pub fn check_self_signed(certificate: &Certificate) -> Result<(), VerifyError> {
    let data = DataView::parse(certificate.packet()).map_err(|_| VerifyError::Wrong)?;
    Verifier::Key(certificate.public_key().clone()).verify_data(&data)
}

/// Reads a file with the base64 of a packet, such as one of `ndnsec cert-dump`, or with the PEM blocks of one or several packets,
/// such as one of `ndnd sec`. There is at least one.
///
/// # Errors
/// When it cannot be read or has none.
pub fn read_packets(path: &Path) -> Result<Vec<Vec<u8>>, KeyStoreError> {
    let text = read_small(path).map_err(|why| KeyStoreError::File { path: path.to_owned(), why })?;
    let packets = armour::packets(&text).filter(|packets| !packets.is_empty());
    packets.ok_or_else(|| KeyStoreError::Base64(path.to_owned()))
}

/// Reads a file with a certificate, as [`read_packets`] does: the first one in it.
///
/// # Errors
/// When it cannot be read or has no certificate.
pub fn read_certificate(path: &Path) -> Result<Certificate, KeyStoreError> {
    let mut parsed = read_packets(path)?.into_iter().map(|packet| Certificate::parse(Bytes::from(packet)));
    let first = parsed.next().ok_or_else(|| KeyStoreError::Base64(path.to_owned()))?;
    let found = first.or_else(|why| parsed.find_map(Result::ok).ok_or(why));
    found.map_err(|why| KeyStoreError::Certificate { path: path.to_owned(), why })
}

/// Reads all certificates of a folder: the files whose names end with `.cert`, at most [`MAX_CERTIFICATES`].
///
/// # Errors
/// When the folder or one of them cannot be read, or there are too many.
pub fn read_certificates(folder: &Path) -> Result<Vec<Certificate>, KeyStoreError> {
    let files = certificate_files(folder).and_then(|files| match files.len() {
        0..=MAX_CERTIFICATES => Ok(files),
        count => Err(io::Error::other(format!("{count} certificates; at most {MAX_CERTIFICATES}"))),
    });
    let files = files.map_err(|why| KeyStoreError::File { path: folder.to_owned(), why })?;
    files.iter().map(|file| read_certificate(file)).collect()
}

/// The files of certificates in a folder, in the order of their names.
fn certificate_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?;
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "cert")).collect();
    files.sort();
    Ok(files)
}

/// Base64 in lines of 64 characters.
pub fn to_base64(packet: &[u8]) -> String {
    let text = Base64::encode_string(packet);
    let lines = text.as_bytes().chunks(LINE).map(|line| String::from_utf8_lossy(line).into_owned() + "\n");
    lines.collect()
}

fn read(path: &Path) -> Result<StoredKey, KeyStoreError> {
    let certificate = read_certificate(path)?;
    let key = path.with_extension("key");
    let pem = read_small(&key).map_err(|why| KeyStoreError::File { path: key.clone(), why })?;
    let signer = KeySigner::from_pem(&pem, certificate.key_name());
    let signer = signer.map_err(|why| KeyStoreError::Key { path: key.clone(), why })?;
    if signer.public_key() != *certificate.public_key() {
        return Err(KeyStoreError::Mismatch(key));
    }
    Ok(StoredKey { certificate, signer })
}

pub(crate) fn read_small(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut text = String::new();
    // The size of some files, such as those of /proc, is known only when they are read.
    io::Read::take(File::open(path)?, MAX_FILE + 1).read_to_string(&mut text)?;
    match text.len() as u64 > MAX_FILE {
        true => Err(io::Error::other(format!("it has more than {MAX_FILE} bytes"))),
        false => Ok(text),
    }
}

/// Writes a file in one step, so that an interruption leaves the earlier one.
fn write_new(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    let temporary = path.with_extension(format!("new-{}", std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&temporary)?;
    let written = file.write_all(content).and_then(|()| file.sync_all());
    let moved = written.and_then(|()| fs::rename(&temporary, path));
    if moved.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    moved
}

/// Name of the files of a key: 16 hexadecimal digits of a hash of its name.
fn id_of(key_name: &[u8]) -> String {
    sha256(&[key_name])[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn store(test: &str) -> KeyStore {
        let folder = std::env::temp_dir().join(format!("tidegate-keys-{}-{test}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        KeyStore::at(folder)
    }

    fn settings(now_ms: u64) -> IssueSettings<'static> {
        IssueSettings { issuer: b"self", now_ms, valid_seconds: 3_600 }
    }

    fn alice() -> Vec<u8> {
        crate::name_uri::parse("/alice").expect("a name")
    }

    #[test]
    fn the_newest_key_of_an_identity_is_found_and_each_by_its_name() {
        let store = store("newest");
        assert_eq!(store.keys().expect("no folder is no keys").len(), 0);
        assert!(matches!(store.find(&alice()), Err(KeyStoreError::NoKey { .. })));
        let make = |number: u8, algorithm, now| {
            store.generate(&alice(), algorithm, ([number; 32], [number; 8]), settings(now)).expect("writable")
        };
        let (old, new) = (make(1, KeyAlgorithm::P256, 1_000), make(2, KeyAlgorithm::Ed25519, 9_000));
        assert_eq!(check_self_signed(&old.certificate), Ok(()));
        let found = |name: &[u8]| store.find(name).expect("stored").signer.public_key();
        assert_eq!(found(&alice()), new.signer.public_key());
        assert_eq!(found(old.certificate.key_name()), old.signer.public_key());
        assert_eq!(found(old.certificate.name()), old.signer.public_key());
        fs::remove_dir_all(store.folder).expect("there");
    }

    #[test]
    fn a_private_key_is_for_its_owner_alone_and_must_fit_its_certificate() {
        let store = store("private");
        let make = |number: u8| {
            let random = ([number; 32], [number; 8]);
            store.generate(&alice(), KeyAlgorithm::P256, random, settings(1_000)).expect("writable")
        };
        let keys = [make(1), make(2)];
        let [own, other] =
            keys.map(|key| store.folder.join(format!("{}.key", id_of(key.certificate.key_name()))));
        assert_eq!(fs::metadata(&own).expect("there").permissions().mode() & 0o777, 0o600);
        fs::copy(&other, &own).expect("writable");
        assert!(matches!(store.keys(), Err(KeyStoreError::Mismatch(path)) if path == own));
        fs::write(&own, "no key").expect("writable");
        assert!(matches!(store.keys(), Err(KeyStoreError::Key { path, .. }) if path == own));
        fs::remove_dir_all(store.folder).expect("there");
    }

    #[test]
    fn base64_comes_back_with_and_without_line_ends() {
        let path = std::env::temp_dir().join(format!("tidegate-base64-{}", std::process::id()));
        let bytes: Vec<u8> = (0..200).collect();
        let text = to_base64(&bytes);
        assert!(text.lines().all(|line| line.len() <= 64) && text.ends_with('\n'));
        for text in [text.clone(), text.replace('\n', "")] {
            fs::write(&path, text).expect("writable");
            assert_eq!(read_packets(&path).expect("base64"), std::slice::from_ref(&bytes));
        }
        fs::write(&path, "not base64!").expect("writable");
        assert!(matches!(read_packets(&path), Err(KeyStoreError::Base64(_))));
        fs::remove_file(path).expect("there");
    }
}
