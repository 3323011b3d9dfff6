//! Module `fib`: the next hops of prefixes.

use super::super::Daemon;
use crate::nfd::FibRecord;

impl Daemon {
    /// Content of the dataset `fib/list`.
    pub(super) fn fib_list(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (prefix, hops) in self.node.forwarder().fib().entries() {
            let hops = hops.iter().filter_map(|hop| Some((self.number_of(hop.face)?, u64::from(hop.cost))));
            FibRecord { prefix: self.components(prefix), next_hops: hops.collect() }.encode(&mut out);
        }
        out
    }
}
