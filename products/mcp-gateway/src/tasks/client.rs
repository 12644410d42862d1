//! [`TaskClient`]: requests about one server's tasks.

use std::sync::Arc;

use mcp_auth::AccessToken;
use mcp_core::{CallerKey, ClientContext};
use mcp_types::{ClientCapabilities, Meta, RawObject};

use crate::calls::failure::CallFailure;
use crate::calls::upstream::{Upstream, with_caller, with_tasks};

/// A client, as the server of a task sees it.
#[derive(Clone)]
pub(super) struct TaskClient {
    pub(super) upstream: Arc<Upstream>,
    /// The capabilities, with the tasks extension.
    capabilities: ClientCapabilities,
    caller: CallerKey,
    /// The caller's token, where the endpoint keeps it.
    token: Option<AccessToken>,
    /// The request's `_meta`. The client leaves out the protocol's keys.
    meta: Option<Meta>,
}

impl TaskClient {
    /// The client of a request, or of a subscription, for further requests to the server.
    pub(super) fn new(
        upstream: &Arc<Upstream>,
        facts: &ClientContext,
        can_be_asked: bool,
        caller: &CallerKey,
        token: Option<&AccessToken>,
        meta: Option<&Meta>,
    ) -> Self {
        Self {
            upstream: upstream.clone(),
            capabilities: with_tasks(upstream.capabilities(facts, can_be_asked)),
            caller: caller.clone(),
            token: token.cloned(),
            meta: meta.cloned(),
        }
    }

    /// Sends a request of the tasks extension.
    pub(super) async fn request(
        &self,
        method: &str,
        params: RawObject,
    ) -> Result<RawObject, CallFailure> {
        let upstream = &self.upstream;
        let _in_use = upstream.usage.begin();
        let credentials = upstream.credentials(self.token.as_ref()).await?;
        let headers = upstream.headers(&self.caller, credentials)?;
        let request = upstream.client().await?.request(method, params);
        let request = request.capabilities(self.capabilities.clone());
        let mut request = request.idempotent(true);
        for (key, value) in self.meta.iter().flat_map(|meta| &**meta) {
            request = request.meta(key.clone(), value.clone());
        }
        with_caller(request, None, headers)
            .await
            .map_err(|error| upstream.failure(&error))
    }
}
