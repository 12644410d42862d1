//! The definitions of flags that name a server, and of its address.

use std::path::PathBuf;

use clap::Args;

/// A server: by URL, name or command.
#[derive(Debug, Default, Args)]
pub(crate) struct ServerArgs {
    /// The target (URL or name), then the command's words
    #[arg(value_name = "TARGET")]
    pub(crate) words: Vec<String>,
    /// Start this command as the server, instead of a TARGET
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Add a header to HTTP requests: `Name: value`
    #[arg(long, short = 'H', value_name = "HEADER")]
    pub(crate) header: Vec<String>,
    /// Set an environment variable of the started server: `NAME=value`
    #[arg(long, short, value_name = "VARIABLE")]
    pub(crate) env: Vec<String>,
    /// Use the login of this account; see `mcp login --account`
    #[arg(long, value_name = "NAME")]
    pub(crate) account: Option<String>,
    /// Find names in this file only
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Use servers of files in the current folder without a question
    #[arg(long, short)]
    pub(crate) yes: bool,
}

impl ServerArgs {
    /// The command's program, or the target.
    pub(crate) fn first_word(&self) -> String {
        let first = self.command.first().or(self.words.first());
        first.cloned().unwrap_or_default()
    }
}

/// A server, and the connection's settings.
#[derive(Debug, Args)]
pub(crate) struct TargetArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Time limit of each request in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    pub(crate) timeout: f64,
    /// Protocol: `auto`, `legacy`, or a revision such as `2026-07-28`
    #[arg(long, value_name = "VERSION", default_value = "auto")]
    pub(crate) protocol: String,
    /// Answer sampling requests by this shell command (JSON in, text out)
    #[arg(long, value_name = "COMMAND")]
    pub(crate) sample_with: Option<String>,
}

/// The address of a server over HTTP.
#[derive(Debug, Clone, Args)]
pub(crate) struct ListenAddress {
    /// Listen at this address; the path is `/mcp` [default: 127.0.0.1:8000]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// Accept requests for this host name, when others than this machine may connect
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,
}
