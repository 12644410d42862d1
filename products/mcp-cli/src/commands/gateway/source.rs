//! The gateway configuration file: TOML, or an `mcp.json`.

use std::collections::HashSet;
use std::time::Duration;

use mcp::HttpClient;
use mcp::gateway::config::{GatewayConfig, PinNew};
use mcp::gateway::{Gateway, GatewayServer, ToolMode, ToolPatterns};
use mcp::group::{GroupConfig, Naming, Variables};
use mcp::toolset::PinFile;
use tokio::fs::File;
use tokio::io::AsyncReadExt as _;

use crate::cli::{GatewayArgs, PinNewArg, ToolsArg};
use crate::config;
use crate::failure::{Failure, usage};
use crate::output;
use crate::target::Logins;

/// Number of bytes of the file that are compared. A file that is longer cannot be loaded.
const MAX_CONTENT: u64 = (1 << 20) + 1;

/// The file, and the command line's settings.
#[derive(Clone)]
pub(super) struct Source {
    args: GatewayArgs,
    logins: Logins,
}

/// The settings in a file.
pub(super) struct Loaded {
    pub(super) gateway: Gateway,
    /// `None` for an `mcp.json`.
    pub(super) config: Option<GatewayConfig>,
    /// The content that the settings were read from.
    pub(super) content: Option<Vec<u8>>,
}

impl Source {
    pub(super) fn new(args: &GatewayArgs) -> Self {
        Self {
            args: args.clone(),
            logins: Logins::default(),
        }
    }

    /// Returns the path for messages.
    pub(super) fn path(&self) -> std::path::Display<'_> {
        self.args.file.display()
    }

    /// Returns the content of the file now, up to [`MAX_CONTENT`]. `None`: it cannot be read.
    pub(super) async fn content(&self) -> Option<Vec<u8>> {
        let file = File::open(&self.args.file).await.ok()?;
        let mut content = Vec::new();
        let mut file = file.take(MAX_CONTENT);
        file.read_to_end(&mut content).await.ok()?;
        Some(content)
    }

    /// Reads the file.
    pub(super) async fn load(&self) -> Result<Loaded, Failure> {
        let content = self.content().await;
        let source = self.clone();
        let loading = tokio::task::spawn_blocking(move || {
            let extension = source.args.file.extension();
            let (gateway, config) = if extension.is_some_and(|extension| extension == "toml") {
                let (gateway, config) = source.load_toml()?;
                (gateway, Some(config))
            } else {
                (source.load_json()?, None)
            };
            Ok(Loaded {
                gateway: source.with_flags(gateway)?,
                config,
                content,
            })
        });
        loading.await.map_err(Failure::usage)?
    }

    fn load_toml(&self) -> Result<(Gateway, GatewayConfig), Failure> {
        let usage = |error: &dyn std::fmt::Display| {
            let path = self.path();
            usage!("{path}: {error}")
        };
        let mut config = GatewayConfig::read(&self.args.file).map_err(|error| usage(&error))?;
        if let Some(file) = &self.args.pin {
            // Paths of the file are relative to it, those of the command line to the current folder.
            config.tools.pin = Some(std::path::absolute(file).map_err(|error| usage(&error))?);
        }
        if let Some(new) = self.args.pin_new {
            config.tools.pin_new = Some(match new {
                PinNewArg::Approve => PinNew::Approve,
                PinNewArg::Hold => PinNew::Hold,
            });
        }
        if config.authorization.is_none()
            && let Some((server, key)) = server_of_callers(&config)
        {
            return Err(usage(&format_args!(
                "`servers.{server}.{key}` needs the table `authorization`, so that callers have tokens"
            )));
        }
        if config.manifests.is_none() {
            config.manifests = config::lists_folder(&self.args.file);
        }
        let logins = self.logins.clone();
        let http = HttpClient::new().map_err(|error| usage(&error))?;
        let connect = move |client, spec| logins.clone().connect(client, spec);
        let gateway = config.gateway(&Variables::of_process(), connect, http);
        Ok((gateway.map_err(|error| usage(&error))?, config))
    }

    fn load_json(&self) -> Result<Gateway, Failure> {
        let config = GroupConfig::read(&self.args.file).map_err(Failure::usage)?;
        let mut gateway = Gateway::new("mcp", env!("CARGO_PKG_VERSION"));
        for entry in config.servers {
            let name = entry.name;
            let spec = match entry.spec {
                _ if entry.is_disabled => continue,
                Ok(spec) => spec,
                Err(error) => {
                    output::status(&format!("{name} is left out: {error}"));
                    continue;
                }
            };
            let logins = self.logins.clone();
            let mut server = GatewayServer::from_spec(&name, spec, move |client, spec| {
                logins.clone().connect(client, spec)
            });
            for (id, methods) in entry.extensions {
                server = server.extension(id, methods);
            }
            gateway = gateway.server(server);
        }
        let Some(file) = &self.args.pin else {
            return match self.args.pin_new {
                Some(_) => Err(usage!("--pin-new needs --pin, the lock file")),
                None => Ok(gateway),
            };
        };
        let pins = PinFile::open(file).map_err(Failure::usage)?;
        Ok(match self.args.pin_new {
            Some(PinNewArg::Hold) => gateway.pin(pins.hold_new()),
            Some(PinNewArg::Approve) | None => gateway.pin(pins),
        })
    }

    /// Adds the settings of the command line.
    fn with_flags(&self, gateway: Gateway) -> Result<Gateway, Failure> {
        let one_process = &self.args.one_process;
        let patterns = ToolPatterns::new(&self.args.hide_tool);
        let mut names = Vec::new();
        let (folder, mut lists) = (config::lists_folder(&self.args.file), HashSet::new());
        let mut gateway = gateway.map_servers(|mut server| {
            names.push(server.name().to_owned());
            if one_process.iter().any(|name| name == server.name()) {
                server = server.one_session();
            }
            if let Some(folder) = &folder {
                server = server.store_lists(folder);
                lists.extend(server.lists_file().map(ToOwned::to_owned));
            }
            let (patterns, prefix) = (patterns.clone(), format!("{}__", server.name()));
            server.hide_tools(move |tool| patterns.matches(&format!("{prefix}{tool}")))
        });
        if names.is_empty() {
            let path = self.path();
            return Err(usage!("{path} has no server that can be used"));
        }
        folder
            .iter()
            .for_each(|folder| config::keep_lists(folder, &lists));
        if let Some(seconds) = self.args.first_list {
            gateway = gateway.first_list_limit(Duration::from_secs(seconds));
        }
        if let Some(unknown) = one_process.iter().find(|name| !names.contains(name)) {
            return Err(usage!("--one-process: the file has no server {unknown:?}"));
        }
        if self.args.plain_names {
            gateway = gateway.naming(Naming::PlainUnlessTaken);
        }
        gateway = match self.args.tools {
            Some(ToolsArg::List) => gateway.tool_mode(ToolMode::List),
            Some(ToolsArg::Search) => gateway.tool_mode(ToolMode::Search),
            None => gateway,
        };
        Ok(gateway)
    }
}

/// Returns the first server that is called in the name of callers, and the key that says so.
fn server_of_callers(config: &GatewayConfig) -> Option<(&str, &'static str)> {
    let enabled = config.servers.iter().filter(|(_, server)| !server.disabled);
    let mut found = enabled.filter_map(|(name, server)| {
        let key = match (&server.token_exchange, &server.forward_identity) {
            (Some(_), _) => "token_exchange",
            (None, Some(_)) => "forward_identity",
            (None, None) => return None,
        };
        Some((name.as_str(), key))
    });
    found.next()
}
