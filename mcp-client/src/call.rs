//! Calls as a program makes them.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `active` | the path of every call: requests are sent until the server returns the result |

mod active;

pub(crate) use active::{
    ActiveCall, CallStep, Reader, TaskPolls, cancel_task, get_task, result_of, run, task_request,
};
