// Which files are hashed, shared by the build script and the tests. Paths are from the root of the workspace.

/// Files that determine the tables of a stored run. A path that is a folder stands for everything below it.
pub const SIMULATION: &[&str] = &[
    // The lockfile has all versions; the manifests have features and the edition.
    "Cargo.lock",
    "Cargo.toml",
    "crates/core/Cargo.toml",
    "crates/core/src",
    "crates/results/Cargo.toml",
    "crates/schemes/Cargo.toml",
    "crates/schemes/src",
    "crates/settings/Cargo.toml",
    "crates/settings/src",
    "crates/sim/Cargo.toml",
    "crates/sim/src",
    // A stored run is a folder of tables: these files and what they call.
    "crates/results/src/definitions.rs",
    "crates/results/src/lib.rs",
    "crates/results/src/measures",
    "crates/results/src/stats.rs",
    "crates/results/src/tables",
];

/// What decides, beside [`SIMULATION`], the values that `reproduce` keeps of each run.
pub const EXPERIMENTS: &[&str] = &[
    "crates/papers/src/function.rs",
    "crates/papers/src/quantity.rs",
    "crates/papers/src/value.rs",
    "crates/cli/src/commands/reproduce/measures",
];
