//! `cargo xtask conformance`: runs the official suite against this project's own server and client
//! and counts what it found.
//!
//! | module | responsibility |
//! |---|---|
//! | [`claims`] | which scenarios this project claims to pass, and what is still open in them |
//! | [`checks`] | what the suite wrote about a scenario, and the verdict on it |
//! | [`suite`] | installing the suite and running it |

mod checks;
mod claims;
mod suite;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use checks::{Outcome, Verdict};
use claims::{Claim, Leg};
use suite::{Run, Selection, Suite};

use crate::Result;
use crate::flags::Flags;
use crate::process::{self, Server, free_port};
use crate::workspace::Workspace;

/// The revision of a scenario that is named on the command line without one.
const NEWEST: &str = "2026-07-28";

const SERVER: &str = "everything-server";
const CLIENT: &str = "everything-client";
const START_LIMIT: Duration = Duration::from_secs(30);

/// What is to be run.
#[derive(Debug)]
enum Plan {
    /// What the project claims to pass.
    Claims,
    /// Everything a revision asks for; only the claims among it decide.
    Requirements(String),
    /// One scenario at a revision, with all the suite says.
    Scenario {
        name: String,
        revision: Option<String>,
    },
}

/// The command; whether everything passed that had to.
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
    flags.finish()?;
    let suite = Suite::install(workspace)?;
    build(workspace, profile)?;
    let mut legs = vec![Leg::Server, Leg::Client];
    if server != client {
        legs.retain(|leg| server == (*leg == Leg::Server));
    }
    if let Plan::Scenario { name, .. } = &plan {
        legs = suite.legs_of(name, &legs)?;
    }

    let mut total = Total::default();
    for leg in legs {
        let name = if leg == Leg::Server { SERVER } else { CLIENT };
        let binary = workspace.binary(profile, name);
        if !binary.is_file() {
            let expected = binary.display();
            return Err(
                format!("package conformance has built no {name}; expected {expected}").into(),
            );
        }
        match leg {
            Leg::Server => run_server(&suite, &plan, &binary, &mut total)?,
            Leg::Client => {
                // The suite hands the command to a shell.
                let target = format!("\"{}\"", binary.display());
                Runner {
                    suite: &suite,
                    leg,
                    target,
                }
                .run(&plan, &mut total)?;
            }
        }
    }
    println!("details in {}", suite.out().display());
    println!(
        "{} passed, {} failed, {} skipped",
        total.passed, total.failed, total.skipped
    );
    Ok(!total.broken)
}

fn build(workspace: &Workspace, profile: &str) -> Result<()> {
    let mut cargo = workspace.cargo();
    cargo.args(["build", "--package", "conformance", "--bins"]);
    if profile == "release" {
        cargo.arg("--release");
    }
    process::run(&mut cargo)
}

/// Starts the server, runs its leg, and stops it in any case.
fn run_server(suite: &Suite, plan: &Plan, binary: &Path, total: &mut Total) -> Result<()> {
    let mut command = Command::new(binary);
    process::clean_environment(&mut command).env("PORT", free_port()?.to_string());
    let log = suite.out().join("server-stderr.log");
    let mut server = Server::start(&mut command, &log, START_LIMIT)?;
    let runner = Runner {
        suite,
        leg: Leg::Server,
        target: server.url().to_owned(),
    };
    runner.run(plan, total)?;
    if !server.is_running() {
        let log = log.display();
        return Err(format!("{SERVER} ended before it was stopped; its stderr is in {log}").into());
    }
    Ok(())
}

/// A leg of the suite against the program under test.
struct Runner<'a> {
    suite: &'a Suite,
    leg: Leg,
    /// The server's address, or the client's command.
    target: String,
}

impl Runner<'_> {
    fn run(&self, plan: &Plan, total: &mut Total) -> Result<()> {
        match plan {
            Plan::Claims => {
                for claim in claims::of(self.leg) {
                    self.single(claim.scenario, claim.revision, Some(claim), total)?;
                }
                Ok(())
            }
            Plan::Requirements(revision) => self.requirements(revision, total),
            Plan::Scenario { name, revision } => self.verbose(name, revision.as_deref(), total),
        }
    }

    /// One scenario in a process of its own; for a client this is the suite's strict mode, in
    /// which the client's exit status counts.
    fn single(
        &self,
        name: &str,
        revision: &str,
        claim: Option<&Claim>,
        total: &mut Total,
    ) -> Result<Run> {
        let selection = Selection::Scenario {
            name,
            revision,
            force: claim.is_none(),
        };
        let run = self.suite.run(self.leg, &self.target, &selection)?;
        let verdict = checks::judge(&run.scenario(name), claim);
        self.report(name, revision, &verdict, claim.is_some());
        total.add(&verdict, true);
        Ok(run)
    }

    fn requirements(&self, revision: &str, total: &mut Total) -> Result<()> {
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
                // In a set the suite looks at no exit status; what is claimed is run strictly.
                Some(claim) if self.leg == Leg::Client => {
                    self.single(name, revision, Some(claim), total)?;
                }
                claim => {
                    let verdict = checks::judge(&run.scenario(name), claim);
                    self.report(name, revision, &verdict, claim.is_some());
                    total.add(&verdict, claim.is_some());
                }
            }
        }
        Ok(())
    }

    fn verbose(&self, name: &str, revision: Option<&str>, total: &mut Total) -> Result<()> {
        let claim = claims::of(self.leg)
            .find(|c| c.scenario == name && revision.is_none_or(|revision| c.revision == revision));
        let revision = revision
            .or(claim.map(|claim| claim.revision))
            .unwrap_or(NEWEST);
        let run = self.single(name, revision, claim, total)?;
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

/// Scenarios counted over all legs.
#[derive(Debug, Default)]
struct Total {
    passed: usize,
    failed: usize,
    skipped: usize,
    /// Whether one of those that decide did not pass.
    broken: bool,
}

impl Total {
    fn add(&mut self, verdict: &Verdict, decides: bool) {
        match verdict.outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Failed => self.failed += 1,
            Outcome::Skipped => self.skipped += 1,
        }
        self.broken |= decides && verdict.outcome != Outcome::Passed;
    }
}
