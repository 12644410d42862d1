//! Tests of the wires: round trips, golden messages, and the schemas of the specification.
//!
//! The schemas are no part of this repository: `MCP_SPEC_DIR` names the folder with one folder per
//! revision. Without it the test says that it was skipped.

#[cfg(test)]
mod golden;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod round_trips;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod spec;
#[cfg(test)]
mod strategies;
