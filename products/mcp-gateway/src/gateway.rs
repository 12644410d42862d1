//! Many servers behind one: [`Gateway`].
//!
//! | module | content; each module uses only modules above it |
//! |---|---|
//! | `error` | [`GatewayError`] |
//! | `status` | [`GatewayStatus`], and the audit log |
//! | `failure` | a call without a result, and who is to blame |
//! | `changes` | kinds of lists, and changed lists |
//! | `drift` | tool changes in the log |
//! | `memory_used_states` | the request states that clients have used, in memory |
//! | `limits` | [`CallLimits`], and the request states that clients have used |
//! | `claims` | extensions that the gateway does not know |
//! | `quota` | shares of callers in calls that wait |
//! | `questions` | a server's requests and notifications while a call runs, and the calls that wait for their client |
//! | `sessions` | sessions of a legacy server, by caller |
//! | `credentials` | callers, and server tokens for them |
//! | `tool_options` | [`ToolOptions`] |
//! | `options` | [`GatewayServer`] |
//! | `usage` | the calls and tasks of a server that run |
//! | `server_info` | a server's identity in results |
//! | `task_body` | the JSON of a task |
//! | `running` | one call of a server |
//! | `upstream` | one server, as its requests use it; the servers by their names |
//! | `task_ids` | task ids, as clients see them; the task that a server has created for a call |
//! | `forward` | a call of the gateway: one call of a server, or several with input between them |
//! | `follow` | a task that the gateway follows, for a client without tasks |
//! | `task_changes` | subscriptions to tasks |
//! | `tasks` | server tasks, for clients with tasks |
//! | `passed` | messages of extensions that the gateway does not know, and their notifications to all clients |
//! | `routes` | tools, resources, templates, prompts and completions |
//! | `taken_uris` | the URIs that servers answer for |
//! | `update_stream` | one subscription to resources of a server |
//! | `updates` | the resources that clients are subscribed to, at their servers |
//! | `listing` | the lists of one server |
//! | `pages` | pages of tools, which their own server must answer for |
//! | `pinned` | the tools and prompts that are held until they are approved |
//! | `setup` | connections, checks of names and extensions |
//! | `manifest` | the lists of a server in a file |
//! | `starting` | calls of servers that are not listed yet |
//! | `entry` | one server, and its lists |
//! | `served` | the items of one kind |
//! | `lists` | the lists of all servers, kept current |
//! | `search` | [`ToolMode`]: tools that are found by search |
//! | `builder` | [`Gateway`] |

mod builder;
mod changes;
mod claims;
mod credentials;
mod drift;
mod entry;
mod error;
mod failure;
mod follow;
mod forward;
mod limits;
mod listing;
mod lists;
mod manifest;
mod memory_used_states;
mod options;
mod pages;
mod passed;
mod pinned;
mod questions;
mod quota;
mod routes;
mod running;
mod search;
mod served;
mod server_info;
mod sessions;
mod setup;
mod starting;
mod status;
mod taken_uris;
mod task_body;
mod task_changes;
mod task_ids;
mod tasks;
mod tool_options;
mod update_stream;
mod updates;
mod upstream;
mod usage;

pub use builder::{ConnectedGateway, Gateway, GatewayControl};
pub use error::GatewayError;
pub use limits::CallLimits;
pub use memory_used_states::MemoryUsedStates;
pub use options::GatewayServer;
pub(crate) use options::spec_id;
pub use search::ToolMode;
pub use status::{CallCounts, GatewayStatus, LastFailure, ServerStatus};
pub use tool_options::ToolOptions;
