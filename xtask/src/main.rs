//! The project's own tool: `cargo xtask COMMAND`. Everything that continuous integration checks is
//! a test or one of these commands, so that it runs in the same way on every machine.
//!
//! | module | command |
//! |---|---|
//! | [`ci`] | `ci`: every check in order, with a summary |
//! | [`tidy`] | `tidy`: the rules of this repository that the compiler does not know |
//! | [`api`] | `api`: the public names, held against a list |
//! | [`conformance`] | `conformance`: the official conformance suite |
//! | [`interop`] | `interop`: other implementations, over HTTP and pipes |
//! | [`bench`](mod@bench) | `bench`: speed against a bare HTTP server |

// A command line tool talks to its user on stdout and stderr.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod api;
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

/// A command as the help shows it.
struct Help {
    name: &'static str,
    does: &'static str,
    /// How it can be called, where that is more than its name.
    flags: &'static [&'static str],
}

const HELP: [Help; 7] = [
    Help {
        name: "ci",
        does: "every check in order, with a summary",
        flags: &[
            "[--no-test] [--no-conformance] [--no-interop]",
            "--only STEP: fmt clippy test doc tidy api features wasm fuzz machete licences",
            "             advisories conformance interop soak",
        ],
    },
    Help {
        name: "tidy",
        does: "the rules of this repository: layers, literals, module docs, spec ids, leftovers",
        flags: &[],
    },
    Help {
        name: "api",
        does: "the public names against docs/api.txt",
        flags: &["[--update]: write it"],
    },
    Help {
        name: "conformance",
        does: "the official suite: what this project claims to pass, both legs",
        flags: &["[--server] [--client] [--requirements REV] [--scenario NAME] [--release]"],
    },
    Help {
        name: "interop",
        does: "other implementations over HTTP and pipes; installs them below target/",
        flags: &[],
    },
    Help {
        name: "bench",
        does: "the SDK against a bare server and rmcp, interleaved, medians",
        flags: &[
            "[--only GROUPS] [--rounds N] [--seconds S] [--json] [--without-rmcp]",
            "  GROUPS, with commas: call tools session stateless cycle progress list1000 large",
            "                       stdio workers client sessions",
            "--guard [--renew]: instructions per call against the stored figures (needs valgrind)",
            "--soak [SECONDS] [--release]: whether the server grows under all that clients do",
            "--build [--without-rmcp]: time, crates and size of an echo server, ours and on rmcp",
            "what was measured is also below target/, as JSON; parts alone: cargo bench -p bench",
        ],
    },
    Help {
        name: "help",
        does: "these commands, with their flags",
        flags: &[],
    },
];

/// All commands, a line each; with their flags in lines of their own.
fn usage(with_flags: bool) -> String {
    let mut text = "usage: cargo xtask COMMAND [FLAGS]\n".to_owned();
    for help in &HELP {
        text.push('\n');
        text.push_str(&help.text(with_flags));
    }
    text
}

impl Help {
    fn text(&self, with_flags: bool) -> String {
        let mut text = format!("  {:12} {}", self.name, self.does);
        for flag in self.flags.iter().filter(|_| with_flags) {
            text.push_str(&format!("\n  {:12}   {flag}", ""));
        }
        text
    }
}

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(command) = args.next() else {
        println!("{}", usage(false));
        return ExitCode::SUCCESS;
    };
    let mut flags = Flags::new(args);
    if let Some(help) = HELP.iter().find(|help| help.name == command)
        && flags.switch("--help")
    {
        println!("{}", help.text(true));
        return ExitCode::SUCCESS;
    }
    match dispatch(&command, flags) {
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
        "api" => api::run(&Workspace::find()?, flags)?,
        "conformance" => conformance::run(&Workspace::find()?, flags)?,
        "interop" => interop::run(&Workspace::find()?, flags)?,
        "bench" => bench::run(&Workspace::find()?, flags)?,
        "help" | "--help" | "-h" => {
            println!("{}", usage(true));
            true
        }
        other => return Err(format!("no such command `{other}`\n\n{}", usage(false)).into()),
    };
    Ok(if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
