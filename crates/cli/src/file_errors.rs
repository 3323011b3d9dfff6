//! Errors of a file as JSON.

use std::path::Path;

use serde_json::{Value, json};
use tidegate_sim::scenario::{Error, Errors};

/// `{"valid": false, "errors": [...]}`, each error with its place.
pub(crate) fn json(errors: &Errors) -> Value {
    let problem = |error: &Error| {
        json!({
            "file": error.file,
            "line": error.line,
            "column": error.column,
            "message": error.message,
            "suggestion": error.suggestions.first().map(String::as_str),
            "suggestions": error.suggestions,
        })
    };
    json!({
        "valid": false,
        "errors": errors.iter().map(problem).collect::<Value>(),
        "omitted": errors.omitted() as u64,
    })
}

/// As [`json`], for a file that cannot be read: it has no place.
pub(crate) fn unread_json(file: &Path, why: &str) -> Value {
    let problem = json!({
        "file": file.display().to_string(),
        "line": null,
        "column": null,
        "message": why,
        "suggestion": null,
        "suggestions": [],
    });
    json!({ "valid": false, "errors": [problem], "omitted": 0 })
}
