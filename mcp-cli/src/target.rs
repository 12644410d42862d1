//! Connections to servers: by URL, by command, by name.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use mcp::auth::Authorizer;
use mcp::client::Error;
use mcp::core::{BoxFuture, Channel, ChannelError};
use mcp::gateway::Relay;
use mcp::group::{ServerEntry, ServerSpec};
use mcp::prelude::*;
use mcp::stdio::ChildChannel;
use mcp::{ClientBuilder, HttpChannel, HttpClient, ServerCommand};
use tower_service::Service;

use crate::cli::{LoginArgs, RemoteArgs, ServerArgs, TargetArgs};
use crate::config::{self, Location};
use crate::credentials;
use crate::failure::Failure;
use crate::output::Output;
use crate::{questions, sampling};

/// Longest time limit: one week.
const MAX_SECONDS: f64 = 604_800.0;

/// Time limit of each request without a token, before a login.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// An error of an HTTP client.
type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The server of a command line.
#[derive(Debug)]
pub(crate) enum Server {
    /// A program on standard streams.
    Command(ServerCommand),
    /// A server over HTTP.
    Http(Remote),
}

/// A server over HTTP.
pub(crate) struct Remote {
    pub(crate) url: String,
    /// Headers of the configuration file.
    headers: Vec<(String, String)>,
    /// Headers of the command line: `Name: value`.
    given: Vec<String>,
}

/// Finds the server of the command line, and starts nothing. Returns the other words, too.
pub(crate) async fn resolve<'a>(
    args: &'a ServerArgs,
    output: &Output,
) -> Result<(Server, &'a [String]), Failure> {
    if let Some((program, rest)) = args.command.split_first() {
        let command = ServerCommand::new(program).args(rest).inherit_all_env();
        return Ok((with_env(command, args)?, &args.words));
    }
    let Some((target, words)) = args.words.split_first() else {
        return Err(Failure::usage(
            "no server is given; pass a URL, a name (`mcp servers` lists them), or a command after `--`",
        ));
    };
    let server = if target.contains("://") {
        with_headers(target.clone(), Vec::new(), args)?
    } else {
        named(target, args, output).await?
    };
    Ok((server, words))
}

/// Finds the server of a command line without further words.
pub(crate) async fn resolve_only(args: &ServerArgs, output: &Output) -> Result<Server, Failure> {
    refuse_words(args)?;
    Ok(resolve(args, output).await?.0)
}

/// Connects to the server of the command line. Returns the client and the other words.
pub(crate) async fn connect<'a>(
    args: &'a TargetArgs,
    output: &Output,
) -> Result<(Client, &'a [String]), Failure> {
    let builder = builder(args, output)?;
    let (server, words) = resolve(&args.server, output).await?;
    let connected = match server {
        Server::Command(command) => builder.connect(command).await,
        Server::Http(remote) => {
            let builder = match remote.authorizer()? {
                Some(authorizer) => builder.authorizer(&authorizer),
                None => builder,
            };
            builder.connect(remote.channel(None)?).await
        }
    };
    let client = connected.map_err(|error| Failure::connect(&error))?;
    Ok((client, words))
}

/// Connects to the server of a command line without further words.
pub(crate) async fn connect_only(args: &TargetArgs, output: &Output) -> Result<Client, Failure> {
    refuse_words(&args.server)?;
    let (client, _) = connect(args, output).await?;
    Ok(client)
}

/// Refuses words after the target. Called before the server is started.
fn refuse_words(args: &ServerArgs) -> Result<(), Failure> {
    let surplus = match args.command.is_empty() {
        true => args.words.get(1),
        false => args.words.first(),
    };
    match surplus {
        Some(word) => Err(Failure::usage(format!("the word {word:?} is too much"))),
        None => Ok(()),
    }
}

/// The settings of the client.
pub(crate) fn builder(args: &TargetArgs, output: &Output) -> Result<ClientBuilder, Failure> {
    let (forms, urls) = (*output, *output);
    let limit = time_limit(args.timeout)?;
    let builder = Client::builder()
        .identity("mcp", env!("CARGO_PKG_VERSION"))
        .mode(mode(&args.protocol)?)
        .tasks()
        .timeout(limit)
        .on_elicit(move |form| questions::form(forms, form))
        .on_elicit_url(move |visit| questions::visit(urls, visit));
    // Without a command the capability is not declared, so that servers do not ask.
    Ok(match args.sample_with.clone() {
        Some(command) => {
            builder.on_sample(move |request| sampling::sample(command.clone(), limit, request))
        }
        None => builder,
    })
}

/// Checks the value of `--timeout`.
pub(crate) fn time_limit(seconds: f64) -> Result<Duration, Failure> {
    match seconds > 0.0 && seconds <= MAX_SECONDS {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => Err(Failure::usage(
            "--timeout must be more than 0 seconds and at most a week",
        )),
    }
}

/// Parses the value of `--protocol`.
pub(crate) fn mode(protocol: &str) -> Result<ConnectMode, Failure> {
    match protocol {
        "auto" => Ok(ConnectMode::Auto),
        "legacy" => Ok(ConnectMode::Legacy),
        version => match version.parse::<ProtocolVersion>() {
            Ok(version) => Ok(ConnectMode::Pin(version)),
            Err(error) => Err(Failure::usage(format!(
                "--protocol: {error}; or `auto`, `legacy`"
            ))),
        },
    }
}

async fn named(name: &str, args: &ServerArgs, output: &Output) -> Result<Server, Failure> {
    let (location, entry) = config::find(name, args.config.as_deref())?;
    let unusable = |reason: String| unusable(name, &location, &reason);
    let variables = entry.variables.clone();
    let spec = usable_spec(entry, &location)?;
    match &spec {
        ServerSpec::Command {
            command,
            args: words,
            cwd,
            ..
        } => {
            let reading = spec.clone();
            let read = tokio::task::spawn_blocking(move || reading.variables());
            let env = read.await.map_err(|error| unusable(error.to_string()))?;
            let env = env.map_err(|error| unusable(error.to_string()))?;
            let names: Vec<_> = env.iter().map(|(name, _)| name.as_str()).collect();
            let folder = std::path::absolute(cwd.as_deref().unwrap_or("."));
            let folder = folder.map_err(|error| unusable(error.to_string()))?;
            let shown = format!(
                "run the command {command:?} {words:?} in the folder {folder:?} with the environment variables \
                 {names:?}{}",
                passed(&variables)
            );
            approve(&location, &shown, args.yes, output).await?;
            let mut server = ServerCommand::new(command).args(words).name(name);
            for (name, value) in env {
                server = server.env(name, value);
            }
            if let Some(folder) = cwd {
                server = server.current_dir(folder);
            }
            with_env(server, args)
        }
        ServerSpec::Url { url, headers, .. } => {
            let shown = connection(url, headers, &variables).map_err(unusable)?;
            approve(&location, &shown, args.yes, output).await?;
            with_headers(url.clone(), headers.clone(), args)
        }
        _ => Err(unusable("its kind is unknown to this program".to_owned())),
    }
}

fn usable_spec(entry: ServerEntry, location: &Location) -> Result<ServerSpec, Failure> {
    let ServerEntry { name, spec, .. } = entry;
    spec.map_err(|error| unusable(&name, location, &error.to_string()))
}

fn unusable(name: &str, location: &Location, reason: &str) -> Failure {
    let path = location.path.display();
    Failure::usage(format!(
        "the server {name:?} of {path} cannot be used: {reason}"
    ))
}

/// Opens a channel to a server over HTTP. The first request that needs a login opens the login page.
pub(crate) async fn channel_with_login(
    args: &LoginArgs,
    output: &Output,
) -> Result<HttpChannel, Failure> {
    let remote = remote(&args.remote, output).await?;
    let authorizer = if remote.has_token() {
        None
    } else {
        credentials::interactive(&remote.url, args, false, output)?
    };
    remote.channel(authorizer.as_ref())
}

/// Finds a server over HTTP, for commands without other words.
pub(crate) async fn remote(args: &RemoteArgs, output: &Output) -> Result<Remote, Failure> {
    let target = &args.server;
    let remote = |url, headers| Remote {
        url,
        headers,
        given: args.header.clone(),
    };
    if target.contains("://") {
        return Ok(remote(target.clone(), Vec::new()));
    }
    let (location, entry) = config::find(target, args.config.as_deref())?;
    let variables = entry.variables.clone();
    match usable_spec(entry, &location)? {
        ServerSpec::Url { url, headers, .. } => {
            let shown = connection(&url, &headers, &variables)
                .map_err(|reason| unusable(target, &location, &reason))?;
            approve(&location, &shown, args.yes, output).await?;
            Ok(remote(url, headers))
        }
        _ => Err(Failure::usage(format!(
            "the server {target:?} is a command; this command needs one with a URL"
        ))),
    }
}

/// Describes a connection: the origin, the names of headers, and the variables that are sent.
fn connection(
    url: &str,
    headers: &[(String, String)],
    variables: &[String],
) -> Result<String, String> {
    let url = config::parse_url(url).ok_or("its URL is not an http: or https: URL with a host")?;
    let origin = url.origin().ascii_serialization();
    let names: Vec<_> = headers.iter().map(|(name, _)| name.as_str()).collect();
    let passed = passed(variables);
    Ok(format!(
        "connect to {origin} with the headers {names:?}{passed}"
    ))
}

/// Names the variables of this environment whose values a server gets.
fn passed(variables: &[String]) -> String {
    match variables {
        [] => String::new(),
        names => format!(", passing on the values of the variables {names:?}"),
    }
}

/// Asks before a server of a project file is used. The author of the file may be somebody else: a
/// command can run anything, and headers can send variables of the environment anywhere.
async fn approve(
    location: &Location,
    wish: &str,
    yes: bool,
    output: &Output,
) -> Result<(), Failure> {
    if !location.is_project || yes {
        return Ok(());
    }
    let path = location.path.display();
    if !questions::can_ask() {
        return Err(Failure::usage(format!(
            "servers of {path} need approval, as the file is in the current folder; check it and pass --yes"
        )));
    }
    let question = format!("{path} wants to {wish}. Allow it?");
    if questions::agrees(output, &question).await {
        Ok(())
    } else {
        let message = format!("the server of {path} was not approved");
        Err(Failure::usage(message))
    }
}

/// Adds the variables of the command line.
fn with_env(mut command: ServerCommand, args: &ServerArgs) -> Result<Server, Failure> {
    if !args.header.is_empty() {
        return Err(Failure::usage(
            "--header is for servers with a URL; use --env for commands",
        ));
    }
    for variable in &args.env {
        match variable.split_once('=') {
            Some((name, value)) if !name.is_empty() => command = command.env(name, value),
            _ => return Err(Failure::usage("a --env is no variable; write NAME=value")),
        }
    }
    Ok(Server::Command(command))
}

/// Adds the headers of the command line.
fn with_headers(
    url: String,
    headers: Vec<(String, String)>,
    args: &ServerArgs,
) -> Result<Server, Failure> {
    if !args.env.is_empty() {
        return Err(Failure::usage(
            "--env is for servers that are commands; use --header for URLs",
        ));
    }
    Ok(Server::Http(Remote {
        url,
        headers,
        given: args.header.clone(),
    }))
}

/// The stored logins of servers, by URL. All connections to a URL share one, so that a token is renewed
/// once.
#[derive(Clone, Default)]
pub(crate) struct Logins(Arc<Mutex<HashMap<String, Option<Authorizer>>>>);

impl Logins {
    /// Connects to a server of a configuration file, without a login page.
    pub(crate) async fn connect(
        self,
        client: ClientBuilder,
        spec: ServerSpec,
    ) -> Result<Client, Error> {
        let ServerSpec::Url { url, headers, .. } = spec else {
            return client.connect(spec).await;
        };
        let remote = Remote {
            url,
            headers,
            given: Vec::new(),
        };
        let channel = self.channel(&remote);
        let channel = channel.map_err(|failure| Error::other(failure.to_string()))?;
        client.connect(channel).await
    }

    fn channel(&self, remote: &Remote) -> Result<HttpChannel, Failure> {
        if remote.has_token() {
            return remote.channel(None);
        }
        let mut logins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let login = match logins.get(&remote.url) {
            Some(login) => login.clone(),
            None => {
                let login = credentials::stored(&remote.url)?;
                logins.insert(remote.url.clone(), login.clone());
                login
            }
        };
        drop(logins);
        remote.channel(login.as_ref())
    }
}

/// A function that connects to a server, each time anew.
pub(crate) type Connector =
    Box<dyn Fn(ClientBuilder) -> BoxFuture<'static, Result<Client, Error>> + Send + Sync>;

impl Server {
    /// Returns a function that connects to the server, without a login page.
    pub(crate) fn connector(self) -> Result<Connector, Failure> {
        Ok(match self {
            Self::Command(command) => {
                Box::new(move |client| Box::pin(client.connect(command.clone())))
            }
            Self::Http(remote) => {
                let authorizer = remote.authorizer()?;
                // Headers are checked before the first connection.
                remote.channel(authorizer.as_ref())?;
                Box::new(move |client| {
                    let channel = remote.channel(authorizer.as_ref());
                    Box::pin(async move {
                        let channel =
                            channel.map_err(|failure| Error::other(failure.to_string()))?;
                        client.connect(channel).await
                    })
                })
            }
        })
    }

    /// Opens a channel to the server, each time anew, without a login page. HTTP requests go through the
    /// service that `wrap` makes.
    pub(crate) fn channel<S, B>(
        &self,
        wrap: impl FnOnce(HttpClient) -> S,
    ) -> Result<(Box<dyn Channel>, Option<Authorizer>), Failure>
    where
        S: Service<Request<Bytes>, Response = Response<B>> + Clone + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Into<BoxError>,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<BoxError>,
    {
        match self {
            Self::Command(command) => {
                let channel = ChildChannel::spawn(command.clone());
                let channel = channel.map_err(|error| Failure::connect(&Error::from(error)))?;
                Ok((Box::new(channel), None))
            }
            Self::Http(remote) => {
                let authorizer = remote.authorizer()?;
                let usage = |error: ChannelError| Failure::usage(error.to_string());
                let client = wrap(HttpClient::new().map_err(usage)?);
                let channel = match &authorizer {
                    Some(it) => HttpChannel::with_service(&remote.url, it.service(client)),
                    None => HttpChannel::with_service(&remote.url, client),
                };
                let channel = remote.with_headers(channel.map_err(usage)?)?;
                Ok((Box::new(channel), authorizer))
            }
        }
    }

    /// Connects a client on other streams with the server, without a login page.
    pub(crate) fn relay(self) -> Result<Relay, Failure> {
        match self {
            Self::Command(command) => {
                let channel = ChildChannel::spawn(command);
                let channel = channel.map_err(|error| Failure::connect(&Error::from(error)))?;
                Ok(Relay::new(channel))
            }
            Self::Http(remote) => {
                let authorizer = remote.authorizer()?;
                Ok(Relay::new(remote.channel(authorizer.as_ref())?))
            }
        }
    }
}

impl Remote {
    /// Returns whether the user gives a token. Then no stored one is used.
    pub(crate) fn has_token(&self) -> bool {
        let given = self.given.iter().filter_map(|it| it.split_once(':'));
        let configured = self.headers.iter().map(|(name, value)| (&**name, &**value));
        given
            .chain(configured)
            .any(|(name, _)| name.trim().eq_ignore_ascii_case("authorization"))
    }

    /// The stored token, without a login page.
    pub(crate) fn authorizer(&self) -> Result<Option<Authorizer>, Failure> {
        match self.has_token() {
            true => Ok(None),
            false => credentials::stored(&self.url),
        }
    }

    /// Returns true if the server answers a client that has no token. False if it cannot be reached.
    pub(crate) async fn accepts_calls_without_a_token(&self) -> bool {
        let Ok(channel) = self.channel(None) else {
            return false;
        };
        let client = Client::builder()
            .identity("mcp", env!("CARGO_PKG_VERSION"))
            .timeout(PROBE_TIMEOUT);
        let Ok(client) = client.connect(channel).await else {
            return false;
        };
        let has_tools = client
            .server_capabilities()
            .is_none_or(|has| has.tools.is_some());
        let answered = if has_tools {
            client.list_tools().await.is_ok()
        } else {
            client.ping().await.is_ok()
        };
        // The answer is known already.
        let _ = client.close().await;
        answered
    }

    fn channel(&self, authorizer: Option<&Authorizer>) -> Result<HttpChannel, Failure> {
        let channel = match authorizer {
            Some(authorizer) => HttpClient::new().and_then(|client| {
                HttpChannel::with_service(&self.url, authorizer.service(client))
            }),
            None => HttpChannel::new(&self.url),
        };
        self.with_headers(channel.map_err(|error| Failure::usage(error.to_string()))?)
    }

    /// Adds the headers to a channel.
    pub(crate) fn with_headers(&self, mut channel: HttpChannel) -> Result<HttpChannel, Failure> {
        let usage = |error: &dyn fmt::Display| Failure::usage(error.to_string());
        for (name, value) in &self.headers {
            channel = channel
                .header(name.as_str(), value.as_str())
                .map_err(|error| usage(&error))?;
        }
        for header in &self.given {
            // The message does not contain the header, which may be a secret.
            let Some((name, value)) = header.split_once(':') else {
                return Err(Failure::usage(
                    "a --header has no colon; write `Name: value`",
                ));
            };
            channel = channel
                .header(name.trim(), value.trim())
                .map_err(|error| usage(&error))?;
        }
        Ok(channel)
    }
}

/// Shows no header, and no query of the URL: they may be secrets.
impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("url", &config::public_url(&self.url))
            .finish_non_exhaustive()
    }
}
