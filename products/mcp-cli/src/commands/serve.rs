//! `mcp serve`, and the address of `mcp gateway`.

use std::io::ErrorKind;

use mcp::ClientBuilder;
use mcp::gateway::config::HttpConfig;
use mcp::gateway::{ConnectedGateway, Gateway, GatewayServer};
use mcp::group::{Health, Naming};
use mcp::http::Serve;
use serde_json::json;
use tokio::net::TcpListener;

use crate::cli::{ListenAddress, ServeArgs};
use crate::failure::{Failure, FailureKind, usage};
use crate::output::Output;
use crate::{log, target};

/// The name of the only server.
const SERVER: &str = "server";
/// The default address.
const ADDRESS: &str = "127.0.0.1:8000";

pub(super) async fn run(args: &ServeArgs, output: &Output) -> Result<(), Failure> {
    log::start(None)?;
    let server = target::resolve_only(&args.target, output).await?;
    let connect = move |client: ClientBuilder| client.connect(server.clone());
    let mut server = GatewayServer::new(SERVER, connect);
    if args.one_process {
        server = server.one_session();
    }
    let opened = Gateway::new("mcp", env!("CARGO_PKG_VERSION"))
        .naming(Naming::PlainUnlessTaken)
        .server(server)
        .connect()
        .await
        .map_err(Failure::usage)?;
    if let Some((_, Health::Down(reason))) = opened.group.health().into_iter().next() {
        return Err(Failure::new(FailureKind::Unreachable, reason));
    }
    listen(opened, &args.listen, None, |serve| serve, output).await
}

/// Serves a gateway until Ctrl-C. `protect` may demand credentials. Arguments have precedence over the configuration file.
pub(super) async fn listen(
    opened: ConnectedGateway,
    args: &ListenAddress,
    config: Option<HttpConfig>,
    protect: impl FnOnce(Serve) -> Serve,
    output: &Output,
) -> Result<(), Failure> {
    let config = config.unwrap_or_default();
    let address = args.listen.as_ref().or(config.listen.as_ref());
    let address = address.map_or(ADDRESS, String::as_str);
    let allowed_hosts = [&*args.allow_host, &config.allowed_hosts].concat();
    let unusable = |error: &dyn std::fmt::Display| usage!("cannot listen at {address}: {error}");
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => usage!(
            "another program listens at {address}; pass another address, such as --listen 127.0.0.1:0 for a free port"
        ),
        _ => unusable(&error),
    })?;
    let local = listener.local_addr().map_err(|error| unusable(&error))?;
    let mut serve = Serve::new(opened.server);
    if !allowed_hosts.is_empty() {
        serve = serve.allowed_hosts(&allowed_hosts);
    }
    serve = protect(serve);
    let url = format!("http://{local}/mcp");
    output.event(
        &format!("listening on {url}"),
        &json!({"event": "listening", "url": url}),
    );
    let served = serve.run(listener).await;
    opened.group.close().await;
    served.map_err(|error| unusable(&error))
}
