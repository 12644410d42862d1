//! Connections to servers: by URL, by command, by name.

use std::time::Duration;

use mcp::group::{ServerEntry, ServerSpec};
use mcp::prelude::*;
use mcp::{ClientBuilder, HttpChannel, ServerCommand};

use crate::cli::TargetArgs;
use crate::config::{self, Location};
use crate::failure::Failure;
use crate::output::Output;
use crate::questions;

/// Longest time limit: one week.
const MAX_SECONDS: f64 = 604_800.0;

/// Connects to the server of the command line. Returns the client and the other words.
pub(crate) async fn connect<'a>(
    args: &'a TargetArgs,
    output: &Output,
) -> Result<(Client, &'a [String]), Failure> {
    let builder = builder(args, output)?;
    if let Some((program, rest)) = args.command.split_first() {
        let command = ServerCommand::new(program).args(rest).inherit_all_env();
        let client = start(command, args, builder).await?;
        return Ok((client, &args.words));
    }
    let Some((target, words)) = args.words.split_first() else {
        return Err(Failure::usage(
            "no server is given; pass a URL, a name (`mcp servers` lists them), or a command after `--`",
        ));
    };
    let client = if target.contains("://") {
        open(target, &[], args, builder).await?
    } else {
        named(target, args, builder, output).await?
    };
    Ok((client, words))
}

/// Connects to the server of a command line without further words.
pub(crate) async fn connect_only(args: &TargetArgs, output: &Output) -> Result<Client, Failure> {
    let (client, words) = connect(args, output).await?;
    match words.first() {
        None => Ok(client),
        Some(word) => Err(Failure::usage(format!("the word {word:?} is too much"))),
    }
}

fn builder(args: &TargetArgs, output: &Output) -> Result<ClientBuilder, Failure> {
    if !(args.timeout > 0.0 && args.timeout <= MAX_SECONDS) {
        return Err(Failure::usage(
            "--timeout must be more than 0 seconds and at most a week",
        ));
    }
    let (forms, urls) = (*output, *output);
    Ok(Client::builder()
        .identity("mcp", env!("CARGO_PKG_VERSION"))
        .mode(mode(&args.protocol)?)
        .timeout(Duration::from_secs_f64(args.timeout))
        .on_elicit(move |form| questions::form(forms, form))
        .on_elicit_url(move |visit| questions::visit(urls, visit)))
}

fn mode(protocol: &str) -> Result<ConnectMode, Failure> {
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

async fn named(
    name: &str,
    args: &TargetArgs,
    builder: ClientBuilder,
    output: &Output,
) -> Result<Client, Failure> {
    let (location, entry) = config::find(name, args.config.as_deref())?;
    let unusable = |reason: String| {
        let path = location.path.display();
        Failure::usage(format!(
            "the server {name:?} of {path} cannot be used: {reason}"
        ))
    };
    let ServerEntry { spec, .. } = entry;
    let spec = spec.map_err(|error| unusable(error.to_string()))?;
    match &spec {
        ServerSpec::Command {
            command,
            args: words,
            cwd,
            ..
        } => {
            let reading = spec.clone();
            let read = tokio::task::spawn_blocking(move || reading.variables());
            let variables = read.await.map_err(|error| unusable(error.to_string()))?;
            let variables = variables.map_err(|error| unusable(error.to_string()))?;
            let names: Vec<_> = variables.iter().map(|(name, _)| name.as_str()).collect();
            let shown = format!("run {command} {words:?} with the variables {names:?}");
            approve(&location, &shown, args, output).await?;
            let mut server = ServerCommand::new(command).args(words).name(name);
            for (name, value) in variables {
                server = server.env(name, value);
            }
            if let Some(folder) = cwd {
                server = server.current_dir(folder);
            }
            start(server, args, builder).await
        }
        ServerSpec::Url { url, headers, .. } => {
            let names: Vec<_> = headers.iter().map(|(name, _)| name.as_str()).collect();
            let shown = format!(
                "connect to {} with the headers {names:?}",
                config::public_url(url)
            );
            approve(&location, &shown, args, output).await?;
            open(url, headers, args, builder).await
        }
        _ => Err(unusable("its kind is unknown to this program".to_owned())),
    }
}

/// Asks before a server of a project file is used. The author of the file may be somebody else: a
/// command can run anything, and headers can send variables of the environment anywhere.
async fn approve(
    location: &Location,
    wish: &str,
    args: &TargetArgs,
    output: &Output,
) -> Result<(), Failure> {
    if !location.is_project || args.yes {
        return Ok(());
    }
    let path = location.path.display();
    if !questions::can_ask() {
        return Err(Failure::usage(format!(
            "servers of {path} need approval, as the file is in the current folder; check it and pass --yes"
        )));
    }
    match questions::agrees(output, &format!("{path} wants to {wish}. Allow it?")).await {
        true => Ok(()),
        false => Err(Failure::usage(format!(
            "the server of {path} was not approved"
        ))),
    }
}

async fn start(
    mut command: ServerCommand,
    args: &TargetArgs,
    builder: ClientBuilder,
) -> Result<Client, Failure> {
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
    let connected = builder.connect(command).await;
    connected.map_err(|error| Failure::connect(&error))
}

async fn open(
    url: &str,
    headers: &[(String, String)],
    args: &TargetArgs,
    builder: ClientBuilder,
) -> Result<Client, Failure> {
    if !args.env.is_empty() {
        return Err(Failure::usage(
            "--env is for servers that are commands; use --header for URLs",
        ));
    }
    let usage = |error: &dyn std::fmt::Display| Failure::usage(error.to_string());
    let mut channel = HttpChannel::new(url).map_err(|error| usage(&error))?;
    for (name, value) in headers {
        channel = channel
            .header(name.as_str(), value.as_str())
            .map_err(|error| usage(&error))?;
    }
    for header in &args.header {
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
    let connected = builder.connect(channel).await;
    connected.map_err(|error| Failure::connect(&error))
}
