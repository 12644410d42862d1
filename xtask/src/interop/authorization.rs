//! Cases with authorization servers of npm and PyPI: `oidc-provider`, better-auth, `oauth2-mock-server`, those of other
//! SDKs, and FastMCP's proxy.
//!
//! Our client logs in there in every way, and calls a server that a program of its own protects. Our
//! client and those of other SDKs log in to our protected server, which checks signatures or asks the
//! authorization server about each token, and ask for a further scope at its 403. Chromium shows both
//! logins, if it is installed.
//!
//! The clients print `ok FLOW` or `no FLOW: PROBLEM`.

use std::process::Command;

use super::browser::Browser;
use super::cases::{Cases, SERVER, with};
use super::http;
use super::peers::Started;
use crate::result::Result;

/// Our protected server and our client.
const PROTECTED: &str = "protected-server";
const CLIENT: &str = "auth-client";
const ISSUER: &str = "node auth_server.mjs";

/// The ways to log in: arguments of the client with their descriptions. The server of `dpop` demands proofs
/// of possession; a real browser shows the login page of `browser`.
const FLOWS: [(&str, &str); 8] = [
    ("login", "registration, PKCE login, second login"),
    ("browser", "PKCE login in Chromium"),
    ("refresh", "refresh with rotation"),
    ("revocation", "revocation at logout"),
    ("device", "login on another device"),
    ("client_secret", "client credentials with a secret"),
    (
        "private_key_jwt",
        "client credentials with a signed assertion",
    ),
    (
        "dpop",
        "DPoP with nonces of both servers, refresh, stored key",
    ),
];

/// Servers that are their own authorization servers, or have one: a name, the program, its arguments, and the flow of
/// our client. That of the TypeScript SDK refreshes nothing; `oauth2-mock-server` registers no clients.
const FOREIGN: [(&str, &str, &[&str], &str); 8] = [
    ("Python SDK", PYTHON, &["sdk"], "login"),
    ("Python SDK", PYTHON, &["sdk", "short"], "refresh"),
    ("FastMCP proxy", PYTHON, &["proxy"], "login"),
    ("FastMCP proxy", PYTHON, &["proxy", "short"], "refresh"),
    ("TypeScript SDK", "node login_typescript.mjs", &[], "login"),
    ("better-auth", BETTER_AUTH, &[], "login"),
    ("better-auth", BETTER_AUTH, &["short"], "refresh"),
    ("oauth2-mock-server", "node login_mock.mjs", &[], "given"),
];

const PYTHON: &str = "python-2 login_python.py";
const BETTER_AUTH: &str = "node login_better_auth.mjs";

/// Clients with their flows. The login pages of `protected` are shown by a real browser, if there is one.
type Clients = &'static [(&'static str, &'static str, &'static str)];

const CLIENTS: Clients = &[
    ("our client", "ours auth-client", "protected"),
    ("TypeScript client", "node client_auth.mjs", "protected"),
    ("Python client", "python-2 client_auth.py", "protected"),
];

const PROOF_CLIENTS: Clients = &[("our client", "ours auth-client", "proof")];

/// A kind of access token that the protected server accepts: a description, the argument of the authorization
/// server, the arguments of our server, and the clients.
type TokenKind = (&'static str, &'static str, &'static [&'static str], Clients);

const TOKENS: [TokenKind; 3] = [
    ("JSON Web Tokens", "jwt", &[], CLIENTS),
    ("opaque tokens", "opaque", &["--introspect"], CLIENTS),
    (
        "tokens with proof of possession",
        "jwt",
        &["--dpop", "required"],
        PROOF_CLIENTS,
    ),
];

/// Adds all cases.
pub(super) fn add(cases: &mut Cases<'_>) -> Result<()> {
    let browser = Browser::install(cases)?;
    let servers = servers(cases);
    for (flow, description) in FLOWS {
        let start = servers.clone().and_then(|[issuer, protected, dpop]| {
            let server = if flow == "dpop" { dpop } else { protected };
            let mut client = with(cases.ours(CLIENT), [&*server, &issuer, flow]);
            match &browser {
                Ok(browser) => browser.set(&mut client),
                Err(obstacle) if flow == "browser" => return Err(obstacle.clone()),
                Err(_) => &mut client,
            };
            Ok(client)
        });
        let name = format!("our client -> oidc-provider, {description}");
        add_case(cases, name, start, flow);
    }
    for (server, program, arguments, flow) in FOREIGN {
        let name = format!("authorization server of the {server}, {flow}");
        let start = cases.serve_peer(&name, program, arguments);
        let start = start.map(|url| with(cases.ours(CLIENT), [&*url, &*url, flow]));
        add_case(cases, format!("our client -> {name}"), start, flow);
    }
    for kind in TOKENS {
        add_protected(cases, kind, browser.as_ref().ok());
    }
    Ok(())
}

fn add_case(cases: &mut Cases<'_>, name: String, start: Started<Command>, flow: &'static str) {
    cases.add_checked(name, start, move |output| http::problem(output, &[flow]));
}

/// Starts the servers for all flows. Returns three URLs: the authorization server, a server that asks it about
/// each token, and one that checks proofs of possession.
fn servers(cases: &mut Cases<'_>) -> Started<[String; 3]> {
    let issuer = cases.serve_peer("oidc-provider", ISSUER, &[])?;
    let protected = with(cases.ours(PROTECTED), [&issuer]);
    let protected = cases.serve("protected server", protected)?;
    let upstream = cases.serve_ours("behind DPoP")?;
    let program = "node resource_dpop.mjs";
    let dpop = cases.serve_peer("resource with DPoP", program, &[&issuer, &upstream])?;
    Ok([issuer, protected, dpop])
}

/// Adds the cases with our protected server.
fn add_protected(cases: &mut Cases<'_>, kind: TokenKind, browser: Option<&Browser>) {
    let (description, format, arguments, clients) = kind;
    let mut start = || -> Started<[String; 2]> {
        let name = format!("oidc-provider, {description}");
        let issuer = cases.serve_peer(&name, ISSUER, &[format])?;
        let ours = with(cases.ours(SERVER), ["--authorize", &issuer]);
        let name = format!("everything-server, {description}");
        let ours = cases.serve(&name, with(ours, arguments))?;
        Ok([ours, issuer])
    };
    let servers = start();
    for (client, program, flow) in clients {
        let browser = browser.filter(|_| *flow == "protected");
        let shown = browser.map_or("", |_| ", logins in Chromium");
        let start = servers.clone().and_then(|[ours, issuer]| {
            let mut command = with(cases.peers.command(program)?, [&*ours, &issuer, flow]);
            match browser {
                Some(browser) => browser.set(&mut command),
                None => command.env_remove("BROWSER"),
            };
            Ok(command)
        });
        let name = format!("{client} -> our server with {description}{shown}");
        add_case(cases, name, start, flow);
    }
}
