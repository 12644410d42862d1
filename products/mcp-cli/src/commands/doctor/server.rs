//! Negotiation, tools and latency of a connected server, and its other revisions.

use std::time::Instant;

use mcp::client::Error;
use mcp::schema::{Lint, lint};
use mcp::types::ProtocolVersion;
use mcp::{Client, ClientBuilder, ConnectMode, Verdict};
use serde_json::json;

use super::super::support::omissions;
use super::http::header_mismatch;
use super::report::{Report, Step};
use crate::failure::{Failure, FailureKind};
use crate::lints::{PROFILES, document};
use crate::revisions::schema_problems;
use crate::target::{self, Server};

/// Number of measured requests.
const PINGS: usize = 5;

/// Names the era and its reason.
pub(super) fn examine_negotiation(client: &Client, protocol: &str, report: &mut Report) {
    let negotiation = client.negotiation();
    let version = client.protocol_version();
    let mut lines = vec![match &negotiation.verdict {
        Verdict::Legacy { .. } => format!("legacy: a session of {version}"),
        _ => format!("modern: {version}, without a session"),
    }];
    if negotiation.tried.is_empty() {
        lines.push(format!("because of --protocol {protocol}"));
    }
    lines.extend(negotiation.tried.iter().map(|attempt| {
        format!(
            "{} ({}): {}",
            attempt.method, attempt.version, attempt.outcome
        )
    }));
    report.add(Step::ok("negotiation", lines.join("\n")));
}

/// Describes a failed negotiation, unless an earlier step explains it.
pub(super) fn examine_failure(error: &Error, report: &mut Report) {
    if report.has_failed() {
        return;
    }
    let cure = header_mismatch(error.fault()).unwrap_or(if error.is_timeout() {
        "raise --timeout, or read the log of the server: it accepts requests, and does not answer"
    } else {
        "try --protocol legacy; then read the log of the server"
    });
    let kind = match error.fault() {
        Some(_) => FailureKind::Server,
        None => FailureKind::Unreachable,
    };
    report.add(Step::failed("negotiation", kind, error.to_string(), cure));
}

/// Lists the tools, and judges their schemas.
pub(super) async fn examine_tools(client: &Client, report: &mut Report) {
    if client
        .server_capabilities()
        .is_some_and(|capabilities| capabilities.tools.is_none())
    {
        report.add(Step::ok("tools", "the server has none"));
        return;
    }
    let tools = match client.list_tools().await {
        Ok(tools) => tools,
        Err(error) => {
            let cure = header_mismatch(error.fault())
                .unwrap_or("read the log of the server: it cannot list its tools");
            let kind = FailureKind::Server;
            report.add(Step::failed("tools", kind, error.to_string(), cure));
            return;
        }
    };
    let mut lines = vec![format!("{} tools", tools.len())];
    let version = client.protocol_version();
    let invalid = tools.iter().flat_map(|tool| {
        let problems = schema_problems(tool, version).into_iter();
        problems.map(|(schema, problem)| format!("the tool `{}`, {schema}: {problem}", tool.name))
    });
    let invalid: Vec<_> = invalid.collect();
    let lints: Vec<_> = tools.iter().flat_map(lint).collect();
    let data = json!({ "lints": lints.iter().map(document).collect::<Vec<_>>() });
    if lints.is_empty() && invalid.is_empty() {
        lines.push("no schema has a property that clients refuse".to_owned());
        report.add(Step::ok("tools", lines.join("\n")).with_data(data));
        return;
    }
    for (name, profile) in PROFILES {
        let concerned = lints.iter().filter(|lint| lint.concerns(profile)).count();
        if concerned > 0 {
            lines.push(format!("{name}: {concerned}"));
        }
    }
    lines.extend(kinds_of(&lints));
    lines.extend(invalid);
    let cure = "change the tools as each line says; --json has a line for each tool";
    report.add(Step::warning("tools", lines.join("\n"), cure).with_data(data));
}

/// Lists everything else, and names what the client leaves out of the lists.
pub(super) async fn examine_omissions(client: &Client, report: &mut Report) {
    // Most servers offer some of the lists only; their errors are those of `mcp list`.
    let _ = tokio::join!(
        client.list_prompts().if_offered(),
        client.list_resources().if_offered(),
        client.list_resource_templates().if_offered(),
    );
    let omissions = omissions(client);
    if !omissions.is_empty() {
        let cure = "correct the server; the other items can be used";
        report.add(Step::warning("lists", omissions.join("\n"), cure));
    }
}

/// Describes each kind of lint on one line: how many tools have it, and the first ones.
fn kinds_of(lints: &[Lint]) -> Vec<String> {
    let mut kinds: Vec<(&Lint, usize)> = Vec::new();
    for lint in lints {
        match kinds
            .iter_mut()
            .find(|(first, _)| first.reason == lint.reason)
        {
            Some((_, further)) => *further += 1,
            None => kinds.push((lint, 0)),
        }
    }
    let line = |(first, further): (&Lint, usize)| {
        let Lint {
            tool,
            location,
            clients,
            reason,
            fix,
            ..
        } = first;
        let more = match further {
            0 => String::new(),
            count => format!(", and {count} more tools"),
        };
        format!("the tool `{tool}`, {location}{more}: {clients} {reason}; {fix}")
    };
    kinds.into_iter().map(line).collect()
}

/// Measures small requests.
pub(super) async fn examine_latency(client: &Client, report: &mut Report) {
    let mut times = Vec::with_capacity(PINGS);
    for _ in 0..PINGS {
        let start = Instant::now();
        if let Err(error) = client.ping().await {
            let cure = "read the log of the server: it stopped answering";
            let kind = FailureKind::Unreachable;
            report.add(Step::failed("latency", kind, error.to_string(), cure));
            return;
        }
        times.push(start.elapsed().as_secs_f64() * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    let (Some(least), Some(median), Some(most)) =
        (times.first(), times.get(PINGS / 2), times.last())
    else {
        return;
    };
    let detail = format!("median {median:.1} ms of {PINGS} requests ({least:.1} to {most:.1} ms)");
    report.add(Step::ok("latency", detail).with_data(json!({ "milliseconds": times })));
}

/// Lists the tools as clients of other revisions see them.
pub(super) async fn examine_revisions(
    server: &Server,
    builder: impl Fn() -> Result<ClientBuilder, Failure>,
    others: impl Iterator<Item = ProtocolVersion>,
    report: &mut Report,
) -> Result<(), Failure> {
    let (mut lines, mut is_valid) = (Vec::new(), true);
    for version in others {
        let client = builder()?.mode(ConnectMode::Pin(version));
        let client = match client.connect(server.clone()).await {
            Ok(client) => client,
            Err(error) => {
                lines.push(format!("{version}: {error}"));
                if error.is_timeout() {
                    break;
                }
                continue;
            }
        };
        match client.list_tools().await {
            Ok(tools) => {
                let count = tools.len();
                lines.push(format!("{version}: {count} tools"));
                for tool in &tools {
                    for (schema, problem) in schema_problems(tool, version) {
                        is_valid = false;
                        lines.push(format!("the tool `{}`, {schema}: {problem}", tool.name));
                    }
                }
            }
            Err(error) => lines.push(format!("{version}: {error}")),
        }
        target::close(&client).await;
    }
    if !lines.is_empty() {
        lines.insert(0, "as clients of other revisions see the tools".to_owned());
        let detail = lines.join("\n");
        report.add(if is_valid {
            Step::ok("revisions", detail)
        } else {
            let cure = "correct each schema for the clients of its revision";
            Step::warning("revisions", detail, cure)
        });
    }
    Ok(())
}
