//! Sessions of the revisions up to 2025-11-25.
//!
//! Modules in layers, lowest first:
//!
//! | module | contents |
//! |---|---|
//! | `frame_queue` | bounded queue between the reader of a stream and its consumer |
//! | `resume_policy` | the decision when a stream is opened again; no IO |
//! | `ended` | responses that say that a session has ended |
//! | `session` | state of one session, and the requests that belong to it |
//! | `routing` | delivers each received message to its call or to the inbox |
//! | `resumable_stream` | an event stream over several connections |
//! | `sse_2024` | the HTTP+SSE transport of 2024-11-05 |
//! | `task` | the background task of a session |
//! | `call` | one call, from its POST to its response |
//! | `sessions` | a channel's current session and its successor |
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports>

mod call;
mod ended;
mod frame_queue;
mod resumable_stream;
mod resume_policy;
mod routing;
mod session;
mod sessions;
mod sse_2024;
mod task;

pub(super) use session::SessionSettings;
pub(super) use sessions::ChannelSessions;

#[cfg(test)]
mod tests;
