//! Scenario files as users write them.

mod bad_input;
mod drawn;
mod examples;
mod imports;
mod mutations;
mod overrides;
mod renames;
mod schema;
mod size;
mod sound;
mod whole;
