//! Tasks of servers, for clients with and without tasks.
//!
//! | module | content; each module uses only modules above it |
//! |---|---|
//! | `body` | the JSON of a task |
//! | `ids` | task ids, as clients see them; the task that a server has created for a call |
//! | `client` | requests about one server's tasks |
//! | `follow` | a task that the gateway follows, for a client without tasks |
//! | `changes` | subscriptions to tasks |
//! | `engine` | server tasks, for clients with tasks |

pub(crate) mod body;
mod changes;
mod client;
mod engine;
pub(crate) mod follow;
pub(crate) mod ids;
