//! The project's own tool: `cargo xtask COMMAND`. Everything that continuous integration checks is
//! a test or one of these commands, so that it runs in the same way on every machine.
//!
//! | module | command |
//! |---|---|
//! | [`ci`] | `ci`: every check in order, with a summary |
//! | [`tidy`] | `tidy`: the rules of this repository that the compiler does not know |
//! | [`conformance`] | `conformance`: the official conformance suite |
//! | [`interop`] | `interop`: other implementations, over pipes |
//! | [`bench`](mod@bench) | `bench`: speed against a bare HTTP server |

// A command line tool talks to its user on stdout and stderr.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod bench;
mod ci;
mod conformance;
mod flags;
mod interop;
mod node;
mod process;
mod tidy;
mod workspace;

use std::process::ExitCode;

use flags::Flags;
use workspace::Workspace;

/// Result of a fallible step; the error is a sentence for the person at the terminal.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const USAGE: &str = "\
usage: cargo xtask COMMAND [FLAGS]

  ci [--no-test] [--no-conformance] [--only STEP]
        every check in order; STEP is one of
        fmt clippy test doc tidy features machete licences advisories conformance
  tidy  layers, where literals may stand, module docs, spec ids, leftovers
  conformance [--server] [--client] [--requirements REV] [--scenario NAME] [--release]
        the official suite; without flags: what this project claims to pass, both legs
  interop
        our client and server against those of others, over pipes; installs them below target/
  bench [--only GROUPS] [--rounds N] [--seconds S] [--json] [--without-rmcp]
        the SDK against a bare server and rmcp, interleaved, medians
  bench --guard [--renew]
        instructions per call against the stored figures (needs valgrind)
  bench --build
        time, crates and size of an echo server, on the SDK and on rmcp
  help  this text";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let command = args.next().unwrap_or_else(|| "help".to_owned());
    match dispatch(&command, Flags::new(args)) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("cargo xtask {command}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(command: &str, flags: Flags) -> Result<ExitCode> {
    let passed = match command {
        "ci" => ci::run(&Workspace::find()?, flags)?,
        "tidy" => {
            flags.finish()?;
            tidy::run(&Workspace::find()?)?
        }
        "conformance" => conformance::run(&Workspace::find()?, flags)?,
        "interop" => interop::run(&Workspace::find()?, flags)?,
        "bench" => bench::run(&Workspace::find()?, flags)?,
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            true
        }
        other => return Err(format!("no such command `{other}`\n\n{USAGE}").into()),
    };
    Ok(if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
