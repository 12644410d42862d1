//! The definitions of commands around a server's life: `new`, `dev`, `test`, `install`, `uninstall`,
//! `pack`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::server::{ListenAddress, ServerArgs, TargetArgs};
use crate::hosts::Host;

/// A kind of crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Template {
    /// A server on standard streams
    Minimal,
    /// A server over HTTP in an axum application, with files for its deployment
    Http,
    /// A server over HTTP that demands access tokens
    Protected,
    /// A client of the servers in an `mcp.json`
    Agent,
}

/// Arguments of `new`.
#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// The new crate's folder; its last part is the package's name
    #[arg(value_name = "NAME")]
    pub(crate) path: PathBuf,
    /// Kind of crate
    #[arg(long, short, value_enum, value_name = "KIND", default_value_t = Template::Minimal)]
    pub(crate) template: Template,
    /// Use the SDK in this clone [default: the clone that built this program]
    #[arg(long, value_name = "PATH")]
    pub(crate) sdk: Option<PathBuf>,
    /// Print the files' names, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Arguments of `dev`.
#[derive(Debug, Args)]
pub(crate) struct DevArgs {
    /// Build and start this command [default: cargo run]
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Run the command in this folder, and watch it [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// The command serves HTTP at this URL [default: one that it prints on standard error]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Add a header to HTTP requests of the command; clients need it, too: `Name: value`
    #[arg(long, short = 'H', value_name = "HEADER")]
    pub(crate) header: Vec<String>,
    /// Serve HTTP instead of standard streams
    #[arg(long)]
    pub(crate) http: bool,
    #[command(flatten)]
    pub(crate) listen: ListenAddress,
    /// Open the inspector on the server
    #[arg(long)]
    pub(crate) inspect: bool,
    /// Print the inspector's URL, and open no browser
    #[arg(long, requires = "inspect")]
    pub(crate) no_open: bool,
}

/// Arguments of `test`.
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Call only tools that are marked read-only
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Do not call tools with this name; `*` and `?` are wildcards
    #[arg(long, value_name = "PATTERN")]
    pub(crate) ignore_tool: Vec<String>,
    /// Make arguments by this number; the same number makes the same ones
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Number of calls of the memory check
    #[arg(long, value_name = "NUMBER", default_value_t = 1000)]
    pub(crate) calls: usize,
    /// Also write the report to this file, in the format of JUnit
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
}

/// A server's entry in a host's settings.
#[derive(Debug, Args)]
pub(crate) struct EntryArgs {
    /// The program that uses the server; see below
    #[arg(long, value_enum, hide_possible_values = true)]
    pub(crate) host: Host,
    /// Change the host's file in the current folder instead of the user's
    #[arg(long)]
    pub(crate) project: bool,
    /// Change this file, which has the host's syntax
    #[arg(long, value_name = "FILE", conflicts_with = "project")]
    pub(crate) file: Option<PathBuf>,
    /// Print the change, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Arguments of `install`.
#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    #[command(flatten)]
    pub(crate) entry: EntryArgs,
    /// Name of the server [default: the program, TARGET, or the URL's host]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Replace an entry of this name
    #[arg(long)]
    pub(crate) replace: bool,
}

/// Arguments of `uninstall`.
#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    /// The server's name in the host's settings
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) entry: EntryArgs,
}

/// Arguments of `pack`.
#[derive(Debug, Args)]
pub(crate) struct PackArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Write this file [default: NAME-VERSION.mcpb]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Author of the bundle [default: the first of Cargo.toml]
    #[arg(long, value_name = "NAME")]
    pub(crate) author: Option<String>,
    /// Description [default: that of the server, or of Cargo.toml]
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Also write server.json, with this name in the registry
    #[arg(long, value_name = "NAME", requires = "url")]
    pub(crate) registry_name: Option<String>,
    /// The URL at which the bundle will be published
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Print the manifest, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}
