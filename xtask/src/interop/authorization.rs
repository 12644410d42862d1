//! Cases with an authorization server of npm, `oidc-provider`.
//!
//! Our client logs in there in every way, and calls a server that a program of its own protects. Our
//! client and those of other SDKs log in to our protected server, which checks signatures or asks the
//! authorization server about each token, and ask for a further scope at its 403. Chromium shows both
//! logins, if it is installed.
//!
//! The clients print `ok FLOW` or `no FLOW: PROBLEM`.

use std::path::Path;
use std::process::Command;

use super::browser::Browser;
use super::cases::{Case, Start};
use super::http::{self, start};
use super::peers::Peers;
use crate::Result;
use crate::process::Server;
use crate::workspace::Workspace;

/// Our server and our client.
pub(super) const SERVER: &str = "protected-server";
pub(super) const CLIENT: &str = "auth-client";

/// A way to log in.
struct Flow {
    /// Argument of the client.
    name: &'static str,
    description: &'static str,
    /// The server demands proofs of possession.
    is_dpop: bool,
    /// The login page is shown by a real browser.
    has_browser: bool,
}

const fn flow(name: &'static str, description: &'static str) -> Flow {
    Flow {
        name,
        description,
        is_dpop: false,
        has_browser: false,
    }
}

const FLOWS: [Flow; 8] = [
    flow("login", "registration, PKCE login, second login"),
    Flow {
        has_browser: true,
        ..flow("browser", "PKCE login in Chromium")
    },
    flow("refresh", "refresh with rotation"),
    flow("revocation", "revocation at logout"),
    flow("device", "login on another device"),
    flow("client_secret", "client credentials with a secret"),
    flow(
        "private_key_jwt",
        "client credentials with a signed assertion",
    ),
    Flow {
        is_dpop: true,
        ..flow(
            "dpop",
            "DPoP with nonces of both servers, refresh, stored key",
        )
    },
];

/// The servers of all flows.
struct Servers {
    issuer: Server,
    /// Asks the issuer about each token.
    protected: Server,
    /// Checks proofs of possession.
    dpop: Server,
    /// The server behind `dpop`.
    upstream: Server,
}

/// Returns all cases, and adds the servers that must run until the cases have ended.
pub(super) fn cases(
    workspace: &Workspace,
    peers: &Peers,
    out: &Path,
    running: &mut Vec<Server>,
) -> Result<Vec<Case>> {
    let servers = Servers::start(workspace, peers, out);
    let browser = Browser::install(peers, out)?;
    let client = workspace.binary("debug", CLIENT);
    let to_case = |flow: Flow| Case {
        name: format!("our client -> oidc-provider, {}", flow.description),
        start: match (&servers, &browser) {
            (Err(reason), _) => Start::Skip(reason.clone()),
            (Ok(Err(error)), _) => Start::Fail(error.to_string()),
            (_, Err(reason)) if flow.has_browser => Start::Skip(reason.clone()),
            (Ok(Ok(servers)), browser) => {
                let mut command = Command::new(&client);
                let server = servers.of(&flow).url();
                command.args([server, servers.issuer.url(), flow.name]);
                if let Ok(browser) = browser {
                    browser.set(&mut command);
                }
                Start::Run(command)
            }
        },
        check: Box::new(move |output| http::problem(output, &[flow.name])),
    };
    let mut cases: Vec<Case> = FLOWS.map(to_case).into();
    if let Ok(Ok(servers)) = servers {
        running.extend([
            servers.issuer,
            servers.protected,
            servers.dpop,
            servers.upstream,
        ]);
    }
    for kind in TOKENS {
        let browser = browser.as_ref().ok().filter(|_| kind.has_browser);
        cases.extend(protected_cases(
            workspace, peers, out, kind, browser, running,
        ));
    }
    Ok(cases)
}

impl Servers {
    /// Starts the servers. Returns the reason if the peers cannot be installed.
    fn start(
        workspace: &Workspace,
        peers: &Peers,
        out: &Path,
    ) -> std::result::Result<Result<Self>, String> {
        let issuer = peers.node("auth_server.mjs")?;
        let resource = peers.node("resource_dpop.mjs")?;
        let start_all = || {
            let issuer = start(&mut issuer.command(), "oidc-provider", out)?;
            let mut protected = Command::new(workspace.binary("debug", SERVER));
            let protected = start(protected.arg(issuer.url()), "protected server", out)?;
            let mut upstream = Command::new(workspace.binary("debug", http::SERVER));
            let upstream = start(upstream.env("PORT", "0"), "server behind DPoP", out)?;
            let mut dpop = resource.command();
            dpop.args([issuer.url(), upstream.url()]);
            let dpop = start(&mut dpop, "resource with DPoP", out)?;
            Ok(Self {
                issuer,
                protected,
                dpop,
                upstream,
            })
        };
        Ok(start_all())
    }

    fn of(&self, flow: &Flow) -> &Server {
        if flow.is_dpop {
            &self.dpop
        } else {
            &self.protected
        }
    }
}

/// A kind of access token that the protected server accepts.
#[derive(Clone, Copy)]
struct TokenKind {
    description: &'static str,
    /// Argument of the authorization server.
    format: &'static str,
    /// Arguments of our server.
    arguments: &'static [&'static str],
    /// Flow of our client.
    flow: &'static str,
    /// The other SDKs can log in.
    has_peers: bool,
    /// The login pages are shown by a real browser, if there is one.
    has_browser: bool,
}

const TOKENS: [TokenKind; 3] = [
    TokenKind {
        description: "JSON Web Tokens",
        format: "jwt",
        arguments: &[],
        flow: "protected",
        has_peers: true,
        has_browser: true,
    },
    TokenKind {
        description: "opaque tokens",
        format: "opaque",
        arguments: &["--introspect"],
        flow: "protected",
        has_peers: true,
        has_browser: true,
    },
    TokenKind {
        description: "tokens with proof of possession",
        format: "jwt",
        arguments: &["--dpop", "required"],
        flow: "proof",
        has_peers: false,
        has_browser: false,
    },
];

/// Returns the cases with our protected server.
fn protected_cases(
    workspace: &Workspace,
    peers: &Peers,
    out: &Path,
    kind: TokenKind,
    browser: Option<&Browser>,
    running: &mut Vec<Server>,
) -> Vec<Case> {
    let servers = peers.node("auth_server.mjs").map(|program| {
        let name = format!("oidc-provider, {}", kind.description);
        let issuer = start(program.command().arg(kind.format), &name, out)?;
        let mut ours = Command::new(workspace.binary("debug", http::SERVER));
        ours.args(["--authorize", issuer.url()])
            .args(kind.arguments);
        let name = format!("everything-server, {}", kind.description);
        let ours = start(ours.env("PORT", "0"), &name, out)?;
        Result::Ok((issuer, ours))
    });
    let case = |client: &str, command: std::result::Result<Command, String>, flow| Case {
        name: format!(
            "{client} -> our server with {}{}",
            kind.description,
            browser.map_or("", |_| ", logins in Chromium")
        ),
        start: match &servers {
            Ok(Ok((issuer, ours))) => command
                .map(|mut command| {
                    command.args([ours.url(), issuer.url(), flow]);
                    match browser {
                        Some(browser) => browser.set(&mut command),
                        None => command.env_remove("BROWSER"),
                    };
                    command
                })
                .into(),
            Ok(Err(error)) => Start::Fail(error.to_string()),
            Err(reason) => Start::Skip(reason.clone()),
        },
        check: Box::new(move |output| http::problem(output, &[flow])),
    };
    let own = Ok(Command::new(workspace.binary("debug", CLIENT)));
    let mut cases = vec![case("our client", own, kind.flow)];
    if kind.has_peers {
        let typescript = peers.node("client_auth.mjs").map(|client| client.command());
        let python = peers
            .python("python-2", "client_auth.py")
            .map(|client| client.command());
        cases.push(case("TypeScript client", typescript, "protected"));
        cases.push(case("Python client", python, "protected"));
    }
    if let Ok(Ok((issuer, ours))) = servers {
        running.extend([issuer, ours]);
    }
    cases
}
