//! Calls out, typed results back: the client half of the Model Context Protocol.
//!
//! A [`Client`] talks to one server over a [`Channel`](mcp_core::Channel), which a transport
//! supplies. Each call runs on the task that awaits it, inside of a tokio runtime with a timer:
//! nothing is spawned, and dropping the future cancels the call.
//!
//! | you look for | it is in |
//! |---|---|
//! | the handle, and what is known of the server | [`Client`] |
//! | connecting: which revision, who we are, how long to wait | [`ClientBuilder`], [`ConnectMode`] |
//! | timeout, progress, headers of one call | [`PreparedCall`] |
//! | what a server asks of its client: forms, language model, roots | `inputs` |
//! | how the revision was found | [`Negotiation`]; finding it: `negotiate` |
//! | answering by hand | [`PreparedCall::manual`] |
//! | changes of lists and resources | [`Client::subscribe`] |
//! | log messages of all calls | [`Client::logs`] |
//! | answers that stay fresh for a while | [`Cache`] |
//! | tools that are left out, headers of arguments, checks of results | [`DroppedTool`], `tool_index` |
//! | several servers behind one handle, `mcp.json` | [`group`] |
//! | what went wrong | [`Error`] |
//! | one request and its answer | `attempt` |
//! | the one path that every call takes | `call` |
//! | tools, resources, prompts, completion; lists in pages | `api` |
//!
//! From the bottom up, each knowing only those before it:
//!
//! 1. values: `inputs`, `error`, `clock`, `options`, `visiting`, `change`, `cache`, `events`,
//!    `negotiation`, `tool_index`, `watched`
//! 2. the handle and what is known of its server: `client`
//! 3. requests: `attempt`, `session`, `call`
//! 4. what programs call: `walk`, `prepared`, `manual`, `api`, `listen`
//! 5. connecting: `negotiate`, `connect`
//! 6. several servers: `group`

mod api;
mod attempt;
mod cache;
mod call;
mod change;
mod client;
mod clock;
mod connect;
mod error;
mod events;
pub mod group;
mod inputs;
mod listen;
mod manual;
mod negotiate;
mod negotiation;
mod options;
mod prepared;
mod session;
mod tool_index;
mod visiting;
mod walk;
mod watched;

pub use cache::Cache;
pub use change::Change;
pub use client::Client;
pub use connect::{ClientBuilder, ConnectMode};
pub use error::Error;
pub use inputs::{
    Asker, ElicitRequest, InputError, InputKind, IntoInput, Rejected, SampleRequest, UrlRequest,
};
pub use listen::{Subscribe, Subscription};
pub use manual::{Asks, ManualCall, Turn};
pub use negotiation::{Negotiation, Tried};
pub use prepared::PreparedCall;
pub use tool_index::DroppedTool;
