//! Two schemes over one bottleneck, put together in Rust without a scenario file: `cargo run -p network-in-rust`.

use std::process::ExitCode;

use tidegate_core::observe::records::RunRecord;
use tidegate_core::prelude::*;
use tidegate_schemes::{codel_mark, icp, pcon};
use tidegate_sim::builder::Builder;
use tidegate_sim::run::run;
use tidegate_sim::scenario::Errors;

/// Simulated time, seconds.
const SECONDS: u64 = 20;

/// Two clients behind one router, a bottleneck of 10 Mbit/s that marks, and two servers behind it.
fn simulate() -> Result<RunRecord, Errors> {
    let mut network = Builder::new("icp beside pcon", Span::from_secs(SECONDS));
    let [near, far] = ["near", "far"].map(|name| network.node(name));
    network
        .link(near, far, BitRate::from_mbps(10.0), Span::from_millis(10))
        .queue(Packets::new(100))
        .discipline(&codel_mark::SCHEME, codel_mark::Params::default());
    let [first, second] = [("1", 2), ("2", 7)].map(|(number, millis)| {
        let client = network.node(&format!("client{number}"));
        let server = network.node(&format!("server{number}"));
        network.link(client, near, BitRate::from_mbps(100.0), Span::from_millis(millis));
        network.link(far, server, BitRate::from_mbps(100.0), Span::from_millis(millis));
        (client, server)
    });
    network.flow(first.0, first.1, "/first", &icp::SCHEME, icp::Params { delta: 1.0, ..Default::default() });
    network
        .flow(second.0, second.1, "/second", &pcon::SCHEME, pcon::Params::default())
        .start(Time::ZERO + Span::from_secs(2));
    Ok(run(&network.build()?, Seed(1)))
}

fn main() -> ExitCode {
    match simulate() {
        Ok(record) => {
            for flow in &record.flows {
                let megabits = flow.delivered_segments as f64 * 1_024.0 * 8e-6;
                println!("{}: {:.2} Mbit/s, {} marks", flow.name, megabits / SECONDS as f64, flow.marks);
            }
            ExitCode::SUCCESS
        }
        Err(errors) => {
            eprintln!("{errors}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_flows_get_a_part_of_the_bottleneck() {
        let record = simulate().expect("a sound scenario");
        let rates =
            [0, 1].map(|flow| record.flows[flow].delivered_segments as f64 * 8_192e-6 / SECONDS as f64);
        assert!(
            rates.iter().all(|rate| *rate > 1.0) && rates.iter().sum::<f64>() > 7.0,
            "{rates:?} Mbit/s of 10"
        );
    }
}
