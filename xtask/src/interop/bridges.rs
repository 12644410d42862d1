//! Programs between a client and our server: bridges from pipes to HTTP and back, proxies, clients on
//! the command line, and nginx with its default buffering.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::cases::{Case, Start, log_file};
use super::http::{self, FEATURES, SERVER, START_LIMIT};
use super::peers::{InstalledProgram, Peers};
use super::pipes;
use crate::Result;
use crate::process::{self, Server, free_port};
use crate::workspace::Workspace;

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";
const SIMPLE_TEXT: &str = "This is a simple text response for testing.";

/// The features that mcp-proxy forwards: lists and calls.
const LISTS: &[&str] = FEATURES.split_at(3).0;
/// The features that the proxies of FastMCP forward.
const PROXIED: &[&str] = FEATURES.split_at(6).0;
/// The features that supergateway forwards. It has no stream outside of calls.
const CALLS: &[&str] = FEATURES.split_at(7).0;

/// Returns the cases, and the servers that must run until the cases have ended.
pub(super) fn cases(
    workspace: &Workspace,
    peers: &Peers,
    out: &Path,
) -> Result<(Vec<Server>, Vec<Case>)> {
    let mut bridges = Bridges {
        workspace,
        peers,
        out,
        servers: Vec::new(),
        cases: Vec::new(),
    };
    bridges.offer_http_on_pipes()?;
    bridges.command_lines()?;
    bridges.offer_pipes_over_http()?;
    bridges.proxies()?;
    bridges.nginx()?;
    Ok((bridges.servers, bridges.cases))
}

struct Bridges<'a> {
    workspace: &'a Workspace,
    peers: &'a Peers,
    out: &'a Path,
    servers: Vec<Server>,
    cases: Vec<Case>,
}

impl Bridges<'_> {
    /// Starts our server and returns its URL.
    fn serve(&mut self, name: &str) -> Result<String> {
        let mut command = Command::new(self.workspace.binary("debug", SERVER));
        let server = http::start(
            command.env("PORT", "0"),
            &format!("{name} server"),
            self.out,
        )?;
        let url = server.url().to_owned();
        self.servers.push(server);
        Ok(url)
    }

    /// Clients over pipes whose server is a bridge to our server.
    fn offer_http_on_pipes(&mut self) -> Result<()> {
        let url = self.serve("bridges from pipes")?;
        let ours = self.workspace.binary("debug", pipes::CLIENT);
        let remote = self.peers.package("mcp-remote", "dist/proxy.js");
        let proxy = self.peers.python_program("python-tools", "mcp-proxy");
        for (name, bridge, arguments) in [
            (
                "mcp-remote",
                remote,
                vec![&*url, "--transport", "http-only"],
            ),
            (
                "mcp-proxy",
                proxy,
                vec!["--transport", "streamablehttp", &*url],
            ),
        ] {
            let start = bridge.map(|bridge| {
                let mut command = Command::new(&ours);
                command.args(bridge.words()).args(arguments);
                command.args(["--", "test_simple_text"]);
                command
            });
            let name = format!("our client -> {name} -> our server");
            self.cases.push(pipes::case(name, start, SIMPLE_TEXT));
        }
        // supergateway opens a session of its own for a client that begins with another request than
        // `initialize`, and then forwards `initialize` into it.
        let client = self.peers.node("client_v1.mjs");
        let gateway = self.peers.package("supergateway", "dist/index.js");
        let start = client.and_then(|client| {
            let gateway = gateway?;
            let mut command = client.command();
            command
                .args(gateway.words())
                .args(["--streamableHttp", &url]);
            Ok(command)
        });
        let name = "TypeScript client 1 -> supergateway -> our server".to_owned();
        self.cases.push(pipes::case(name, start, SIMPLE_TEXT));
        let proxied = pipes::proxied(self.workspace, self.peers, &url);
        self.cases.extend(proxied);
        Ok(())
    }

    /// Clients that call one tool of our server over HTTP.
    fn command_lines(&mut self) -> Result<()> {
        let url = self.serve("clients on the command line")?;
        let inspector = self.peers.inspector().map(|program| {
            let mut command = program.command();
            command.args([
                "--cli",
                &url,
                "--transport",
                "http",
                "--method",
                "tools/call",
            ]);
            command.args(["--tool-name", "test_simple_text"]);
            command
        });
        let fastmcp = |program: InstalledProgram| {
            program.map(|program| {
                let mut command = program.command();
                command.arg(&url);
                command
            })
        };
        let clients = [
            ("Inspector CLI", inspector),
            (
                "FastMCP 3 client",
                fastmcp(self.peers.python("python-fastmcp-3", "client_fastmcp.py")),
            ),
            (
                "FastMCP 4 client",
                fastmcp(self.peers.python("python-2", "client_fastmcp.py")),
            ),
        ];
        for (name, start) in clients {
            let name = format!("{name} -> our server, HTTP");
            self.cases.push(pipes::case(name, start, SIMPLE_TEXT));
        }
        Ok(())
    }

    /// Bridges that start our server and serve it over HTTP.
    fn offer_pipes_over_http(&mut self) -> Result<()> {
        let server = self.workspace.binary("debug", SERVER);
        let server = server.to_str().ok_or("the target folder is not UTF-8")?;
        let port = free_port()?.to_string();
        let gateway = self
            .peers
            .package("supergateway", "dist/index.js")
            .map(|program| {
                let mut command = program.command();
                command.args(["--stdio", &format!("{server} --stdio"), "--stateful"]);
                command.args(["--outputTransport", "streamableHttp", "--port", &port]);
                command
            });
        self.through("supergateway", &port, gateway, LEGACY, CALLS)?;
        let port = free_port()?.to_string();
        let proxy = self
            .peers
            .python_program("python-tools", "mcp-proxy")
            .map(|program| {
                let mut command = program.command();
                command.args(["--port", &port, "--", server, "--stdio"]);
                command
            });
        self.through("mcp-proxy", &port, proxy, LEGACY, LISTS)
    }

    /// Proxies between our client and our server.
    fn proxies(&mut self) -> Result<()> {
        for (name, program) in [
            (
                "FastMCP 3 proxy",
                self.peers.python("python-fastmcp-3", "proxy_fastmcp.py"),
            ),
            (
                "FastMCP 4 proxy",
                self.peers.python("python-2", "proxy_fastmcp.py"),
            ),
        ] {
            let url = self.serve(name)?;
            let port = free_port()?.to_string();
            let proxy = program.map(|program| {
                let mut command = program.command();
                command.args([&url, &port]);
                command
            });
            self.through(name, &port, proxy, LEGACY, PROXIED)?;
        }
        Ok(())
    }

    /// nginx as it buffers by default, with every feature of both eras.
    fn nginx(&mut self) -> Result<()> {
        for revision in [LEGACY, MODERN] {
            let name = format!("nginx {revision}");
            let url = self.serve(&name)?;
            let port = free_port()?.to_string();
            let folder = self.out.join(name.replace(' ', "-"));
            fs::create_dir_all(&folder)?;
            fs::write(folder.join("nginx.conf"), nginx_config(&url, &port))?;
            let nginx = if process::available("nginx", &["-v"]) {
                let mut command = Command::new("nginx");
                command.arg("-p").arg(folder).args(["-c", "nginx.conf"]);
                Ok(command)
            } else {
                Err("nginx is not installed".to_owned())
            };
            self.through("nginx", &port, nginx, revision, &FEATURES)?;
        }
        Ok(())
    }

    /// Adds a case of our client with a server that `command` starts at `port`.
    fn through(
        &mut self,
        name: &str,
        port: &str,
        command: std::result::Result<Command, String>,
        revision: &'static str,
        features: &'static [&'static str],
    ) -> Result<()> {
        let url = format!("http://127.0.0.1:{port}/mcp");
        let start = match command {
            Ok(mut command) => {
                process::clean_environment(&mut command);
                let log = log_file(self.out, &format!("{name} {revision} bridge"));
                let number = port.parse()?;
                match Server::start_at(&mut command, &url, number, &log, START_LIMIT) {
                    Ok(server) => {
                        self.servers.push(server);
                        let mut client = Command::new(self.workspace.binary("debug", http::CLIENT));
                        client.args([&url, revision, &features.join(",")]);
                        Start::Run(client)
                    }
                    Err(error) => Start::Fail(error.to_string()),
                }
            }
            Err(reason) => Start::Skip(reason),
        };
        let pair = format!("our client -> {name} -> our server");
        self.cases
            .push(http::case(&pair, revision, features, start));
        Ok(())
    }
}

/// Returns a configuration with nothing but the two addresses, and files in its folder.
fn nginx_config(url: &str, port: &str) -> String {
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
