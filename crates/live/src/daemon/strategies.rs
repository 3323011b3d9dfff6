//! Instances of forwarding strategies, and their names in NFD's management.
//!
//! `/localhost/nfd/strategy/best-route/v=5/retx-suppression-max~500`: scheme, version, then parameters as
//! `name~value`, durations in milliseconds.

use tidegate_core::ndn::fib::StrategyId;
use tidegate_core::scheme::params::{Reader, Setting};
use tidegate_core::units::Span;
use tidegate_settings::uses::SchemeUse;
use tidegate_wire::{name, rdr};

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

/// Names of the forwarder's strategies, in the order in which it got them.
#[derive(Debug, Default)]
pub(super) struct Strategies {
    names: Vec<Vec<u8>>,
}

impl Strategies {
    /// Adds the name of the forwarder's next strategy.
    pub fn push(&mut self, part: &SchemeUse) {
        self.names.push(instance_name(part));
    }

    /// Components of the name of an instance, concatenated.
    pub fn name(&self, id: StrategyId) -> &[u8] {
        self.names.get(usize::from(id.0)).map_or(&[], |name| name)
    }
}

fn instance_name(part: &SchemeUse) -> Vec<u8> {
    let mut name = Vec::new();
    for word in ["localhost", "nfd", "strategy", part.scheme.name] {
        push_word(&mut name, word);
    }
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
    use crate::name_uri;
    use tidegate_core::scheme::params::Settings;

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
}
