//! Notifications of a running call, read and written.

use mcp_types::{Method, Notification, Progress, ProgressToken};
use serde::Serialize;

use super::write_json;
use crate::ServerNote;

/// Reads a notification; `None` for every other one. Malformed ones are ignored, like unknown ones.
// spec: BASE-19
pub(super) fn read(note: &Notification<'_>) -> Option<ServerNote> {
    let params = &note.params;
    match Method::from_name(&note.method)? {
        Method::Progress => {
            let mut progress = Progress::new(params.required("progress").ok()?);
            progress.total = params.optional("total").ok()?;
            progress.message = params.optional("message").ok()?;
            let token = params.required("progressToken").ok()?;
            Some(ServerNote::Progress { token, progress })
        }
        Method::LogMessage => params.to_object().parse().ok().map(ServerNote::Log),
        _ => None,
    }
}

/// Writes a notification.
pub(super) fn write(note: &ServerNote, out: &mut Vec<u8>) {
    #[derive(Serialize)]
    struct Note<T> {
        jsonrpc: &'static str,
        method: &'static str,
        params: T,
    }

    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct ProgressParams<'a> {
        progress_token: &'a ProgressToken,
        #[serde(flatten)]
        progress: &'a Progress,
    }

    let jsonrpc = "2.0";
    match note {
        ServerNote::Progress { token, progress } => {
            let params = ProgressParams {
                progress_token: token,
                progress,
            };
            let method = Method::Progress.as_str();
            write_json(
                out,
                &Note {
                    jsonrpc,
                    method,
                    params,
                },
            );
        }
        ServerNote::Log(message) => {
            let method = Method::LogMessage.as_str();
            write_json(
                out,
                &Note {
                    jsonrpc,
                    method,
                    params: message,
                },
            );
        }
    }
}
