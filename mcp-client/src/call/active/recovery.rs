//! Failures from which a call recovers.

use http::HeaderMap;
use mcp_core::versioning::newest_common;
use mcp_core::{BoxFuture, Call, ClientRequest, Fault, ResultBody};
use mcp_types::{CallToolParams, Cursor, Page, codes};
use tokio::time::Instant;

use super::{ActiveCall, permitted, run};
use crate::client::Client;
use crate::error::Error;
use crate::options::CallOptions;
use crate::session;

/// Pages that are requested to find the definition of one tool.
const MAX_TOOL_PAGES: usize = 100;

impl ActiveCall<'_> {
    /// Removes the cause of a fault. Returns whether the request can be sent again.
    pub(super) async fn recovers_from(&mut self, fault: &Fault) -> bool {
        if self.switch_version(fault) {
            return true;
        }
        if asks_for_session(fault) && self.version.is_modern() {
            return self.open_session().await;
        }
        matches!(fault, Fault::HeaderMismatch(_)) && self.refresh_headers().await
    }

    /// Opens a session with a server that offers a modern revision and refuses its calls. Happens once per call, and
    /// stays for the connection. Returns whether there is a session.
    async fn open_session(&mut self) -> bool {
        let legacy = self.client.inner.versions.iter().copied();
        let Some(version) = legacy.filter(|version| !version.is_modern()).max() else {
            return false;
        };
        if !permitted(&mut self.retry.session_opened) {
            return false;
        }
        // Boxed so that a corrected negotiation does not enlarge every call future.
        let opening = Box::pin(session::open(&self.client, self.session, version));
        if let Err(error) = opening.await {
            tracing::debug!(error = %mcp_types::escaped(&error), "the server asks for `initialize`, and refuses it");
            return false;
        }
        self.version = self.client.inner.version();
        true
    }

    /// Returns whether the call may be sent again after its connection was lost. A request state is sent
    /// once only, because servers may accept it once only.
    // spec: RSM-11
    pub(super) fn repeats_after_break(&mut self) -> bool {
        self.is_idempotent() && self.input.is_none() && self.retry.may_repeat()
    }

    /// Returns whether the server may execute the call twice.
    pub(super) fn is_idempotent(&self) -> bool {
        let by_request = match &self.request {
            ClientRequest::Call(Call::CallTool(params)) => {
                self.client.inner.tools.is_idempotent(&params.name)
            }
            ClientRequest::Call(Call::Other { .. }) => false,
            ClientRequest::Call(_) | ClientRequest::Discover => true,
            _ => false,
        };
        self.options.idempotent.unwrap_or(by_request)
    }

    /// Switches to another version when the server refuses this one. Happens once per call, even if
    /// the server lists the refused version as supported.
    // spec: VER-04
    fn switch_version(&mut self, fault: &Fault) -> bool {
        let Fault::UnsupportedVersion { supported, .. } = fault else {
            return false;
        };
        match newest_common(supported, &self.client.inner.versions) {
            Some(version) if permitted(&mut self.retry.version_switched) => {
                self.version = version;
                true
            }
            _ => false,
        }
    }

    /// Lists the tools again to find the headers that the server misses. Happens once per call.
    /// Returns whether the headers have changed.
    // spec: XHDR-19
    async fn refresh_headers(&mut self) -> bool {
        let inner = &self.client.inner;
        let ClientRequest::Call(Call::CallTool(params)) = &self.request else {
            return false;
        };
        let mirrors = inner.mirrors_arguments(inner.version());
        if !mirrors || !permitted(&mut self.retry.headers_refreshed) {
            return false;
        }
        let before = inner.tools.params(&self.request);
        let (headers, end) = (&self.options.headers, self.timer.end());
        if let Err(error) = list_until(&self.client, params, headers, end).await {
            tracing::debug!(error = %mcp_types::escaped(&error), "the list of tools cannot be refreshed");
        }
        inner.tools.params(&self.request) != before
    }
}

/// Returns whether a server refuses a call because it was not initialized.
fn asks_for_session(fault: &Fault) -> bool {
    let message = match fault {
        Fault::InvalidRequest(message) => &**message,
        Fault::Protocol(error) if error.code == codes::INVALID_REQUEST => &*error.message,
        _ => return false,
    };
    message.to_ascii_lowercase().contains("initializ")
}

/// Requests pages of the tool list until the page with the tool of a call. Boxed, because a call's future cannot
/// contain a call.
fn list_until<'a>(
    client: &'a Client,
    wanted: &'a CallToolParams,
    headers: &'a HeaderMap,
    end: Instant,
) -> BoxFuture<'a, Result<(), Error>> {
    Box::pin(async move {
        let mut cursor: Option<Cursor> = None;
        for _ in 0..MAX_TOOL_PAGES {
            let page = cursor.take().map_or_else(Page::default, Page::from);
            let options = CallOptions {
                total_timeout: Some(end.saturating_duration_since(Instant::now())),
                headers: headers.clone(),
                fresh: true,
                ..CallOptions::default()
            };
            let request = ClientRequest::Call(Call::ListTools(page));
            let ResultBody::ListTools(page) = run(client, request, options).await? else {
                break;
            };
            cursor.clone_from(&page.next_cursor);
            if cursor.is_none() || page.tools.iter().any(|tool| tool.name == wanted.name) {
                break;
            }
        }
        Ok(())
    })
}
