//! Tests of all types against the schemas and examples of the specification (`docs/spec/schema`), against
//! repeated members, and against themselves.

#[cfg(test)]
mod examples;
#[cfg(test)]
mod json_schemas;
#[cfg(test)]
mod owned;
#[cfg(test)]
mod repeated_members;
#[cfg(test)]
mod round_trips;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod spec;
#[cfg(test)]
mod values;
