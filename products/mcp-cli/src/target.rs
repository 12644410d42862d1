//! Connections to servers: by URL, by command, by name.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mcp::auth::Authorizer;
use mcp::client::{Error, Target};
use mcp::core::Channel;
use mcp::gateway::Relay;
use mcp::group::{Consents, EntryOAuth, ServerSpec, Subject};
use mcp::prelude::*;
use mcp::stdio::ChildChannel;
use mcp::{ClientBuilder, HttpChannel, ServerCommand};
use parking_lot::Mutex;
use serde_json::json;

use crate::cli::{LoginArgs, RemoteArgs, ServerArgs, TargetArgs};
use crate::config::{self, Location};
use crate::credentials;
use crate::failure::{Failure, usage};
use crate::hosts::is_secret;
use crate::output::Output;
use crate::remote::Remote;
use crate::{programs, questions, sampling, written};

/// Longest time limit: one week.
const MAX_SECONDS: f64 = 604_800.0;

/// Maximum number of servers that are remembered as silent.
const MAX_SILENT: usize = 256;

/// Time limit of each request without a token, before a login.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// The server on a command line. A login page is not opened for it.
#[derive(Debug, Clone)]
pub(crate) enum Server {
    /// A program on standard streams.
    Command(ServerCommand),
    /// A server over HTTP.
    Http(Box<Remote>),
}

/// Finds the server on the command line, and starts nothing. Returns the other words, too.
pub(crate) async fn resolve<'a>(
    args: &'a ServerArgs,
    output: &Output,
) -> Result<(Server, &'a [String]), Failure> {
    if let Some((program, rest)) = args.command.split_first() {
        let command = ServerCommand::new(program).args(rest).inherit_all_env();
        return Ok((with_env(command, args, output)?, &args.words));
    }
    let Some((target, words)) = args.words.split_first() else {
        return Err(Failure::usage(
            "no server is given; pass a URL, a name (`mcp servers` lists them), or a command after `--`",
        ));
    };
    Ok((find(target, args, true, output).await?, words))
}

/// Finds the server of a command line without further words.
pub(crate) async fn resolve_only(args: &ServerArgs, output: &Output) -> Result<Server, Failure> {
    refuse_words(args)?;
    Ok(resolve(args, output).await?.0)
}

/// Connects to the command line's server, runs `command` with the client and the other words, and closes the
/// connection.
pub(crate) async fn with_client<T>(
    args: &TargetArgs,
    output: &Output,
    command: impl AsyncFnOnce(&Client, &[String]) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let builder = builder(args, output)?;
    let (server, words) = resolve(&args.server, output).await?;
    let connected = builder.connect(server).await;
    let client = connected.map_err(|error| Failure::connect(&error))?;
    let done = command(&client, words).await;
    close(&client).await;
    done
}

/// As [`with_client`], for commands without further words.
pub(crate) async fn with_client_only<T>(
    args: &TargetArgs,
    output: &Output,
    command: impl AsyncFnOnce(&Client) -> Result<T, Failure>,
) -> Result<T, Failure> {
    refuse_words(&args.server)?;
    with_client(args, output, async |client, _| command(client).await).await
}

/// Closes a connection whose outcome is known already, so errors are ignored.
pub(crate) async fn close(client: &Client) {
    let _ = client.close().await;
}

/// Refuses words after the target. Called before the server is started.
fn refuse_words(args: &ServerArgs) -> Result<(), Failure> {
    let surplus = if args.command.is_empty() {
        args.words.get(1)
    } else {
        args.words.first()
    };
    match surplus {
        Some(word) => Err(usage!("unexpected argument {word:?}")),
        None => Ok(()),
    }
}

/// The client settings.
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
    if seconds > 0.0 && seconds <= MAX_SECONDS {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(Failure::usage(
            "--timeout must be more than 0 seconds and at most a week",
        ))
    }
}

/// Parses the value of `--protocol`.
pub(crate) fn mode(protocol: &str) -> Result<ConnectMode, Failure> {
    match protocol {
        "auto" => Ok(ConnectMode::Auto),
        "legacy" => Ok(ConnectMode::Legacy),
        version => match version.parse::<ProtocolVersion>() {
            Ok(version) => Ok(ConnectMode::Pin(version)),
            Err(error) => Err(usage!("--protocol: {error}; or `auto`, `legacy`")),
        },
    }
}

/// Finds a server by its URL or name.
async fn find(
    name: &str,
    args: &ServerArgs,
    accepts_commands: bool,
    output: &Output,
) -> Result<Server, Failure> {
    if name.contains("://") {
        return with_headers(name, &[], EntryOAuth::default(), None, args);
    }
    let (location, entry) = config::find(name, args.config.as_deref())?;
    let unusable = |reason: String| unusable(&location, name, &reason);
    let variables = entry.variables;
    let spec = entry.spec.map_err(|error| unusable(error.to_string()))?;
    if matches!(spec, ServerSpec::Command { .. }) && !accepts_commands {
        return Err(usage!(
            "the server {name:?} is a command; this command needs one with a URL"
        ));
    }
    let (program, env) =
        approve_entry(&location, name, &spec, &variables, args.yes, output).await?;
    match &spec {
        ServerSpec::Command {
            args: words, cwd, ..
        } => {
            let mut server = ServerCommand::new(program).args(words).name(name);
            for (name, value) in env {
                server = server.env(name, value);
            }
            if let Some(folder) = cwd {
                server = server.current_dir(folder);
            }
            with_env(server, args, output)
        }
        ServerSpec::Url {
            url,
            headers,
            oauth,
            ..
        } => {
            let registration = oauth.clone().unwrap_or_default();
            with_headers(url, headers, registration, Some(name), args)
        }
        _ => Err(unusable("its kind is unknown to this program".to_owned())),
    }
}

fn unusable(location: &Location, name: &str, reason: &str) -> Failure {
    let path = location.path.display();
    usage!("the server {name:?} of {path} cannot be used: {reason}")
}

/// Asks before an entry of a project file is used. Returns the program that a command starts (the file that the user has
/// seen, or the name of a program that was not found), and its environment. Both are empty for a server with a URL.
///
/// # Errors
///
/// Returns a usage [`Failure`] if the entry cannot be used, or is not approved.
pub(crate) async fn approve_entry(
    location: &Location,
    name: &str,
    spec: &ServerSpec,
    variables: &[String],
    yes: bool,
    output: &Output,
) -> Result<(String, Vec<(String, String)>), Failure> {
    let unusable = |reason: String| unusable(location, name, &reason);
    match spec {
        ServerSpec::Command {
            command,
            args,
            cwd,
            env: own_env,
            ..
        } => {
            let env = spec
                .variables()
                .map_err(|error| unusable(error.to_string()))?;
            let shown_env: Vec<_> = env
                .iter()
                .map(|(name, value)| shown_variable(name, value, own_env, variables))
                .collect();
            let folder = std::path::absolute(cwd.as_deref().unwrap_or("."));
            let folder = folder.map_err(|error| unusable(error.to_string()))?;
            let program = programs::resolve(command, &folder, &env);
            let shown = format!(
                "run the command {program:?} {args:?} in the folder {folder:?} with the environment variables \
                 {shown_env:?}{}",
                passed(variables)
            );
            let entry = (spec, &env);
            approve(location, name, &shown, &entry, yes, output).await?;
            Ok((program, env))
        }
        ServerSpec::Url {
            url,
            headers,
            oauth,
            ..
        } => {
            let shown = connection(url, headers, variables).map_err(unusable)?;
            let login = oauth
                .as_ref()
                .map(credentials::login_settings)
                .unwrap_or_default();
            let shown = format!("{shown}{login}");
            // Nobody has seen the settings of a login where --yes is the answer to everything.
            let yes = yes
                && !oauth
                    .as_ref()
                    .is_some_and(credentials::decides_about_tokens);
            approve(location, name, &shown, spec, yes, output).await?;
            Ok(Default::default())
        }
        _ => Ok(Default::default()),
    }
}

/// Opens a channel to a server over HTTP. The first request that needs a login opens the login page.
pub(crate) async fn channel_with_login(
    args: &LoginArgs,
    output: &Output,
) -> Result<HttpChannel, Failure> {
    let mut remote = remote(&args.remote, output).await?;
    if !remote.has_token {
        remote.login = credentials::interactive(&remote, args, false, output).await?;
    }
    Ok(remote.open(|channel| channel))
}

/// Finds a server over HTTP, for commands without other words.
pub(crate) async fn remote(args: &RemoteArgs, output: &Output) -> Result<Remote, Failure> {
    let target = &args.server;
    let args = ServerArgs {
        header: args.header.clone(),
        account: args.account.clone(),
        config: args.config.clone(),
        yes: args.yes,
        ..ServerArgs::default()
    };
    match find(target, &args, false, output).await? {
        Server::Http(remote) => Ok(*remote),
        Server::Command(_) => Err(Failure::usage("this command needs a server with a URL")),
    }
}

/// Describes a connection: the origin, the header names, and the variables that are sent.
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

/// Asks before a server of a project file is used. The file's author may be somebody else: a
/// command can run anything, and headers can send variables of the environment anywhere. An approval is remembered
/// for this name in the file, and for the whole question and `entry`, which the store has as a hash: both may have secrets.
// spec: SEC-01
async fn approve(
    location: &Location,
    name: &str,
    wish: &str,
    entry: &impl Hash,
    yes: bool,
    output: &Output,
) -> Result<(), Failure> {
    if !location.is_project || yes {
        return Ok(());
    }
    let path = location.path.display();
    let subject = subject(&location.path, name, wish, entry);
    let file = config::data_folder().map(|folder| folder.join("mcp/approvals.json"));
    // A file that is damaged, or that others can write, agrees to nothing.
    let consents = file.as_ref().and_then(|file| {
        let unusable = |error| output.note(&format!("approvals are not used: {error}"));
        Consents::open(file).map_err(unusable).ok()
    });
    if consents
        .as_ref()
        .is_some_and(|consents| consents.contains(&subject))
    {
        return Ok(());
    }
    if !questions::can_ask() {
        return Err(usage!(
            "servers of {path} need approval, as the file is in the current folder; check it and pass --yes; \
             settings of logins are approved in a terminal only"
        ));
    }
    let question = questions::whole(&format!("{path} wants to {wish}. Allow it?")).ok_or_else(|| {
        usage!(
            "the server of {path} is too long to be shown in a question; copy its entry to your own file if you trust it"
        )
    })?;
    if !questions::agrees(output, &question).await {
        let message = format!("the server of {path} was not approved");
        return Err(Failure::usage(message));
    }
    if let Some(file) = file {
        let folder = file.parent().map_or(Ok(()), std::fs::create_dir_all);
        let is_stored = match consents {
            Some(store) if folder.is_ok() => store.insert(&subject).await,
            _ => false,
        };
        let file = file.display();
        output.note(&if is_stored {
            format!("approved until the entry changes; {file} has the approvals")
        } else {
            format!("the approval is not remembered: {file} cannot be read or written")
        });
    }
    Ok(())
}

/// Describes an environment variable of an entry. The value is shown if it stands in the file itself, because variables
/// such as `PYTHONPATH` decide what runs. Values from the user's environment or from another file, and secrets, are not.
fn shown_variable(
    name: &str,
    value: &str,
    own: &[(String, String)],
    variables: &[String],
) -> String {
    let is_own = own.iter().any(|one| (&*one.0, &*one.1) == (name, value));
    let is_foreign = |variable: &String| {
        std::env::var(variable).is_ok_and(|text| text.is_empty() || value.contains(&text))
    };
    let is_known = variables
        .iter()
        .all(|name| std::env::var_os(name).is_some());
    if is_own && is_known && !is_secret(name) && !variables.iter().any(is_foreign) {
        format!("{name}={value}")
    } else {
        name.to_owned()
    }
}

/// Returns the subject of the user's answer about an entry of a file.
fn subject(path: &Path, name: &str, wish: &str, entry: &impl Hash) -> Subject {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut members = Members::default();
    entry.hash(&mut members);
    let definition = json!({
        "path": path.as_os_str().as_encoded_bytes(),
        "wish": wish,
        "members": members.0,
    });
    Subject::new("entry", path.to_string_lossy(), name, definition)
}

/// Collects every member of a value, for a digest.
#[derive(Default)]
struct Members(Vec<u8>);

impl Hasher for Members {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

/// Adds the variables on the command line.
fn with_env(
    mut command: ServerCommand,
    args: &ServerArgs,
    output: &Output,
) -> Result<Server, Failure> {
    if !args.header.is_empty() {
        return Err(Failure::usage(
            "--header is for servers with a URL; use --env for commands",
        ));
    }
    for variable in &args.env {
        match variable.split_once('=') {
            Some((name, value)) if !name.is_empty() => command = command.env(name, value),
            None if !variable.is_empty() => command = command.inherit_env([variable]),
            _ => {
                return Err(Failure::usage(
                    "--env needs a name: NAME=value, or NAME for the value of this environment",
                ));
            }
        }
    }
    for variable in command.withheld_env() {
        output.note(&format!(
            "the URL of {variable} contains a password, so the server does not get it; pass --env {variable}, or list it in its entry"
        ));
    }
    Ok(Server::Command(command))
}

/// Parses the values of `--header`.
pub(crate) fn headers(given: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let parsed = given.iter().map(|header| {
        // The message does not contain the header, which may be a secret.
        let (name, value) = header
            .split_once(':')
            .ok_or_else(|| Failure::usage("a --header has no colon; write `Name: value`"))?;
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    });
    parsed.collect()
}

/// Adds the headers on the command line.
fn with_headers(
    url: &str,
    headers: &[(String, String)],
    mut registration: EntryOAuth,
    name: Option<&str>,
    args: &ServerArgs,
) -> Result<Server, Failure> {
    if !args.env.is_empty() {
        return Err(Failure::usage(
            "--env is for servers that are commands; use --header for URLs",
        ));
    }
    if let Some(account) = &args.account {
        registration.account = Some(account.clone());
    }
    let headers = [headers, &self::headers(&args.header)?].concat();
    let remote = Remote::new(url, &headers, registration, name, args.config.as_deref())?;
    Ok(Server::Http(remote.with_stored_login()?.into()))
}

/// The stored logins of servers, by URL and account. All connections to a URL share one, so that a token is
/// renewed once.
#[derive(Clone, Default)]
pub(crate) struct Logins(Arc<Mutex<HashMap<LoginKey, Option<Authorizer>>>>);

type LoginKey = (String, Option<String>);

impl Logins {
    /// Connects to a server of a configuration file, without a login page.
    pub(crate) async fn connect(
        self,
        client: ClientBuilder,
        spec: ServerSpec,
    ) -> Result<Client, Error> {
        let (url, headers, oauth) = match &spec {
            ServerSpec::Url {
                url,
                headers,
                oauth,
                ..
            } => (url, headers, oauth),
            ServerSpec::Command { command, args, .. } => {
                let command = ServerCommand::new(command).args(args);
                return remember_silence(client, &command).connect(spec).await;
            }
            _ => return client.connect(spec).await,
        };
        let registration = oauth.clone().unwrap_or_default();
        let failed = |failure: Failure| Error::other(failure.to_string());
        let mut remote = Remote::new(url, headers, registration, None, None).map_err(failed)?;
        if !remote.has_token {
            remote.login = self.login(&remote).map_err(failed)?;
        }
        client.connect(Server::Http(remote.into())).await
    }

    fn login(&self, remote: &Remote) -> Result<Option<Authorizer>, Failure> {
        let key = (remote.url.clone(), remote.registration.account.clone());
        let mut logins = self.0.lock();
        if let Some(login) = logins.get(&key) {
            return Ok(login.clone());
        }
        let login = credentials::stored(remote)?;
        logins.insert(key, login.clone());
        Ok(login)
    }
}

/// Remembers whether an old server leaves the first request unanswered: each start would wait for five seconds.
fn remember_silence(client: ClientBuilder, command: &ServerCommand) -> ClientBuilder {
    let Some(folder) = config::cache_folder().map(|folder| folder.join("mcp/silent")) else {
        return client;
    };
    let file = folder.join(command.fingerprint());
    written::keep_newest(&file, MAX_SILENT);
    client.remember_silence(file)
}

impl Target for Server {
    async fn connect(self, builder: ClientBuilder) -> Result<Client, Error> {
        match self {
            Self::Command(command) => remember_silence(builder, &command).connect(command).await,
            Self::Http(remote) => {
                let Remote { channel, login, .. } = *remote;
                let builder = match &login {
                    Some(login) => builder.authorizer(login),
                    None => builder,
                };
                builder.connect(channel).await
            }
        }
    }
}

impl Server {
    /// Opens a channel to the server, each time anew, with the login that is stored now. `wrap` may wrap the HTTP
    /// client.
    pub(crate) fn open(
        &self,
        wrap: impl FnOnce(HttpChannel) -> HttpChannel,
    ) -> Result<(Box<dyn Channel>, Option<Authorizer>), Failure> {
        match self {
            Self::Command(command) => Ok((Box::new(spawn(command.clone())?), None)),
            Self::Http(remote) => {
                let remote = Remote::clone(remote).with_stored_login()?;
                Ok((Box::new(remote.open(wrap)), remote.login))
            }
        }
    }

    /// Connects a client on other streams with the server.
    pub(crate) fn relay(self) -> Result<Relay, Failure> {
        Ok(match self {
            Self::Command(command) => Relay::new(spawn(command)?),
            Self::Http(remote) => Relay::new(remote.open(|channel| channel)),
        })
    }
}

fn spawn(command: ServerCommand) -> Result<ChildChannel, Failure> {
    ChildChannel::spawn(command).map_err(|error| Failure::connect(&Error::from(error)))
}

impl Remote {
    /// Adds the login that is stored now.
    fn with_stored_login(mut self) -> Result<Self, Failure> {
        if !self.has_token {
            self.login = credentials::stored(&self)?;
        }
        Ok(self)
    }

    /// Returns true if the server answers a client that has no token. False if it cannot be reached.
    pub(crate) async fn accepts_calls_without_a_token(&self) -> bool {
        let client = Client::builder()
            .identity("mcp", env!("CARGO_PKG_VERSION"))
            .timeout(PROBE_TIMEOUT);
        let Ok(client) = client.connect(self.channel.clone()).await else {
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
        close(&client).await;
        answered
    }
}
