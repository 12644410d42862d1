//! Tools: routes, what they return, how they fail.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/tools>

mod checks;
pub(crate) mod constraints;
mod error;
mod lenient;
mod result;
mod route;
pub(crate) mod schema;

pub(crate) use checks::Checking;
pub use error::ToolError;
pub use result::{IntoToolResult, Json};
pub use route::{ToolExt, ToolRoute};
