//! Load on a cluster of `everything-server` processes behind a proxy without stickiness. It starts the
//! processes and Redis itself, and prints JSON.
//!
//! | command | content |
//! |---|---|
//! | `cluster-load soak [--sessions N] [--seconds S] [--kill-every S] [--rate R]` | sessions with elicitation, progress, resumption and subscriptions, while nodes are killed and Redis restarts |
//! | `cluster-load calls [--seconds S]` | calls per second, latency and Redis commands per call with one to three nodes |

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool"
)]

mod calls;
mod faults;
mod soak;
mod worker;

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let options = Options(arguments.collect());
    match command.as_str() {
        "soak" => soak::run(&options).await,
        "calls" => calls::run(&options).await,
        _ => Err("usage: cluster-load soak|calls [OPTIONS]".into()),
    }
}

/// Options with values.
struct Options(Vec<String>);

impl Options {
    fn number(&self, name: &str, default: f64) -> Result<f64, Failure> {
        let mut rest = self.0.iter().skip_while(|argument| *argument != name);
        match rest.nth(1) {
            Some(text) => text
                .parse()
                .map_err(|error| format!("{name} {text}: {error}").into()),
            None => Ok(default),
        }
    }

    fn seconds(&self, name: &str, default: f64) -> Result<Duration, Failure> {
        let seconds = self.number(name, default)?;
        Duration::try_from_secs_f64(seconds).map_err(|error| format!("{name}: {error}").into())
    }
}

/// The program of the nodes, in the folder of this program.
fn server() -> Result<PathBuf, Failure> {
    let own = std::env::current_exe()?;
    Ok(own.with_file_name(format!("everything-server{}", std::env::consts::EXE_SUFFIX)))
}
