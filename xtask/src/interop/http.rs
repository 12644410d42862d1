//! Cases over HTTP: every feature, at every revision that the peer supports.
//!
//! All servers have the everything server's fixtures, and all clients use them in the same way.
//! A client prints `revision R`, then `ok FEATURE` or `no FEATURE: PROBLEM` for each feature.

use std::process::Command;

use super::cases::{Cases, with};
use super::peers::Started;

/// Our client, and our gateway in front of one server.
pub(super) const CLIENT: &str = "interop-client";
const GATEWAY: &str = "everything-gateway";

/// The features that a case exercises. It passes if all of them work.
pub(super) const FEATURES: [&str; 8] = [
    "tools",
    "resources",
    "prompts",
    "progress",
    "elicitation",
    "sampling",
    "cancellation",
    "list_changed",
];

const SESSIONS: &[&str] = &["2025-06-18", "2025-11-25"];
const NEWEST: &str = "2026-07-28";
const ALL: &[&str] = &["2025-06-18", "2025-11-25", NEWEST];

/// Programs of other SDKs, and the revisions that they support.
type PeerTable = [(&'static str, &'static str, &'static [&'static str]); 5];

const SERVERS: PeerTable = [
    ("TypeScript server 2", "node server_http.mjs", ALL),
    ("TypeScript server 1", "node server_http_v1.mjs", SESSIONS),
    ("Python server 2", "python-2 server_http.py", ALL),
    ("Python server 1", "python-1 server_http_v1.py", SESSIONS),
    ("rmcp server", "rmcp interop-rmcp-server", ALL),
];

const CLIENTS: PeerTable = [
    ("TypeScript client 2", "node client_http.mjs", ALL),
    // It always requests the newest revision that it supports.
    (
        "TypeScript client 1",
        "node client_http_v1.mjs",
        &["2025-11-25"],
    ),
    ("Python client 2", "python-2 client_http.py", ALL),
    ("Python client 1", "python-1 client_http_v1.py", SESSIONS),
    ("rmcp client", "rmcp interop-rmcp-client", ALL),
];

/// Adds all cases, or one of the newest revision with each SDK as client and as server.
pub(super) fn add(cases: &mut Cases<'_>, newest_only: bool) {
    let is_wanted = |revision: &&&str| !newest_only || **revision == NEWEST;
    for (name, program, revisions) in CLIENTS {
        for revision in revisions.iter().filter(is_wanted) {
            add_client(cases, name, program, revision, None);
            if !newest_only {
                // The gateway has to translate between the eras.
                let back = if *revision == NEWEST {
                    "legacy"
                } else {
                    "modern"
                };
                add_client(cases, name, program, revision, Some(back));
            }
        }
    }
    for (name, program, revisions) in SERVERS {
        if newest_only && !revisions.contains(&NEWEST) {
            continue;
        }
        let url = cases.serve_peer(name, program, &[]);
        for revision in revisions.iter().filter(is_wanted) {
            add_server(cases, name, &url, revision, None);
        }
        for revision in ["2025-11-25", NEWEST].into_iter().filter(|_| !newest_only) {
            add_server(cases, name, &url, revision, Some("auto"));
        }
    }
}

/// The client of a peer with our server, and our gateway before it that calls it in the era `back`.
fn add_client(
    cases: &mut Cases<'_>,
    name: &str,
    program: &str,
    revision: &'static str,
    back: Option<&str>,
) {
    let pair = format!("{name} -> {}our server", hop(back));
    let start = cases.peers.command(program).and_then(|client| {
        // Every case has its own server: change notifications go to all clients.
        let label = format!("{pair} {revision}");
        let url = cases.serve_ours(&label)?;
        let url = behind_gateway(cases, url, back, &label)?;
        Ok(with(client, [&*url, revision]))
    });
    add_case(cases, &pair, revision, &FEATURES, start);
}

/// Our client with a peer's server, and our gateway before it.
fn add_server(
    cases: &mut Cases<'_>,
    name: &str,
    url: &Started<String>,
    revision: &'static str,
    back: Option<&str>,
) {
    let start = url.clone().and_then(|url| {
        let url = behind_gateway(cases, url, back, &format!("{name} {revision}"))?;
        Ok(with(cases.ours(CLIENT), [&*url, revision]))
    });
    let pair = format!("our client -> {}{name}", hop(back));
    add_case(cases, &pair, revision, &FEATURES, start);
}

/// Starts a gateway before `url` if `back` has an era. Returns the URL for clients.
fn behind_gateway(
    cases: &mut Cases<'_>,
    url: String,
    back: Option<&str>,
    label: &str,
) -> Started<String> {
    let Some(back) = back else {
        return Ok(url);
    };
    let gateway = with(cases.ours(GATEWAY), [back, &url]);
    cases.serve(&format!("{label} gateway"), gateway)
}

/// The part of a case's name for the gateway.
fn hop(back: Option<&str>) -> &'static str {
    back.map_or("", |_| "our gateway -> ")
}

/// Adds a case that passes if the client prints `ok` for each of these features.
pub(super) fn add_case(
    cases: &mut Cases<'_>,
    pair: &str,
    revision: &'static str,
    features: &'static [&'static str],
    start: Started<Command>,
) {
    let name = format!("{pair}, HTTP, {revision}");
    cases.add_checked(name, start, move |output| check(output, revision, features));
}

fn check(output: &str, revision: &str, features: &[&str]) -> Option<String> {
    let line = format!("revision {revision}");
    let is_other = !output.lines().any(|found| found.trim_end() == line);
    let other = is_other.then(|| "the client used another revision".to_owned());
    let problems: Vec<_> = other.into_iter().chain(problem(output, features)).collect();
    (!problems.is_empty()).then(|| problems.join("; "))
}

/// Returns the features that did not work or were not exercised.
pub(super) fn problem(output: &str, features: &[&str]) -> Option<String> {
    let has_line = |wanted: &str| output.lines().any(|line| line.trim_end() == wanted);
    let mut problems = Vec::new();
    for feature in features {
        let no = format!("no {feature}: ");
        match output.lines().find(|line| line.starts_with(&no)) {
            Some(line) => problems.push(line.to_owned()),
            None if has_line(&format!("ok {feature}")) => {}
            None => problems.push(format!("{feature} was not exercised")),
        }
    }
    (!problems.is_empty()).then(|| problems.join("; "))
}

#[cfg(test)]
mod tests {
    use super::{FEATURES, check};

    #[test]
    fn output_with_every_feature_passes() {
        let check = |output: &str| check(output, "2025-11-25", &FEATURES);
        let oks = FEATURES.map(|feature| format!("ok {feature}\n")).concat();
        let all = format!("a warning\nrevision 2025-11-25\n{oks}");
        assert_eq!(check(&all), None);
        for (output, expected) in [
            (
                String::new(),
                "the client used another revision; tools was not",
            ),
            (oks.clone(), "the client used another revision"),
            (
                all.replace("11-25", "06-18"),
                "the client used another revision",
            ),
            (all.replace("ok prompts\n", ""), "prompts was not exercised"),
            (
                all.replace("ok prompts", "no prompts: late"),
                "no prompts: late",
            ),
            (format!("{all}no tools: twice"), "no tools: twice"),
        ] {
            let found = check(&output).unwrap_or_default();
            assert!(found.starts_with(expected), "{found}");
        }
    }
}
