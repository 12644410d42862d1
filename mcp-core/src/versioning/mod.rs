//! Which era, which revision. Decided here once per message; below nobody compares versions.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>

mod classify;
mod probe;
mod select;

pub use classify::{Route, classify, names_modern};
pub use probe::{Evidence, Probe, ProbeError, Step, Verdict};
pub(crate) use select::counter_offer;
pub use select::{mutual, offered, too_old};
