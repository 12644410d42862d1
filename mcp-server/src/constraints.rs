//! Checks of numeric bounds, lengths, patterns and uniqueness that a schema publishes.
//!
//! Decoding into Rust types already finds missing fields and wrong types, so only the other keywords
//! are checked here. A route compiles its constraints once; a schema without such keywords has none,
//! and its calls pay nothing.
//!
//! | file | content, lowest first |
//! |---|---|
//! | `walk` | the schemas that apply to a value, and what they say together |
//! | `range` | numeric ranges |
//! | `text` | lengths and patterns of parameters |
//! | `limits` | checks of single values |
//! | `node` | the compiled form |
//! | `compile` | from a schema to the compiled form |
//! | `check` | from arguments to violations |

mod check;
mod compile;
mod limits;
mod node;
pub(crate) mod range;
#[cfg(test)]
mod tests;
pub(crate) mod text;
mod walk;

pub(crate) use check::{ArgumentFormat, Path};
pub(crate) use compile::integer_range;
pub(crate) use node::Constraints;
pub(crate) use walk::{all_of, is_blank, parts, step, types};
