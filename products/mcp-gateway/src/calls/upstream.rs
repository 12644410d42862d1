//! One server of the gateway, as its requests use it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};
use mcp_auth::AccessToken;
use mcp_client::group::Group;
use mcp_client::{Client, Error, PreparedCall};
use mcp_core::{CallerKey, ClientContext, Fault};
use mcp_server::Broadcaster;
use mcp_types::meta::keys;
use mcp_types::{
    ClientCapabilities, CompleteParams, CompleteResult, ExtraFields, SamplingCapability, codes,
};
use parking_lot::RwLock;
use serde_json::json;

use super::caller::{Caller, identity};
use super::failure::CallFailure;
use super::parked::Parked;
use super::usage::Usage;
use crate::limits::limiter::UsedStates;
use crate::limits::quota::Quota;
use crate::sessions::lease::Lease;
use crate::sessions::pool::{SessionKey, Sessions};
use crate::sessions::questions::Questions;
use crate::sessions::roots::CallerRoots;
use crate::settings::server::ServerSettings;
use crate::status::{AuditEntry, CallOutcome, Counters};

/// One server of the gateway. Its routes share it.
#[derive(Clone)]
pub(crate) struct Upstream {
    pub(crate) server: Arc<str>,
    pub(crate) group: Group,
    /// The questions of the session that all calls share.
    pub(crate) questions: Arc<Questions>,
    /// The sessions of callers, and for calls whose client can be asked.
    pub(crate) sessions: Sessions,
    pub(crate) settings: ServerSettings,
    pub(crate) parked: Parked,
    pub(crate) used_states: UsedStates,
    pub(crate) counters: Arc<Counters>,
    pub(crate) usage: Usage,
    /// The calls that wait for a session or their turn, or have one.
    pub(crate) waiting: Quota,
    /// The gateway's clients, for notifications outside calls.
    pub(crate) clients: Broadcaster,
}

impl Upstream {
    /// Returns the key of a caller's sessions, with the caller's credentials.
    pub(crate) async fn key(
        &self,
        caller: &Caller,
        capabilities: ClientCapabilities,
    ) -> Result<SessionKey, Fault> {
        let forwards_name = self.settings.forwards_client_name;
        Ok(SessionKey {
            caller: if self.settings.shares_sessions {
                CallerKey::default()
            } else {
                caller.key.clone()
            },
            capabilities,
            client: forwards_name.then(|| caller.client_name()).flatten(),
            credentials: self.credentials(caller.token.as_ref()).await?,
            roots: CallerRoots::Unknown,
        })
    }

    /// Returns the session for a call:
    ///
    /// - A legacy server may keep a state in a session, so a caller with an identity has its own sessions. A session that
    ///   was opened with a caller's credentials belongs to the caller.
    /// - A legacy server asks in a session. A call whose client can be asked needs its own session, or its turn in the
    ///   shared one. So does a call with extensions: on a pipe, a notification does not say which call it belongs to.
    /// - A legacy server that asks for roots has a session for each client's roots, unless all calls have one session.
    /// - A call that declares tasks stays in the session that all requests for the task use.
    pub(crate) async fn lease(
        &self,
        caller: &Caller,
        key: &SessionKey,
        declares_tasks: bool,
    ) -> Result<Lease, CallFailure> {
        let capabilities = &key.capabilities;
        let client = self.client().await?;
        let is_modern = client.protocol_version().is_modern();
        let mut extensions = self.settings.extensions.ids();
        let needs_turn = if is_modern {
            client.is_pipe() && extensions.any(|id| capabilities.has_extension(id))
        } else {
            // A call without capabilities must not receive the notifications of other calls.
            *capabilities != ClientCapabilities::default() || extensions.next().is_some()
        };
        let is_of_caller = key.caller.principal().is_some()
            || key.credentials.is_some()
            || key.client.is_some()
            || (key.roots != CallerRoots::Unknown && !self.settings.has_one_session);
        let waits_for_turn = self.settings.has_one_session || (is_modern && declares_tasks);
        let has_own = (is_of_caller && !is_modern) || (needs_turn && !waits_for_turn);
        if !has_own && !needs_turn {
            return Ok(Lease::shared(&self.sessions, client, None, None));
        }
        let quota = self.waiting.enter(&caller.owner())?;
        if !has_own {
            let questions = Some(self.questions.clone());
            return Ok(Lease::shared(
                &self.sessions,
                client,
                questions,
                Some(quota),
            ));
        }
        let mut key = key.clone();
        if self.settings.has_one_session {
            key.capabilities = self.all_capabilities();
            // Those of each call.
            key.roots = CallerRoots::Unknown;
        }
        let lease = Lease::own(&self.sessions, &key, quota).await?;
        lease.map_err(|error| self.unreachable(&error))
    }

    /// Returns true if a caller has to be asked for its roots before its call, because the server asks for them. One
    /// session has those of the call that has its turn.
    pub(super) fn needs_roots(&self, key: &SessionKey) -> bool {
        let may_ask = key.capabilities.roots.is_some() || self.settings.has_one_session;
        may_ask && key.roots == CallerRoots::Unknown && self.sessions.ask_for_roots()
    }

    /// Returns the capabilities of a session that all calls of a caller share.
    fn all_capabilities(&self) -> ClientCapabilities {
        let extensions = self.settings.extensions.ids();
        extensions.fold(Questions::capabilities(), |capabilities, id| {
            capabilities.with_extension(id, &json!({}))
        })
    }

    /// Returns the header `Authorization` for a caller's calls. `None`: the server knows the gateway only.
    pub(crate) async fn credentials(
        &self,
        caller: Option<&AccessToken>,
    ) -> Result<Option<HeaderValue>, Fault> {
        match &self.settings.caller_tokens {
            Some(tokens) => tokens.credentials(caller).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns the headers of a caller's messages: the credentials, and the header that names the caller to the server.
    pub(crate) fn headers(
        &self,
        caller: &CallerKey,
        credentials: Option<HeaderValue>,
    ) -> Result<impl Iterator<Item = (HeaderName, HeaderValue)> + use<>, Fault> {
        let identity = match (&self.settings.identity, caller.principal()) {
            (Some(header), Some(principal)) => Some(identity(header, principal)?),
            _ => None,
        };
        let credentials = credentials.map(|credentials| (AUTHORIZATION, credentials));
        Ok(credentials.into_iter().chain(identity))
    }

    /// Asks the server for completions in a caller's name.
    pub(crate) async fn complete(
        &self,
        caller: &Caller,
        params: CompleteParams,
    ) -> Result<CompleteResult, CallFailure> {
        let key = self.key(caller, ClientCapabilities::default()).await?;
        let lease = self.lease(caller, &key, false).await?;
        let headers = self.headers(&caller.key, key.credentials)?;
        let call = lease.client.complete(params);
        let completed = with_caller(call, key.client, headers).await;
        lease.end();
        completed.map_err(|error| self.failure(&error))
    }

    /// Starts the audit entry of a call. `item` is the name that the server gives the item, or its URI.
    pub(crate) fn audit(
        &self,
        caller: &CallerKey,
        kind: &'static str,
        item: impl Into<Arc<str>>,
    ) -> AuditEntry {
        let (server, counters) = (self.server.clone(), self.counters.clone());
        AuditEntry::new(caller.clone(), server, counters, kind, item.into())
    }

    /// Runs a call whose result cannot be an error, with its [audit entry](Self::audit).
    pub(crate) async fn audited<T>(
        &self,
        caller: &CallerKey,
        kind: &'static str,
        item: &str,
        call: impl Future<Output = Result<T, CallFailure>>,
    ) -> Result<T, Fault> {
        let mut entry = self.audit(caller, kind, item);
        let called = call.await;
        let failed = called.as_ref().err().map(CallFailure::outcome);
        entry.end(failed.unwrap_or(CallOutcome::Ok));
        called.map_err(CallFailure::into_fault)
    }

    /// Returns the server's client. Starts the server if it does not run.
    pub(crate) async fn client(&self) -> Result<Client, CallFailure> {
        let client = self.group.client(&self.server).await;
        client.map_err(|error| self.unreachable(&error))
    }

    /// Returns the failure of a call for the gateway's client. Only the log has the connection's details: they may name
    /// hosts of an inner network.
    pub(crate) fn failure(&self, error: &Error) -> CallFailure {
        match error.fault() {
            Some(fault) => {
                self.report_internal(fault, error);
                CallFailure::of_server(fault.clone())
            }
            None if error.is_timeout() => {
                self.counters.report(&self.server, error);
                CallFailure::of_server(Fault::Deadline)
            }
            None => self.unreachable(error),
        }
    }

    /// Returns the capabilities of a client that the server may know. Those for input only if the client can be
    /// asked.
    pub(crate) fn capabilities(
        &self,
        facts: &ClientContext,
        can_be_asked: bool,
    ) -> ClientCapabilities {
        let mut capabilities = if can_be_asked {
            for_input(&facts.capabilities)
        } else {
            ClientCapabilities::default()
        };
        let declared = &*facts.capabilities.extensions;
        for id in self.settings.extensions.ids() {
            if let Some(settings) = declared.get(id) {
                capabilities.extensions.insert(id, settings.clone());
            }
        }
        capabilities
    }

    /// Logs a server's internal error with the end of its standard error, which clients do not receive.
    fn report_internal(&self, fault: &Fault, error: &Error) {
        let is_internal =
            matches!(fault, Fault::Protocol(error) if error.code == codes::INTERNAL_ERROR);
        if !is_internal {
            return;
        }
        if let Some(suppressed) = self.counters.internal_errors.permit(Instant::now()) {
            let (server, error) = (&self.server, error.to_string());
            tracing::warn!(server = %mcp_types::escaped(&server), suppressed, error = %mcp_types::escaped(&error), "a server behind the gateway reports an internal error");
        }
    }

    fn unreachable(&self, error: &Error) -> CallFailure {
        let server = &self.server;
        self.counters.report(server, error);
        if !error.is_auth() {
            return CallFailure::unanswered(server, error);
        }
        let whose = match self.settings.caller_tokens {
            Some(_) => "this caller",
            None => "the gateway",
        };
        let text = format!("the server {server:?} refuses the credentials of {whose}");
        CallFailure::of_server(Fault::Refused(text.into()))
    }
}

/// Adds the name of the gateway's client and the caller's headers to a call.
pub(crate) fn with_caller<R>(
    call: PreparedCall<'static, R>,
    client: Option<(String, String)>,
    headers: impl Iterator<Item = (HeaderName, HeaderValue)>,
) -> PreparedCall<'static, R> {
    let call = match client {
        Some((name, version)) => call.identity(name, version),
        None => call,
    };
    headers.fold(call, |call, (name, value)| call.header(name, value))
}

/// The servers of a gateway by name, with their current settings. Requests that name a server in sealed data find
/// it here.
#[derive(Clone, Default)]
pub(crate) struct Directory(Arc<RwLock<HashMap<Arc<str>, Arc<Upstream>>>>);

impl Directory {
    pub(crate) fn find(&self, server: &str) -> Option<Arc<Upstream>> {
        self.0.read().get(server).cloned()
    }

    /// Replaces all servers.
    pub(crate) fn replace(&self, servers: impl Iterator<Item = Arc<Upstream>>) {
        let servers = servers.map(|upstream| (upstream.server.clone(), upstream));
        let old = std::mem::replace(&mut *self.0.write(), servers.collect());
        // Dropped without the lock, because it may be the end of a server.
        drop(old);
    }
}

/// Adds the tasks extension to capabilities.
pub(crate) fn with_tasks(capabilities: ClientCapabilities) -> ClientCapabilities {
    capabilities.with_extension(keys::TASKS_EXTENSION, &json!({}))
}

/// Returns the capabilities for input, which a gateway can pass on. Members that this library does not know
/// are left out, so that clients with the same capabilities use the same sessions.
fn for_input(declared: &ClientCapabilities) -> ClientCapabilities {
    let mut capabilities = ClientCapabilities::default();
    if declared.allows_form() {
        capabilities = capabilities.with_elicitation();
    }
    if declared.allows_url() {
        capabilities = capabilities.with_url_elicitation();
    }
    if let Some(declared) = &declared.sampling {
        let mut sampling = SamplingCapability::default();
        sampling.tools = declared.tools.is_some().then(ExtraFields::default);
        sampling.context = declared.context.is_some().then(ExtraFields::default);
        capabilities.sampling = Some(sampling);
    }
    match declared.roots {
        // A session keeps its roots. A client with other ones has another session.
        Some(_) => capabilities.with_roots(),
        None => capabilities,
    }
}
