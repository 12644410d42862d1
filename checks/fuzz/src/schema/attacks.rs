//! Schemas that are made to cost time, memory or stack, or to confuse: one table for all visitors.

mod attack;
mod costs;
mod forms;
mod paths;

pub use attack::Attack;

/// Keywords from all drafts, OpenAPI and MCP.
pub const KEYWORDS: &[&str] = &forms::KEYWORDS;

/// Returns all attacks.
pub fn attacks() -> Vec<Attack> {
    let all = paths::all().into_iter();
    all.chain(forms::all()).chain(costs::all()).collect()
}
