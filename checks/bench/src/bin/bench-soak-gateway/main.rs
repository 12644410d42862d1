//! Gateways with servers and clients that misbehave, for `cargo xtask bench --soak`.
//!
//! | arguments | program |
//! |---|---|
//! | `serve FILE` | a gateway of a configuration file, whose sessions end after three seconds without requests; it prints the number of its tasks on stderr (`tasks N`) |
//! | `server KIND` | a [server] over standard streams that misbehaves; further arguments are ignored |
//! | `load URL SECONDS [--search]` | [clients](load) that vanish; prints the same JSON line as `bench-load` |

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool"
)]

mod caller;
mod load;
mod peer;
mod server;

use std::net::Ipv4Addr;
use std::time::Duration;

use bench::Failure;
use mcp::Sessions;
use mcp::gateway::config::GatewayConfig;
use mcp::group::Variables;
use mcp::http::Serve;
use mcp::prelude::*;
use tokio::net::TcpListener;
use tokio::runtime;
use tokio::time::sleep;

const USAGE: &str =
    "usage: bench-soak-gateway serve FILE | server KIND | load URL SECONDS [--search]";

fn main() -> Result<(), Failure> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let runtime = || runtime::Builder::new_multi_thread().enable_all().build();
    match *arguments {
        ["serve", file] => runtime()?.block_on(serve(file)),
        ["server", kind, ..] => server::run(kind),
        ["load", url, seconds] => runtime()?.block_on(load::run(url, seconds.parse()?, false)),
        ["load", url, seconds, "--search"] => {
            runtime()?.block_on(load::run(url, seconds.parse()?, true))
        }
        _ => Err(USAGE.into()),
    }
}

async fn report_tasks() {
    loop {
        let tasks = runtime::Handle::current().metrics().num_alive_tasks();
        eprintln!("tasks {tasks}");
        sleep(Duration::from_millis(250)).await;
    }
}

/// Serves a gateway until the process is told to end.
async fn serve(file: &str) -> Result<(), Failure> {
    let config = GatewayConfig::read(file)?;
    let http = mcp::HttpClient::new()?;
    let connect = |client: mcp::ClientBuilder, spec| client.connect(spec);
    let gateway = config.gateway(&Variables::of_process(), connect, http)?;
    let opened = gateway.start_limit(Duration::ZERO).connect().await?;
    let sessions = Sessions::in_memory()
        .idle_timeout(bench::SHORT_SESSION)
        .init_timeout(bench::SHORT_SESSION)
        .ask_timeout(bench::SHORT_SESSION);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    tokio::spawn(report_tasks());
    let endpoint = StreamableHttp::new(opened.server).sessions(sessions);
    Serve::service(endpoint).run(listener).await?;
    opened.group.close().await;
    Ok(())
}
