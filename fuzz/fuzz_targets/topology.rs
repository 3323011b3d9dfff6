//! Topologies of other programs: the first byte says in which format, the rest is the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_schemes::SCHEMES;
use tidegate_sim::scenario::import::{TopologyFormat, read, scenario_text};
use tidegate_sim::scenario::{Limits, Parser};

/// Small enough that one input cannot be slow.
const LIMITS: Limits = Limits { text_bytes: 1 << 20, nodes: 300, links: 600, flows: 300, plan_bytes: 16 << 20 };

fuzz_target!(|data: &[u8]| {
    let Some((first, text)) = data.split_first() else { return };
    let (format, _) = TopologyFormat::ALL[usize::from(*first) % 4];
    match read("input", text, format, &LIMITS) {
        Ok(topology) => {
            let scenario = scenario_text("input", "input", format, &topology, &[0]);
            match Parser::new("input.toml", SCHEMES).parse(&scenario) {
                Ok(plan) => {
                    assert_eq!(plan.nodes.len(), topology.nodes.len());
                    let ends = |a: usize, b: usize| (a.min(b), a.max(b));
                    let planned = plan.links.iter().map(|link| ends(link.a, link.b));
                    assert!(planned.eq(topology.links.iter().map(|link| ends(link.a, link.b))));
                }
                Err(errors) => assert!(errors.to_string().contains("is not connected with"), "{errors}"),
            }
        }
        Err(errors) => {
            assert!(errors.iter().count() > 0);
            assert!(!errors.to_string().is_empty());
        }
    }
});
