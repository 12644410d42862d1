//! `cargo xtask conformance`: runs the official suite against this project's server and client, and
//! compares the results with the claims.
//!
//! | module | responsibility |
//! |---|---|
//! | [`claims`] | the scenarios that this project claims to pass, and their open checks |
//! | [`checks`] | the results of a scenario, and the verdict |
//! | [`suite`] | installing and running the suite |
//! | [`runner`] | running scenarios against one program |
//! | [`gateways`] | gateways in front of the server |

mod checks;
mod claims;
mod gateways;
mod runner;
mod suite;

use std::path::Path;
use std::process::Command;

use claims::Leg;
use gateways::Back;
use runner::{Plan, Runner, SERVER, START_LIMIT, ScenarioCounts};
use suite::Suite;

use crate::Result;
use crate::cluster::Cluster;
use crate::process::{self, Server, free_port};
use crate::workspace::Workspace;

const CLIENT: &str = "everything-client";

/// Arguments of `conformance`.
#[derive(Debug, clap::Args)]
pub(crate) struct ConformanceArgs {
    /// The scenarios of the server only
    #[arg(long)]
    server: bool,
    /// The scenarios of the client only
    #[arg(long)]
    client: bool,
    /// All scenarios of a revision
    #[arg(long, value_name = "REVISION")]
    requirements: Option<String>,
    /// One scenario
    #[arg(long, value_name = "NAME")]
    scenario: Option<String>,
    /// Optimized programs
    #[arg(long)]
    release: bool,
    /// The scenarios of the server, against three nodes on Redis behind a proxy
    #[arg(long, conflicts_with = "gateway")]
    cluster: bool,
    /// The scenarios of the server, through gateways of both eras and transports
    #[arg(long)]
    gateway: bool,
}

/// Runs the command. Returns true if every scenario that must pass has passed.
pub(crate) fn run(workspace: &Workspace, args: ConformanceArgs) -> Result<bool> {
    let profile = if args.release { "release" } else { "debug" };
    let plan = match (args.scenario, args.requirements) {
        (Some(name), revision) => Plan::Scenario { name, revision },
        (None, Some(revision)) => Plan::Requirements(revision),
        (None, None) => Plan::Claims,
    };
    build(workspace, profile)?;
    if args.gateway {
        return gateways::run(workspace, profile, &plan, &Back::ALL);
    }
    if args.cluster {
        return run_on_cluster(workspace, profile, &plan);
    }
    let mut legs = vec![Leg::Server, Leg::Client];
    if args.server != args.client {
        legs.retain(|leg| args.server == (*leg == Leg::Server));
    }
    run_plan(workspace, profile, &plan, legs)
}

/// Runs the claimed scenarios of both legs. Our programs must be built.
pub(crate) fn run_claims(workspace: &Workspace) -> Result<bool> {
    run_plan(
        workspace,
        "debug",
        &Plan::Claims,
        vec![Leg::Server, Leg::Client],
    )
}

/// Runs the claimed scenarios for servers against several nodes. Our programs must be built.
pub(crate) fn run_claims_on_cluster(workspace: &Workspace) -> Result<bool> {
    run_on_cluster(workspace, "debug", &Plan::Claims)
}

/// Runs the claimed scenarios for servers through gateways: one in front of a legacy server, one in front
/// of a modern one. Our programs must be built.
pub(crate) fn run_claims_behind_gateways(workspace: &Workspace) -> Result<bool> {
    let backs = [Back::LegacyPipe, Back::ModernHttp];
    gateways::run(workspace, "debug", &Plan::Claims, &backs)
}

/// Runs the scenarios for servers against nodes on Redis, behind a proxy without stickiness.
fn run_on_cluster(workspace: &Workspace, profile: &str, plan: &Plan) -> Result<bool> {
    let suite = Suite::install(workspace)?;
    let mut counts = ScenarioCounts::default();
    let mut cluster = Cluster::start(workspace, profile, suite.out())?;
    let runner = Runner {
        suite: &suite,
        leg: Leg::Server,
        target: cluster.url().to_owned(),
    };
    runner.run(plan, &mut counts)?;
    if !cluster.is_running() {
        let logs = suite.out().display();
        return Err(format!("a process ended during the run; the logs are in {logs}").into());
    }
    counts.print(&suite);
    Ok(!counts.must_fail)
}

fn run_plan(workspace: &Workspace, profile: &str, plan: &Plan, mut legs: Vec<Leg>) -> Result<bool> {
    let suite = Suite::install(workspace)?;
    if let Plan::Scenario { name, .. } = plan {
        legs = suite.legs_of(name, &legs)?;
    }
    let mut counts = ScenarioCounts::default();
    for leg in legs {
        let name = if leg == Leg::Server { SERVER } else { CLIENT };
        let binary = workspace.binary(profile, name);
        if !binary.is_file() {
            let expected = binary.display();
            return Err(format!(
                "cargo built no {name} at {expected}; check the package conformance"
            )
            .into());
        }
        match leg {
            Leg::Server => run_server(&suite, plan, &binary, &mut counts)?,
            Leg::Client => {
                // The suite passes the command to a shell.
                let target = format!("\"{}\"", binary.display());
                Runner {
                    suite: &suite,
                    leg,
                    target,
                }
                .run(plan, &mut counts)?;
            }
        }
    }
    counts.print(&suite);
    Ok(!counts.must_fail)
}

fn build(workspace: &Workspace, profile: &str) -> Result<()> {
    let mut cargo = workspace.cargo();
    cargo.args(["build", "--package", "conformance", "--bins"]);
    if profile == "release" {
        cargo.arg("--release");
    }
    process::run(&mut cargo)
}

/// Starts the server, runs the scenarios for servers, and stops it.
fn run_server(
    suite: &Suite,
    plan: &Plan,
    binary: &Path,
    counts: &mut ScenarioCounts,
) -> Result<()> {
    let mut command = Command::new(binary);
    process::clean_environment(&mut command).env("PORT", free_port()?.to_string());
    let log = suite.out().join("server-stderr.log");
    let mut server = Server::start(&mut command, &log, START_LIMIT)?;
    let runner = Runner {
        suite,
        leg: Leg::Server,
        target: server.url().to_owned(),
    };
    runner.run(plan, counts)?;
    if !server.is_running() {
        let log = log.display();
        return Err(format!("{SERVER} ended during the run; its stderr is in {log}").into());
    }
    Ok(())
}
