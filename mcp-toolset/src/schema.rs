//! Input schemas for a provider, and arguments back for the server.
//!
//! | module | content |
//! |---|---|
//! | `read` | references, types and keys of a schema |
//! | `rewrite` | the schema for a profile |
//! | `restore` | the arguments for the original schema |

mod read;
mod restore;
mod rewrite;

pub(crate) use restore::restore;
pub(crate) use rewrite::rewrite;
