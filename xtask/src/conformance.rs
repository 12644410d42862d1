//! `cargo xtask conformance`: runs the official suite against this project's server and client, and
//! compares the results with the claims.
//!
//! | module | responsibility |
//! |---|---|
//! | [`claims`] | the scenarios that this project claims to pass, and their open checks |
//! | [`checks`] | the results of a scenario, and the verdict |
//! | [`gateways`] | gateways in front of the server |
//! | [`suite`] | installing and running the suite |

mod checks;
mod claims;
mod gateways;
mod suite;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use checks::{Outcome, Verdict};
use claims::{Claim, Leg};
use gateways::Back;
use suite::{Run, Selection, Suite};

use crate::Result;
use crate::cluster::Cluster;
use crate::flags::Flags;
use crate::process::{self, Server, free_port};
use crate::workspace::Workspace;

/// The default revision of `--scenario`.
const NEWEST: &str = "2026-07-28";

const SERVER: &str = "everything-server";
const CLIENT: &str = "everything-client";
const START_LIMIT: Duration = Duration::from_secs(30);

/// The scenarios to run.
#[derive(Debug)]
enum Plan {
    /// The claimed scenarios.
    Claims,
    /// All scenarios of a revision. Only claimed ones can fail the command.
    Requirements(String),
    /// One scenario at a revision, with the whole output of the suite.
    Scenario {
        name: String,
        revision: Option<String>,
    },
}

/// Runs the command. Returns true if every scenario that must pass has passed.
pub(crate) fn run(workspace: &Workspace, mut flags: Flags) -> Result<bool> {
    let (server, client) = (flags.switch("--server"), flags.switch("--client"));
    let profile = if flags.switch("--release") {
        "release"
    } else {
        "debug"
    };
    let revision = flags.value("--requirements")?;
    let plan = match (flags.value("--scenario")?, revision) {
        (Some(name), revision) => Plan::Scenario { name, revision },
        (None, Some(revision)) => Plan::Requirements(revision),
        (None, None) => Plan::Claims,
    };
    let is_cluster = flags.switch("--cluster");
    let behind_gateway = flags.switch("--gateway");
    flags.finish()?;
    build(workspace, profile)?;
    if behind_gateway {
        return gateways::run(workspace, profile, &plan, &Back::ALL);
    }
    if is_cluster {
        return run_on_cluster(workspace, profile, &plan);
    }
    let mut legs = vec![Leg::Server, Leg::Client];
    if server != client {
        legs.retain(|leg| server == (*leg == Leg::Server));
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

/// Runs scenarios of one leg against the program under test.
struct Runner<'a> {
    suite: &'a Suite,
    leg: Leg,
    /// The address of the server, or the command of the client.
    target: String,
}

impl Runner<'_> {
    fn run(&self, plan: &Plan, counts: &mut ScenarioCounts) -> Result<()> {
        match plan {
            Plan::Claims => {
                for claim in claims::of(self.leg) {
                    self.single(claim.scenario, claim.revision, Some(claim), counts)?;
                }
                Ok(())
            }
            Plan::Requirements(revision) => self.requirements(revision, counts),
            Plan::Scenario { name, revision } => self.verbose(name, revision.as_deref(), counts),
        }
    }

    /// Runs one scenario in a process of its own. For clients this is the strict mode of the suite, in
    /// which the exit status of the client counts.
    fn single(
        &self,
        name: &str,
        revision: &str,
        claim: Option<&Claim>,
        counts: &mut ScenarioCounts,
    ) -> Result<Run> {
        let selection = Selection::Scenario {
            name,
            revision,
            force: claim.is_none_or(|claim| claim.is_extension),
        };
        let run = self.suite.run(self.leg, &self.target, &selection)?;
        let verdict = checks::judge(&run.scenario(name), claim);
        self.report(name, revision, &verdict, claim.is_some());
        counts.add(&verdict, true);
        Ok(run)
    }

    fn requirements(&self, revision: &str, counts: &mut ScenarioCounts) -> Result<()> {
        let run = self.suite.run(
            self.leg,
            &self.target,
            &Selection::Requirements { revision },
        )?;
        let names = run.scenario_names();
        if names.is_empty() {
            return Err(format!("the suite ran nothing:\n{}", run.output()).into());
        }
        for name in &names {
            match claims::of(self.leg).find(|c| c.scenario == name && c.revision == revision) {
                // A run of several scenarios ignores the exit status of the client, so a claimed
                // scenario runs again in strict mode.
                Some(claim) if self.leg == Leg::Client => {
                    self.single(name, revision, Some(claim), counts)?;
                }
                claim => {
                    let verdict = checks::judge(&run.scenario(name), claim);
                    self.report(name, revision, &verdict, claim.is_some());
                    counts.add(&verdict, claim.is_some());
                }
            }
        }
        Ok(())
    }

    fn verbose(
        &self,
        name: &str,
        revision: Option<&str>,
        counts: &mut ScenarioCounts,
    ) -> Result<()> {
        let claim = claims::of(self.leg)
            .find(|c| c.scenario == name && revision.is_none_or(|revision| c.revision == revision));
        let revision = revision
            .or(claim.map(|claim| claim.revision))
            .unwrap_or(NEWEST);
        let run = self.single(name, revision, claim, counts)?;
        println!("{}", run.output().trim_end());
        Ok(())
    }

    fn report(&self, name: &str, revision: &str, verdict: &Verdict, claimed: bool) {
        let Verdict {
            outcome,
            tally,
            remarks,
        } = verdict;
        let claimed = if claimed { "claimed" } else { "" };
        println!(
            "{outcome:7} {claimed:7} {:6} {revision} {name:45} {tally}",
            self.leg
        );
        for remark in remarks {
            println!("          {remark}");
        }
    }
}

/// The number of scenarios with each outcome, over all legs.
#[derive(Debug, Default)]
struct ScenarioCounts {
    passed: usize,
    failed: usize,
    skipped: usize,
    /// A scenario that must pass has not passed.
    must_fail: bool,
}

impl ScenarioCounts {
    fn add(&mut self, verdict: &Verdict, must_pass: bool) {
        match verdict.outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Failed => self.failed += 1,
            Outcome::Skipped => self.skipped += 1,
        }
        self.must_fail |= must_pass && verdict.outcome != Outcome::Passed;
    }

    fn print(&self, suite: &Suite) {
        println!("details in {}", suite.out().display());
        println!(
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        );
    }
}
