//! Input schemas for a provider, and arguments back for the server.
//!
//! | module | content |
//! |---|---|
//! | `read` | a schema with what applies together with it, its types and its keys |
//! | `keyword` | constraints and annotations with the values that are allowed |
//! | `rewrite` | the schema for a profile |
//! | `restore` | the arguments for the original schema |

mod keyword;
mod read;
mod restore;
mod rewrite;

pub(crate) use restore::restore;
pub(crate) use rewrite::rewrite;

#[cfg(test)]
mod tests;
