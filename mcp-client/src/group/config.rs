//! `mcp.json`: a project's servers, in the dialects of Claude, VS Code and Cursor, and the settings
//! files of Cline, Copilot CLI, Gemini CLI, opencode, Qwen Code and Zed.
//!
//! The dialects differ in the name of the top-level member (`mcpServers`, `servers`, `context_servers`, `mcp`), in the
//! syntax of variables, and in optional members. Every file is parsed with the union of all dialects.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `approval` | [`PendingCommand`], and the user's answers about commands |
//! | `spec` | [`GroupConfig`], [`ServerSpec`] and errors |
//! | `json` | JSON with comments and trailing commas |
//! | `variables` | [`Variables`] |
//! | `parse` | parsing of a file's content |
//! | `files` | reading of files |

mod approval;
mod files;
mod json;
mod parse;
mod spec;
mod variables;

pub(super) use approval::Approval;
pub use approval::PendingCommand;
pub use spec::{ConfigError, EntryError, EntryOAuth, GroupConfig, ServerEntry, ServerSpec};
pub use variables::Variables;

#[cfg(test)]
mod tests;
