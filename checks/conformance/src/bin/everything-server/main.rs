//! A server with all features that the official conformance suite tests.
//!
//! Listens on the loopback interface at port `PORT` (default: 8001; 0 selects a free port), and prints
//! its URL to standard error when it is ready. With `--stdio` it serves its standard streams instead.
//!
//! `--authorize ISSUER_URL` demands access tokens of this issuer, see `authorize.rs`.
//!
//! With `--redis URL` and `--prefix PREFIX` it is one node of a cluster: its sessions, events, changes,
//! tasks and webhooks are in Redis. `GET /health` answers while the process runs, `GET /ready` while Redis
//! answers as well.
//!
//! With `--legacy-extensions` it declares the extensions that the suite's scenario with this name expects, one with a
//! `null` in its settings. The suite's schema for 2026-07-28 refuses `null` there, so other scenarios need a server
//! without them.
//!
//! With `--webhooks` it posts events to receivers on this machine, and all callers are one principal.
//!
//! `--telemetry` exports traces and metrics by the `OTEL_*` variables, over every transport, and serves
//! metrics for Prometheus at `GET /metrics`.

#![allow(clippy::print_stderr, reason = "prints its URL")]

mod apps;
mod authorize;
mod cancel;
mod capabilities;
mod changes;
mod cluster;
mod declarations;
mod extensions;
mod input;
mod polling;
mod prompts;
mod resources;
mod schema;
mod skills;
mod tasks;
mod telemetry;
mod tools;

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use mcp::StateKeys;
use mcp::core::store::MemoryEventStore;
use mcp::events::Events;
use mcp::http::Serve;
use mcp::prelude::*;
use mcp::tasks::Tasks;
use mcp::telemetry::Telemetry;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let has = |name| std::env::args().any(|argument| argument == name);
    let export = if has("--telemetry") {
        Some(telemetry::Export::install()?)
    } else {
        None
    };
    if has("--stdio") {
        let server = server(Tasks::in_memory(), extensions::events_in_memory()?)?;
        return match export {
            Some(_) => mcp::serve_stdio(server.layer(Telemetry::server())).await,
            None => mcp::serve_stdio(server).await,
        };
    }
    let port = match std::env::var("PORT") {
        Ok(port) => port.parse().map_err(std::io::Error::other)?,
        Err(_) => 8001,
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    if let Some(url) = option("--redis") {
        let prefix = option("--prefix").unwrap_or_else(|| "everything".to_owned());
        return cluster::serve(listener, server, &url, prefix).await;
    }
    let url = format!("http://{}/mcp", listener.local_addr()?);
    eprintln!("listening on {url}");
    // The suite sends answers with the first request of a call.
    let keys = StateKeys::random()?.accept_unsolicited_answers();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(options) = authorize::Options::read(&arguments)? {
        let server =
            authorize::protect_tools(server(Tasks::in_memory(), extensions::events_in_memory()?)?)
                .request_state_keys(keys);
        let endpoint = StreamableHttp::new(server).events(MemoryEventStore::new());
        let serve = Serve::service(endpoint).authorize(options.resource_server(&url));
        return Ok(serve.run(listener).await?);
    }
    let tasks = Tasks::in_memory();
    let task_metrics = tasks.metrics_reader();
    let server = server(tasks, extensions::events_in_memory()?)?.request_state_keys(keys);
    if let Some(export) = export {
        mcp::telemetry::watch_tasks(task_metrics);
        return export.serve(listener, server).await;
    }
    let endpoint = StreamableHttp::new(server).events(MemoryEventStore::new());
    Ok(Serve::service(endpoint).run(listener).await?)
}

/// Returns the argument after `name`.
fn option(name: &str) -> Option<String> {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    arguments.nth(1)
}

fn server(tasks: Tasks, events: Events) -> mcp::Result<Server> {
    let server = Server::of(tools::Everything)
        .merge(Arc::new(cancel::Probes::default()).tools())
        .merge(resources::Resources::routes())
        .merge(prompts::Prompts::routes())
        .merge(input::InputRequests::routes())
        .merge(changes::Changes::routes())
        .merge(polling::Polling::routes())
        .merge(tasks::TaskTools::routes())
        .tasks(tasks.poll_interval(Duration::from_millis(200)))
        .tool(schema::json_schema_2020_12_tool())
        .extension(skills::skills()?);
    let server = if std::env::args().any(|argument| argument == "--legacy-extensions") {
        declarations::add(server)
    } else {
        server
    };
    Ok(extensions::add(apps::add(server), events))
}
