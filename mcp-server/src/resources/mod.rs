//! Resources and URI templates: routes, what they return, which URI goes where.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/resources>

mod result;
mod route;
pub(crate) mod template;

pub use result::IntoContents;
pub(crate) use route::Reader;
pub use route::{ResourceExt, ResourceRoute, TemplateRoute};
