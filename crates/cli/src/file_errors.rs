//! Errors of a file as JSON.

use std::path::Path;

use tidegate_results::json::Json;
use tidegate_sim::scenario::{Error, Errors};

/// `{"valid": false, "errors": [...]}`, each error with its place.
pub(crate) fn json(errors: &Errors) -> Json {
    let problem = |error: &Error| {
        Json::Object(vec![
            ("file", Json::text(&error.file)),
            ("line", Json::Count(error.line as u64)),
            ("column", Json::Count(error.column as u64)),
            ("message", Json::text(&error.message)),
            ("suggestion", Json::maybe(error.suggestions.first().map(String::as_str))),
            ("suggestions", Json::List(error.suggestions.iter().map(Json::text).collect())),
        ])
    };
    Json::Object(vec![
        ("valid", Json::Bool(false)),
        ("errors", Json::List(errors.iter().map(problem).collect())),
        ("omitted", Json::Count(errors.omitted() as u64)),
    ])
}

/// As [`json`], for a file that cannot be read: it has no place.
pub(crate) fn unread_json(file: &Path, why: &str) -> Json {
    let problem = vec![
        ("file", Json::text(file.display())),
        ("line", Json::Null),
        ("column", Json::Null),
        ("message", Json::text(why)),
        ("suggestion", Json::Null),
        ("suggestions", Json::List(Vec::new())),
    ];
    Json::Object(vec![
        ("valid", Json::Bool(false)),
        ("errors", Json::List(vec![Json::Object(problem)])),
        ("omitted", Json::Count(0)),
    ])
}
