//! Calls as a program makes them: prepared with options, sent when they are awaited, repeated after
//! failures, continued with input or as tasks.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `active` | the path of every call: requests are sent until the server returns the result |
//! | `pager` | paginated lists |
//! | `prepared` | [`PreparedCall`], a call with options |
//! | `typed` | [`TypedCall`], a call whose result has a type |
//! | `step` | [`Step`], the outcome of one request, for callers that answer input requests |
//! | `task` | [`TaskHandle`], a tool call that runs as a task |
//! | `notification` | [`PreparedNotification`], a notification with options |

mod active;
mod notification;
mod pager;
mod prepared;
mod step;
mod task;
mod typed;

pub(crate) use active::{Reader, result_of, run};
pub use notification::PreparedNotification;
pub(crate) use pager::{Pagination, retain_named};
pub use prepared::PreparedCall;
pub use step::{PendingInput, Step};
pub use task::TaskHandle;
pub use typed::TypedCall;
