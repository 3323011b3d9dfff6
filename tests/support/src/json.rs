//! JSON as tests look into it: the program's output and Cargo's.

use std::collections::BTreeMap;

/// A JSON value.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(untagged)]
pub enum Value {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Value>),
    Object(BTreeMap<String, Value>),
}

impl Value {
    /// The document in `text`; what is wrong with it otherwise.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|why| why.to_string())
    }

    /// The entry `key` of an object; `null` where there is none.
    pub fn get(&self, key: &str) -> &Value {
        match self {
            Self::Object(entries) => entries.get(key).unwrap_or(&Self::Null),
            _ => &Self::Null,
        }
    }

    /// The elements of a list; none of anything else.
    pub fn list(&self) -> &[Value] {
        match self {
            Self::List(elements) => elements,
            _ => &[],
        }
    }

    /// The text; `""` for anything else.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            _ => "",
        }
    }
}
