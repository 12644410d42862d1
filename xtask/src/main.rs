//! The developer tool of the project: `cargo xtask COMMAND`. Continuous integration runs tests and
//! these commands, so every check also runs on a developer's machine.
//!
//! | module | command |
//! |---|---|
//! | [`ci`] | `ci`: every check in order, with a summary |
//! | [`tidy`] | `tidy`: the rules of this repository that the compiler does not know |
//! | [`api`] | `api`: the public items, compared with a list |
//! | [`llms`] | `llms`: the guide and the items in files for language models |
//! | [`conformance`] | `conformance`: the official conformance suite |
//! | [`interop`] | `interop`: other implementations, over HTTP and pipes |
//! | [`schemas`] | `schemas`: the generator of typed code on the JSON-Schema-Test-Suite |
//! | [`bench`](mod@bench) | `bench`: speed compared with a minimal HTTP server |

// A command line tool writes to stdout and stderr.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod api;
mod bench;
mod ci;
mod cluster;
mod conformance;
mod finding;
mod flags;
mod interop;
mod llms;
mod modules;
mod node;
mod process;
mod result;
mod schemas;
mod sources;
mod tidy;
mod workspace;

use std::process::ExitCode;

use flags::Flags;
use result::Result;
use workspace::Workspace;

/// The help on a command.
struct Help {
    name: &'static str,
    description: &'static str,
    /// One line for each form of the command line.
    flags: &'static [&'static str],
}

const HELP: [Help; 9] = [
    Help {
        name: "ci",
        description: "every check in order, with a summary",
        flags: &[
            "[--full] [--only STEPS] [--skip STEPS] [--strict]",
            "  STEPS, with commas: fmt test clippy doc tidy api llms features package deny conformance",
            "                      cluster interop soak",
            "  and with --full:    msrv wasm static windows fuzz machete advisories gateway schemas",
            "--full: what a release needs; interop has all cases, the soak takes ten minutes",
            "--strict: a step that is skipped, or that checks only a part, fails",
        ],
    },
    Help {
        name: "tidy",
        description: "the rules of this repository: layers, circles, versions, literals, spec ids, …",
        flags: &["--commits BASE: the subjects of the commits after BASE instead"],
    },
    Help {
        name: "api",
        description: "the public items, compared with docs/api.txt",
        flags: &["[--update]: write the file"],
    },
    Help {
        name: "llms",
        description: "llms.txt, compared with the guide; target/doc/llms-full.txt with all items",
        flags: &["[--update]: write llms.txt"],
    },
    Help {
        name: "conformance",
        description: "the official suite: the claimed scenarios of server and client",
        flags: &[
            "[--server] [--client] [--requirements REV] [--scenario NAME] [--release]",
            "--cluster: the scenarios of the server, against three nodes on Redis behind a proxy",
            "--gateway: the scenarios of the server, through gateways of both eras and transports",
        ],
    },
    Help {
        name: "interop",
        description: "other implementations over HTTP and pipes; installs them below target/",
        flags: &[
            "[--one-per-peer]: the newest revision with one server and one client of each SDK",
            "[--only TEXT]: the cases with this text in their names",
        ],
    },
    Help {
        name: "schemas",
        description: "the generator of typed code on the JSON-Schema-Test-Suite (PyPI)",
        flags: &["[--suite FOLDER]: this folder of tests instead of the package of PyPI"],
    },
    Help {
        name: "bench",
        description: "the SDK compared with a minimal server and rmcp, interleaved, medians",
        flags: &[
            "[--only GROUPS] [--rounds N] [--seconds S] [--json] [--without-rmcp]",
            "  GROUPS, with commas: call tools session stateless cycle progress list1000 large",
            "                       stdio workers client sessions",
            "--against COMMIT [--only GROUPS] [--rounds N]: processor time per request, now and at COMMIT",
            "--instructions [--renew]: instructions per request against the stored figures (needs valgrind)",
            "--profile [--only GROUP] [--seconds S]: processor time by crate (needs perf)",
            "--soak [SECONDS] [--release]: memory, open files and tasks under mixed load with faults",
            "--build [--without-rmcp]: build time, crates and size of an echo server, with mcp and rmcp",
            "results are also in target/bench/, as JSON; microbenchmarks: cargo bench -p bench",
        ],
    },
    Help {
        name: "help",
        description: "all commands, with their flags",
        flags: &[],
    },
];

/// Returns the list of commands, with or without their flags.
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
        let mut text = format!("  {:12} {}", self.name, self.description);
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
        "tidy" => tidy::run(&Workspace::find()?, flags)?,
        "api" => api::run(&Workspace::find()?, flags)?,
        "llms" => llms::run(&Workspace::find()?, flags)?,
        "conformance" => conformance::run(&Workspace::find()?, flags)?,
        "interop" => interop::run(&Workspace::find()?, flags)?,
        "schemas" => schemas::run(&Workspace::find()?, flags)?,
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
