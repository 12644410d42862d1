//! Unstable: typed Rust code from a server catalog.
//!
//! [`Generator::client`] generates a struct with a method for each tool, prompt, resource and template.
//! [`Generator::server`] generates a trait with the same methods, and a function that makes a server of
//! its implementation. The code uses `mcp::typed`.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `names`, `docs` | identifiers, doc comments |
//! | `report`, `error` | [`Report`], [`GenerateError`] |
//! | `types` | the types of the generated code |
//! | `schema` | JSON Schema as types |
//! | `equal` | equal types of several tools as one type |
//! | `cycles` | types that contain themselves |
//! | `model` | the catalog as methods and types |
//! | `emit` | the code |
//! | `file` | the code as a file |
//! | `generator` | [`Generator`], [`Generated`] |

mod cycles;
mod docs;
mod emit;
mod equal;
mod error;
mod file;
mod generator;
mod model;
mod names;
mod report;
mod schema;
mod types;

pub use error::GenerateError;
pub use file::catalog_of;
pub use generator::{Generated, Generator};
pub use report::{Note, Report, ToolReport};
