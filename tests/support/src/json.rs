//! Reads JSON as strictly as RFC 8259 asks: what tests need to look into the program's and Cargo's output.

use std::iter::Peekable;
use std::str::Chars;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
}

impl Value {
    /// The document in `text`; what is wrong with it otherwise.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader { rest: text.chars().peekable() };
        let value = reader.value()?;
        reader.skip_space();
        match reader.rest.next() {
            None => Ok(value),
            Some(extra) => Err(format!("{extra:?} after the document")),
        }
    }

    /// The entry `key` of an object; `null` where there is none.
    pub fn get(&self, key: &str) -> &Value {
        match self {
            Self::Object(entries) => {
                entries.iter().find(|(name, _)| name == key).map_or(&Self::Null, |(_, value)| value)
            }
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

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
}

impl Reader<'_> {
    fn skip_space(&mut self) {
        while self.rest.next_if(|c| matches!(c, ' ' | '\t' | '\n' | '\r')).is_some() {}
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        self.skip_space();
        match self.rest.next() {
            Some(found) if found == wanted => Ok(()),
            found => Err(format!("{found:?} where {wanted:?} is needed")),
        }
    }

    fn value(&mut self) -> Result<Value, String> {
        self.skip_space();
        match self.rest.peek() {
            Some('{') => self.object(),
            Some('[') => self.elements(),
            Some('"') => self.text().map(Value::Text),
            _ => self.word(),
        }
    }

    /// Whether another entry follows, before `close`.
    fn more(&mut self, close: char, is_first: bool) -> Result<bool, String> {
        self.skip_space();
        if self.rest.next_if_eq(&close).is_some() {
            return Ok(false);
        }
        if is_first { Ok(true) } else { self.expect(',').map(|()| true) }
    }

    fn object(&mut self) -> Result<Value, String> {
        self.expect('{')?;
        let mut entries = Vec::new();
        while self.more('}', entries.is_empty())? {
            self.skip_space();
            let key = self.text()?;
            self.expect(':')?;
            entries.push((key, self.value()?));
        }
        Ok(Value::Object(entries))
    }

    fn elements(&mut self) -> Result<Value, String> {
        self.expect('[')?;
        let mut elements = Vec::new();
        while self.more(']', elements.is_empty())? {
            elements.push(self.value()?);
        }
        Ok(Value::List(elements))
    }

    fn text(&mut self) -> Result<String, String> {
        self.expect('"')?;
        let mut text = String::new();
        loop {
            match self.rest.next() {
                Some('"') => return Ok(text),
                Some('\\') => text.push(self.escape()?),
                Some(c) if c >= ' ' => text.push(c),
                found => return Err(format!("{found:?} in a text")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        match self.rest.next() {
            Some(c @ ('"' | '\\' | '/')) => Ok(c),
            Some('n') => Ok('\n'),
            Some('t') => Ok('\t'),
            Some('r') => Ok('\r'),
            Some('b') => Ok('\u{8}'),
            Some('f') => Ok('\u{c}'),
            Some('u') => {
                let digits: String = self.rest.by_ref().take(4).collect();
                let code = u32::from_str_radix(&digits, 16).map_err(|why| format!("\\u{digits}: {why}"))?;
                Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
            }
            found => Err(format!("escape {found:?}")),
        }
    }

    fn word(&mut self) -> Result<Value, String> {
        let mut word = String::new();
        while let Some(c) = self.rest.next_if(|c| c.is_ascii_alphanumeric() || "+-.".contains(*c)) {
            word.push(c);
        }
        match word.as_str() {
            "null" => Ok(Value::Null),
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            number if number.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
                number.parse().map(Value::Number).map_err(|why| format!("{number:?}: {why}"))
            }
            other => Err(format!("{other:?} is no value")),
        }
    }
}
