//! The module trees of the repository's crates, and name resolution in them.
//!
//! The resolver follows `use` declarations (also globs and re-exports) from module to module. It
//! sees source code, not expanded macros: a name that a macro defines is assumed to be in the module
//! that the path leads to.

mod paths;
mod resolve;
mod tree;

pub(crate) use paths::{identifiers, path_uses};
pub(crate) use resolve::Target;
pub(crate) use tree::{Crate, Import, ROOT, crates, imports};
