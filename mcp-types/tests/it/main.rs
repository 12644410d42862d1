//! The vocabulary held against the specification's own schemas and examples, and against itself.
//!
//! The schemas and examples are no part of this repository: `MCP_SPEC_DIR` names the folder with
//! one folder per revision. Without it those tests say that they were skipped.

#[cfg(test)]
mod examples;
#[cfg(test)]
mod round_trips;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod spec;
#[cfg(test)]
mod values;
