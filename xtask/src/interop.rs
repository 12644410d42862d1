//! `cargo xtask interop`: our client with the servers of other SDKs, and the clients of other SDKs
//! with our server.
//!
//! | module | responsibility |
//! |---|---|
//! | [`admin`] | the admin page of `mcp gateway` in a browser |
//! | [`authorization`] | the cases with an authorization server |
//! | [`browser`] | a user with a real browser, for programs that open a login page |
//! | [`cases`] | running the programs of the cases, and counting the results |
//! | [`commands`] | the commands of `mcp` with servers that people use |
//! | [`extensions`] | views of MCP Apps, and receivers of webhooks |
//! | [`hosts`] | agent programs with a scripted model |
//! | [`inspector`] | the page of `mcp inspect` in a browser |
//! | [`peers`] | installing the other SDKs, and the scripts that use them |
//! | [`pipes`] | the cases over pipes |
//! | [`http`] | the cases over HTTP, feature by feature |
//! | [`bridges`] | programs between our client and our server |
//! | [`telemetry`] | a receiver of OTLP, and Prometheus |
//! | [`servers`] | servers that people use, as peers of our client |
//! | [`typed`] | typed clients of these servers |

mod admin;
mod authorization;
mod bridges;
mod browser;
mod cases;
mod commands;
mod extensions;
mod hosts;
mod http;
mod inspector;
mod peers;
mod pipes;
mod servers;
mod telemetry;
mod typed;

use std::fs;
use std::path::Path;

use cases::{Case, Summary};
use peers::Peers;

use crate::Result;
use crate::process::{self, Server};
use crate::workspace::Workspace;

/// Our server and our clients.
const PROGRAMS: [&str; 10] = [
    http::SERVER,
    http::CLIENT,
    http::GATEWAY,
    pipes::CLIENT,
    pipes::COMMAND,
    authorization::SERVER,
    authorization::CLIENT,
    extensions::HOST,
    extensions::BROWSER_HOST,
    hosts::SERVER,
];

/// The cases to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CaseSelection {
    /// The newest revision with one server and one client of each SDK, and all hosts. Only their packages are
    /// installed.
    OnePerPeer,
    All,
    /// Those with this text in their names.
    Named(String),
}

/// Arguments of `interop`.
#[derive(Debug, clap::Args)]
pub(crate) struct InteropArgs {
    /// The newest revision with one server and one client of each SDK
    #[arg(long)]
    one_per_peer: bool,
    /// The cases with this text in their names
    #[arg(long, value_name = "TEXT", conflicts_with = "one_per_peer")]
    only: Option<String>,
}

/// Runs the command. Returns true if at least one case ran and none failed.
pub(crate) fn run(workspace: &Workspace, args: InteropArgs) -> Result<bool> {
    let selection = if args.one_per_peer {
        CaseSelection::OnePerPeer
    } else {
        args.only.map_or(CaseSelection::All, CaseSelection::Named)
    };
    build(workspace)?;
    let summary = run_cases(workspace, &selection)?;
    Ok(summary.has_no_failure() && summary.has_run())
}

/// Installs the peers and runs the selected cases. Our programs must be built.
pub(crate) fn run_cases(workspace: &Workspace, selection: &CaseSelection) -> Result<Summary> {
    let home = peers::home(workspace);
    let out = home.join("out");
    fs::create_dir_all(&out)?;
    let (servers, list) = match selection {
        CaseSelection::OnePerPeer => {
            let peers = Peers::install(workspace, &home, true)?;
            let (mut servers, mut list) = http::newest_cases(workspace, &peers, &out)?;
            list.extend(pipes::newest_cases(workspace, &peers));
            let (models, hosted) = hosts::cases(workspace, &peers, &out)?;
            servers.extend(models);
            list.extend(hosted);
            (servers, list)
        }
        CaseSelection::All => every_case(workspace, &home, &out)?,
        CaseSelection::Named(text) => {
            let (servers, mut list) = every_case(workspace, &home, &out)?;
            list.retain(|case| case.name.contains(text));
            (servers, list)
        }
    };
    let summary = cases::run_all(list, &out);
    drop(servers);
    println!("details in {}", out.display());
    println!("{summary}");
    Ok(summary)
}

/// Returns all cases, and the servers that must run until the cases have ended.
fn every_case(workspace: &Workspace, home: &Path, out: &Path) -> Result<(Vec<Server>, Vec<Case>)> {
    let peers = Peers::install(workspace, home, false)?;
    let (mut servers, mut list) = http::cases(workspace, &peers, out)?;
    let (bridges, bridged) = bridges::cases(workspace, &peers, out)?;
    servers.extend(bridges);
    list.extend(bridged);
    let (models, hosted) = hosts::cases(workspace, &peers, out)?;
    servers.extend(models);
    list.extend(hosted);
    list.extend(authorization::cases(workspace, &peers, out, &mut servers)?);
    list.extend(pipes::cases(workspace, &peers));
    list.extend(telemetry::cases(workspace, &peers));
    list.extend(extensions::cases(workspace, &peers));
    let servers_of_users = servers::servers(workspace, &peers)?;
    list.extend(servers::cases(workspace, &servers_of_users));
    list.extend(commands::cases(workspace, &peers, out)?);
    list.extend(inspector::cases(workspace, &peers)?);
    list.push(admin::case(workspace, &peers));
    list.extend(typed::cases(workspace, servers_of_users)?);
    Ok((servers, list))
}

fn build(workspace: &Workspace) -> Result<()> {
    let mut cargo = workspace.cargo();
    let packages = ["conformance", "examples", "omnimcp-cli"];
    cargo.arg("build");
    for package in packages {
        cargo.args(["--package", package]);
    }
    for program in PROGRAMS {
        cargo.args(["--bin", program]);
    }
    process::run(&mut cargo)
}
