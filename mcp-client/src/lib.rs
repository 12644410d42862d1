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
//! | how the revision was found | [`Negotiation`] |
//! | answering by hand | [`PreparedCall::manual`] |
//! | changes of lists and resources | [`Client::subscribe`] |
//! | log messages of all calls | [`Client::logs`] |
//! | answers that stay fresh for a while | [`Cache`] |
//! | tools that are left out, headers of arguments, checks of results | [`DroppedTool`], `tool_index` |
//! | several servers behind one handle, `mcp.json` | [`group`] |
//! | what went wrong | [`Error`] |
//! | the one path that every call takes | `call` |
//! | tools, resources, prompts, completion; lists in pages | `api` |

mod api;
mod cache;
mod call;
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
mod options;
mod prepared;
mod session;
mod tool_index;
mod visiting;

pub use cache::Cache;
pub use client::Client;
pub use connect::{ClientBuilder, ConnectMode};
pub use error::Error;
pub use inputs::{
    Asker, ElicitRequest, InputError, InputKind, IntoInput, Rejected, SampleRequest, UrlRequest,
};
pub use listen::{Change, Subscribe, Subscription};
pub use manual::{Asks, ManualCall, Turn};
pub use negotiate::{Negotiation, Tried};
pub use prepared::PreparedCall;
pub use tool_index::DroppedTool;
