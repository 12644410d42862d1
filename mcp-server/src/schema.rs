//! JSON Schemas of Rust types, in the form that MCP clients accept, and arguments that do not match them.
//!
//! | file | content, lowest first |
//! |---|---|
//! | `portable` | keywords that all models read |
//! | `flatten` | alternatives at the root |
//! | `optional` | optional properties without `null` |
//! | `generate` | schemas of Rust types |
//! | `input` | the argument schema of a route |
//! | `lenient` | argument conversion to the types of a schema |
//! | `explain` | mistakes in arguments, for language models |
//! | `dropped` | arguments whose wrong values a type drops |

mod dropped;
mod explain;
mod flatten;
mod generate;
mod input;
mod lenient;
mod optional;
mod portable;
#[cfg(test)]
mod tests;

pub(crate) use dropped::{Decode, DroppedArguments, decode, drops};
pub(crate) use explain::explain;
pub(crate) use flatten::required;
pub(crate) use generate::{
    ArgumentSchema, generator, into_object, of_arguments, of_decoded_arguments, of_output,
};
pub(crate) use input::InputSchema;
pub(crate) use lenient::{convert_strings, repair, repair_value, whole_float};
pub(crate) use portable::any_of;
