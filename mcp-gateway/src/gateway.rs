//! Many servers behind one: [`Gateway`].
//!
//! | module | content; each module uses only modules above it |
//! |---|---|
//! | `error` | [`GatewayError`] |
//! | `counters` | [`CallCounts`], [`LastFailure`] |
//! | `audit` | the audit log |
//! | `status` | [`GatewayStatus`] |
//! | `changes` | changed lists |
//! | `drift` | changes of tools in the log |
//! | `limits` | [`CallLimits`] |
//! | `questions` | requests of a server while a call runs |
//! | `sessions` | sessions of a legacy server |
//! | `credentials` | tokens of servers for callers |
//! | `options` | [`GatewayServer`], [`ToolOptions`] |
//! | `usage` | the calls of a server that run |
//! | `parked` | calls that wait for their client |
//! | `running` | one call of a server |
//! | `forward` | a call of the gateway: one call of a server, or several with input between them |
//! | `names` | names of tools and prompts |
//! | `routes` | tools, resources, templates, prompts and completions |
//! | `served` | the items of one kind |
//! | `updates` | subscriptions to resources |
//! | `listing` | the lists of one server |
//! | `setup` | connections, checks of names |
//! | `manifest` | the lists of a server in a file |
//! | `entry` | one server, and its lists |
//! | `lists` | the lists of all servers, kept current |
//! | `builder` | [`Gateway`] |

mod audit;
mod builder;
mod changes;
mod counters;
mod credentials;
mod drift;
mod entry;
mod error;
mod forward;
mod limits;
mod listing;
mod lists;
mod manifest;
mod names;
mod options;
mod parked;
mod questions;
mod routes;
mod running;
mod served;
mod sessions;
mod setup;
mod status;
mod updates;
mod usage;

pub use builder::{Gateway, GatewayControl, OpenGateway};
pub use counters::{CallCounts, LastFailure};
pub use error::GatewayError;
pub use limits::CallLimits;
#[cfg(feature = "config")]
pub(crate) use options::spec_id;
pub use options::{GatewayServer, ToolOptions};
pub use status::{GatewayStatus, ServerStatus};
