//! Programs that use servers ("hosts"), and the settings in which they list them.
//!
//! | module | contents |
//! |---|---|
//! | `entry` | a server's entry, as each host writes it |
//! | `edit` | entries in JSON, TOML and YAML files, with the rest of the file as it was |
//! | `undo` | what an install has replaced |

mod edit;
mod entry;
#[cfg(test)]
mod tests;
mod undo;

use std::path::PathBuf;

use clap::ValueEnum;

pub(crate) use self::edit::{EditError, insert, remove};
pub(crate) use self::entry::{
    Entry, Launch, is_secret, placeholder, secret_argument, to_value, variables,
};
pub(crate) use self::undo::Undo;
use crate::config::{self, Location};

/// A program that uses servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Host {
    ClaudeCode,
    ClaudeDesktop,
    Cline,
    Codex,
    CopilotCli,
    Cursor,
    GeminiCli,
    Goose,
    Opencode,
    QwenCode,
    Vscode,
    Windsurf,
    Zed,
}

/// Differences between the settings of hosts.
struct Row {
    owner: &'static str,
    /// The member of the settings that lists the servers.
    member: &'static str,
    /// The text before a variable's name in a reference, which ends with a brace. Empty if the host does not expand
    /// references inside values. Codex and Goose have members for the names of variables whose whole values they pass on.
    reference: &'static str,
    /// The member `type` of a program, and of a server with a URL. Empty for hosts without it.
    types: [&'static str; 2],
    /// The member with the URL.
    url: &'static str,
}

impl Host {
    const fn row(self) -> Row {
        let (owner, member, reference, types, url) = match self {
            Self::ClaudeCode => ("Claude Code", "mcpServers", "${", ["stdio", "http"], "url"),
            Self::ClaudeDesktop => ("Claude Desktop", "mcpServers", "", ["", ""], "url"),
            Self::Cline => ("Cline", "mcpServers", "", ["", "streamableHttp"], "url"),
            Self::Codex => ("Codex", "mcp_servers", "", ["", ""], "url"),
            Self::CopilotCli => ("Copilot CLI", "mcpServers", "${", ["local", "http"], "url"),
            Self::Cursor => ("Cursor", "mcpServers", "${env:", ["", ""], "url"),
            Self::GeminiCli => ("Gemini CLI", "mcpServers", "${", ["", ""], "httpUrl"),
            Self::Goose => ("Goose", "extensions", "", ["", ""], "url"),
            Self::Opencode => ("opencode", "mcp", "{env:", ["local", "remote"], "url"),
            Self::QwenCode => ("Qwen Code", "mcpServers", "${", ["", ""], "httpUrl"),
            Self::Vscode => ("VS Code", "servers", "${env:", ["stdio", "http"], "url"),
            Self::Windsurf => ("Windsurf", "mcpServers", "${env:", ["", ""], "serverUrl"),
            Self::Zed => ("Zed", "context_servers", "", ["", ""], "url"),
        };
        Row {
            owner,
            member,
            reference,
            types,
            url,
        }
    }

    /// The name that `config` has for the owner of the host's files.
    pub(crate) const fn owner(self) -> &'static str {
        self.row().owner
    }

    const fn format(self) -> Format {
        match self {
            Self::Codex => Format::Toml,
            Self::Goose => Format::Yaml,
            _ => Format::Json,
        }
    }

    /// The file with the host's servers, of the current folder or of the user: the first that exists, else the first.
    pub(crate) fn file(self, of_project: bool) -> Option<PathBuf> {
        let mut places = config::locations();
        places.retain(|place: &Location| {
            place.owner == self.owner() && place.is_project == of_project
        });
        let existing = places.iter().position(|place| place.path.is_file());
        let place = places.into_iter().nth(existing.unwrap_or(0))?;
        Some(place.path)
    }
}

/// The format of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// JSON with comments.
    Json,
    Toml,
    Yaml,
}
