//! Module `strategy-choice`: forwarding strategies of prefixes, under the names that NFD gives them.

use tidegate_core::ndn::fib::StrategyId;
use tidegate_core::ndn::name::NameTable;

use super::super::Daemon;
use crate::nfd::encode_strategy_choice;

impl Daemon {
    /// Content of the dataset `strategy-choice/list`.
    pub(super) fn strategy_choice_list(&self) -> Vec<u8> {
        let (mut out, choices) = (Vec::new(), self.node.forwarder().fib().strategy_choices());
        let mut choices: Vec<_> = choices.collect();
        // The strategy of the forwarder is that of the root.
        if choices.iter().all(|(prefix, _)| *prefix != NameTable::ROOT) {
            choices.insert(0, (NameTable::ROOT, StrategyId::default()));
        }
        for (prefix, strategy) in choices {
            encode_strategy_choice(&mut out, &self.components(prefix), self.strategies.name(strategy));
        }
        out
    }
}
