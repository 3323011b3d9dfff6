//! NFD's management messages: ControlParameters and ControlResponse, for both ends of a command.
//!
//! Type numbers and field order are those of ndn-cxx; fields may arrive in any order and unknown ones are
//! ignored, as in NFD, so that newer peers are understood.

use std::fmt;

use tidegate_wire::name::NameView;
use tidegate_wire::tlv::{self, Element, TlvReader};
use tidegate_wire::{DecodeError, tlv::types};

const CONTROL_RESPONSE: u32 = 101;
const STATUS_CODE: u32 = 102;
const STATUS_TEXT: u32 = 103;
const CONTROL_PARAMETERS: u32 = 104;
const FACE_ID: u32 = 105;
const COST: u32 = 106;
const STRATEGY: u32 = 107;
const FLAGS: u32 = 108;
const EXPIRATION_PERIOD: u32 = 109;
const ORIGIN: u32 = 111;
const MASK: u32 = 112;
const URI: u32 = 114;
const LOCAL_URI: u32 = 129;
const CAPACITY: u32 = 131;
const COUNT: u32 = 132;
const PERSISTENCY: u32 = 133;
const MARKING_INTERVAL: u32 = 135;
const MARKING_THRESHOLD: u32 = 136;
const MTU: u32 = 137;

/// Origin of a route that an application registered.
pub const ORIGIN_APP: u64 = 0;
/// Origin of a route from a settings file or a user.
pub const ORIGIN_STATIC: u64 = 255;
/// Flag of a route that also serves longer prefixes with routes of their own.
pub const FLAG_CHILD_INHERIT: u64 = 1;
/// Flag of a route that hides the routes of shorter prefixes.
pub const FLAG_CAPTURE: u64 = 2;

/// Parameters of a command, or as applied by the forwarder; `None` for those that are not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControlParameters {
    /// Name, as concatenated components.
    pub name: Option<Vec<u8>>,
    /// Number of a face.
    pub face_id: Option<u64>,
    /// Remote end of a face.
    pub uri: Option<String>,
    /// Local end of a face.
    pub local_uri: Option<String>,
    /// Component that made a route, such as [`ORIGIN_APP`].
    pub origin: Option<u64>,
    /// Cost of a route.
    pub cost: Option<u64>,
    /// Capacity of a content store in packets.
    pub capacity: Option<u64>,
    /// Number of items processed or to process.
    pub count: Option<u64>,
    /// Flags, such as [`FLAG_CHILD_INHERIT`].
    pub flags: Option<u64>,
    /// Mask of the flags that are set or cleared.
    pub mask: Option<u64>,
    /// Name of a strategy, as concatenated components.
    pub strategy: Option<Vec<u8>>,
    /// Lifetime of a route, milliseconds.
    pub expiration_ms: Option<u64>,
    /// Persistency of a face: 0 persistent, 1 on demand, 2 permanent.
    pub persistency: Option<u64>,
    /// Minimum interval between two congestion marks, nanoseconds.
    pub marking_interval_ns: Option<u64>,
    /// Backlog from which on congestion is marked, bytes.
    pub marking_threshold_bytes: Option<u64>,
    /// Maximum size of a frame, bytes.
    pub mtu: Option<u64>,
}

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

impl ControlParameters {
    /// The element with all fields that are given.
    pub fn encode(&self) -> Vec<u8> {
        let mut fields = Vec::new();
        let name = |out: &mut Vec<u8>, components: &Option<Vec<u8>>| {
            if let Some(components) = components {
                tlv::write_element(out, types::NAME, components);
            }
        };
        name(&mut fields, &self.name);
        write_integers(&mut fields, &[(FACE_ID, self.face_id)]);
        write_texts(&mut fields, &[(URI, &self.uri), (LOCAL_URI, &self.local_uri)]);
        let numbers =
            [(ORIGIN, self.origin), (COST, self.cost), (CAPACITY, self.capacity), (COUNT, self.count)];
        write_integers(&mut fields, &numbers);
        write_integers(&mut fields, &[(FLAGS, self.flags), (MASK, self.mask)]);
        if self.strategy.is_some() {
            let mut strategy = Vec::new();
            name(&mut strategy, &self.strategy);
            tlv::write_element(&mut fields, STRATEGY, &strategy);
        }
        let numbers = [
            (EXPIRATION_PERIOD, self.expiration_ms),
            (PERSISTENCY, self.persistency),
            (MARKING_INTERVAL, self.marking_interval_ns),
            (MARKING_THRESHOLD, self.marking_threshold_bytes),
            (MTU, self.mtu),
        ];
        write_integers(&mut fields, &numbers);
        let mut out = Vec::with_capacity(fields.len() + 4);
        tlv::write_element(&mut out, CONTROL_PARAMETERS, &fields);
        out
    }

    /// Reads one element, such as a command's component behind its verb.
    ///
    /// # Errors
    /// When `bytes` is no ControlParameters or a field in it is malformed.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let element = TlvReader::new(bytes).only()?;
        if element.kind != CONTROL_PARAMETERS {
            let accepted = "ControlParameters (104)";
            return Err(DecodeError::Unexpected { element: element.kind, accepted });
        }
        Self::of(&element)
    }

    fn of(element: &Element<'_>) -> Result<Self, DecodeError> {
        let mut found = Self::default();
        let mut reader = element.inside();
        while let Some(field) = reader.next()? {
            found.take(&field)?;
        }
        Ok(found)
    }

    fn take(&mut self, field: &Element<'_>) -> Result<(), DecodeError> {
        let number = match field.kind {
            types::NAME => return keep(&mut self.name, components(field)?),
            STRATEGY => return keep(&mut self.strategy, components(&field.inside().only()?)?),
            URI => return keep(&mut self.uri, text(field)),
            LOCAL_URI => return keep(&mut self.local_uri, text(field)),
            FACE_ID => &mut self.face_id,
            COST => &mut self.cost,
            FLAGS => &mut self.flags,
            EXPIRATION_PERIOD => &mut self.expiration_ms,
            ORIGIN => &mut self.origin,
            MASK => &mut self.mask,
            CAPACITY => &mut self.capacity,
            COUNT => &mut self.count,
            PERSISTENCY => &mut self.persistency,
            MARKING_INTERVAL => &mut self.marking_interval_ns,
            MARKING_THRESHOLD => &mut self.marking_threshold_bytes,
            MTU => &mut self.mtu,
            _ => return Ok(()),
        };
        keep(number, field.integer()?)
    }
}

/// Stores a field unless it is present already: the first of several equal fields counts.
fn keep<T>(place: &mut Option<T>, value: T) -> Result<(), DecodeError> {
    place.get_or_insert(value);
    Ok(())
}

fn components(name: &Element<'_>) -> Result<Vec<u8>, DecodeError> {
    if name.kind != types::NAME {
        return Err(DecodeError::Unexpected { element: name.kind, accepted: "Name (7)" });
    }
    Ok(NameView::parse(name)?.components().to_vec())
}

fn text(field: &Element<'_>) -> String {
    String::from_utf8_lossy(field.value).into_owned()
}

fn write_integers(out: &mut Vec<u8>, fields: &[(u32, Option<u64>)]) {
    for (kind, number) in fields {
        if let Some(number) = number {
            tlv::write_integer(out, *kind, *number);
        }
    }
}

fn write_texts(out: &mut Vec<u8>, fields: &[(u32, &Option<String>)]) {
    for (kind, text) in fields {
        if let Some(text) = text {
            tlv::write_element(out, *kind, text.as_bytes());
        }
    }
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
    use super::*;

    fn all_fields() -> ControlParameters {
        ControlParameters {
            name: Some(vec![8, 1, b'a']),
            face_id: Some(1),
            uri: Some("udp4://192.0.2.1:6363".to_owned()),
            local_uri: Some("udp4://192.0.2.2:6363".to_owned()),
            origin: Some(ORIGIN_STATIC),
            cost: Some(10),
            capacity: Some(1000),
            count: Some(3),
            flags: Some(FLAG_CHILD_INHERIT),
            mask: Some(FLAG_CHILD_INHERIT | FLAG_CAPTURE),
            strategy: Some(vec![8, 1, b's']),
            expiration_ms: Some(3_600_000),
            persistency: Some(2),
            marking_interval_ns: Some(100_000_000),
            marking_threshold_bytes: Some(65_536),
            mtu: Some(1400),
        }
    }

    #[test]
    fn every_field_comes_back() {
        let parameters = all_fields();
        assert_eq!(ControlParameters::decode(&parameters.encode()), Ok(parameters));
        let none = ControlParameters::default();
        assert_eq!(none.encode(), [104, 0]);
        assert_eq!(ControlParameters::decode(&[104, 0]), Ok(none));
    }

    #[test]
    fn a_registration_has_the_bytes_that_ndn_cxx_writes() {
        let parameters = ControlParameters {
            name: Some(vec![8, 1, b'a']),
            face_id: Some(256),
            origin: Some(ORIGIN_APP),
            cost: Some(0),
            flags: Some(FLAG_CHILD_INHERIT),
            ..ControlParameters::default()
        };
        let fields = [7, 3, 8, 1, b'a', 105, 2, 1, 0, 111, 1, 0, 106, 1, 0, 108, 1, 1];
        assert_eq!(parameters.encode(), [&[104, 18][..], &fields].concat());
    }

    #[test]
    fn fields_may_come_in_any_order_and_unknown_ones_are_passed_over() {
        let bytes = [104, 13, 106, 1, 5, 200, 1, 9, 105, 1, 7, 107, 2, 7, 0];
        let found = ControlParameters::decode(&bytes).expect("well-formed");
        assert_eq!((found.cost, found.face_id, found.strategy), (Some(5), Some(7), Some(vec![])));
    }

    #[test]
    fn malformed_parameters_are_refused() {
        for bytes in [
            &[][..],
            &[101, 0],
            &[104, 1, 105],
            &[104, 2, 105, 0],
            &[104, 5, 105, 3, 0, 0, 1],
            &[104, 3, 7, 1, 8],
            &[104, 2, 107, 0],
            &[104, 0, 0],
        ] {
            assert!(ControlParameters::decode(bytes).is_err(), "{bytes:?}");
        }
    }

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
