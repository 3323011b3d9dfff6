//! Module `strategy-choice`: forwarding strategies of prefixes, under the names that NFD gives them.

use tidegate_core::ndn::fib::StrategyId;
use tidegate_core::ndn::name::{NameTable, PrefixId};

use super::super::Daemon;
use super::super::strategies::StrategyError;
use super::super::workers::Order;
use super::request::RequestRefusal;
use crate::nfd::{ControlParameters, encode_strategy_choice};

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

    /// Sets the strategy of a prefix to an instance, which is made if it is new.
    pub(super) fn set_strategy(
        &mut self,
        requested: ControlParameters,
    ) -> Result<ControlParameters, RequestRefusal> {
        let prefix = self.prefix_of(&requested)?;
        let strategy = requested.strategy.as_deref().unwrap_or_default();
        let id = self.strategies.instance(strategy, self.node.forwarder_mut()).map_err(refusal)?;
        self.node.forwarder_mut().fib_mut().set_strategy(prefix, id);
        self.order_strategy(prefix, Some(id));
        let strategy = Some(self.strategies.name(id).to_vec());
        Ok(ControlParameters { name: requested.name, strategy, ..Default::default() })
    }

    /// Orders the other threads to set, or remove, the strategy of a prefix as well.
    fn order_strategy(&mut self, prefix: PrefixId, strategy: Option<StrategyId>) {
        let prefix = self.components(prefix);
        let strategy = strategy.map(|id| self.strategies.name(id).to_vec());
        if let Some(workers) = &mut self.workers {
            workers.order_all(|_| Order::SetStrategy { prefix: prefix.clone(), strategy: strategy.clone() });
        }
    }

    /// Removes the strategy of a prefix; the response is also OK if it has none.
    pub(super) fn unset_strategy(
        &mut self,
        requested: ControlParameters,
    ) -> Result<ControlParameters, RequestRefusal> {
        let prefix = self.prefix_of(&requested)?;
        if prefix == NameTable::ROOT {
            return Err(RequestRefusal::new(400, "the strategy of / can be set to another one, not unset"));
        }
        self.node.forwarder_mut().fib_mut().unset_strategy(prefix);
        self.order_strategy(prefix, None);
        Ok(ControlParameters { name: requested.name, ..Default::default() })
    }
}

fn refusal(why: StrategyError) -> RequestRefusal {
    let code = match &why {
        StrategyError::Unknown(_) => 404,
        StrategyError::Parameters(_) => 409,
        StrategyError::Full => 503,
    };
    RequestRefusal::new(code, why.to_string())
}
