//! `mcp gateway`.

use mcp::gateway::{Gateway, OpenGateway};
use mcp::group::{GroupConfig, Health, Naming};
use mcp::prelude::*;
use wildmatch::WildMatch;

use super::serve;
use crate::cli::GatewayArgs;
use crate::failure::{Failure, FailureKind};

pub(super) async fn run(args: &GatewayArgs) -> Result<(), Failure> {
    let opened = gateway(args)?.open().await;
    for (server, health) in opened.group.health() {
        if let Health::Down(reason) = health {
            anstream::eprintln!("{server} is left out: {reason}");
        }
    }
    if args.stdio {
        return serve_stdio(opened).await;
    }
    serve::listen(opened, &args.listen).await
}

async fn serve_stdio(opened: OpenGateway) -> Result<(), Failure> {
    let served = mcp::serve_stdio(opened.server).await;
    opened.group.close().await;
    served.map_err(|error| Failure::new(FailureKind::Unreachable, error.to_string()))
}

/// The gateway of the servers in the file.
fn gateway(args: &GatewayArgs) -> Result<Gateway, Failure> {
    let config =
        GroupConfig::read(&args.file).map_err(|error| Failure::usage(error.to_string()))?;
    let mut gateway = Gateway::new("mcp", env!("CARGO_PKG_VERSION"));
    if args.plain_names {
        gateway = gateway.naming(Naming::PlainUnlessTaken);
    }
    let mut names = Vec::new();
    for entry in config.servers {
        let name = entry.name;
        let spec = match entry.spec {
            _ if entry.is_disabled => continue,
            Ok(spec) => spec,
            Err(error) => {
                anstream::eprintln!("{name} is left out: {error}");
                continue;
            }
        };
        gateway = gateway.server(&name, move |client| client.connect(spec.clone()));
        let hidden = hidden(&name, args);
        gateway = gateway.hide_tools(&name, hidden);
        names.push(name);
    }
    if names.is_empty() {
        let path = args.file.display();
        return Err(Failure::usage(format!(
            "{path} has no server that can be used"
        )));
    }
    for server in &args.one_process {
        if !names.contains(server) {
            return Err(Failure::usage(format!(
                "--one-process: the file has no server {server:?}"
            )));
        }
        gateway = gateway.one_session(server);
    }
    Ok(gateway)
}

/// Returns a function that decides which tools of a server are hidden.
fn hidden(server: &str, args: &GatewayArgs) -> impl Fn(&str) -> bool + Send + Sync + use<> {
    let patterns = args.hide_tool.iter().map(|it| WildMatch::new(it));
    let patterns: Vec<_> = patterns.collect();
    let prefix = format!("{server}__");
    move |tool| {
        let name = format!("{prefix}{tool}");
        patterns.iter().any(|it| it.matches(&name))
    }
}
