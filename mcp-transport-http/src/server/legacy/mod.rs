//! Clients of the revisions with sessions (up to 2025-11-25).
//!
//! | verb | with `Mcp-Session-Id` | without |
//! |---|---|---|
//! | POST | a message of that session ([`post`]) | `initialize` opens a session ([`open`]) |
//! | GET | the stream of what belongs to no call ([`get`]) | refused |
//! | DELETE | the session ends | refused |
//!
//! With HTTP+SSE switched on, a GET without a session opens a connection ([`sse_2024`]).
//!
//! A call of a session is answered as every other one is (`server/answer.rs`); what differs is
//! that its client can be asked while it runs, and that only a message cancels it.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports>

mod batch;
mod events;
mod get;
mod live;
mod open;
mod place;
mod post;
mod reaper;
mod resume;
mod shared;
mod sse_2024;
mod stateless;
mod streams;
mod table;

use std::sync::Arc;

use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};
use mcp_core::wire::{self, Wire};
use mcp_core::{Audience, Fault, Principal, Service};
use mcp_types::{ErrorObject, Message, Method, ProtocolVersion, RequestId, codes};

use super::config::Config;
use super::endpoint::Begun;
use super::respond::{self, Body};
use super::sessions::{Mode, SessionEnd};
use crate::headers::{self, names};
pub(super) use events::Events;
use live::Live;
use place::TAKEOVER_PAUSE;
pub(super) use resume::begin as read_kept;
pub(super) use sse_2024::named as named_connection;
pub(super) use streams::Stream;
pub(super) use table::Table;

/// What serves the legacy era at an endpoint, for one request.
pub(super) struct Door {
    pub(super) table: Arc<Table>,
    pub(super) config: Arc<Config>,
    pub(super) service: Arc<dyn Service>,
}

impl Door {
    /// Begins with a POST of one message.
    pub(super) fn post(self, parts: Box<Parts>, message: Message<'_>) -> Begun<'_> {
        let begun = match self.config.sessions.mode {
            Mode::InMemory if opens(&message, &parts) => {
                return Begun::Waiting(Box::pin(self.open(parts, message)));
            }
            Mode::InMemory if self.config.sessions.store.is_some() => {
                return Begun::Waiting(Box::pin(self.post_shared(parts, message)));
            }
            Mode::InMemory => named_session(&parts)
                .and_then(|id| self.enter(self.table.find(id), &parts))
                .map(|live| post::take(&self, &live, parts, message)),
            _ => stateless::take(&self, parts, message),
        };
        begun.unwrap_or_else(|refused| Begun::Answered(refused.into_response()))
    }

    async fn open(self, parts: Box<Parts>, message: Message<'_>) -> Response<Body> {
        let answered = open::answer(&self, &parts, message).await;
        answered.unwrap_or_else(Refused::into_response)
    }

    /// A message of a session that others share.
    async fn post_shared(self, parts: Box<Parts>, message: Message<'_>) -> Response<Body> {
        let answered = match self.find(&parts).await {
            Ok(live) => {
                let response = post::take(&self, &live, parts, message).answer().await;
                shared::save(&live).await.map(|()| response)
            }
            Err(refused) => Err(refused),
        };
        answered.unwrap_or_else(Refused::into_response)
    }

    /// Answers a POST of several messages.
    // spec: BASE-14
    pub(super) async fn post_batch(self, parts: Box<Parts>, text: &[u8]) -> Response<Body> {
        let answered = match self.config.sessions.mode {
            Mode::InMemory => match self.find(&parts).await {
                Ok(live) => {
                    let answered = batch::answer(&self, &live, parts, text).await;
                    shared::save(&live).await.and(answered)
                }
                Err(refused) => Err(refused),
            },
            _ => stateless::answer_batch(&self, parts, text).await,
        };
        answered.unwrap_or_else(Refused::into_response)
    }

    /// Answers a POST to a connection of HTTP+SSE.
    pub(super) fn post_one_way(&self, parts: Box<Parts>, text: &[u8]) -> Response<Body> {
        let answered = sse_2024::post(self, parts, text);
        answered.unwrap_or_else(Refused::into_response)
    }

    /// Answers a GET.
    pub(super) async fn get(self, mut parts: Box<Parts>) -> Response<Body> {
        let is_connection = self.config.sessions.serves_http_sse
            && !parts.headers.contains_key(names::MCP_SESSION_ID);
        if is_connection {
            let answered = sse_2024::open(&self, parts);
            return answered.unwrap_or_else(Refused::into_response);
        }
        let answered = match self.find(&parts).await {
            Ok(live) => {
                let shutdown = super::answer::shutdown(&mut parts, &self.config);
                let opened = get::open(&live, parts, &self.config, shutdown).await;
                opened.map(|response| with_session(response, &live))
            }
            Err(refused) => Err(refused),
        };
        answered.unwrap_or_else(Refused::into_response)
    }

    /// Answers a DELETE: the session ends.
    // spec: SESS-07, SESS-09
    pub(super) async fn delete(self, parts: Box<Parts>) -> Response<Body> {
        match self.find(&parts).await {
            Ok(live) => {
                self.table.end(&live.id, SessionEnd::Deleted);
                match shared::remove(&live).await {
                    Ok(()) => respond::nothing(StatusCode::OK),
                    Err(refused) => refused.into_response(),
                }
            }
            Err(refused) => refused.into_response(),
        }
    }

    /// The session that a request names.
    // spec: SESS-06, SESS-07, SESS-10, SESS-11
    async fn find(&self, parts: &Parts) -> Result<Arc<Live>, Refused> {
        let id = named_session(parts)?;
        let live = match &self.config.sessions.store {
            None => self.table.find(id),
            Some(store) => shared::find(self, &**store, id).await?,
        };
        self.enter(live, parts)
    }

    /// The session, if the request may enter it.
    fn enter(&self, live: Option<Arc<Live>>, parts: &Parts) -> Result<Arc<Live>, Refused> {
        let live = live.ok_or_else(no_such_session)?;
        // A stranger does not learn that the session exists.
        if !live.machine.belongs_to(parts.extensions.get::<Principal>()) {
            return Err(no_such_session());
        }
        let chosen = live.machine.wire().version();
        if headers::version(&parts.headers) != Some(chosen.as_str()) {
            check_version(parts, &*live.service)?;
        }
        Ok(live)
    }
}

/// The message opens a session.
fn opens(message: &Message<'_>, parts: &Parts) -> bool {
    matches!(message, Message::Request(request) if request.method == Method::Initialize.as_str())
        && !parts.headers.contains_key(names::MCP_SESSION_ID)
}

/// The id of the session that a request names.
// spec: SESS-06
fn named_session(parts: &Parts) -> Result<&str, Refused> {
    let mut values = parts.headers.get_all(names::MCP_SESSION_ID).iter();
    let id = match (values.next(), values.next()) {
        (Some(id), None) => id,
        (None, _) => {
            return Err(Refused::bad_request(
                "the request names no session: open one with `initialize`, and send the \
                 Mcp-Session-Id header of its answer with every other request",
            ));
        }
        _ => return Err(Refused::bad_request("the request names several sessions")),
    };
    id.to_str().map_err(|_| no_such_session())
}

fn no_such_session() -> Refused {
    let message = "session not found; open another one with `initialize`";
    Refused::new(StatusCode::NOT_FOUND, codes::SESSION_NOT_FOUND, message)
}

/// The revision that the header of a request names, when it names one that is offered.
// spec: HTTP-SL-13, GAP-16
fn check_version(parts: &Parts, service: &dyn Service) -> Result<Option<ProtocolVersion>, Refused> {
    if !parts.headers.contains_key(names::MCP_PROTOCOL_VERSION) {
        return Ok(None);
    }
    let profile = service.profile();
    let offered = profile
        .versions
        .iter()
        .filter(|version| !version.is_modern());
    let named = headers::version(&parts.headers).unwrap_or_default();
    if let Some(version) = offered.clone().find(|version| version.as_str() == named) {
        return Ok(Some(*version));
    }
    let offered: Vec<_> = offered.copied().collect();
    Err(Refused::bad_request(format!(
        "MCP-Protocol-Version {named:?} is not supported in a session; supported: {}",
        ProtocolVersion::listed(&offered)
    )))
}

/// Who sends a request, as subscriptions look at them.
fn audience(parts: Box<Parts>, config: &Config) -> Audience {
    Audience::new(parts.into(), config.gate.clone())
}

/// The same for as long as a stream lives. The head is copied: as it came, it holds on to the whole
/// buffer that it was read into.
fn lasting_audience(mut parts: Box<Parts>, config: &Config) -> Audience {
    for value in parts.headers.values_mut() {
        let is_sensitive = value.is_sensitive();
        if let Ok(own) = HeaderValue::from_bytes(value.as_bytes()) {
            *value = own;
            value.set_sensitive(is_sensitive);
        }
    }
    if let Ok(own) = parts.uri.to_string().parse() {
        parts.uri = own;
    }
    audience(parts, config)
}

/// Another reader has just come.
fn busy_reader() -> Refused {
    Refused {
        retry_after: Some(TAKEOVER_PAUSE.as_secs()),
        ..Refused::new(
            StatusCode::CONFLICT,
            codes::BAD_REQUEST,
            "another reader has just taken this stream over; read it there, or come back later",
        )
    }
}

/// Sends the id of the session along.
fn with_session(response: Response<Body>, live: &Live) -> Response<Body> {
    super::answer::with_session(response, HeaderValue::from_str(&live.id).ok())
}

/// A request that gets no further.
#[derive(Debug)]
struct Refused {
    status: StatusCode,
    id: Option<RequestId>,
    fault: Fault,
    /// In how many seconds it may be tried again.
    retry_after: Option<u64>,
}

impl Refused {
    #[cold]
    fn new(status: StatusCode, code: i64, message: impl Into<String>) -> Self {
        Self {
            status,
            id: None,
            fault: Fault::Protocol(ErrorObject::new(code, message.into())),
            retry_after: None,
        }
    }

    #[cold]
    fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, codes::BAD_REQUEST, message)
    }

    #[cold]
    fn fault(status: StatusCode, id: Option<RequestId>, fault: Fault) -> Self {
        Self {
            status,
            id,
            fault,
            retry_after: None,
        }
    }

    #[cold]
    fn into_response(self) -> Response<Body> {
        let wire = newest_wire();
        let mut response = respond::error(self.status, wire, self.id.as_ref(), &self.fault);
        if let Some(seconds) = self.retry_after {
            let headers = response.headers_mut();
            headers.insert(names::RETRY_AFTER, seconds.into());
        }
        response
    }
}

/// The wire of messages that belong to no session yet.
fn newest_wire() -> &'static dyn Wire {
    wire::of(ProtocolVersion::LATEST_LEGACY)
}

#[cfg(test)]
mod tests;
