//! Serving over a pipe.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `settings` | limits and options of a server |
//! | `calls` | the running calls of a pipe |
//! | `driver` | the task that handles every message of a pipe |
//! | `server` | [`StdioServer`] |

mod calls;
mod driver;
mod server;
mod settings;

pub use server::StdioServer;
