//! The project's developer tool: `cargo xtask COMMAND`. Continuous integration runs tests and
//! these commands, so every check also runs on a developer's machine.
//!
//! | module | command |
//! |---|---|
//! | [`ci`] | `ci`: every check in order, with a summary |
//! | [`tidy`] | `tidy`: the rules of this repository that the compiler does not know |
//! | [`api`] | `api`: the public items, compared with a list |
//! | [`llms`] | `llms`: the guide and the items in files for language models |
//! | [`compliance`] | `compliance`: each requirement with its code and its tests |
//! | [`conformance`] | `conformance`: the official conformance suite |
//! | [`interop`] | `interop`: other implementations, over HTTP and pipes |
//! | [`schemas`] | `schemas`: the generator of typed code on the JSON-Schema-Test-Suite |
//! | [`bench`](mod@bench) | `bench`: speed compared with a minimal HTTP server |

// A command line tool writes to stdout and stderr.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod api;
mod bench;
mod ci;
mod compliance;
mod conformance;
mod finding;
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

use clap::{Args, Parser};

use result::Result;
use workspace::Workspace;

/// The project's developer tool
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
enum Command {
    /// Every check in order, with a summary
    Ci(ci::CiArgs),
    /// This repository's rules: layers, circles, versions, literals, language, …
    Tidy,
    /// The public items, compared with docs/api.txt
    Api(ListArgs),
    /// llms.txt, compared with the guide; target/doc/llms-full.txt with all items
    Llms(ListArgs),
    /// docs/spec/compliance.md: each requirement of the specification with its code and its tests
    Compliance(ListArgs),
    /// The official suite: the claimed scenarios of server and client
    Conformance(conformance::ConformanceArgs),
    /// Other implementations over HTTP and pipes; installs them below target/
    Interop(interop::InteropArgs),
    /// The generator of typed code on the JSON-Schema-Test-Suite (PyPI)
    Schemas(schemas::SchemasArgs),
    /// The SDK compared with a minimal server and rmcp, interleaved, medians
    ///
    /// Results are also in target/bench/, as JSON. Microbenchmarks: cargo bench -p bench.
    Bench(bench::BenchArgs),
}

/// Arguments of the commands that compare a stored list.
#[derive(Debug, Args)]
struct ListArgs {
    /// Write the file
    #[arg(long)]
    update: bool,
}

fn main() -> ExitCode {
    match Workspace::find().and_then(|workspace| run(&workspace, Command::parse())) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cargo xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(workspace: &Workspace, command: Command) -> Result<bool> {
    match command {
        Command::Ci(args) => ci::run(workspace, &args),
        Command::Tidy => tidy::run(workspace),
        Command::Api(args) => api::run(workspace, args.update),
        Command::Llms(args) => llms::run(workspace, args.update),
        Command::Compliance(args) => compliance::run(workspace, args.update),
        Command::Conformance(args) => conformance::run(workspace, &args),
        Command::Interop(args) => interop::run(workspace, &args),
        Command::Schemas(args) => schemas::run(workspace, args),
        Command::Bench(args) => bench::run(workspace, &args),
    }
}
