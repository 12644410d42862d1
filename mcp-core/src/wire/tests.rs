//! Tests of the wires: round trips, golden messages, and the schemas of the specification
//! (`docs/spec/schema`).

mod golden;
mod messages;
mod refusals;
mod round_trips;
mod schemas;
mod spec;
mod strategies;
