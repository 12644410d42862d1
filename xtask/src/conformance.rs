//! `cargo xtask conformance`: runs the official suite against this project's server and client, and
//! compares the results with the claims.
//!
//! | module | responsibility |
//! |---|---|
//! | [`claims`] | the scenarios that this project claims to pass, and their open checks |
//! | [`checks`] | a scenario's results, and the verdict |
//! | [`suite`] | installing and running the suite |
//! | [`setup`] | the programs under test |

mod checks;
mod claims;
mod setup;
mod suite;

use checks::Verdict;
use claims::{Claim, NEWEST};
use suite::Suite;

use crate::process::{self, Server};
use crate::result::Result;
use crate::workspace::Workspace;

pub(crate) use setup::Setup;

/// Arguments of `conformance`. By default all claimed scenarios run.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct ConformanceArgs {
    /// The scenarios of the server only
    #[arg(long)]
    server: bool,
    /// The scenarios of the client only
    #[arg(long)]
    client: bool,
    /// The scenarios at a revision only
    #[arg(long, value_name = "REVISION")]
    revision: Option<String>,
    /// One scenario, with the suite's whole output
    #[arg(long, value_name = "NAME")]
    scenario: Option<String>,
    /// Optimized programs
    #[arg(long)]
    release: bool,
    /// The server's scenarios, against three nodes on Redis behind a proxy
    #[arg(long, conflicts_with = "gateway")]
    cluster: bool,
    /// The server's scenarios, through gateways of both eras and transports
    #[arg(long)]
    gateway: bool,
}

/// Builds the programs and runs the command. Returns true if every scenario has passed.
pub(crate) fn run(workspace: &Workspace, args: &ConformanceArgs) -> Result<bool> {
    let mut cargo = workspace.cargo("build --package conformance --bins");
    process::run(cargo.args(args.release.then_some("--release")))?;
    if args.gateway {
        return run_setups(workspace, args, &Setup::GATEWAYS);
    }
    if args.cluster {
        return run_setups(workspace, args, &[Setup::Cluster]);
    }
    let mut setups = vec![Setup::Server, Setup::Client];
    if args.server != args.client {
        setups.retain(|setup| args.server == (*setup == Setup::Server));
    }
    run_setups(workspace, args, &setups)
}

/// Runs the claimed scenarios with some programs, which must be built.
pub(crate) fn run_claims(workspace: &Workspace, setups: &[Setup]) -> Result<bool> {
    run_setups(workspace, &ConformanceArgs::default(), setups)
}

fn run_setups(workspace: &Workspace, args: &ConformanceArgs, setups: &[Setup]) -> Result<bool> {
    let suite = Suite::install(workspace)?;
    let profile = if args.release { "release" } else { "debug" };
    let claims = selected(args, setups)?;
    let (mut passed, mut failed) = (0, 0);
    for setup in setups {
        let (target, mut servers) = setup.start(workspace, profile, &suite.out)?;
        for claim in claims.iter().filter(|claim| claim.leg == setup.leg()) {
            let Claim {
                scenario, revision, ..
            } = claim;
            let label = format!("{setup:?}");
            let claim = match setup.claim(claim) {
                Ok(claim) => claim,
                Err(reason) => {
                    println!("not run {label:10} {revision} {scenario}: {reason}");
                    continue;
                }
            };
            let run = suite.run(&claim, &target, &label)?;
            let Verdict {
                successes,
                faults,
                notes,
            } = checks::judge(&run, &claim);
            let (word, count) = if faults.is_empty() {
                ("passed", &mut passed)
            } else {
                ("FAILED", &mut failed)
            };
            *count += 1;
            println!("{word:7} {label:10} {revision} {scenario:45} {successes} successes");
            for remark in faults.iter().chain(&notes) {
                println!("          {remark}");
            }
            if args.scenario.is_some() {
                println!("{}", run.output.trim_end());
            }
        }
        if !servers.iter_mut().all(Server::is_running) {
            let logs = suite.out.display();
            return Err(format!("a process ended during the run; the logs are in {logs}").into());
        }
    }
    println!("details in {}", suite.out.display());
    println!("{passed} passed, {failed} failed");
    Ok(failed == 0)
}

/// Returns the selected claims. A scenario without a claim needs one success.
fn selected(args: &ConformanceArgs, setups: &[Setup]) -> Result<Vec<Claim>> {
    let mut claims = claims::all()?;
    claims.retain(|claim| {
        let is_in = |wanted: &Option<String>, found: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == found)
        };
        is_in(&args.scenario, &claim.scenario)
            && is_in(&args.revision, &claim.revision)
            && setups.iter().any(|setup| setup.leg() == claim.leg)
    });
    if !claims.is_empty() {
        return Ok(claims);
    }
    match (&args.scenario, setups) {
        (Some(scenario), [setup]) => {
            Ok(vec![Claim {
                leg: setup.leg(),
                revision: args.revision.clone().unwrap_or_else(|| NEWEST.to_owned()),
                scenario: scenario.clone(),
                successes: 1,
                is_extension: true,
                open: &[],
            }])
        }
        _ => Err("no claim has this scenario and revision; to run it nevertheless, add --server or --client".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::{ConformanceArgs, Setup, selected};

    #[test]
    fn scenario_without_claim_runs_with_one_program() {
        let select = |scenario: &str, setups: &[Setup]| {
            let args = ConformanceArgs {
                scenario: Some(scenario.to_owned()),
                ..ConformanceArgs::default()
            };
            selected(&args, setups)
                .map(|claims| claims.iter().map(|claim| claim.successes).collect())
        };
        let both = [Setup::Server, Setup::Client];
        let found: Vec<usize> = select("tools-list", &both).unwrap();
        assert_eq!(found, [2, 3, 4]);
        assert_eq!(select("tools-list", &[Setup::Client]).unwrap(), [1]);
        assert_eq!(select("new", &[Setup::Cluster]).unwrap(), [1]);
        assert!(select("new", &both).is_err());
    }
}
