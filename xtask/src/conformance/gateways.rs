//! Gateways in front of the server: the scenarios for servers have to pass through them.

use std::process::Command;

use super::claims::{self, Claim, Leg, Open};
use super::runner::{Plan, Runner, SERVER, START_LIMIT, ScenarioCounts};
use super::suite::Suite;
use crate::Result;
use crate::process::{self, Server};
use crate::workspace::Workspace;

const GATEWAY: &str = "everything-gateway";

/// The connection of a gateway to the server behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Back {
    LegacyHttp,
    ModernHttp,
    LegacyPipe,
    ModernPipe,
}

/// A scenario that a gateway cannot pass.
struct Exception {
    /// The beginning of the name.
    scenario: &'static str,
    reason: &'static str,
    /// Only in front of a legacy server.
    is_legacy: bool,
}

const EXCEPTIONS: &[Exception] = &[
    always("tasks-", "a gateway waits for tasks of its servers itself"),
    always("sep-2640-skills-", "methods of extensions do not pass yet"),
    always(
        "server-sse-polling",
        "the server closes its own stream, not that of the gateway",
    ),
    legacy(
        "input-required-result-basic-elicitation",
        "a legacy server gives its questions no keys",
    ),
    legacy(
        "input-required-result-multiple-input-requests",
        "a legacy server asks one question after the other",
    ),
    legacy(
        "input-required-result-ignore-extra-params",
        "a legacy server gives its questions no keys",
    ),
];

/// The claim of `server-stateless` in front of a legacy server.
const STATELESS: Claim = Claim {
    leg: Leg::Server,
    revision: "2026-07-28",
    scenario: "server-stateless",
    successes: 28,
    is_extension: false,
    open: &[
        Open {
            check: "sep-2575-server-rejects-undeclared-capability",
            reason: NO_CAPABILITY_ERROR,
        },
        Open {
            check: "sep-2575-missing-capability-http-400",
            reason: NO_CAPABILITY_ERROR,
        },
    ],
};

const NO_CAPABILITY_ERROR: &str = "a legacy server has no error for missing capabilities";

const fn always(scenario: &'static str, reason: &'static str) -> Exception {
    Exception {
        scenario,
        reason,
        is_legacy: false,
    }
}

const fn legacy(scenario: &'static str, reason: &'static str) -> Exception {
    Exception {
        is_legacy: true,
        ..always(scenario, reason)
    }
}

impl Back {
    pub(super) const ALL: [Self; 4] = [
        Self::LegacyHttp,
        Self::ModernHttp,
        Self::LegacyPipe,
        Self::ModernPipe,
    ];

    fn is_legacy(self) -> bool {
        matches!(self, Self::LegacyHttp | Self::LegacyPipe)
    }

    fn is_pipe(self) -> bool {
        matches!(self, Self::LegacyPipe | Self::ModernPipe)
    }

    fn exception(self, claim: &Claim) -> Option<&'static Exception> {
        EXCEPTIONS.iter().find(|exception| {
            claim.scenario.starts_with(exception.scenario)
                && (self.is_legacy() || !exception.is_legacy)
        })
    }
}

/// Runs the scenarios for servers through gateways, one after the other.
pub(super) fn run(
    workspace: &Workspace,
    profile: &str,
    plan: &Plan,
    backs: &[Back],
) -> Result<bool> {
    let suite = Suite::install(workspace)?;
    let mut counts = ScenarioCounts::default();
    for back in backs {
        println!("a gateway in front of {SERVER}: {back:?}");
        let mut processes = Processes::start(workspace, profile, &suite, *back)?;
        let runner = Runner {
            suite: &suite,
            leg: Leg::Server,
            target: processes.gateway.url().to_owned(),
        };
        match plan {
            Plan::Claims => run_claims(&runner, *back, &mut counts)?,
            plan => runner.run(plan, &mut counts)?,
        }
        if !processes.are_running() {
            let logs = suite.out().display();
            return Err(format!("a process ended during the run; the logs are in {logs}").into());
        }
    }
    counts.print(&suite);
    Ok(!counts.must_fail)
}

fn run_claims(runner: &Runner<'_>, back: Back, counts: &mut ScenarioCounts) -> Result<()> {
    for claim in claims::of(Leg::Server) {
        let is_stateless = claim.scenario == STATELESS.scenario;
        let claim = match back.is_legacy() && is_stateless {
            true => &STATELESS,
            false => claim,
        };
        match back.exception(claim) {
            Some(Exception { reason, .. }) => println!("not run {}: {reason}", claim.scenario),
            None => {
                runner.single(claim.scenario, claim.revision, Some(claim), counts)?;
            }
        }
    }
    Ok(())
}

/// A gateway, and the server behind it unless the gateway starts it.
struct Processes {
    gateway: Server,
    server: Option<Server>,
}

impl Processes {
    fn start(workspace: &Workspace, profile: &str, suite: &Suite, back: Back) -> Result<Self> {
        let logs = suite.out();
        let program = workspace.binary(profile, SERVER);
        let mut command = Command::new(workspace.binary(profile, GATEWAY));
        process::clean_environment(&mut command).env("PORT", "0");
        command.arg(if back.is_legacy() { "legacy" } else { "modern" });
        let server = if back.is_pipe() {
            command.arg("--").arg(&program).arg("--stdio");
            None
        } else {
            let mut server = Command::new(&program);
            process::clean_environment(&mut server).env("PORT", "0");
            let log = logs.join(format!("server-{back:?}.log"));
            let server = Server::start(&mut server, &log, START_LIMIT)?;
            command.arg(server.url());
            Some(server)
        };
        let log = logs.join(format!("gateway-{back:?}.log"));
        let gateway = Server::start(&mut command, &log, START_LIMIT)?;
        Ok(Self { gateway, server })
    }

    fn are_running(&mut self) -> bool {
        self.gateway.is_running() && self.server.as_mut().is_none_or(Server::is_running)
    }
}
