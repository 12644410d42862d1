//! Tests of telemetry: every span and metric of a scenario, propagation, and bounded cardinality.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod cardinality;
mod content;
mod kit;
mod operational;
mod parents;
mod relay;
mod sampling;
mod tables;
