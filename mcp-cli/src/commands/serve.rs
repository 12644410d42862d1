//! `mcp serve`, and the address of `mcp gateway`.

use mcp::gateway::{Gateway, OpenGateway};
use mcp::group::{Health, Naming};
use tokio::net::TcpListener;

use crate::cli::{ListenAddress, ServeArgs};
use crate::failure::{Failure, FailureKind};
use crate::output::Output;
use crate::target;

/// The name of the only server.
const SERVER: &str = "server";

pub(super) async fn run(args: &ServeArgs, output: &Output) -> Result<(), Failure> {
    let server = target::resolve_only(&args.target, output).await?;
    let connect = server.connector()?;
    let mut gateway = Gateway::new("mcp", env!("CARGO_PKG_VERSION"))
        .naming(Naming::PlainUnlessTaken)
        .server(SERVER, connect);
    if args.one_process {
        gateway = gateway.one_session(SERVER);
    }
    let opened = gateway.open().await;
    if let Some((_, Health::Down(reason))) = opened.group.health().into_iter().next() {
        return Err(Failure::new(FailureKind::Unreachable, reason));
    }
    listen(opened, &args.listen).await
}

/// Serves a gateway until Ctrl-C.
pub(super) async fn listen(opened: OpenGateway, args: &ListenAddress) -> Result<(), Failure> {
    let address = &args.listen;
    let unusable = |error: &dyn std::fmt::Display| {
        Failure::usage(format!("cannot listen at {address}: {error}"))
    };
    let listener = TcpListener::bind(&**address).await;
    let listener = listener.map_err(|error| unusable(&error))?;
    let local = listener.local_addr().map_err(|error| unusable(&error))?;
    let mut serve = mcp::Serve::new(opened.server);
    if !args.allow_host.is_empty() {
        serve = serve.allowed_hosts(&args.allow_host);
    }
    anstream::eprintln!("listening on http://{local}/mcp");
    let served = serve.run(listener).await;
    opened.group.close().await;
    served.map_err(|error| unusable(&error))
}
