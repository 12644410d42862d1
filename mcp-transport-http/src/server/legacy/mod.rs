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
use std::task::Context;

use bytes::Bytes;
use http::StatusCode;
use http::request::Parts;
use mcp_core::BoxFuture;
use mcp_types::Message;

use super::answer::Begun;
use super::refused::Refused;
use super::respond::{self, Answer};
use super::sessions::{Mode, SessionEnd};
use crate::headers::{Mirrored, names};
pub(super) use door::{Door, Way};
use door::{Entry, admit, named_session};
use live::Live;
pub(super) use shared::{Shared, Sharing};
pub(super) use sse_2024::HttpSse;
pub(super) use table::Table;

/// The futures are boxed here, in functions of no type of a program: so their code is compiled with
/// this crate, and not with each program.
impl Door {
    /// Begins with a POST of one message, whose text is `text`.
    #[inline(never)]
    pub(super) fn post(
        self,
        entry: Entry<'_>,
        parts: Box<Parts>,
        message: &Message<'_>,
        text: &Bytes,
        cx: &mut Context<'_>,
    ) -> Begun {
        let begun = match entry {
            Entry::Alone => stateless::take(&self, parts, message, cx),
            Entry::Opens(request) => open::take(self, &parts, request, cx),
            Entry::Shared => {
                let answer = self.post_shared(parts, text.clone());
                Ok(Begun::with(or_answer(answer), cx))
            }
        };
        begun.unwrap_or_else(|refused| Begun::Answered(refused.into_answer()))
    }

    /// A message of a session that others share. It is read once more: whoever waits for a store
    /// cannot borrow it.
    async fn post_shared(self, parts: Box<Parts>, text: Bytes) -> Result<Answer, Refused> {
        let live = self.find(&parts).await?;
        let message = read(&text)?;
        let profile = live.service.profile();
        let answer = Begun::answer(|cx| live.take(profile, parts, &message, cx)).await;
        saved::save(&live).await?;
        Ok(answer)
    }

    /// Answers a POST of several messages.
    // spec: BASE-14
    #[inline(never)]
    pub(super) fn post_batch(self, parts: Box<Parts>, text: Bytes, cx: &mut Context<'_>) -> Begun {
        let answered = async move {
            if self.config.sessions.mode != Mode::InMemory {
                return stateless::answer_batch(&self, parts, &text).await;
            }
            let live = self.find(&parts).await?;
            let answered = batch::answer(&live, parts, &text).await;
            saved::save(&live).await.and(answered)
        };
        Begun::with(or_answer(answered), cx)
    }

    /// Answers a GET.
    pub(super) fn get(self, parts: Box<Parts>) -> BoxFuture<'static, Answer> {
        Box::pin(async move {
            if let Some(http_sse) = self.config.sessions.http_sse
                && !parts.headers.contains_key(names::MCP_SESSION_ID)
            {
                return http_sse.get(&self, parts);
            }
            let answered = match self.find(&parts).await {
                Ok(live) => {
                    let opened = get::open(&live, parts, &self.config).await;
                    opened.map(|answer| answer.naming(live.header()))
                }
                Err(refused) => Err(refused),
            };
            answered.unwrap_or_else(Refused::into_answer)
        })
    }

    /// Answers a DELETE: the session ends.
    // spec: SESS-07, SESS-09
    pub(super) fn delete(self, parts: Box<Parts>) -> BoxFuture<'static, Answer> {
        Box::pin(async move {
            match self.find(&parts).await {
                Ok(live) => {
                    self.table.end(&live.id, SessionEnd::Deleted);
                    match saved::remove(&live).await {
                        Ok(()) => respond::nothing(StatusCode::OK),
                        Err(refused) => refused.into_answer(),
                    }
                }
                Err(refused) => refused.into_answer(),
            }
        })
    }

    /// The session that a request names.
    // spec: SESS-06, SESS-07, SESS-10, SESS-11
    async fn find(&self, parts: &Parts) -> Result<Arc<Live>, Refused> {
        let mirrored = Mirrored::of(&parts.headers);
        let id = named_session(mirrored)?;
        let live = match &self.config.sessions.store {
            None => self.table.find(id),
            Some(store) => store.find(self, id).await?,
        };
        admit(live, parts, mirrored)
    }
}

/// What is refused is answered, too.
async fn or_answer(answer: impl Future<Output = Result<Answer, Refused>>) -> Answer {
    Refused::or_answer(answer.await)
}

/// Reads a message.
fn read(text: &[u8]) -> Result<Message<'_>, Refused> {
    Message::parse(text).map_err(|error| {
        let id = error.id().cloned();
        Refused::fault(StatusCode::BAD_REQUEST, id, error.into())
    })
}

#[cfg(test)]
mod tests;
