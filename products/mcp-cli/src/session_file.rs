//! File format of recorded sessions.

use serde::Deserialize;
use serde_json::json;

/// The version of the format.
pub(crate) const VERSION: u32 = 1;

/// The sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Side {
    Client,
    Server,
}

/// Returns the first line of a file.
pub(crate) fn header(target: &str) -> String {
    json!({ "recording": VERSION, "target": target }).to_string()
}

/// Returns the line of a message, which is JSON: a line break is white space between two tokens.
pub(crate) fn line(milliseconds: u64, from: Side, message: &str) -> String {
    let from = match from {
        Side::Client => "client",
        Side::Server => "server",
    };
    let message = message.replace(['\r', '\n'], " ");
    format!(r#"{{"ms":{milliseconds},"from":"{from}","message":{message}}}"#)
}
