//! `mcp doctor`: one page with the steps of a connection, and the cure of each failure.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `report` | the steps and their outcomes |
//! | `watch` | the HTTP requests of the connection |
//! | `network` | name resolution and the TCP connection |
//! | `http` | judgements of responses: status, proxies, clock |
//! | `login` | the steps of authorization |
//! | `server` | negotiation, tools, latency |

mod http;
mod login;
mod network;
mod report;
mod server;
mod watch;

use mcp::prelude::*;
use mcp::{HttpChannel, HttpClient, ServerCommand};

use self::report::{Report, Step};
use self::watch::Watched;
use super::support::close;
use crate::cli::TargetArgs;
use crate::config;
use crate::failure::{Failure, FailureKind};
use crate::output::Output;
use crate::target::{self, Remote, Server};

pub(super) async fn run(args: &TargetArgs, output: &Output) -> Result<(), Failure> {
    let report = match target::resolve_only(&args.server, output).await? {
        Server::Command(command) => examine_command(command, args, output).await?,
        Server::Http(remote) => examine_http(&remote, args, output).await?,
    };
    report.print(output);
    report.into_result()
}

async fn examine_command(
    command: ServerCommand,
    args: &TargetArgs,
    output: &Output,
) -> Result<Report, Failure> {
    let program = match args.server.command.first() {
        Some(program) => program.clone(),
        None => args.server.words.first().cloned().unwrap_or_default(),
    };
    let mut report = Report::new(program);
    match target::builder(args, output)?.connect(command).await {
        Ok(client) => {
            report.add(Step::ok("start", "the program runs"));
            examine_server(&client, args, &mut report).await;
        }
        Err(error) => {
            let cure = match error.is_timeout() {
                true => "raise --timeout; or the program is no MCP server on standard streams",
                false => {
                    "run the command in a terminal: it must start without questions, and must print only messages of the protocol on standard output"
                }
            };
            let step = Step::failed("start", error.to_string(), cure);
            report.add(step.with_kind(FailureKind::Unreachable));
        }
    }
    Ok(report)
}

async fn examine_http(
    remote: &Remote,
    args: &TargetArgs,
    output: &Output,
) -> Result<Report, Failure> {
    let mut report = Report::new(config::public_url(&remote.url));
    if !network::examine(&remote.url, &mut report).await {
        return Ok(report);
    }
    let usage = |error: mcp::core::ChannelError| Failure::usage(error.to_string());
    let http = Watched::new(HttpClient::new().map_err(usage)?);
    let authorizer = remote.authorizer()?;
    let mut events = authorizer.as_ref().map(|it| it.events());
    let channel = match &authorizer {
        Some(it) => HttpChannel::with_service(&remote.url, it.service(http.clone())),
        None => HttpChannel::with_service(&remote.url, http.clone()),
    };
    let channel = remote.with_headers(channel.map_err(usage)?)?;
    let mut connected = target::builder(args, output)?.connect(channel).await;
    if let Ok(client) = &connected
        && client.server_capabilities().is_none()
        && let Err(error) = client.discover().await
    {
        // With a given revision this was the first request.
        connected = Err(error);
    }
    let failure = connected.as_ref().err();
    http::examine_connection(&remote.url, &http, failure, &mut report);
    login::examine(
        remote,
        authorizer.as_ref(),
        events.as_mut(),
        &http,
        &mut report,
    );
    match &connected {
        Ok(client) => examine_server(client, args, &mut report).await,
        Err(error) => server::examine_failure(error, &mut report),
    }
    http::examine_headers(&http, &mut report);
    Ok(report)
}

async fn examine_server(client: &Client, args: &TargetArgs, report: &mut Report) {
    server::examine_negotiation(client, &args.protocol, report);
    server::examine_tools(client, report).await;
    server::examine_latency(client, report).await;
    close(client).await;
}
