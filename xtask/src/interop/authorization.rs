//! Cases with an authorization server of npm, `oidc-provider`: our client logs in there in every way,
//! and calls our server, which asks the authorization server about each token.
//!
//! The client prints `ok FLOW` or `no FLOW: PROBLEM`.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::cases::{Case, Start, log_file};
use super::peers::Peers;
use crate::Result;
use crate::process::{self, Server};
use crate::workspace::Workspace;

/// Our server and our client.
pub(super) const SERVER: &str = "protected-server";
pub(super) const CLIENT: &str = "auth-client";

const START_LIMIT: Duration = Duration::from_secs(60);

/// Argument of the client, and description.
const FLOWS: [(&str, &str); 6] = [
    ("login", "registration, PKCE login, second login"),
    ("refresh", "refresh with rotation"),
    ("revocation", "revocation at logout"),
    ("device", "login on another device"),
    ("client_secret", "client credentials with a secret"),
    (
        "private_key_jwt",
        "client credentials with a signed assertion",
    ),
];

/// Returns all cases, and adds the servers that must run until the cases have ended.
pub(super) fn cases(
    workspace: &Workspace,
    peers: &Peers,
    out: &Path,
    running: &mut Vec<Server>,
) -> Vec<Case> {
    let servers = peers.node("auth_server.mjs").map(|program| {
        let issuer = start(&mut program.command(), "oidc-provider", out)?;
        let mut ours = Command::new(workspace.binary("debug", SERVER));
        let ours = start(ours.arg(issuer.url()), "protected server", out)?;
        Result::Ok((issuer, ours))
    });
    let client = workspace.binary("debug", CLIENT);
    let to_case = |(flow, description): (&'static str, &str)| Case {
        name: format!("our client -> oidc-provider, {description}"),
        start: match &servers {
            Ok(Ok((issuer, ours))) => {
                let mut command = Command::new(&client);
                command.args([ours.url(), issuer.url(), flow]);
                Start::Run(command)
            }
            Ok(Err(error)) => Start::Fail(error.to_string()),
            Err(reason) => Start::Skip(reason.clone()),
        },
        check: Box::new(move |output| problem(output, flow)),
    };
    let cases = FLOWS.map(to_case).into();
    if let Ok(Ok((issuer, ours))) = servers {
        running.extend([issuer, ours]);
    }
    cases
}

fn start(command: &mut Command, name: &str, out: &Path) -> Result<Server> {
    process::clean_environment(command);
    Server::start(command, &log_file(out, name), START_LIMIT)
}

/// Returns the problem of a flow, unless the client printed that it works.
fn problem(output: &str, flow: &str) -> Option<String> {
    let mut lines = output.lines().map(str::trim_end);
    if lines.clone().any(|line| line == format!("ok {flow}")) {
        return None;
    }
    let no = format!("no {flow}: ");
    let line = lines.find(|line| line.starts_with(&no));
    Some(line.map_or_else(|| format!("{flow} was not exercised"), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::problem;

    #[test]
    fn only_the_line_of_the_flow_passes() {
        assert_eq!(problem("a log line\nok login\n", "login"), None);
        for (output, expected) in [
            ("", "login was not exercised"),
            ("ok refresh", "login was not exercised"),
            ("no login: late", "no login: late"),
        ] {
            assert_eq!(problem(output, "login").as_deref(), Some(expected));
        }
    }
}
