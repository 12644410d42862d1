//! Tool calls that become tasks (extension `io.modelcontextprotocol/tasks`), for servers.
//!
//! A tool that needs minutes keeps no request open: its call is answered with a task, and the client
//! fetches the result later, also after a restart. The tool's handler is unchanged. Its questions
//! become input requests of the task, and its progress the status message.
//!
//! ```
//! use std::time::Duration;
//!
//! use mcp::prelude::*;
//! use mcp::tasks::{TaskMode, Tasks};
//!
//! let render = Tool::new("render").handler(async |progress: Progress| {
//!     progress.report(1.0, 2.0, "half of the frames").await;
//!     "done"
//! });
//! let server = Server::new("studio", "1.0.0")
//!     .tool(render.task(TaskMode::After(Duration::from_secs(1))))
//!     .tasks(Tasks::in_memory());
//! server.check()?;
//! # Ok::<(), mcp::SetupError>(())
//! ```
//!
//! The [`TaskStore`] is the only connection between the node that runs a task and the nodes that
//! answer `tasks/get`, `tasks/update` and `tasks/cancel`. The running node follows the stored record: a
//! cancellation or an answer that another node has stored reaches the running call.
//!
//! The experimental tasks of revision 2025-11-25 are types only
//! ([`legacy_tasks`](mcp_types::legacy_tasks)): servers and clients of this library do not run them.
//!
//! Spec: <https://github.com/modelcontextprotocol/ext-tasks>
//!
//! # Modules
//!
//! A module uses only modules above it in this table.
//!
//! | module | content |
//! |---|---|
//! | `clock` | timestamps |
//! | `counters` | counters of this node's tasks, for metrics |
//! | `ids` | ids that cannot be guessed |
//! | `outcome` | the result or the error of a finished call |
//! | `link` | a running call's connection to its task: questions and progress |
//! | `shared` | settings, the store, the tasks that run on this node |
//! | `run` | a call that becomes a task, and the task that runs it |
//! | `methods` | `tasks/get`, `tasks/update`, `tasks/cancel` |
//! | `subscribe` | `notifications/tasks` |
//! | `tasks` | the engine and its settings |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod clock;
mod counters;
mod ids;
mod link;
mod methods;
mod outcome;
mod run;
mod shared;
mod subscribe;
mod tasks;

pub use mcp_core::TaskMode;
pub use mcp_core::store::{MemoryTaskStore, TaskLimits, TaskRecord, TaskStore, TaskWrite};
pub use mcp_types::ext::tasks::{Task, TaskStatus};
pub use tasks::Tasks;
