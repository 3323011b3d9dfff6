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

/// As [`json`], for errors without a place in the file, such as that it cannot be read.
pub(crate) fn unplaced_json(file: &Path, whys: &[String]) -> Value {
    let problem = |why: &String| {
        json!({
            "file": file.display().to_string(),
            "line": null,
            "column": null,
            "message": why,
            "suggestion": null,
            "suggestions": [],
        })
    };
    json!({ "valid": false, "errors": whys.iter().map(problem).collect::<Value>(), "omitted": 0 })
}
