//! Serving over a pipe.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `counters` | counters of a pipe, for metrics |
//! | `settings` | limits and options of a server |
//! | `calls` | the running calls of a pipe |
//! | `driver` | the task that handles every message of a pipe |
//! | `io_thread` | the thread of the standard streams |
//! | `server` | [`StdioServer`] |

mod calls;
mod counters;
mod driver;
mod io_thread;
mod server;
mod settings;

pub use server::StdioServer;
