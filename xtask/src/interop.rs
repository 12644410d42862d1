//! `cargo xtask interop`: our client with the servers of other SDKs, and the clients of other SDKs
//! with our server.
//!
//! | module | responsibility |
//! |---|---|
//! | [`cases`] | the cases with their servers, running them, and counting the results |
//! | [`peers`] | installing the other SDKs, and the scripts that use them |
//! | [`http`] | the cases over HTTP, feature by feature |
//! | [`pipes`] | the cases over pipes |
//! | [`bridges`] | programs between our client and our server |
//! | [`hosts`] | agent programs with a scripted model |
//! | [`agents`] | some of them in front of a gateway with many published servers |
//! | [`authorization`] | the cases with an authorization server |
//! | [`servers`] | servers that people use, with our client, the commands of `mcp` and typed clients |
//! | [`definitions`] | definitions for model providers, of the tools of published servers |
//! | [`commands`] | the commands of `mcp` with some of these servers |
//! | [`typed`] | typed clients of these servers |
//! | [`drivers`] | pages and views in a browser, webhooks and telemetry |
//! | [`browser`] | a user with a real browser, for programs that open a login page |

mod agents;
mod authorization;
mod bridges;
mod browser;
mod cases;
mod commands;
mod definitions;
mod drivers;
mod hosts;
mod http;
mod peers;
mod pipes;
mod servers;
mod typed;

use cases::{Cases, Summary};

use crate::process;
use crate::result::Result;
use crate::workspace::Workspace;

/// Our server and our clients.
const PROGRAMS: &str = "everything-server everything-gateway interop-client stdio_client mcp \
    protected-server returned-types tool-definitions auth-client interop-host browser-host host-server";

/// Arguments of `interop`.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct InteropArgs {
    /// The newest revision with one server and one client of each SDK, and all hosts; only their packages are
    /// installed
    #[arg(long)]
    pub(crate) one_per_peer: bool,
    /// The cases with this text in their names
    #[arg(long, value_name = "TEXT", conflicts_with = "one_per_peer")]
    pub(crate) only: Option<String>,
}

/// Builds our programs and runs the command. Returns true if at least one case ran and none failed.
pub(crate) fn run(workspace: &Workspace, args: &InteropArgs) -> Result<bool> {
    let mut cargo = workspace.cargo("build -p conformance -p examples -p omnimcp-cli");
    process::run(cargo.args(PROGRAMS.split(' ').flat_map(|program| ["--bin", program])))?;
    let summary = run_cases(workspace, args)?;
    Ok(summary.failed == 0 && summary.passed > 0)
}

/// Installs the peers and runs the selected cases. Our programs must be built.
pub(crate) fn run_cases(workspace: &Workspace, args: &InteropArgs) -> Result<Summary> {
    let only = args.only.as_deref().unwrap_or_default();
    let mut cases = Cases::new(workspace, args.one_per_peer, only)?;
    http::add(&mut cases, args.one_per_peer);
    pipes::add(&mut cases, args.one_per_peer);
    hosts::add(&mut cases)?;
    if !args.one_per_peer {
        bridges::add(&mut cases)?;
        authorization::add(&mut cases)?;
        let servers = servers::add(&mut cases)?;
        agents::add(&mut cases, &servers)?;
        definitions::add(&mut cases, &servers)?;
        commands::add(&mut cases, &servers)?;
        typed::add(&mut cases, servers)?;
        drivers::add(&mut cases)?;
    }
    cases.run()
}
