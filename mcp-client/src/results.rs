//! Parts of results that the client keeps: results for later calls, listed tools, what was left out.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `cache` | [`Cache`], the results that a server declared cacheable |
//! | `omissions` | parts of lists that are left out, because they are malformed or repeated |
//! | `tool_index` | mirrored headers, output schemas and idempotency hints of listed tools |

mod cache;
mod omissions;
mod tool_index;

pub use cache::Cache;
pub(crate) use cache::CacheSlot;
pub(crate) use omissions::Omissions;
pub(crate) use tool_index::{ParamHeaderValues, ToolIndex};
