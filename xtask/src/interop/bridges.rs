//! Programs between a client and our server: bridges from pipes to HTTP and back, proxies, clients on
//! the command line, and nginx with its default buffering.

use std::fs;
use std::process::Command;

use super::cases::{Cases, PIPE_CLIENT, SERVER, START_LIMIT, log_file, with};
use super::http::{self, FEATURES};
use super::peers::{Started, installed};
use super::pipes;
use crate::process::{self, Server, free_port};
use crate::result::Result;

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";
const SIMPLE_TEXT: &str = "This is a simple text response for testing.";

/// The features that mcp-proxy forwards: lists and calls.
const LISTS: &[&str] = FEATURES.split_at(3).0;
/// The features that the proxies of FastMCP forward.
const PROXIED: &[&str] = FEATURES.split_at(6).0;
/// The features that supergateway forwards. It has no stream outside calls.
const CALLS: &[&str] = FEATURES.split_at(7).0;

const SUPERGATEWAY: &str = "npm supergateway dist/index.js";
const MCP_PROXY: &str = "python-tools mcp-proxy";

/// Adds all cases.
pub(super) fn add(cases: &mut Cases<'_>) -> Result<()> {
    let url = serve(cases, "bridges from pipes")?;
    offer_http_on_pipes(cases, &url);
    pipes::add_proxied(cases, &url);
    let url = serve(cases, "clients on the command line")?;
    command_lines(cases, &url);
    offer_pipes_over_http(cases)?;
    proxies(cases)?;
    nginx(cases)
}

fn serve(cases: &mut Cases<'_>, name: &str) -> Result<String> {
    cases
        .serve_ours(name)
        .map_err(|obstacle| format!("{obstacle:?}").into())
}

/// Clients over pipes whose server is a bridge to our server.
fn offer_http_on_pipes(cases: &mut Cases<'_>, url: &str) {
    for (name, bridge) in [
        (
            "mcp-remote",
            format!("npm mcp-remote dist/proxy.js {url} --transport http-only"),
        ),
        (
            "mcp-proxy",
            format!("{MCP_PROXY} --transport streamablehttp {url}"),
        ),
    ] {
        let start = cases.peers.program(&bridge).map(|bridge| {
            with(
                with(cases.ours(PIPE_CLIENT), bridge),
                ["--", "test_simple_text"],
            )
        });
        let name = format!("our client -> {name} -> our server, pipe");
        cases.add(name, start, SIMPLE_TEXT);
    }
    // supergateway opens a session of its own for a client that begins with another request than
    // `initialize`, and then forwards `initialize` into it.
    let gateway = format!("{SUPERGATEWAY} --streamableHttp {url}");
    let start = cases.peers.command("node client_v1.mjs");
    let start = start.and_then(|client| Ok(with(client, cases.peers.program(&gateway)?)));
    let name = "TypeScript client 1 -> supergateway -> our server, pipe";
    cases.add(name, start, SIMPLE_TEXT);
}

/// Clients that call one tool of our server over HTTP.
fn command_lines(cases: &mut Cases<'_>, url: &str) {
    let inspector = format!(
        "npm @modelcontextprotocol/inspector clients/launcher/build/index.js --cli {url} \
         --transport http --method tools/call --tool-name test_simple_text"
    );
    for (name, client) in [
        ("Inspector CLI", inspector),
        (
            "FastMCP 3 client",
            format!("python-fastmcp-3 client_fastmcp.py {url}"),
        ),
        (
            "FastMCP 4 client",
            format!("python-2 client_fastmcp.py {url}"),
        ),
    ] {
        let start = cases.peers.command(&client);
        cases.add(format!("{name} -> our server, HTTP"), start, SIMPLE_TEXT);
    }
}

/// Bridges that start our server and serve it over HTTP.
fn offer_pipes_over_http(cases: &mut Cases<'_>) -> Result<()> {
    let server = cases.binary(SERVER);
    let server = server.to_str().ok_or("the target folder is not UTF-8")?;
    let port = free_port()?;
    let gateway = cases.peers.command(SUPERGATEWAY).map(|gateway| {
        let gateway = with(
            gateway,
            ["--stdio", &format!("{server} --stdio"), "--stateful"],
        );
        let port = port.to_string();
        with(
            gateway,
            ["--outputTransport", "streamableHttp", "--port", &port],
        )
    });
    through(cases, "supergateway", port, gateway, LEGACY, CALLS);
    let port = free_port()?;
    let proxy = cases.peers.command(MCP_PROXY);
    let proxy = proxy.map(|proxy| {
        with(
            proxy,
            ["--port", &port.to_string(), "--", server, "--stdio"],
        )
    });
    through(cases, "mcp-proxy", port, proxy, LEGACY, LISTS);
    Ok(())
}

/// Proxies between our client and our server.
fn proxies(cases: &mut Cases<'_>) -> Result<()> {
    for (name, environment) in [
        ("FastMCP 3 proxy", "python-fastmcp-3"),
        ("FastMCP 4 proxy", "python-2"),
    ] {
        let (url, port) = (serve(cases, name)?, free_port()?);
        let proxy = format!("{environment} proxy_fastmcp.py {url} {port}");
        let proxy = cases.peers.command(&proxy);
        through(cases, name, port, proxy, LEGACY, PROXIED);
    }
    Ok(())
}

/// nginx as it buffers by default, with every feature of both eras.
fn nginx(cases: &mut Cases<'_>) -> Result<()> {
    for revision in [LEGACY, MODERN] {
        let (url, port) = (serve(cases, &format!("nginx {revision}"))?, free_port()?);
        let folder = cases.out.join(format!("nginx-{revision}"));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("nginx.conf"), nginx_config(&url, port))?;
        let nginx = installed("nginx", "-v")
            .map(|nginx| with(with(nginx, ["-c", "nginx.conf", "-p"]), [folder]));
        through(cases, "nginx", port, nginx, revision, &FEATURES);
    }
    Ok(())
}

/// Adds a case of our client with a server that `command` starts at `port`.
fn through(
    cases: &mut Cases<'_>,
    name: &str,
    port: u16,
    command: Started<Command>,
    revision: &'static str,
    features: &'static [&'static str],
) {
    let start = command.and_then(|mut command| {
        process::clean_environment(&mut command);
        let url = format!("http://127.0.0.1:{port}/mcp");
        let log = log_file(&cases.out, &format!("{name} {revision} bridge"));
        let server = Server::start_at(&mut command, &url, port, &log, START_LIMIT)?;
        cases.keep(server);
        let client = cases.ours(http::CLIENT);
        Ok(with(client, [&*url, revision, &features.join(",")]))
    });
    let pair = format!("our client -> {name} -> our server");
    http::add_case(cases, &pair, revision, features, start);
}

/// Returns a configuration with nothing but the two addresses, and files in its folder.
fn nginx_config(url: &str, port: u16) -> String {
    let server = url.trim_end_matches("/mcp");
    let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("    {name}_temp_path {name};\n"))
        .concat();
    // One process: workers would outlive a master that is killed.
    format!(
        "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log error.log;\nevents {{}}\nhttp {{\n    access_log off;\n\
         {folders}    server {{\n        listen 127.0.0.1:{port};\n        location / {{\n            \
         proxy_pass {server};\n        }}\n    }}\n}}\n"
    )
}
