//! Several messages at once (2025-03-26): each is answered by itself, and the answers are joined.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-03-26/basic/transports>

use std::future::ready;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::StatusCode;
use http::request::Parts;
use mcp_core::BoxFuture;
use mcp_core::wire::batch::{self, Answers};
use mcp_core::wire::{EncodedReply, Wire};
use mcp_types::{Message, ParseError};

use super::super::answer::Begun;
use super::super::kept::without_id;
use super::super::refused::Refused;
use super::super::respond::{self, Answer, Body, EventSource};
use super::live::Live;
use super::post;
use crate::task::join_all;

/// Answers several messages of a session.
// spec: BASE-14, HTTP-SL-01, HTTP-SL-02
pub(super) async fn answer(
    live: &Arc<Live>,
    parts: Box<Parts>,
    text: &[u8],
) -> Result<Answer, Refused> {
    let wire = live.machine.wire();
    let messages = batch::read(text, wire.version())
        .map_err(|fault| Refused::fault(StatusCode::BAD_REQUEST, None, fault))?;
    let _here = live.calls.hold();
    let mut answers: Vec<Part<'_>> = Vec::new();
    for message in messages {
        match message {
            Ok(Message::Request(request)) => {
                let parts = parts.clone();
                answers.push(Box::pin(async move {
                    // Its stream has several calls, so its events have no ids to come again with.
                    let kept = None;
                    let profile = live.service.profile();
                    Begun::answer(|cx| post::begin(live, profile, parts, &request, kept, cx)).await
                }));
            }
            Ok(Message::Notification(note)) => post::hear(live, &note),
            Ok(Message::Response(response)) => drop(post::settle(live, &response)),
            Ok(_) => {}
            Err(error) => answers.push(broken(error, wire)),
        }
    }
    Ok(join(answers).await.naming(live.header()))
}

/// What a message of a batch is answered with.
pub(super) type Part<'a> = BoxFuture<'a, Answer>;

/// The answer to what is no message.
pub(super) fn broken(error: ParseError, wire: &dyn Wire) -> Part<'static> {
    let id = error.id().cloned();
    let answer = respond::error(StatusCode::OK, wire, id.as_ref(), &error.into());
    Box::pin(ready(answer))
}

/// Answers them all: with an array when every answer is there, else with a stream.
pub(super) async fn join(parts: Vec<Part<'_>>) -> Answer {
    joined(join_all(parts).await)
}

fn joined(answers: Vec<Answer>) -> Answer {
    let (mut whole, mut streams) = (Vec::new(), Vec::new());
    for answer in answers {
        if answer.is_message() {
            whole.push(answer.body.whole());
        } else {
            streams.push(answer.body);
        }
    }
    if !streams.is_empty() {
        let answered: Vec<u8> = whole.iter().flat_map(|text| without_id(text)).collect();
        let first = answered.into();
        return respond::live_events(Box::new(Joined { first, streams }));
    }
    let mut answers = Answers::new();
    for text in &whole {
        answers.push(text);
    }
    match answers.into_text() {
        Some(head) => {
            let mut text = EncodedReply::default();
            text.head = head;
            respond::json(StatusCode::OK, text)
        }
        None => respond::accepted(),
    }
}

/// The streams of several calls as one.
struct Joined {
    /// What was answered at once.
    first: Bytes,
    streams: Vec<Body>,
}

impl EventSource for Joined {
    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if !self.first.is_empty() {
            return Poll::Ready(Some(std::mem::take(&mut self.first)));
        }
        let mut at = 0;
        while let Some(stream) = self.streams.get_mut(at) {
            match stream.poll_data(cx) {
                Poll::Ready(Some(data)) => return Poll::Ready(Some(data)),
                Poll::Ready(None) => drop(self.streams.remove(at)),
                Poll::Pending => at += 1,
            }
        }
        if self.streams.is_empty() {
            Poll::Ready(None)
        } else {
            Poll::Pending
        }
    }

    fn is_done(&self) -> bool {
        self.first.is_empty() && self.streams.is_empty()
    }
}
