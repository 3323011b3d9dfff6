//! Instances of forwarding strategies, and their names in NFD's management.
//!
//! `/localhost/nfd/strategy/best-route/v=5/retx-suppression-max~500`: scheme, version, then parameters as
//! `name~value`, durations in milliseconds.

use bytes::Bytes;
use tidegate_core::ndn::fib::StrategyId;
use tidegate_core::ndn::forwarder::Forwarder;
use tidegate_core::scheme::Scheme;
use tidegate_core::scheme::params::{Reader, Setting, Settings};
use tidegate_core::units::Span;
use tidegate_settings::uses::SchemeUse;
use tidegate_wire::tlv::{self, TlvReader, types};
use tidegate_wire::{name, rdr};

use crate::name_uri;

/// Version of the strategies in NFD; ndnd's `best-route` and `multicast` have version 1.
const VERSION: u64 = 5;

/// A parameter of a strategy.
struct StrategyParam {
    /// Name of the parameter in NFD.
    nfd: &'static str,
    /// Name of the parameter in the catalogue of schemes.
    ours: &'static str,
    is_time: bool,
}

const PARAMS: [StrategyParam; 3] = [
    StrategyParam { nfd: "retx-suppression-initial", ours: "suppression", is_time: true },
    StrategyParam { nfd: "retx-suppression-max", ours: "suppression_limit", is_time: true },
    StrategyParam { nfd: "retx-suppression-multiplier", ours: "suppression_growth", is_time: false },
];

/// Maximum number of instances; each stays until the forwarder ends.
const MAX_INSTANCES: usize = 256;

/// Reason why a prefix does not get a strategy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum StrategyError {
    #[error("strategy {0} is not known")]
    Unknown(String),
    #[error("{0}")]
    Parameters(String),
    #[error("there are already {MAX_INSTANCES} strategies with different parameters")]
    Full,
}

/// Instances of strategies, in the order in which the forwarder got them.
#[derive(Debug, Default)]
pub(super) struct Strategies {
    /// Strategies that can be set.
    known: Vec<&'static Scheme>,
    names: Vec<Vec<u8>>,
}

impl Strategies {
    /// A table without instances; all strategies among `known` can be set.
    pub fn new(known: &[&'static Scheme]) -> Self {
        let known = known.iter().copied().filter(|scheme| scheme.strategy.is_some()).collect();
        Self { known, names: Vec::new() }
    }

    /// Adds the name of the forwarder's next strategy.
    pub fn push(&mut self, part: &SchemeUse) {
        self.names.push(instance_name(part));
    }

    /// Components of the name of an instance, concatenated.
    pub fn name(&self, id: StrategyId) -> &[u8] {
        self.names.get(usize::from(id.0)).map_or(&[], |name| name)
    }

    /// The instance of this name (concatenated components, with or without a version), which is made if there is
    /// none.
    ///
    /// # Errors
    /// When there is no such strategy, version or parameter, or there are too many instances.
    pub fn instance(
        &mut self,
        name: &[u8],
        forwarder: &mut Forwarder<Bytes>,
    ) -> Result<StrategyId, StrategyError> {
        let (part, name) = self.read(name)?;
        if let Some(at) = self.names.iter().position(|known| *known == name) {
            return Ok(StrategyId(at as u16));
        }
        if self.names.len() >= MAX_INSTANCES {
            return Err(StrategyError::Full);
        }
        let make = part.scheme.strategy.ok_or_else(|| StrategyError::Unknown(name_uri::show(&name)))?;
        let strategy = make(&part.settings).map_err(|why| {
            let reasons: Vec<String> = why.iter().map(ToString::to_string).collect();
            StrategyError::Parameters(format!("strategy {}: {}", name_uri::show(&name), reasons.join("; ")))
        })?;
        self.names.push(name);
        Ok(forwarder.add_strategy(strategy))
    }

    /// The instance of a configured strategy, which is made if there is none.
    ///
    /// # Errors
    /// As [`instance`](Self::instance).
    pub fn instance_of(
        &mut self,
        part: &SchemeUse,
        forwarder: &mut Forwarder<Bytes>,
    ) -> Result<StrategyId, StrategyError> {
        self.instance(&instance_name(part), forwarder)
    }

    /// The strategy and parameters that a name stands for, and the name with its version.
    fn read(&self, name: &[u8]) -> Result<(SchemeUse, Vec<u8>), StrategyError> {
        let shown = || name_uri::show(name);
        let unknown = || StrategyError::Unknown(shown());
        let rest = name.strip_prefix(&*prefix()).ok_or_else(unknown)?;
        let mut reader = TlvReader::new(rest);
        let mut next = || reader.next().ok().flatten();
        let word = next().filter(|word| word.kind == types::GENERIC_NAME_COMPONENT).ok_or_else(unknown)?;
        let is_it = |scheme: &&&'static Scheme| scheme.name.as_bytes() == word.value;
        let scheme = self.known.iter().find(is_it).ok_or_else(unknown)?;
        let (mut full, mut settings) = (prefix(), Settings::default());
        push_word(&mut full, scheme.name);
        let mut version = Some(VERSION);
        let mut parameters = Vec::new();
        if let Some(component) = next() {
            match component.integer() {
                Ok(number) if component.kind == types::VERSION_NAME_COMPONENT => version = Some(number),
                _ => parameters.push(component),
            }
        }
        parameters.extend(std::iter::from_fn(next));
        match version {
            Some(number) if number > VERSION => return Err(unknown()),
            Some(number) if number > 0 => rdr::push_version(&mut full, number),
            _ => {
                return Err(StrategyError::Parameters(format!(
                    "strategy {}: there is no version 0",
                    shown()
                )));
            }
        }
        for component in parameters {
            let setting = read_parameter(component.value).ok_or_else(|| {
                let known = PARAMS.map(|param| param.nfd).join(", ");
                let why = format!("strategy {}: parameters are name~value; known: {known}", shown());
                StrategyError::Parameters(why)
            })?;
            settings.0.push(setting);
            tlv::write_element(&mut full, component.kind, component.value);
        }
        Ok((SchemeUse { scheme, settings }, full))
    }
}

/// A parameter of the catalogue from `name~value`.
fn read_parameter(component: &[u8]) -> Option<(String, Setting)> {
    let (name, value) = std::str::from_utf8(component).ok()?.split_once('~')?;
    let param = PARAMS.iter().find(|param| param.nfd == name)?;
    let setting = match param.is_time {
        true => Setting::Text(format!("{}ms", value.parse::<u32>().ok()?)),
        false => Setting::Number(value.parse::<f64>().ok().filter(|number| number.is_finite())?),
    };
    Some((param.ours.to_owned(), setting))
}

/// Components before the name of a strategy.
fn prefix() -> Vec<u8> {
    let mut name = Vec::new();
    ["localhost", "nfd", "strategy"].iter().for_each(|word| push_word(&mut name, word));
    name
}

fn instance_name(part: &SchemeUse) -> Vec<u8> {
    let mut name = prefix();
    push_word(&mut name, part.scheme.name);
    rdr::push_version(&mut name, VERSION);
    let mut reader = Reader::new(&part.settings, part.scheme.params);
    for param in PARAMS.iter().filter(|param| part.settings.get(param.ours).is_some()) {
        let value = match part.settings.get(param.ours) {
            Some(Setting::Number(number)) => number.to_string(),
            _ if param.is_time => {
                let time: Span = reader.take(param.ours, Span::ZERO);
                (time.as_nanos() / 1_000_000).to_string()
            }
            _ => continue,
        };
        push_word(&mut name, &format!("{}~{value}", param.nfd));
    }
    name
}

fn push_word(name: &mut Vec<u8>, word: &str) {
    name::push_component(name, 8, word.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::ndn::forwarder::ForwarderSetup;
    use tidegate_core::rng::{Rng, Seed};

    fn name_of(settings: &[(&str, Setting)]) -> String {
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let multicast = tidegate_schemes::SCHEMES.iter().find(|scheme| scheme.name == "multicast");
        let part = SchemeUse { scheme: multicast.expect("listed"), settings: Settings(settings) };
        name_uri::show(&instance_name(&part))
    }

    #[test]
    fn an_instance_has_the_name_that_nfd_gives_it() {
        assert_eq!(name_of(&[]), "/localhost/nfd/strategy/multicast/v=5");
        let time = Setting::Text("20ms".to_owned());
        let growth = Setting::Number(1.5);
        assert_eq!(
            name_of(&[("suppression_growth", growth), ("suppression", time)]),
            "/localhost/nfd/strategy/multicast/v=5/retx-suppression-initial~20/retx-suppression-multiplier~1.5"
        );
    }

    struct Bench {
        strategies: Strategies,
        forwarder: Forwarder<Bytes>,
    }

    impl Bench {
        /// A forwarder with `best-route`.
        fn new() -> Self {
            let mut strategies = Strategies::new(tidegate_schemes::SCHEMES);
            let find = |scheme: &&&Scheme| scheme.name == "best-route";
            let scheme = *strategies.known.iter().find(find).expect("listed");
            let part = SchemeUse { scheme, settings: Settings::default() };
            strategies.push(&part);
            let make = scheme.strategy.expect("a strategy");
            let strategy = make(&part.settings).expect("defaults are valid");
            let setup = ForwarderSetup::new(strategy, Rng::stream(Seed(1), "nonces"));
            Self { strategies, forwarder: Forwarder::new(setup) }
        }

        /// Name of the instance that `uri` stands for.
        fn set(&mut self, uri: &str) -> Result<String, StrategyError> {
            let name = name_uri::parse(uri).expect("valid");
            let id = self.strategies.instance(&name, &mut self.forwarder)?;
            Ok(name_uri::show(self.strategies.name(id)))
        }
    }

    #[test]
    fn a_strategy_without_a_version_is_the_newest_and_versions_of_nfd_and_ndnd_are_kept() {
        let mut bench = Bench::new();
        let base = "/localhost/nfd/strategy/multicast";
        assert_eq!(bench.set(base), Ok(format!("{base}/v=5")));
        assert_eq!(bench.set(&format!("{base}/v=1")), Ok(format!("{base}/v=1")));
        let other = "/localhost/nfd/strategy/best-route/v=5/retx-suppression-max~500";
        assert_eq!(bench.set(other), Ok(other.to_owned()));
        assert_eq!(bench.set(base), Ok(format!("{base}/v=5")));
        assert_eq!(bench.strategies.names.len(), 4);
        let first = "/localhost/nfd/strategy/best-route";
        assert_eq!(bench.set(first), Ok(format!("{first}/v=5")));
        assert_eq!(bench.strategies.names.len(), 4);
    }

    #[test]
    fn unknown_strategies_versions_and_parameters_are_refused() {
        let refused = |uri: &str| Bench::new().set(uri).expect_err("refused");
        let base = "/localhost/nfd/strategy/";
        for unknown in ["asf", "multicast/v=6", "icp", "", "32=multicast"] {
            let uri = format!("{base}{unknown}");
            assert!(matches!(refused(uri.trim_end_matches('/')), StrategyError::Unknown(_)), "{unknown}");
        }
        assert!(matches!(refused("/localhost/other/strategy/multicast"), StrategyError::Unknown(_)));
        for wrong in ["v=0", "v=5/probing-interval~1", "v=5/retx-suppression-max", "v=5/v=5"] {
            let uri = format!("{base}multicast/{wrong}");
            assert!(matches!(refused(&uri), StrategyError::Parameters(_)), "{wrong}");
        }
        let text = refused(&format!("{base}multicast/v=5/retx-suppression-multiplier~0.5")).to_string();
        assert!(text.contains("suppression_growth"), "{text}");
    }

    #[test]
    fn instances_with_other_parameters_are_limited() {
        let mut bench = Bench::new();
        let uri =
            |at: usize| format!("/localhost/nfd/strategy/multicast/v=5/retx-suppression-max~{}", at + 10);
        for at in 1..MAX_INSTANCES {
            assert_eq!(bench.set(&uri(at)), Ok(uri(at)));
        }
        assert_eq!(bench.set(&uri(MAX_INSTANCES)), Err(StrategyError::Full));
        assert_eq!(bench.set(&uri(7)), Ok(uri(7)));
    }
}
