//! Decisions about the era and the revision of a server. Nothing here sends a message: the decisions
//! are made about what others have received.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `probe` | the state machine that detects era and revision, and its [`Verdict`] |
//! | `mode` | [`ConnectMode`], and what follows from it |
//! | `record` | [`Negotiation`], the record of the requests and the verdict |
//! | `memory` | the memory that a server does not survive `server/discover` |
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>

mod memory;
mod mode;
mod probe;
mod record;

pub(crate) use memory::ProbeMemory;
pub use mode::ConnectMode;
pub(crate) use mode::ConnectPlan;
pub use probe::Verdict;
pub(crate) use probe::{Evidence, Probe, ProbeError, Step};
pub use record::{Negotiation, Tried};
