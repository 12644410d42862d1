//! Tests of the wires: round trips, golden messages, and the schemas of the specification
//! (`docs/spec/schema`).

#[cfg(test)]
mod advisories;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod releases;
#[cfg(test)]
mod round_trips;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod spec;
#[cfg(test)]
mod strategies;
