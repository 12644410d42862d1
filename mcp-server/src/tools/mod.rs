//! Tools: routes, what they return, how they fail.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/tools>

mod checks;
mod error;
mod lenient;
mod result;
mod route;

pub use error::ToolError;
pub(crate) use lenient::coerce;
pub use result::{IntoToolResult, Json};
pub use route::{ToolExt, ToolRoute};
