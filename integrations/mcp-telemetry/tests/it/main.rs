//! Tests of telemetry: every span and metric in a scenario, propagation, and bounded cardinality.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod cancellation;
mod cardinality;
mod content;
mod ends;
mod kit;
mod network;
mod operational;
mod parents;
mod relay;
mod sampling;
mod tables;
