//! Scenario files as users write them.

mod examples;
