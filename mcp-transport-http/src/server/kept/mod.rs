//! Streams of sessions whose events are kept, and what reads them: whoever comes again gets what it
//! has missed. `#[inline]`, so that only programs which keep events compile it.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery>

mod events;
mod keeper;
mod place;
mod reader;
mod streams;

pub(super) use events::{Events, LastEvent, STANDALONE, without_id};
pub(super) use keeper::{Keeper, Kept};
pub(super) use place::{Leave, Place, Seat};
pub(super) use streams::Streams;
