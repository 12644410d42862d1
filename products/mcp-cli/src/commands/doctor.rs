//! `mcp doctor`: each connection step on one page, with a cure for each failure.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `report` | the steps and their outcomes |
//! | `watch` | the HTTP requests of the connection |
//! | `network` | name resolution and the TCP connection |
//! | `http` | response judgements: status, proxies, clock |
//! | `login` | the steps of authorization |
//! | `server` | negotiation, tools, latency, other revisions |

mod http;
mod login;
mod network;
mod report;
mod server;
mod watch;

use mcp::ServerCommand;
use mcp::auth::Authorizer;
use mcp::client::Error;
use mcp::prelude::*;
use mcp::types::ProtocolVersion;
use tower::service_fn;

pub(super) use self::report::Report;
use self::report::Step;
use self::watch::SeenExchanges;
use crate::cli::TargetArgs;
use crate::config;
use crate::credentials;
use crate::failure::{Failure, FailureKind};
use crate::output::Output;
use crate::remote::Remote;
use crate::revisions;
use crate::target::{self, Server};

pub(super) async fn run(args: &TargetArgs, output: &Output) -> Result<(), Failure> {
    let server = target::resolve_only(&args.server, output).await?;
    let report = examine(args, server, output).await?;
    report.print(output);
    report.into_result()
}

/// Examines the connection to a server, and closes it.
pub(super) async fn examine(
    args: &TargetArgs,
    server: Server,
    output: &Output,
) -> Result<Report, Failure> {
    let again = server.clone();
    let (mut report, connected) = match server {
        Server::Command(command) => examine_command(command, args, output).await?,
        Server::Http(remote) => examine_http(&remote, args, output).await?,
    };
    if let Some(connected) = connected {
        let builder = || target::builder(args, output);
        let others = revisions::others(&args.protocol, connected);
        server::examine_revisions(&again, builder, others, &mut report).await?;
    }
    Ok(report)
}

/// Returns the revision of a connected server, too.
async fn examine_command(
    command: ServerCommand,
    args: &TargetArgs,
    output: &Output,
) -> Result<(Report, Option<ProtocolVersion>), Failure> {
    let mut report = Report::new(args.server.first_word());
    let mut connected = None;
    match target::builder(args, output)?.connect(command).await {
        Ok(client) => {
            report.add(Step::ok("start", "the program runs"));
            examine_server(&client, args, &mut report).await;
            connected = Some(client.protocol_version());
        }
        Err(error) => {
            let cure = if error.is_timeout() {
                "raise --timeout; or the program is not an MCP server on standard streams"
            } else {
                "run the command in a terminal: it must start without questions, and must print only messages of the protocol on standard output"
            };
            let kind = FailureKind::Unreachable;
            report.add(Step::failed("start", kind, error.to_string(), cure));
        }
    }
    Ok((report, connected))
}

async fn examine_http(
    remote: &Remote,
    args: &TargetArgs,
    output: &Output,
) -> Result<(Report, Option<ProtocolVersion>), Failure> {
    let mut report = Report::new(config::public_url(&remote.url));
    if !network::examine(&remote.url, &mut report).await {
        return Ok((report, None));
    }
    let seen = SeenExchanges::default();
    let events = remote.login.as_ref().map(Authorizer::events);
    let channel = remote.open(|channel| {
        let seen = seen.clone();
        channel.map_service(|http| {
            service_fn(move |request| watch::send(http.clone(), request, seen.clone()))
        })
    });
    let mut connected = target::builder(args, output)?.connect(channel).await;
    if let Ok(client) = &connected
        && client.server_capabilities().is_none()
        && let Err(error) = client.discover().await
    {
        // With a given revision this was the first request.
        connected = Err(error);
    }
    let failure = connected.as_ref().err();
    http::examine_connection(&remote.url, &seen.all(), failure, &mut report);
    let is_refused = failure.is_some_and(Error::is_auth);
    let is_fixed = is_refused && credentials::takes_fixed_tokens(remote).await;
    login::examine(remote, events, &seen.all(), is_fixed, &mut report);
    match &connected {
        Ok(client) => examine_server(client, args, &mut report).await,
        Err(error) => server::examine_failure(error, &mut report),
    }
    http::examine_headers(&seen.all(), &mut report);
    let connected = connected.ok().map(|client| client.protocol_version());
    Ok((report, connected))
}

async fn examine_server(client: &Client, args: &TargetArgs, report: &mut Report) {
    server::examine_negotiation(client, &args.protocol, report);
    server::examine_tools(client, report).await;
    server::examine_omissions(client, report).await;
    server::examine_latency(client, report).await;
    target::close(client).await;
}
