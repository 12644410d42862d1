//! A server as a child process.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `environment` | the environment variables that every server receives |
//! | `program` | lookup of programs with the extensions of `PATHEXT` |
//! | `stderr` | reads standard error and keeps its end |
//! | `process` | state and pipes of a process |
//! | `watchdog` | ends a process group when this program ends (Unix) |
//! | `unix`, `windows` | a process with its descendants |
//! | `command` | [`ServerCommand`] |
//! | `child_channel` | [`ChildChannel`] |
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio>

mod child_channel;
mod command;
mod environment;
mod process;
#[cfg(any(windows, test))]
mod program;
mod stderr;
#[cfg(unix)]
mod unix;
#[cfg(unix)]
mod watchdog;
#[cfg(windows)]
mod windows;

pub use child_channel::ChildChannel;
pub use command::{ServerCommand, Stderr};
#[cfg(unix)]
use unix::Process;
#[cfg(windows)]
use windows::Process;
