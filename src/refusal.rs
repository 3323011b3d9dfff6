//! Everything that is wrong with a file, for programs.

use tidegate_report::json::Json;
use tidegate_sim::scenario::{Error, Errors};

/// `{"valid": false, "errors": [...]}`, each error with its place.
pub(crate) fn json(errors: &Errors) -> Json {
    let problem = |error: &Error| {
        Json::Object(vec![
            ("file", Json::text(&error.file)),
            ("line", Json::Count(error.line as u64)),
            ("column", Json::Count(error.column as u64)),
            ("message", Json::text(&error.message)),
            ("suggestion", Json::maybe(error.suggestion.as_deref())),
        ])
    };
    Json::Object(vec![
        ("valid", Json::Bool(false)),
        ("errors", Json::List(errors.iter().map(problem).collect())),
        ("omitted", Json::Count(errors.omitted() as u64)),
    ])
}
