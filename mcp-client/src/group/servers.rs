//! The servers of a group by their connection target, and by the entries of an `mcp.json`.

use std::io;
use std::path::Path;
use std::sync::Arc;

#[cfg(feature = "http")]
use mcp_transport_http::client::HttpChannel;
#[cfg(feature = "stdio")]
use mcp_transport_stdio::ServerCommand;

use super::builder::GroupBuilder;
#[cfg(feature = "stdio")]
use super::config::PendingCommand;
use super::config::{Approval, GroupConfig, ServerEntry, ServerSpec};
use super::handle::Group;
use super::login;
use super::member::Member;
use crate::client::Client;
use crate::connect::{ClientBuilder, Target};
use crate::error::Error;

impl Group {
    /// Builds a group from an `mcp.json`'s servers, with default client settings.
    ///
    /// No server is started; a server starts when it is first needed. For other settings, read the
    /// file with [`GroupConfig::read`] and pass it to [`GroupBuilder::config`].
    ///
    /// The file's commands are run without a question, so load only files that the user has
    /// written. For other files set [`GroupConfig::approve`].
    ///
    /// # Errors
    ///
    /// Returns an [`Error`] when the file cannot be read or is malformed. An invalid entry is not an
    /// error: [`Group::health`] reports its server as unused, with the reason.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::group::Group;
    ///
    /// # async fn run() -> mcp::Result<()> {
    /// let group = Group::load("mcp.json")?;
    /// for tool in group.list_tools().await.items {
    ///     println!("{}: {}", tool.name, tool.item.description.as_deref().unwrap_or_default());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let config = GroupConfig::read(path)?;
        Ok(Self::builder().config(config, Client::builder()).build())
    }
}

impl GroupBuilder {
    /// Adds a server by its connection [target](Target). Each connection uses the settings of
    /// `client`. A server with the same name is replaced.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::Client;
    /// use mcp::group::Group;
    ///
    /// let group = Group::builder()
    ///     .target("weather", "https://example.com/mcp", Client::builder())
    ///     .build();
    /// ```
    pub fn target(
        self,
        name: &str,
        target: impl Target + Clone + Sync + 'static,
        client: ClientBuilder,
    ) -> Self {
        self.add(Member::new(name, move |login| {
            let (target, client) = (target.clone(), login.apply(client.clone()));
            Box::pin(async move { client.connect(target).await })
        }))
    }

    /// Adds the servers in a configuration file. Each connection uses the settings of `client`,
    /// such as its handlers and timeouts. A login of `client` is for the servers with a URL.
    ///
    /// A disabled or invalid entry becomes an unused server; [`Group::health`] gives the reason.
    pub fn config(self, config: GroupConfig, client: ClientBuilder) -> Self {
        let client = login::for_file(client);
        let (file, approval) = (config.file, config.approval);
        let entries = config.servers.into_iter();
        entries.fold(self, |group, entry| {
            group.entry(entry, client.clone(), file.clone(), approval.clone())
        })
    }

    fn entry(
        self,
        entry: ServerEntry,
        client: ClientBuilder,
        file: Option<Arc<str>>,
        approval: Approval,
    ) -> Self {
        let name: Arc<str> = entry.name.into();
        match entry.spec {
            _ if entry.is_disabled => {
                self.unused(&name, "it is disabled in the configuration file")
            }
            Ok(spec) => self.add(Member::new(&name.clone(), move |login| {
                let (name, client) = (Some(name.clone()), login.apply(client.clone()));
                let (file, approval) = (file.clone(), approval.clone());
                Box::pin(connect(spec.clone(), name, client, file, approval))
            })),
            Err(error) => self.unused(&name, error.to_string()),
        }
    }
}

impl Target for ServerSpec {
    async fn connect(self, builder: ClientBuilder) -> Result<Client, Error> {
        connect(self, None, builder, None, Approval::default()).await
    }
}

/// Connects to an `mcp.json` entry's server. Errors of a child process contain `name`.
#[cfg_attr(
    not(feature = "stdio"),
    expect(
        unused_variables,
        reason = "only child processes use the name and the approval"
    )
)]
#[cfg_attr(
    not(any(feature = "stdio", feature = "http")),
    expect(
        clippy::unused_async,
        reason = "without a transport nothing is awaited"
    )
)]
async fn connect(
    spec: ServerSpec,
    name: Option<Arc<str>>,
    builder: ClientBuilder,
    file: Option<Arc<str>>,
    approval: Approval,
) -> Result<Client, Error> {
    match &spec {
        #[cfg(feature = "stdio")]
        ServerSpec::Command {
            command, args, cwd, ..
        } => {
            let name = name.or_else(|| builder.server_name.clone());
            let pending = PendingCommand {
                file,
                server: name.clone().unwrap_or_default(),
                command: command.clone(),
                args: args.clone(),
                env: read_variables(spec.clone()).await.map_err(Error::other)?,
                cwd: cwd.clone(),
            };
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
        #[cfg(feature = "http")]
        ServerSpec::Url {
            url,
            headers,
            oauth,
        } => {
            let builder = match oauth {
                Some(oauth) => login::with_registration(builder, oauth),
                None => builder,
            };
            let mut channel = HttpChannel::new(url)?;
            for (name, value) in headers {
                channel = channel.header(name.as_str(), value.as_str())?;
            }
            builder.connect(channel).await
        }
        #[cfg(not(all(feature = "stdio", feature = "http")))]
        other => {
            let (feature, task) = match other {
                ServerSpec::Command { .. } => ("stdio", "starts commands"),
                ServerSpec::Url { .. } => ("http", "calls URLs"),
            };
            let text = format!(
                "this program was built without the feature `{feature}` of omnimcp, which {task}"
            );
            let error = io::Error::new(io::ErrorKind::Unsupported, text);
            Err(Error::other(error))
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
