//! Parameters of control commands (ControlParameters).

use tidegate_wire::name::NameView;
use tidegate_wire::tlv::{self, Element, TlvReader};
use tidegate_wire::{DecodeError, tlv::types as wire};

use super::types::*;

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
    /// Component that made a route, such as [`ORIGIN_APP`](super::ORIGIN_APP).
    pub origin: Option<u64>,
    /// Cost of a route.
    pub cost: Option<u64>,
    /// Capacity of a content store in packets.
    pub capacity: Option<u64>,
    /// Number of items processed or to process.
    pub count: Option<u64>,
    /// Flags, such as [`FLAG_CHILD_INHERIT`](super::FLAG_CHILD_INHERIT).
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

/// A set of fields of [`ControlParameters`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParameterSet(u32);

/// Every field with its name in NFD's documentation.
const FIELDS: [(ParameterSet, &str); 16] = [
    (ParameterSet::NAME, "Name"),
    (ParameterSet::FACE_ID, "FaceId"),
    (ParameterSet::URI, "Uri"),
    (ParameterSet::LOCAL_URI, "LocalUri"),
    (ParameterSet::ORIGIN, "Origin"),
    (ParameterSet::COST, "Cost"),
    (ParameterSet::CAPACITY, "Capacity"),
    (ParameterSet::COUNT, "Count"),
    (ParameterSet::FLAGS, "Flags"),
    (ParameterSet::MASK, "Mask"),
    (ParameterSet::STRATEGY, "Strategy"),
    (ParameterSet::EXPIRATION, "ExpirationPeriod"),
    (ParameterSet::PERSISTENCY, "FacePersistency"),
    (ParameterSet::MARKING_INTERVAL, "BaseCongestionMarkingInterval"),
    (ParameterSet::MARKING_THRESHOLD, "DefaultCongestionThreshold"),
    (ParameterSet::MTU, "Mtu"),
];

#[expect(missing_docs, reason = "each is the field of the same name")]
impl ParameterSet {
    pub const NONE: Self = Self(0);
    pub const NAME: Self = Self(1);
    pub const FACE_ID: Self = Self(1 << 1);
    pub const URI: Self = Self(1 << 2);
    pub const LOCAL_URI: Self = Self(1 << 3);
    pub const ORIGIN: Self = Self(1 << 4);
    pub const COST: Self = Self(1 << 5);
    pub const CAPACITY: Self = Self(1 << 6);
    pub const COUNT: Self = Self(1 << 7);
    pub const FLAGS: Self = Self(1 << 8);
    pub const MASK: Self = Self(1 << 9);
    pub const STRATEGY: Self = Self(1 << 10);
    pub const EXPIRATION: Self = Self(1 << 11);
    pub const PERSISTENCY: Self = Self(1 << 12);
    pub const MARKING_INTERVAL: Self = Self(1 << 13);
    pub const MARKING_THRESHOLD: Self = Self(1 << 14);
    pub const MTU: Self = Self(1 << 15);
}

impl ParameterSet {
    /// The fields of both sets.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The fields of this set that `other` lacks.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether all fields of `other` are in this set.
    pub const fn contains(self, other: Self) -> bool {
        other.without(self).0 == 0
    }

    /// Name of the first field in the set; `None` for the empty set.
    pub fn first(self) -> Option<&'static str> {
        FIELDS.iter().find(|(field, _)| self.contains(*field)).map(|(_, name)| *name)
    }
}

impl ControlParameters {
    /// The fields that are given.
    pub fn given(&self) -> ParameterSet {
        let is_given = [
            self.name.is_some(),
            self.face_id.is_some(),
            self.uri.is_some(),
            self.local_uri.is_some(),
            self.origin.is_some(),
            self.cost.is_some(),
            self.capacity.is_some(),
            self.count.is_some(),
            self.flags.is_some(),
            self.mask.is_some(),
            self.strategy.is_some(),
            self.expiration_ms.is_some(),
            self.persistency.is_some(),
            self.marking_interval_ns.is_some(),
            self.marking_threshold_bytes.is_some(),
            self.mtu.is_some(),
        ];
        let given = FIELDS.iter().zip(is_given).filter(|(_, is_given)| *is_given);
        given.fold(ParameterSet::NONE, |set, ((field, _), _)| set.with(*field))
    }

    /// The element with all fields that are given.
    pub fn encode(&self) -> Vec<u8> {
        let mut fields = Vec::new();
        let name = |out: &mut Vec<u8>, components: &Option<Vec<u8>>| {
            if let Some(components) = components {
                tlv::write_element(out, wire::NAME, components);
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

    pub(super) fn of(element: &Element<'_>) -> Result<Self, DecodeError> {
        let mut found = Self::default();
        let mut reader = element.inside();
        while let Some(field) = reader.next()? {
            found.take(&field)?;
        }
        Ok(found)
    }

    fn take(&mut self, field: &Element<'_>) -> Result<(), DecodeError> {
        let number = match field.kind {
            wire::NAME => return keep(&mut self.name, components(field)?),
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
pub(super) fn keep<T>(place: &mut Option<T>, value: T) -> Result<(), DecodeError> {
    place.get_or_insert(value);
    Ok(())
}

fn components(name: &Element<'_>) -> Result<Vec<u8>, DecodeError> {
    if name.kind != wire::NAME {
        return Err(DecodeError::Unexpected { element: name.kind, accepted: "Name (7)" });
    }
    Ok(NameView::parse(name)?.components().to_vec())
}

pub(super) fn text(field: &Element<'_>) -> String {
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

#[cfg(test)]
pub(super) mod tests {
    use super::super::{FLAG_CAPTURE, FLAG_CHILD_INHERIT, ORIGIN_APP, ORIGIN_STATIC};
    use super::*;

    pub(in super::super) fn all_fields() -> ControlParameters {
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
    fn the_fields_that_are_given_are_named() {
        let all = all_fields().given();
        assert!(FIELDS.iter().all(|(field, _)| all.contains(*field)));
        let (expiration_ms, mtu) = (Some(1), Some(2));
        let given = ControlParameters { expiration_ms, mtu, ..ControlParameters::default() }.given();
        assert_eq!(given, ParameterSet::EXPIRATION.with(ParameterSet::MTU));
        assert_eq!(given.first(), Some("ExpirationPeriod"));
        assert_eq!(given.without(ParameterSet::EXPIRATION).first(), Some("Mtu"));
        assert_eq!(ParameterSet::NONE.first(), None);
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
}
