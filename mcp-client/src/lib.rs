//! The client of the Model Context Protocol: typed calls to a server, in every protocol revision.
//!
//! A [`Client`] calls one server: the [`Target`] of [`Client::connect`]. Each call runs on the task that awaits it, inside a tokio runtime with a timer.
//! Dropping the future cancels the call. Tokio tasks are spawned only for legacy sessions, for
//! [groups](group), and to cancel a dropped call's task.
//!
//! | topic | item |
//! |---|---|
//! | calls, and the description of the server | [`Client`] |
//! | connecting | [`Client::connect`], [`Target`] |
//! | settings | [`ClientBuilder`], [`ConnectMode`] |
//! | timeout, progress, headers of one call | [`PreparedCall`] |
//! | elicitation, sampling, roots | [`ElicitRequest`], [`UrlRequest`], [`SampleRequest`] |
//! | one request of a call, for callers that answer input requests | [`PreparedCall::step`] |
//! | calls that run as tasks | [`ClientBuilder::tasks`], [`TaskHandle`] |
//! | changes of lists and resources | [`Client::subscribe`] |
//! | extensions of the protocol | [`ClientExtension`], [`ExtensionClient`] |
//! | log messages and all other notifications, for several readers | [`Client::notifications`] |
//! | cancellation by the id of a request | [`PreparedCall::id`], [`Client::cancel`] |
//! | malformed parts of lists that were left out | [`Client::omissions`] |
//! | cached results | [`Cache`] |
//! | version negotiation | [`Negotiation`] |
//! | errors | [`Error`] |
//! | several servers, `mcp.json` | [`group`] |
//! | server snapshots, and changes between them | [`catalog`] |
//!
//! | feature | adds |
//! |---|---|
//! | `http` | URLs and `HttpChannel` as targets |
//! | `stdio` | commands and pairs of byte streams as targets |
//! | `auth` | logins with OAuth: `ClientBuilder::oauth` |
//!
//! Modules in layers, lowest first. Each uses only modules above it in the table:
//!
//! | module | contents |
//! |---|---|
//! | `inputs` | input that a server requests: handlers, rounds, URLs |
//! | `negotiation` | decisions about the era and the revision |
//! | `error` | [`Error`] |
//! | `extension` | extensions of the client |
//! | `options` | options of one message: time limits, headers, callbacks, the id |
//! | `notifications` | notifications of a server: readers, changes, the queue for handlers |
//! | `results` | parts of results that the client keeps: [`Cache`], listed tools, omissions |
//! | `client` | [`Client`], the state of the connection, single requests over it |
//! | `session` | legacy sessions; notifications to the server |
//! | `call` | calls: options, repetitions, input rounds, pages, tasks |
//! | `api` | the methods of [`Client`], one file per page of the specification |
//! | `subscriptions` | [`Subscription`] |
//! | `connect` | [`ClientBuilder`], [`Target`], version negotiation, authorization |
//! | `group` | several servers |
//! | `catalog` | snapshots of servers |

mod api;
mod call;
pub mod catalog;
mod client;
mod connect;
mod error;
mod extension;
pub mod group;
mod inputs;
mod negotiation;
mod notifications;
mod options;
mod results;
mod session;
mod subscriptions;

pub use api::ExtensionClient;
pub use call::{PendingInput, PreparedCall, PreparedNotification, Step, TaskHandle, TypedCall};
pub use client::Client;
#[cfg(feature = "stdio")]
pub use connect::Io;
pub use connect::{ClientBuilder, InProcess, Over, Target};
pub use error::Error;
pub use extension::{ClientExtension, ClientSetup, IntoClientExtension};
pub use inputs::{
    Asker, ElicitRequest, InputError, InputKind, IntoInput, Rejected, SampleRequest, UrlRequest,
};
pub use negotiation::{ConnectMode, Negotiation, Tried, Verdict};
pub use notifications::{Change, LostNotifications};
pub use results::Cache;
pub use subscriptions::{Subscribe, Subscription};

pub use mcp_core::Omission;
