//! `mcp servers`.

use std::path::Path;

use mcp::group::{ServerEntry, ServerSpec};
use mcp::types::escape_line;
use serde_json::{Value, json};

use crate::config::{self, ConfigFile, Location};
use crate::output::Output;

pub(super) fn run(file: Option<&Path>, output: &Output) {
    let files = config::read_all(file);
    let mut others = match file {
        Some(_) => Vec::new(),
        None => config::locations(),
    };
    others.retain(|location| files.iter().all(|file| file.location != *location));
    if output.json {
        let files: Vec<_> = files.iter().map(document).collect();
        let others = others.iter().map(|location| {
            json!({"path": location.path.display().to_string(), "owner": location.owner})
        });
        let others: Vec<_> = others.collect();
        output.document(&json!({ "files": files, "withoutServers": others }));
        return;
    }
    for file in files {
        let location = &file.location;
        output.heading(&format!("{} ({})", location.path.display(), location.owner));
        match &file.servers {
            Ok(servers) => {
                let rows = servers.iter();
                output.rows(rows.map(|server| (&server.name, describe(server))));
            }
            Err(error) => output.line(&format!("  {error}")),
        }
    }
    if !others.is_empty() {
        let mut text = "no file with servers at:".to_owned();
        for Location { owner, path, .. } in &others {
            let path = path.display().to_string();
            text.push_str(&format!("\n  {} ({owner})", escape_line(&path)));
        }
        output.note(&text);
    }
}

fn document(file: &ConfigFile) -> Value {
    let (servers, error) = match &file.servers {
        Ok(servers) => (servers.as_slice(), None),
        Err(error) => ([].as_slice(), Some(error.to_string())),
    };
    let servers: Vec<_> = servers
        .iter()
        .map(|server| json!({"name": server.name, "target": describe(server), "disabled": server.is_disabled}))
        .collect();
    json!({
        "path": file.location.path.display().to_string(),
        "owner": file.location.owner,
        "servers": servers,
        "error": error,
    })
}

/// Describes the target without secrets: without arguments, and without user and query of URLs.
fn describe(entry: &ServerEntry) -> String {
    let target = match &entry.spec {
        Ok(ServerSpec::Command { command, .. }) => {
            let program = command.split_whitespace().next().unwrap_or_default();
            format!("command {program}")
        }
        Ok(ServerSpec::Url { url, .. }) => config::public_url(url),
        Ok(_) => "unknown kind".to_owned(),
        Err(error) => error.to_string(),
    };
    if entry.is_disabled {
        format!("{target} (disabled)")
    } else {
        target
    }
}
