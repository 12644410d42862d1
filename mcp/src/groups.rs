//! `Group::load`, and groups whose servers are connection targets.

use std::io;
use std::path::Path;
use std::sync::Arc;

#[cfg(feature = "stdio")]
use mcp_client::group::PendingCommand;
use mcp_client::group::{Approval, Group, GroupBuilder, GroupConfig, ServerEntry, ServerSpec};
use mcp_client::{Client, ClientBuilder};
#[cfg(feature = "http-client")]
use mcp_transport_http::HttpChannel;
#[cfg(feature = "stdio")]
use mcp_transport_stdio::ServerCommand;

use crate::connect::ConnectWith as _;
use crate::error::Result;
use crate::target::{self, Target};

mod sealed {
    #![expect(unnameable_types, reason = "seals the traits")]

    pub trait Group {}
    pub trait GroupBuilder {}
    impl Group for mcp_client::group::Group {}
    impl GroupBuilder for mcp_client::group::GroupBuilder {}
}

/// Adds `load` to [`Group`].
pub trait LoadGroup: sealed::Group {
    /// Builds a group of the servers of an `mcp.json`, with default client settings.
    ///
    /// No server is started; a server starts when it is first needed. For other settings, read the
    /// file with [`GroupConfig::read`] and pass it to [`config`](AddServers::config).
    ///
    /// The commands of the file are run without a question, so load only files that the user has
    /// written. For other files set [`GroupConfig::approve`].
    ///
    /// # Errors
    ///
    /// Returns an error when the file cannot be read or is malformed. An invalid entry is not an
    /// error: [`Group::health`] reports its server as unused, with the reason.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::group::Group;
    /// use mcp::prelude::*;
    ///
    /// # async fn run() -> mcp::Result<()> {
    /// let group = Group::load("mcp.json")?;
    /// for tool in group.list_tools().await.items {
    ///     println!("{}: {}", tool.name, tool.item.description());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    fn load(path: impl AsRef<Path>) -> Result<Group>;
}

impl LoadGroup for Group {
    fn load(path: impl AsRef<Path>) -> Result<Self> {
        let config = GroupConfig::read(path)?;
        Ok(Self::builder().config(config, Client::builder()).build())
    }
}

/// Adds `config` and `target` to [`GroupBuilder`].
pub trait AddServers: sealed::GroupBuilder + Sized {
    /// Adds the servers of a configuration file. Each connection uses the settings of `client`,
    /// such as its handlers and timeouts.
    ///
    /// A disabled or invalid entry becomes an unused server; [`Group::health`] gives the reason.
    #[must_use]
    fn config(self, config: GroupConfig, client: ClientBuilder) -> Self;

    /// Adds a server by its connection [target](Target). Each connection uses the settings of
    /// `client`.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::group::Group;
    /// use mcp::prelude::*;
    ///
    /// # #[cfg(feature = "http-client")]
    /// let group = Group::builder()
    ///     .target("weather", "https://example.com/mcp", Client::builder())
    ///     .build();
    /// ```
    #[must_use]
    fn target(
        self,
        name: &str,
        target: impl Target + Clone + Sync + 'static,
        client: ClientBuilder,
    ) -> Self;
}

impl AddServers for GroupBuilder {
    fn config(self, config: GroupConfig, client: ClientBuilder) -> Self {
        let approval = config.approval();
        let entries = config.servers.into_iter();
        entries.fold(self, |group, entry| {
            add_entry(group, entry, client.clone(), approval.clone())
        })
    }

    fn target(
        self,
        name: &str,
        target: impl Target + Clone + Sync + 'static,
        client: ClientBuilder,
    ) -> Self {
        self.server(name, move || {
            let (target, client) = (target.clone(), client.clone());
            async move { client.connect(target).await }
        })
    }
}

fn add_entry(
    group: GroupBuilder,
    entry: ServerEntry,
    client: ClientBuilder,
    approval: Approval,
) -> GroupBuilder {
    let name: Arc<str> = entry.name.into();
    match entry.spec {
        _ if entry.is_disabled => group.unused(&name, "it is disabled in the configuration file"),
        Ok(spec) => group.server(&name.clone(), move || {
            let name = Some(name.clone());
            connect_spec(spec.clone(), name, client.clone(), approval.clone())
        }),
        Err(error) => group.unused(&name, error.to_string()),
    }
}

impl target::sealed::Sealed for ServerSpec {}

impl Target for ServerSpec {
    async fn connect(self, builder: ClientBuilder) -> Result<Client> {
        connect_spec(self, None, builder, Approval::default()).await
    }
}

/// Connects to the server of an `mcp.json` entry. Errors of a child process contain `name`.
#[cfg_attr(
    not(feature = "stdio"),
    expect(
        unused_variables,
        reason = "only child processes use the name and the approval"
    )
)]
#[cfg_attr(
    not(any(feature = "stdio", feature = "http-client")),
    expect(
        clippy::unused_async,
        reason = "without a transport nothing is awaited"
    )
)]
async fn connect_spec(
    spec: ServerSpec,
    name: Option<Arc<str>>,
    builder: ClientBuilder,
    approval: Approval,
) -> Result<Client> {
    match &spec {
        #[cfg(feature = "stdio")]
        ServerSpec::Command {
            command, args, cwd, ..
        } => {
            let server = name.clone().unwrap_or_default();
            let mut pending = PendingCommand::new(server, command);
            pending.args.clone_from(args);
            pending.cwd.clone_from(cwd);
            pending.env = read_variables(spec.clone()).await?;
            approval.check(pending.clone()).await?;
            // The process receives exactly what was approved.
            let mut command = ServerCommand::new(command).args(args);
            for (name, value) in pending.env {
                command = command.env(name, value);
            }
            if let Some(directory) = cwd {
                command = command.current_dir(directory);
            }
            if let Some(name) = name {
                command = command.name(&*name);
            }
            builder.connect(command).await
        }
        #[cfg(feature = "http-client")]
        ServerSpec::Url { url, headers, .. } => {
            let mut channel = HttpChannel::new(url)?;
            for (name, value) in headers {
                channel = channel.header(name.as_str(), value.as_str())?;
            }
            builder.connect(channel).await
        }
        other => {
            let text = format!("this program was built without the feature to reach {other:?}");
            Err(io::Error::new(io::ErrorKind::Unsupported, text).into())
        }
    }
}

/// Reads the environment variables of an entry on a blocking thread, because its `envFile` can be a
/// pipe that delivers data late.
#[cfg(feature = "stdio")]
async fn read_variables(spec: ServerSpec) -> io::Result<Vec<(String, String)>> {
    tokio::task::spawn_blocking(move || spec.variables())
        .await
        .map_err(io::Error::other)?
}
