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

impl Host {
    /// The name that `config` has for the owner of the host's files.
    pub(crate) const fn owner(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cline => "Cline",
            Self::Codex => "Codex",
            Self::CopilotCli => "Copilot CLI",
            Self::Cursor => "Cursor",
            Self::GeminiCli => "Gemini CLI",
            Self::Goose => "Goose",
            Self::Opencode => "opencode",
            Self::QwenCode => "Qwen Code",
            Self::Vscode => "VS Code",
            Self::Windsurf => "Windsurf",
            Self::Zed => "Zed",
        }
    }

    /// The member of the host's settings that lists the servers.
    const fn member(self) -> &'static str {
        match self {
            Self::Codex => "mcp_servers",
            Self::Goose => "extensions",
            Self::Opencode => "mcp",
            Self::Vscode => "servers",
            Self::Zed => "context_servers",
            _ => "mcpServers",
        }
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
