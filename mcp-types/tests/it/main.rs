//! The vocabulary held against the specification's own schemas and examples (`docs/spec/schema`), and
//! against itself.

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
