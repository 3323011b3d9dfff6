//! Response to a control command (ControlResponse).

use std::fmt;

use tidegate_wire::DecodeError;
use tidegate_wire::tlv::{self, TlvReader};

use super::parameters::{ControlParameters, keep, text};
use super::types::*;

/// Response to a control command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlResponse {
    /// Status code as in HTTP: 200 done, 4xx refused, 5xx failed.
    pub code: u64,
    /// Status text for human readers.
    pub text: String,
    /// Parameters as the forwarder applied them.
    pub parameters: Option<ControlParameters>,
}

impl ControlResponse {
    /// A response with its own text.
    pub fn new(code: u64, text: &str, parameters: Option<ControlParameters>) -> Self {
        Self { code, text: text.to_owned(), parameters }
    }

    /// Whether the command was carried out.
    pub fn is_ok(&self) -> bool {
        (200..300).contains(&self.code)
    }

    /// The element, which is the content of the Data that answers a command.
    pub fn encode(&self) -> Vec<u8> {
        let mut fields = Vec::new();
        tlv::write_integer(&mut fields, STATUS_CODE, self.code);
        tlv::write_element(&mut fields, STATUS_TEXT, self.text.as_bytes());
        if let Some(parameters) = &self.parameters {
            fields.extend_from_slice(&parameters.encode());
        }
        let mut out = Vec::with_capacity(fields.len() + 4);
        tlv::write_element(&mut out, CONTROL_RESPONSE, &fields);
        out
    }

    /// Reads the content of a Data that answers a command.
    ///
    /// # Errors
    /// When it is no ControlResponse, or has no status code.
    pub fn decode(content: &[u8]) -> Result<Self, DecodeError> {
        let element = TlvReader::new(content).only()?;
        if element.kind != CONTROL_RESPONSE {
            let accepted = "ControlResponse (101)";
            return Err(DecodeError::Unexpected { element: element.kind, accepted });
        }
        let (mut code, mut status_text, mut parameters) = (None, None, None);
        let mut reader = element.inside();
        while let Some(field) = reader.next()? {
            match field.kind {
                STATUS_CODE => keep(&mut code, field.integer()?)?,
                STATUS_TEXT => keep(&mut status_text, text(&field))?,
                CONTROL_PARAMETERS => keep(&mut parameters, ControlParameters::of(&field)?)?,
                _ => {}
            }
        }
        let missing = DecodeError::Missing { element: STATUS_CODE, inside: CONTROL_RESPONSE };
        Ok(Self { code: code.ok_or(missing)?, text: status_text.unwrap_or_default(), parameters })
    }
}

impl fmt::Display for ControlResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code, self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::parameters::tests::all_fields;
    use super::*;

    #[test]
    fn an_answer_comes_back_with_its_parameters_and_without() {
        for parameters in [Some(all_fields()), None] {
            let response = ControlResponse::new(200, "OK", parameters);
            assert_eq!(ControlResponse::decode(&response.encode()), Ok(response));
        }
        let response = ControlResponse::decode(&[101, 4, 102, 2, 1, 0x93]).expect("well-formed");
        assert_eq!((response.to_string(), response.is_ok()), ("403 ".to_owned(), false));
        assert!(ControlResponse::decode(&[101, 0]).is_err());
    }
}
