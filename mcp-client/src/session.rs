//! Legacy sessions: `initialize`, the server's messages, notifications to the server. A connection of
//! revision 2026-07-28 has no session, but sends and receives notifications in the same way.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `dispatcher` | the task that handles the server's requests and notifications |
//! | `notify` | messages without a response |
//! | `initialize` | the start of a session, and the renewal of an expired one |
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle>

mod dispatcher;
mod initialize;
mod notify;

pub(crate) use dispatcher::spawn as watch_notifications;
pub(crate) use initialize::{initialize_request, open, prepare};
pub(crate) use notify::{NOTIFY_TIMEOUT, notify, send};
