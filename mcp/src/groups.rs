//! Groups from files: what an entry of `mcp.json` becomes.

use std::io;
use std::path::Path;
use std::sync::Arc;

use mcp_client::group::{Group, GroupBuilder, GroupConfig, ServerEntry, ServerSpec};
use mcp_client::{Client, ClientBuilder};
#[cfg(feature = "http-client")]
use mcp_transport_http::HttpChannel;
#[cfg(feature = "stdio")]
use mcp_transport_stdio::ServerCommand;

use crate::{ConnectWith as _, Result, Target};

mod sealed {
    #![expect(unnameable_types, reason = "seals the traits")]

    pub trait Group {}
    pub trait Builder {}
    impl Group for mcp_client::group::Group {}
    impl Builder for mcp_client::group::GroupBuilder {}
}

/// Gives [`Group`] its `load`.
pub trait LoadGroup: sealed::Group {
    /// The servers of an `mcp.json`, each connected to with the defaults. None is started yet.
    ///
    /// To set more, read the file with [`GroupConfig::read`] and give it to
    /// [`config`](AddServers::config).
    ///
    /// # Errors
    ///
    /// When the file cannot be read. What is wrong with one entry is told by the
    /// [health](Group::health) of its server.
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

/// Gives what [`Group::builder`] makes its `config` and `target`.
pub trait AddServers: sealed::Builder + Sized {
    /// Adds the servers of a file, each connected to with the settings of `client`: who answers
    /// what servers ask, how long calls may take. Entries that are switched off or wrong are
    /// servers that are not used.
    #[must_use]
    fn config(self, config: GroupConfig, client: ClientBuilder) -> Self;

    /// Adds a server by where it [is](Target), connected to with the settings of `client` each
    /// time it is started.
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
        let add = |group: Self, entry| add(group, entry, client.clone());
        config.servers.into_iter().fold(self, add)
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

fn add(group: GroupBuilder, entry: ServerEntry, client: ClientBuilder) -> GroupBuilder {
    let name: Arc<str> = entry.name.into();
    match entry.spec {
        _ if entry.is_disabled => group.unused(&name, "the file has it switched off"),
        Ok(spec) => group.server(&name.clone(), move || {
            reach(spec.clone(), Some(name.clone()), client.clone())
        }),
        Err(error) => group.unused(&name, error.to_string()),
    }
}

impl crate::target::sealed::Sealed for ServerSpec {}

impl Target for ServerSpec {
    async fn connect(self, builder: ClientBuilder) -> Result<Client> {
        reach(self, None, builder).await
    }
}

/// Connects to a server; errors call a program by its `name`, where it has one.
#[cfg_attr(
    not(feature = "stdio"),
    expect(unused_variables, reason = "programs alone have a name")
)]
#[cfg_attr(
    not(any(feature = "stdio", feature = "http-client")),
    expect(clippy::unused_async, reason = "there is no way to a server")
)]
async fn reach(spec: ServerSpec, name: Option<Arc<str>>, builder: ClientBuilder) -> Result<Client> {
    match &spec {
        #[cfg(feature = "stdio")]
        ServerSpec::Command {
            command, args, cwd, ..
        } => {
            let mut command = ServerCommand::new(command).args(args);
            for (name, value) in variables(spec.clone()).await? {
                command = command.env(name, value);
            }
            if let Some(folder) = cwd {
                command = command.current_dir(folder);
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

/// The file of variables may be a pipe that somebody has to fill.
#[cfg(feature = "stdio")]
async fn variables(spec: ServerSpec) -> io::Result<Vec<(String, String)>> {
    let reading = tokio::task::spawn_blocking(move || spec.variables());
    reading.await.map_err(io::Error::other)?
}
