//! The login at the server: its steps go to the history, without secrets.

use std::sync::Arc;

use futures_util::{Stream, StreamExt as _};
use mcp::auth::{AuthDocument, AuthEvent, DocumentKind};
use serde_json::{Value, json};
use tokio_util::task::AbortOnDropHandle;

use super::history::History;
use crate::credentials;
use crate::remote::Remote;

/// Logs in at the server. The page of the inspector shows the login page.
pub(super) async fn run(remote: &Remote, history: &Arc<History>) -> Result<(), String> {
    let shown = history.clone();
    let authorizer = credentials::with_page(remote, move |page| {
        // The query of the URL identifies the login: the page opens it, and does not show it.
        shown.add("auth", json!({"step": "page", "open": page}));
    });
    let authorizer = authorizer.map_err(|failure| failure.to_string())?;
    let authorizer = authorizer.ok_or("tokens are sent over https only, or to this machine")?;
    let _events = follow(authorizer.events(), history.clone());
    let done = authorizer.login().await;
    // The listener may not have run since the last step.
    tokio::task::yield_now().await;
    let (error, text) = match done {
        Ok(()) => (Value::Null, Ok(())),
        Err(error) => (error.to_string().into(), Err(error.to_string())),
    };
    history.add("auth", json!({"step": "ended", "error": error}));
    text
}

/// Keeps the authorizer's steps in the history until the handle is dropped.
pub(super) fn follow(
    mut events: impl Stream<Item = AuthEvent> + Send + Unpin + 'static,
    history: Arc<History>,
) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async move {
        while let Some(event) = events.next().await {
            history.add("auth", describe(event));
        }
    }))
}

/// Describes a step. Events have no secrets.
fn describe(event: AuthEvent) -> Value {
    match event {
        AuthEvent::Challenged { status } => json!({"step": "challenged", "status": status}),
        AuthEvent::Fetched { document } => json!({
            "step": "fetched",
            "document": kind_of(&document),
            "url": document.url,
            "contents": serde_json::from_str::<Value>(&document.contents).unwrap_or_default(),
        }),
        AuthEvent::Discovered { issuer } => json!({"step": "discovered", "issuer": issuer}),
        AuthEvent::Registered { issuer } => json!({"step": "registered", "issuer": issuer}),
        AuthEvent::LoginStarted {
            server,
            issuer,
            page,
            scopes,
        } => json!({
            "step": "started", "server": server, "issuer": issuer, "page": page, "scopes": scopes,
        }),
        AuthEvent::Authorized { scopes, expires_in } => {
            json!({"step": "authorized", "scopes": scopes, "expiresIn": expires_in})
        }
        AuthEvent::Refreshed { expires_in } => {
            json!({"step": "refreshed", "expiresIn": expires_in})
        }
        AuthEvent::Restored => json!({"step": "restored"}),
        AuthEvent::LoggedOut => json!({"step": "loggedOut"}),
        AuthEvent::Failed { message } => json!({"step": "failed", "text": message}),
        _ => json!({"step": "other"}),
    }
}

fn kind_of(document: &AuthDocument) -> &'static str {
    match document.kind {
        DocumentKind::Resource => "resource",
        DocumentKind::Server => "server",
        DocumentKind::Registration => "registration",
        _ => "other",
    }
}
