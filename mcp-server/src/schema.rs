//! JSON Schemas of Rust types, in the form that MCP clients accept.

mod flatten;
mod generate;
#[cfg(test)]
mod tests;

pub(crate) use generate::{ArgumentSchema, generator, into_object, of_arguments, of_output};
