//! Input schemas for a provider, and arguments back for the server.
//!
//! | module | content |
//! |---|---|
//! | `keyword` | constraints and annotations with the values that are allowed |
//! | `rewrite` | the schema for a profile |
//! | `restore` | the arguments for the original schema |
//!
//! Other rules about schemas follow no provider's profile: lints (`mcp-core`, `schema::lint`), and what a server publishes
//! for Rust types (`mcp-server`, `schema::portable`).

mod keyword;
mod restore;
mod rewrite;

pub(crate) use restore::restore;
pub(crate) use rewrite::rewrite;

#[cfg(test)]
mod tests;
