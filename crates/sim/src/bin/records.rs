//! Prints a hash of everything that a run records: `records SEED < scenario.toml`.
//!
//! The same program built for two targets shows whether they compute the same bits (`.ci/targets`).

#![forbid(unsafe_code)]

use std::fmt::Write;
use std::io::Read;
use std::process::ExitCode;

use tidegate_core::hash;
use tidegate_core::rng::Seed;
use tidegate_sim::run::run;
use tidegate_sim::scenario;

/// FNV-1a over what is written.
struct Hash(u64);

impl Write for Hash {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0 = hash::fnv1a(self.0, text.as_bytes());
        Ok(())
    }
}

fn main() -> ExitCode {
    match hashed(std::env::args().nth(1).as_deref()) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("records: {why}");
            ExitCode::FAILURE
        }
    }
}

fn hashed(seed: Option<&str>) -> Result<String, String> {
    let seed = seed.and_then(|text| text.parse().ok()).ok_or("usage: records SEED < scenario.toml")?;
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text).map_err(|why| why.to_string())?;
    let plan = scenario::parse_bytes("standard input", &text, &[], tidegate_schemes::SCHEMES)
        .map_err(|errors| errors.to_string())?;
    let record = run(&plan, Seed(seed));
    let mut hash = Hash(hash::EMPTY);
    // Debug writes the fewest digits that identify a float, so equal texts are equal bits.
    write!(hash, "{record:?}").map_err(|why| why.to_string())?;
    Ok(format!("{} {} packet-hops {:016x}", plan.name, record.packet_hops, hash.0))
}
