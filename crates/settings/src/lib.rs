//! Settings files: TOML text in, checked values or everything that is wrong with it out.
//!
//! A format declares its [`keys`] once. A [`reader::DocumentReader`] turns text into a tree whose parts know their place,
//! [`fields::Fields`] reads one of its tables by the declared keys, and whatever is wrong is noted at the
//! [`read_context::ReadContext`], so that one reading finds all of it. Schemes with their parameters and queues are read here,
//! as every format has them.
//!
//! ```
//! use tidegate_settings::read_context::ReadContext;
//! use tidegate_settings::fields::Fields;
//! use tidegate_settings::keys::{Format, Keys, KeyKind, KeyNeed, key, keys};
//! use tidegate_settings::reader::{DocumentReader, check_version};
//!
//! static ROOT: Keys = keys(
//!     "the file",
//!     &[
//!         key("format", KeyKind::Count(1, 1), KeyNeed::Must, "Version of this format: 1."),
//!         key("rate", KeyKind::Rate, KeyNeed::Else("10Mbps"), "How fast."),
//!     ],
//! );
//! static FORMAT: Format = Format { root: &ROOT, version: 1, synonyms: &[("speed", "rate")] };
//!
//! let reader = DocumentReader {
//!     source_name: "x.toml",
//!     format: &FORMAT,
//!     schemes: &[],
//!     files: None,
//!     text_bytes: 1 << 20,
//!     max_bytes: 1 << 20,
//! };
//! let rate = |text: &str| {
//!     reader.read(text, &[], |context: &ReadContext<'_>, document, _| {
//!         check_version(context, &document)?;
//!         Fields::root(context, &document).rate("rate")
//!     })
//! };
//! assert_eq!(rate("format = 1").expect("sound").as_bps(), 10_000_000);
//! let errors = rate("format = 1\nspeed = 3").expect_err("another word").to_string();
//! assert!(errors.starts_with("x.toml:2:1: unknown key \"speed\"; did you mean \"rate\"?"), "{errors}");
//! ```
//!
//! No input makes this panic, hang or take memory without bound.
#![forbid(unsafe_code)]

pub mod document;
pub mod error;
pub mod fields;
pub mod keys;
pub mod prefix;
pub mod queue;
pub mod read_context;
pub mod reader;
pub mod reference;
pub mod renames;
pub mod schema;
pub mod suggest;
pub mod uses;
pub mod values;
pub mod write;
