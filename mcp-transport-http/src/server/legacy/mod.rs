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

mod audience;
mod batch;
mod connection;
mod door;
mod get;
mod live;
mod open;
mod post;
mod reaper;
mod saved;
mod shared;
mod slots;
mod sse_2024;
mod stateless;
mod table;

use std::sync::Arc;

use http::request::Parts;
use http::{Response, StatusCode};
use mcp_core::BoxFuture;
use mcp_types::{Message, Method};

use super::answer::{self, Begun};
use super::refused::Refused;
use super::respond::{self, Body};
use super::sessions::{Mode, SessionEnd};
use crate::headers::names;
pub(super) use door::Door;
use door::named_session;
use live::Live;
pub(super) use sse_2024::named as named_connection;
pub(super) use table::Table;

/// The futures are boxed here, in functions of no type of a program: so their code is compiled with
/// this crate, and not with each program.
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
                .and_then(|id| self.admit(self.table.find(id), &parts))
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
                saved::save(&live).await.map(|()| response)
            }
            Err(refused) => Err(refused),
        };
        answered.unwrap_or_else(Refused::into_response)
    }

    /// Answers a POST of several messages.
    // spec: BASE-14
    pub(super) fn post_batch(
        self,
        parts: Box<Parts>,
        text: &[u8],
    ) -> BoxFuture<'_, Response<Body>> {
        Box::pin(async move {
            let answered = match self.config.sessions.mode {
                Mode::InMemory => match self.find(&parts).await {
                    Ok(live) => {
                        let answered = batch::answer(&self, &live, parts, text).await;
                        saved::save(&live).await.and(answered)
                    }
                    Err(refused) => Err(refused),
                },
                _ => stateless::answer_batch(&self, parts, text).await,
            };
            answered.unwrap_or_else(Refused::into_response)
        })
    }

    /// Answers a POST to a connection of HTTP+SSE.
    pub(super) fn post_one_way(&self, parts: Box<Parts>, text: &[u8]) -> Response<Body> {
        let answered = sse_2024::post(self, parts, text);
        answered.unwrap_or_else(Refused::into_response)
    }

    /// Answers a GET.
    pub(super) fn get(self, parts: Box<Parts>) -> BoxFuture<'static, Response<Body>> {
        Box::pin(async move {
            let is_connection = self.config.sessions.serves_http_sse
                && !parts.headers.contains_key(names::MCP_SESSION_ID);
            if is_connection {
                let answered = sse_2024::open(&self, parts);
                return answered.unwrap_or_else(Refused::into_response);
            }
            let answered = match self.find(&parts).await {
                Ok(live) => {
                    let opened = get::open(&live, parts, &self.config).await;
                    opened.map(|response| answer::with_session(response, live.header()))
                }
                Err(refused) => Err(refused),
            };
            answered.unwrap_or_else(Refused::into_response)
        })
    }

    /// Answers a DELETE: the session ends.
    // spec: SESS-07, SESS-09
    pub(super) fn delete(self, parts: Box<Parts>) -> BoxFuture<'static, Response<Body>> {
        Box::pin(async move {
            match self.find(&parts).await {
                Ok(live) => {
                    self.table.end(&live.id, SessionEnd::Deleted);
                    match saved::remove(&live).await {
                        Ok(()) => respond::nothing(StatusCode::OK),
                        Err(refused) => refused.into_response(),
                    }
                }
                Err(refused) => refused.into_response(),
            }
        })
    }

    /// The session that a request names.
    // spec: SESS-06, SESS-07, SESS-10, SESS-11
    async fn find(&self, parts: &Parts) -> Result<Arc<Live>, Refused> {
        let id = named_session(parts)?;
        let live = match &self.config.sessions.store {
            None => self.table.find(id),
            Some(store) => shared::find(self, &**store, id).await?,
        };
        self.admit(live, parts)
    }
}

/// The message opens a session.
fn opens(message: &Message<'_>, parts: &Parts) -> bool {
    matches!(message, Message::Request(request) if request.method == Method::Initialize.as_str())
        && !parts.headers.contains_key(names::MCP_SESSION_ID)
}

#[cfg(test)]
mod tests;
