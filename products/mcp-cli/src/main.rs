//! `mcp`, the command: calls, lists and inspects servers of the Model Context Protocol.
//!
//! | module | contents |
//! |---|---|
//! | `programs` | programs in `PATH` and by path |
//! | `failure` | errors with their exit codes |
//! | `written` | files that the command writes |
//! | `output` | standard output and standard error |
//! | `log` | the log of commands that serve |
//! | `config` | the files that list servers |
//! | `hosts` | programs that use servers, and how each lists them |
//! | `cli` | the definitions of commands and flags |
//! | `name_cache` | server names for completions |
//! | `lints` | tool lints, by client |
//! | `values` | `key=value` arguments |
//! | `questions` | questions to the user |
//! | `sampling` | answers for sampling requests |
//! | `session_file` | the format of recorded sessions |
//! | `remote` | a server over HTTP, with its headers and its login |
//! | `credentials` | logins, and where their tokens are stored |
//! | `target` | connections to servers |
//! | `revisions` | a server's revisions, and its schemas as their clients see them |
//! | `local_users` | the users of this machine's sockets |
//! | `page_guard` | who may use a page of this program |
//! | `inspect` | the page of the inspector |
//! | `admin` | the admin page of a gateway |
//! | `commands` | one module per command |

mod admin;
mod cli;
mod commands;
mod config;
mod credentials;
mod failure;
mod hosts;
mod inspect;
mod lints;
mod local_users;
mod log;
mod name_cache;
#[expect(clippy::print_stderr, reason = "the only module that prints")]
mod output;
mod page_guard;
#[cfg(test)]
mod pages;
mod programs;
mod questions;
mod remote;
mod revisions;
mod sampling;
mod session_file;
mod target;
mod values;
mod written;

use std::process::ExitCode;

use clap::Parser as _;
use clap::error::ErrorKind;

use crate::cli::Cli;
use crate::failure::{Failure, usage};
use crate::output::Output;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let output = Output::new(cli.global.json, cli.global.quiet);
    match run(&cli, &output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output.failure(&failure);
            ExitCode::from(failure.kind.exit_code())
        }
    }
}

fn run(cli: &Cli, output: &Output) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| usage!("the async runtime cannot start: {error}"))?;
    let done = runtime.block_on(commands::run(cli, output));
    // A thread that still waits for a line of standard input must not delay the exit.
    runtime.shutdown_background();
    done
}

/// Prints the help, or the command line's error. Usage errors have the exit code 1.
fn usage(error: &clap::Error) -> ExitCode {
    let is_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    // With `--json`, programs read one JSON line on standard error.
    if !is_help
        && std::env::args_os()
            .take_while(|word| word != "--")
            .any(|word| word == "--json")
    {
        let text = error.render().to_string();
        let line = text.lines().next().unwrap_or_default();
        let message = line.strip_prefix("error: ").unwrap_or(line);
        Output::new(true, false).failure(&Failure::usage(message));
    } else if error.print().is_err() {
        return ExitCode::FAILURE;
    }
    if is_help {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
