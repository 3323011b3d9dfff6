//! Commands of the management protocol: their names, and the fields of their parameters.

use super::request::RequestRefusal;
use crate::nfd::{ControlParameters, ParameterSet};

/// A command of NFD's management protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Creates a face to a remote address.
    FacesCreate,
    /// Changes properties of a face.
    FacesUpdate,
    /// Closes a single face.
    FacesDestroy,
    /// Adds a next hop to the FIB, or changes its cost.
    FibAddNextHop,
    /// Removes a next hop from the FIB.
    FibRemoveNextHop,
    /// Adds or changes a route.
    RibRegister,
    /// Removes a single route.
    RibUnregister,
    /// Changes the content store.
    CsConfig,
    /// Removes Data from the content store.
    CsErase,
    /// Sets the strategy of a prefix.
    StrategyChoiceSet,
    /// Removes the strategy of a prefix.
    StrategyChoiceUnset,
}

/// Names and fields of one command.
struct VerbFields {
    verb: Verb,
    module: &'static str,
    name: &'static str,
    required: ParameterSet,
    optional: ParameterSet,
}

const FACE_ID: ParameterSet = ParameterSet::FACE_ID;
const NAME: ParameterSet = ParameterSet::NAME;
const FLAGS: ParameterSet = ParameterSet::FLAGS;

/// Properties of a face that commands can set.
const FACE_PROPERTIES: ParameterSet = FLAGS
    .with(ParameterSet::MASK)
    .with(ParameterSet::PERSISTENCY)
    .with(ParameterSet::MARKING_INTERVAL)
    .with(ParameterSet::MARKING_THRESHOLD)
    .with(ParameterSet::MTU);

/// Every command, with the fields that NFD requires and permits.
const VERBS: [VerbFields; 11] = [
    VerbFields {
        verb: Verb::FacesCreate,
        module: "faces",
        name: "create",
        required: ParameterSet::URI,
        optional: FACE_PROPERTIES.with(ParameterSet::LOCAL_URI),
    },
    VerbFields {
        verb: Verb::FacesUpdate,
        module: "faces",
        name: "update",
        required: ParameterSet::NONE,
        optional: FACE_PROPERTIES.with(FACE_ID),
    },
    VerbFields {
        verb: Verb::FacesDestroy,
        module: "faces",
        name: "destroy",
        required: FACE_ID,
        optional: ParameterSet::NONE,
    },
    VerbFields {
        verb: Verb::FibAddNextHop,
        module: "fib",
        name: "add-nexthop",
        required: NAME,
        optional: FACE_ID.with(ParameterSet::COST),
    },
    VerbFields {
        verb: Verb::FibRemoveNextHop,
        module: "fib",
        name: "remove-nexthop",
        required: NAME,
        optional: FACE_ID,
    },
    VerbFields {
        verb: Verb::RibRegister,
        module: "rib",
        name: "register",
        required: NAME,
        optional: FACE_ID
            .with(ParameterSet::ORIGIN)
            .with(ParameterSet::COST)
            .with(FLAGS)
            .with(ParameterSet::EXPIRATION),
    },
    VerbFields {
        verb: Verb::RibUnregister,
        module: "rib",
        name: "unregister",
        required: NAME,
        optional: FACE_ID.with(ParameterSet::ORIGIN),
    },
    VerbFields {
        verb: Verb::CsConfig,
        module: "cs",
        name: "config",
        required: ParameterSet::NONE,
        optional: ParameterSet::CAPACITY.with(FLAGS).with(ParameterSet::MASK),
    },
    VerbFields {
        verb: Verb::CsErase,
        module: "cs",
        name: "erase",
        required: NAME,
        optional: ParameterSet::COUNT,
    },
    VerbFields {
        verb: Verb::StrategyChoiceSet,
        module: "strategy-choice",
        name: "set",
        required: NAME.with(ParameterSet::STRATEGY),
        optional: ParameterSet::NONE,
    },
    VerbFields {
        verb: Verb::StrategyChoiceUnset,
        module: "strategy-choice",
        name: "unset",
        required: NAME,
        optional: ParameterSet::NONE,
    },
];

impl Verb {
    /// The command of these components of a name; `None` for an unknown one.
    pub(super) fn find(module: &[u8], verb: &[u8]) -> Option<Self> {
        let is_it = |known: &&VerbFields| (known.module.as_bytes(), known.name.as_bytes()) == (module, verb);
        VERBS.iter().find(is_it).map(|known| known.verb)
    }

    /// Module that it belongs to.
    pub(super) fn module(self) -> &'static str {
        self.fields().module
    }

    fn fields(self) -> &'static VerbFields {
        VERBS.iter().find(|known| known.verb == self).expect("every verb has an entry")
    }

    /// Checks that exactly the permitted fields are given.
    ///
    /// # Errors
    /// 400 with the name of a field that is missing or not permitted.
    pub fn check(self, parameters: &ControlParameters) -> Result<(), RequestRefusal> {
        let VerbFields { module, name, required, optional, .. } = self.fields();
        let given = parameters.given();
        let refusal = |what: String| Err(RequestRefusal::new(400, format!("{module}/{name}: {what}")));
        if let Some(missing) = required.without(given).first() {
            return refusal(format!("{missing} is missing"));
        }
        if let Some(extra) = given.without(required.with(*optional)).first() {
            return refusal(format!("{extra} is not a parameter of this command"));
        }
        let has_mask = given.contains(ParameterSet::MASK);
        if optional.contains(ParameterSet::MASK) && has_mask != given.contains(FLAGS) {
            return refusal("Flags and Mask are given together or not at all".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(verb: Verb, parameters: &ControlParameters) -> Result<(), String> {
        verb.check(parameters).map_err(|refusal| format!("{} {}", refusal.code, refusal.text))
    }

    #[test]
    fn a_command_has_exactly_its_fields() {
        let mut parameters = ControlParameters { cost: Some(1), ..ControlParameters::default() };
        let missing = Err("400 rib/register: Name is missing".to_owned());
        assert_eq!(checked(Verb::RibRegister, &parameters), missing);
        parameters.name = Some(Vec::new());
        assert_eq!(checked(Verb::RibRegister, &parameters), Ok(()));
        let extra = Err("400 fib/remove-nexthop: Cost is not a parameter of this command".to_owned());
        assert_eq!(checked(Verb::FibRemoveNextHop, &parameters), extra);
        parameters.mask = Some(1);
        assert!(checked(Verb::RibRegister, &parameters).is_err());
    }

    #[test]
    fn flags_need_a_mask_where_there_is_one() {
        let flags = ControlParameters { flags: Some(1), ..ControlParameters::default() };
        let mask = ControlParameters { mask: Some(1), ..ControlParameters::default() };
        for one in [&flags, &mask] {
            assert!(checked(Verb::CsConfig, one).is_err());
        }
        let both = ControlParameters { mask: Some(1), ..flags.clone() };
        assert_eq!(checked(Verb::CsConfig, &both), Ok(()));
        let name = Some(Vec::new());
        assert_eq!(checked(Verb::RibRegister, &ControlParameters { name, ..flags }), Ok(()));
    }

    #[test]
    fn every_verb_is_found_by_its_name() {
        for fields in &VERBS {
            let found = Verb::find(fields.module.as_bytes(), fields.name.as_bytes());
            assert_eq!((found, fields.verb.fields().name), (Some(fields.verb), fields.name));
        }
        assert_eq!(Verb::find(b"rib", b"list"), None);
    }
}
