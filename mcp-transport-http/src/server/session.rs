//! Legacy clients: the revisions with sessions (up to 2025-11-25).
//!
//! | method | with `Mcp-Session-Id` | without |
//! |---|---|---|
//! | POST | a message of the session | `initialize` opens a session |
//! | GET | the stream of messages that belong to no call | rejected |
//! | DELETE | the session ends | rejected |
//!
//! With HTTP+SSE enabled, a GET without a session id opens a connection (`server/sse_2024.rs`).
//!
//! A call of a session is answered like every other call (`server/exchange.rs`). There are two
//! differences: handlers can send requests to the client while the call runs, and only a
//! notification of the client cancels the call.
//!
//! | layer | module | contents |
//! |---|---|---|
//! | 1 | `quota`, `subscriber` | session limits; the receiver of notifications about changes |
//! | 2 | `http_session` | one session |
//! | 3 | `eviction` | the order in which sessions make room for others |
//! | 4 | `table` | the sessions of this server |
//! | 5 | `binding` | binds a session to a path, or to a key of the program |
//! | 5 | `store` | the store that servers share |
//! | 6 | `expiry` | ends sessions at their deadline |
//! | 7 | `context` | everything that a request of a legacy client needs |
//! | 8 | `message` | messages of sessions other than `initialize` |
//! | 9 | `relay` | messages between the servers that share sessions |
//! | 10 | `lookup` | finds the session of a request |
//! | 11 | `open`, `get_stream` | `initialize`; the GET stream |
//! | 12 | `batch` | joins the responses of a batch |
//! | 13 | `stateless` | requests without sessions |
//! | 14 | `methods` | POST, GET and DELETE |
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports>

mod batch;
mod binding;
mod context;
mod eviction;
mod expiry;
mod get_stream;
mod http_session;
mod lookup;
mod message;
mod methods;
mod open;
mod quota;
mod relay;
mod stateless;
mod store;
mod subscriber;
mod table;

pub(super) use binding::{has_key, new_key};
pub(super) use context::SessionContext;
pub(super) use http_session::HttpSession;
pub(super) use lookup::{Target, find_target, load, parse};
pub(super) use message::{
    EarlyAnswer, PermittedCall, handle_notification, handle_response, permit_call,
};
pub(super) use methods::{delete, get, post, post_batch};
pub(super) use quota::SessionPermit;
pub(super) use subscriber::long_lived_subscriber;
pub(super) use table::SessionTable;

#[cfg(test)]
mod tests;
