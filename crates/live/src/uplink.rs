//! Finds an application's forwarder: `NDN_CLIENT_TRANSPORT`, then `client.conf`, then the default.
//!
//! Files and format are those of ndn-cxx (`manual/ndn-client.conf`).

use std::io;
use std::path::PathBuf;

use crate::uri::{FaceUri, UriError};

/// The environment variable that takes precedence.
pub const VARIABLE: &str = "NDN_CLIENT_TRANSPORT";

/// Default address of the forwarder.
pub const DEFAULT_TRANSPORT: &str = "unix:///run/nfd/nfd.sock";

/// A forwarder to connect to, and the source of its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uplink {
    /// URI of the forwarder.
    pub uri: FaceUri,
    /// Source of the address, for messages.
    pub source: String,
}

/// Reason why no forwarder is known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UplinkError {
    /// The URI found at a place cannot be used.
    #[error("{place}: {why}")]
    Uri {
        /// Variable, or file and line.
        place: String,
        /// Error of the address.
        why: UriError,
    },
    /// A settings file is there and cannot be read.
    #[error("{path}: {why}")]
    File {
        /// Path of the settings file.
        path: PathBuf,
        /// Error of the attempt to read it.
        why: io::Error,
    },
}

/// Sources of the forwarder's address.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Value of the environment variable [`VARIABLE`].
    pub variable: Option<String>,
    /// Settings files in order of precedence.
    pub files: Vec<PathBuf>,
}

impl Places {
    /// The sources for this process.
    pub fn of_process() -> Self {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let mut files = Vec::new();
        if let Some(home) = set("HOME") {
            files.push(PathBuf::from(home).join(".ndn/client.conf"));
        }
        files.push(PathBuf::from("/usr/local/etc/ndn/client.conf"));
        files.push(PathBuf::from("/etc/ndn/client.conf"));
        Self { variable: set(VARIABLE).map(|value| value.to_string_lossy().into_owned()), files }
    }

    /// The forwarder that these sources name; the default if none does.
    ///
    /// # Errors
    /// If the first source that has a value has an invalid one.
    pub fn uplink(&self) -> Result<Uplink, UplinkError> {
        if let Some(value) = &self.variable {
            return resolve(value, VARIABLE.to_owned());
        }
        for path in &self.files {
            let text = match std::fs::read(path) {
                Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                // Only an absent file is skipped: one that cannot be read may name another forwarder.
                Err(why) if is_absent(&why) => continue,
                Err(why) => return Err(UplinkError::File { path: path.clone(), why }),
            };
            if let Some((line, value)) = transport_line(&text) {
                return resolve(value, format!("{}:{line}", path.display()));
            }
        }
        resolve(DEFAULT_TRANSPORT, "default".to_owned())
    }
}

fn is_absent(why: &io::Error) -> bool {
    matches!(why.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn resolve(value: &str, source: String) -> Result<Uplink, UplinkError> {
    match FaceUri::resolve(value) {
        Ok(uri) => Ok(Uplink { uri, source }),
        Err(why) => Err(UplinkError::Uri { place: source, why }),
    }
}

/// The value of `transport=` in the text of a `client.conf`, and its line, counted from 1; `;` begins a comment.
/// `None` if the text does not have it.
pub fn transport_line(text: &str) -> Option<(usize, &str)> {
    text.lines().enumerate().find_map(|(index, line)| {
        let (key, value) = line.split(';').next()?.split_once('=')?;
        (key.trim() == "transport").then_some((index + 1, value.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("tidegate-uplink-{}-{name}", std::process::id()));
        std::fs::write(&path, text).expect("the temporary folder is writable");
        path
    }

    #[test]
    fn the_variable_comes_before_the_files_and_these_before_the_default() {
        let path =
            file("order", "; transport=tcp4://127.0.0.1:1\n\n transport = tcp4://127.0.0.1:2 ; here\n");
        let files = vec![PathBuf::from("/does/not/exist"), file("silent", "pib=x\n"), path.clone()];
        let variable = Some("udp4://127.0.0.1:3".to_owned());
        let found = |places: Places| places.uplink().map(|up| (up.uri.to_string(), up.source)).ok();
        let all = Places { variable, files: files.clone() };
        assert_eq!(found(all), Some(("udp4://127.0.0.1:3".to_owned(), VARIABLE.to_owned())));
        let of_file = Some(("tcp4://127.0.0.1:2".to_owned(), format!("{}:3", path.display())));
        assert_eq!(found(Places { variable: None, files }), of_file);
        let default = Some((DEFAULT_TRANSPORT.to_owned(), "default".to_owned()));
        assert_eq!(found(Places::default()), default);
    }

    #[test]
    fn an_error_names_the_place_of_the_value() {
        let places = Places { variable: Some("nfd".to_owned()), files: Vec::new() };
        let why = places.uplink().expect_err("no URI").to_string();
        assert!(why.starts_with("NDN_CLIENT_TRANSPORT: face URI \"nfd\": "), "{why}");
        let path = file("wrong", "transport=\n");
        let places = Places { variable: None, files: vec![path.clone()] };
        let why = places.uplink().expect_err("no URI").to_string();
        assert!(why.starts_with(&format!("{}:1: face URI \"\": ", path.display())), "{why}");
    }
}
