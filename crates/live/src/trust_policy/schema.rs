//! The file of a trust schema: TOML, with trust anchors and rules.

use std::path::{Path, PathBuf};

use tidegate_settings::error::Errors;
use tidegate_settings::fields::Fields;
use tidegate_settings::key_rows;
use tidegate_settings::keys::KeyKind::{Count, List, Table, Text};
use tidegate_settings::keys::KeyNeed::Must;
use tidegate_settings::keys::{Format, Keys};
use tidegate_settings::read_context::ReadContext;
use tidegate_settings::reader::{DocumentReader, check_version, decode};
use tidegate_settings::reference;
use tidegate_settings::suggest::nearest;
use tidegate_wire::Certificate;

use super::TrustPolicy;
use super::name_pattern::NamePattern;
use crate::key_store::{KeyStoreError, read_certificate, read_small};

/// Maximum size of the file, bytes; less than what is read of any file of keys.
const TEXT_BYTES: usize = 64 << 10;
/// Maximum memory for a schema, bytes.
const MAX_BYTES: u64 = 16 << 20;
/// Maximum number of rules, and of anchors. Each rule is compared with each name.
const MAX_RULES: usize = 256;

static FORMAT: Format = Format { root: &ROOT, version: 1, synonyms: SYNONYMS };

static SYNONYMS: &[(&str, &str)] =
    &[("trust-anchor", "anchor"), ("file", "certificate"), ("name", "data"), ("key", "signer")];

static ROOT: Keys = key_rows! { "the trust schema" =>
    format: Count(1, 1), Must, "Version of this format: 1.";
    anchor: List(&Table(&ANCHOR)), Must, "Trust anchors: keys that are trusted without a certificate of others.";
    rule: List(&Table(&RULE)), Must, "Rules of which one has to permit each Data, certificates included; a trust anchor needs none.";
};

static ANCHOR: Keys = key_rows! { "[[anchor]]" =>
    certificate: Text, Must, "File with the certificate in base64, as `tidegate key export` and `ndnsec cert-dump` write it; relative to the folder of the schema.";
};

static RULE: Keys = key_rows! { "[[rule]]" =>
    data: Text, Must, "Pattern of names of Data: `{user}` is one component, the same in `signer`, `*` any one component, `**` at the end any number of them.";
    signer: Text, Must, "Pattern of the names of keys that may sign them, such as /example/{user}/KEY/*.";
};

/// Reason why a trust schema cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustSchemaError {
    /// The file cannot be read.
    #[error("{path}: {why}")]
    File {
        /// Path of the schema.
        path: PathBuf,
        /// Error of the system.
        why: std::io::Error,
    },
    /// There are mistakes in it.
    #[error("{0}")]
    Content(Errors),
    /// An anchor cannot be read.
    #[error("trust anchor {0}")]
    Anchor(#[from] KeyStoreError),
}

/// A rule: who may sign what.
#[derive(Clone, Debug)]
pub(super) struct TrustRule {
    /// Pattern of the signed names.
    pub(super) data: NamePattern,
    /// Pattern of the names of keys.
    pub(super) signer: NamePattern,
}

/// Paths of anchors, and rules.
#[derive(Debug)]
struct SchemaText {
    anchors: Vec<PathBuf>,
    rules: Vec<TrustRule>,
}

/// Reads the schema at `path`, and the certificates of its anchors.
///
/// # Errors
/// When a file cannot be read, or there are mistakes in the schema.
pub(super) fn read(path: &Path) -> Result<TrustPolicy, TrustSchemaError> {
    let of_file = |why| TrustSchemaError::File { path: path.to_owned(), why };
    let text = read_small(path).map_err(of_file)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    policy(&path.display().to_string(), text.as_bytes(), |anchor| read_certificate(&folder.join(anchor)))
}

/// The policy of the schema `name`, of whose anchors `read_anchor` reads the certificates.
///
/// # Errors
/// When there are mistakes in the schema, or an anchor cannot be read.
pub(super) fn policy(
    name: &str,
    bytes: &[u8],
    mut read_anchor: impl FnMut(&Path) -> Result<Certificate, KeyStoreError>,
) -> Result<TrustPolicy, TrustSchemaError> {
    let SchemaText { anchors, rules } = parse(name, bytes).map_err(TrustSchemaError::Content)?;
    let anchors = anchors.iter().map(|anchor| read_anchor(anchor)).collect::<Result<_, _>>()?;
    Ok(TrustPolicy { anchors, rules: Some(rules) })
}

/// Reads the text of the schema `name`.
///
/// # Errors
/// Everything that is wrong with it.
fn parse(name: &str, bytes: &[u8]) -> Result<SchemaText, Errors> {
    let reader = DocumentReader {
        source_name: name,
        format: &FORMAT,
        schemes: &[],
        files: None,
        text_bytes: TEXT_BYTES,
        max_bytes: MAX_BYTES,
    };
    reader.read(decode(name, bytes)?, &[], |context: &ReadContext<'_>, document, _| {
        check_version(context, &document)?;
        let root = Fields::root(context, &document);
        let anchors = tables(&root, "anchor", &ANCHOR);
        let anchors = anchors.iter().filter_map(|anchor| anchor.text("certificate").map(PathBuf::from));
        let rules = tables(&root, "rule", &RULE);
        Some(SchemaText { anchors: anchors.collect(), rules: rules.iter().filter_map(read_rule).collect() })
    })
}

/// The tables of a list, which are 1 to [`MAX_RULES`].
fn tables<'a>(root: &Fields<'a>, key: &str, keys: &'static Keys) -> Vec<Fields<'a>> {
    match root.list(key).len() {
        0 if root.item(key).is_some() => {
            root.refuse(key, format!("{key}: the list is empty; at least one is needed"))
        }
        count if count > MAX_RULES => {
            root.refuse(key, format!("{key}: {count} of [[{key}]]; at most {MAX_RULES}"));
            return Vec::new();
        }
        _ => {}
    }
    root.tables(key, keys)
}

fn read_rule(rule: &Fields<'_>) -> Option<TrustRule> {
    let pattern = |key| rule.accept(key, NamePattern::parse(&rule.text(key)?));
    let (data, signer) = (pattern("data"), pattern("signer"));
    let (data, signer) = (data?, signer?);
    if let Some(unknown) = signer.captured().find(|own| !data.captured().any(|other| other == *own)) {
        let near = nearest(unknown, data.captured());
        let meant = near.map_or_else(
            || "write * for any component".to_owned(),
            |near| format!("did you mean {{{near}}}?"),
        );
        return rule.refused("signer", format!("signer: {{{unknown}}} does not occur in data; {meant}"));
    }
    Some(TrustRule { data, signer })
}

/// Every key of the file as Markdown, for the book.
pub fn reference() -> String {
    reference::markdown(&ROOT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_settings::schema::unsound;

    fn problems(text: &str) -> String {
        parse("schema.toml", text.as_bytes()).map(|_| ()).expect_err("something is wrong").to_string()
    }

    #[test]
    fn the_format_is_declared_soundly() {
        assert_eq!(unsound(&ROOT), Vec::<String>::new());
    }

    #[test]
    fn anchors_and_rules_are_read_in_their_order() {
        let text = "format = 1\n[[anchor]]\ncertificate = \"root.cert\"\n[[rule]]\ndata = \"/a/{user}/**\"\n\
                    signer = \"/a/{user}/KEY/*\"\n[[rule]]\ndata = \"/a/*/KEY/*/*/*\"\nsigner = \"/a/KEY/*\"\n";
        let schema = parse("schema.toml", text.as_bytes()).expect("sound");
        assert_eq!(schema.anchors, [PathBuf::from("root.cert")]);
        let rules: Vec<&str> = schema.rules.iter().map(|rule| rule.signer.text()).collect();
        assert_eq!(rules, ["/a/{user}/KEY/*", "/a/KEY/*"]);
    }

    #[test]
    fn a_mistake_is_reported_with_its_line() {
        let anchor = "[[anchor]]\ncertificate = \"a\"\n";
        let rule = |rule: &str| problems(&format!("format = 1\n{anchor}[[rule]]\n{rule}\n"));
        for (found, stated) in [
            (
                rule("data = \"/a/{user}\"\nsigner = \"/a/{usr}/KEY/*\""),
                "schema.toml:6:10: signer: {usr} does not occur in data; did you mean {user}?",
            ),
            (
                rule("data = \"/a\"\nsigner = \"/{x}/KEY/*\""),
                "schema.toml:6:10: signer: {x} does not occur in data; write * for any component",
            ),
            (
                rule("data = \"a\"\nsigner = \"/a\""),
                "schema.toml:5:8: pattern \"a\" does not start with \"/\"",
            ),
            (
                rule("data = \"/a\"\nkey = \"/a\""),
                "schema.toml:6:1: unknown key \"key\"; did you mean \"signer\"?",
            ),
            (
                problems("format = 1\nrule = []\n"),
                "schema.toml:2:8: rule: the list is empty; at least one is needed",
            ),
            (problems("format = 1\nrule = []\n"), "[[anchor]] is missing; the trust schema requires it"),
            (problems("format = 2\n"), "format 2 is not known"),
        ] {
            assert!(found.contains(stated), "{found}\n{stated}");
        }
    }

    #[test]
    fn a_schema_without_its_anchor_names_the_file() {
        let folder = std::env::temp_dir().join(format!("tidegate-schema-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("writable");
        let (file, why) =
            (folder.join("schema.toml"), |file: &Path| read(file).expect_err("no file").to_string());
        assert!(why(&file).starts_with(&format!("{}: No such file", file.display())));
        let text = "format = 1\nanchor = [{ certificate = \"no.cert\" }]\nrule = [{ data = \"/a\", signer = \"/b\" }]\n";
        std::fs::write(&file, text).expect("writable");
        let expected = format!("trust anchor {}: No such file", folder.join("no.cert").display());
        assert!(why(&file).starts_with(&expected), "{}", why(&file));
        std::fs::remove_dir_all(folder).expect("there");
    }
}
