//! Failures from which a call recovers, and how often its request is repeated.

use std::time::Duration;

use http::HeaderMap;
use mcp_core::backoff::Backoff;
use mcp_core::versioning::newest_common;
use mcp_core::{BoxFuture, Call, ClientRequest, Fault, ResultBody};
use mcp_types::{CallToolParams, Cursor, Page};
use tokio::time::{Instant, sleep_until};

use super::{ActiveCall, run};
use crate::call_timer::CallTimer;
use crate::client::Client;
use crate::error::{Error, ErrorKind};
use crate::options::CallOptions;

/// Pages that are requested to find the definition of one tool.
const MAX_TOOL_PAGES: usize = 100;

/// Largest number of repetitions after a lost connection.
const MAX_REPEATS: usize = 2;

/// Repetitions of one call. Each `may_…` method counts the repetition that it permits.
pub(super) struct RetryState {
    repeats: usize,
    backoff: Backoff,
    version_switched: bool,
    headers_refreshed: bool,
    session_renewed: bool,
}

impl Default for RetryState {
    fn default() -> Self {
        Self {
            repeats: 0,
            backoff: Backoff::new(Duration::from_millis(250), Duration::from_secs(2)),
            version_switched: false,
            headers_refreshed: false,
            session_renewed: false,
        }
    }
}

impl RetryState {
    /// Permits a repetition after a lost connection, twice per call.
    pub(super) fn may_repeat(&mut self) -> bool {
        let may_repeat = self.repeats < MAX_REPEATS;
        self.repeats += usize::from(may_repeat);
        may_repeat
    }

    /// Permits one switch of the protocol version.
    pub(super) fn may_switch_version(&mut self) -> bool {
        !std::mem::replace(&mut self.version_switched, true)
    }

    pub(super) fn version_switched(&self) -> bool {
        self.version_switched
    }

    /// Permits one refresh of the tool list.
    pub(super) fn may_refresh_headers(&mut self) -> bool {
        !std::mem::replace(&mut self.headers_refreshed, true)
    }

    /// Permits one new session.
    pub(super) fn may_renew_session(&mut self) -> bool {
        !std::mem::replace(&mut self.session_renewed, true)
    }

    /// Waits before a repetition.
    ///
    /// # Errors
    ///
    /// Returns the timeout error when the total time of the call ends first.
    pub(super) async fn wait(&mut self, timer: &CallTimer) -> Result<(), ErrorKind> {
        let end = timer.end();
        let until = Instant::now() + self.backoff.next_delay();
        sleep_until(until.min(end)).await;
        if until >= end {
            return Err(timer.timed_out(end));
        }
        Ok(())
    }
}

impl ActiveCall<'_> {
    /// Removes the cause of a fault. Returns whether the request can be sent again.
    pub(super) async fn recovers_from(&mut self, fault: &Fault) -> bool {
        if self.switch_version(fault) {
            return true;
        }
        matches!(fault, Fault::HeaderMismatch(_)) && self.refresh_headers().await
    }

    /// Returns whether the call may be sent again after its connection was lost. A request state is sent
    /// once only, because servers may accept it once only.
    // spec: MRTR-09
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
            Some(version) if self.retry.may_switch_version() => {
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
        if !inner.mirrors_arguments(inner.version()) || !self.retry.may_refresh_headers() {
            return false;
        }
        let before = inner.tools.params(&self.request);
        let (headers, end) = (&self.options.headers, self.timer.end());
        if let Err(error) = list_until(&self.client, params, headers, end).await {
            tracing::debug!(%error, "the list of tools cannot be refreshed");
        }
        inner.tools.params(&self.request) != before
    }
}

/// Requests pages of the tool list until the page with the tool of a call. Boxed, because this is a
/// call within a call.
fn list_until<'a>(
    client: &'a Client,
    wanted: &'a CallToolParams,
    headers: &'a HeaderMap,
    end: Instant,
) -> BoxFuture<'a, Result<(), Error>> {
    Box::pin(async move {
        let mut cursor: Option<Cursor> = None;
        for _ in 0..MAX_TOOL_PAGES {
            let page = cursor.take().map_or_else(Page::first, Page::at);
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
