//! What calls teach the index of tools, and what it has against their results.

use http::HeaderMap;
use mcp_core::{BoxFuture, Call, ClientRequest, ResultBody};
use mcp_types::{CallToolParams, Cursor, Page};
use tokio::time::Instant;

use super::run;
use crate::error::Kind;
use crate::options::Options;
use crate::{Client, Error};

/// So many pages are asked for to find a tool whose headers are missing.
const MAX_PAGES: usize = 100;

impl Client {
    /// What the index learns from a result, and what it has against it.
    pub(super) fn indexed(
        &self,
        asked: &ClientRequest,
        body: ResultBody,
    ) -> Result<ResultBody, Kind> {
        match (asked, body) {
            (_, ResultBody::ListTools(page)) => {
                let page = self
                    .inner
                    .tools
                    .learn(page, self.inner.mirrors_arguments(self.inner.version()));
                Ok(ResultBody::ListTools(page))
            }
            (ClientRequest::Call(Call::CallTool(params)), ResultBody::CallTool(result)) => {
                let checked = self.inner.tools.check(&params.name, &result);
                checked.map_err(Kind::Output)?;
                Ok(ResultBody::CallTool(result))
            }
            (_, body) => Ok(body),
        }
    }

    /// Asks for the list of tools until the tool of a call is found. Tells whether its headers are
    /// others now, so that the call is worth another try.
    // spec: XHDR-19
    pub(super) fn learns_headers<'a>(
        &'a self,
        asked: &'a ClientRequest,
        headers: &'a HeaderMap,
        end: Instant,
    ) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let ClientRequest::Call(Call::CallTool(params)) = asked else {
                return false;
            };
            if !self.inner.mirrors_arguments(self.inner.version()) {
                return false;
            }
            let before = self.inner.tools.params(asked);
            let listed = self.list_until(params, headers, end).await;
            if let Err(error) = &listed {
                tracing::debug!(%error, "no fresh list of tools");
            }
            self.inner.tools.params(asked) != before
        })
    }

    async fn list_until(
        &self,
        wanted: &CallToolParams,
        headers: &HeaderMap,
        end: Instant,
    ) -> Result<(), Error> {
        let mut cursor: Option<Cursor> = None;
        for _ in 0..MAX_PAGES {
            let page = cursor.take().map_or_else(Page::first, Page::at);
            let options = Options {
                total: Some(end.saturating_duration_since(Instant::now())),
                headers: headers.clone(),
                fresh: true,
                ..Options::default()
            };
            let body = run(self, ClientRequest::Call(Call::ListTools(page)), options).await?;
            let ResultBody::ListTools(page) = body else {
                break;
            };
            cursor.clone_from(&page.next_cursor);
            if cursor.is_none() || page.tools.iter().any(|tool| tool.name == wanted.name) {
                break;
            }
        }
        Ok(())
    }
}
