//! Scenario files as users write them.

mod bad_input;
mod examples;
