//! What a server says, sorted by what it belongs to.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use mcp_core::lines::Line;
use mcp_core::wire;
use mcp_core::{ChannelError, CloseReason, Frame, ServerNotification};
use mcp_types::{Message, Notification, ProtocolVersion, RequestId, Response};
use tokio::time::sleep;

use super::{Epitaph, Shared, Waiting};
use crate::pipe::{Pipe, excerpt};

/// A server that takes nothing any more may still say something for so long.
const AFTERWARDS: Duration = Duration::from_secs(1);

/// Sorts until the server says nothing any more.
pub(super) async fn route(mut pipe: Pipe, shared: Arc<Shared>, epitaph: Epitaph) {
    let mut written = None;
    loop {
        tokio::select! {
            biased;
            batch = pipe.incoming.recv() => match batch {
                Some(batch) => batch.into_iter().for_each(|line| shared.take(line)),
                None => break,
            },
            ended = pipe.writer.ended(), if written.is_none() => {
                shared.written.send_replace(true);
                written = Some(ended);
            }
            // Closed here, the server may take its time to close its side as well.
            () = sleep(AFTERWARDS), if matches!(written, Some(Err(_))) => break,
        }
    }
    let ended = match written {
        Some(Err(error)) => Err(error),
        _ => pipe.reader.ended().await,
    };
    let reason = match epitaph.await {
        CloseReason::Remote => of_error(ended),
        reason => reason,
    };
    shared.end(&reason);
}

fn of_error(ended: io::Result<()>) -> CloseReason {
    match ended {
        Ok(()) => CloseReason::Remote,
        Err(error) => CloseReason::Broken(error.to_string()),
    }
}

impl Shared {
    fn take(&self, line: Line) {
        match line {
            Line::Text(text) => self.take_text(text),
            Line::TooLong(head) => {
                let limit = self.line_limit;
                tracing::warn!(
                    peer = &*self.peer,
                    limit,
                    line = excerpt(&head),
                    "a line is too long"
                );
                if let Some(waiting) = self.settle_only() {
                    waiting.mailbox.fail(ChannelError::TooLarge { limit });
                }
            }
            _ => {}
        }
    }

    fn take_text(&self, text: Bytes) {
        let frame = Frame::new(text.clone());
        match Message::parse(&text) {
            Ok(Message::Response(response)) => self.take_response(&response, frame),
            Ok(Message::Notification(note)) => self.take_note(&note, frame),
            Ok(Message::Request(request)) => {
                if !self.take_loose(frame) {
                    tracing::warn!(
                        peer = &*self.peer,
                        method = &*request.method,
                        "the server asks something, and nobody answers"
                    );
                }
            }
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(
                    peer = &*self.peer,
                    %error,
                    line = excerpt(&text),
                    "a line is no message"
                );
                // Whoever asked learns what is wrong with the answer.
                if let Some(waiting) = error.id().and_then(|id| self.pending.lock().remove(id)) {
                    waiting.mailbox.finish(Some(frame));
                }
            }
        }
    }

    // spec: BASE-06, BASE-11, CAN-06
    fn take_response(&self, response: &Response<'_>, frame: Frame) {
        let waiting = match &response.id {
            Some(id) => self.pending.lock().remove(id),
            None => self.settle_only(),
        };
        match (waiting, &response.id) {
            (Some(waiting), _) => waiting.mailbox.finish(Some(frame)),
            (None, Some(id)) if self.was_ours(id) => {
                tracing::debug!(peer = &*self.peer, %id, "an answer comes too late");
            }
            (None, _) => {
                tracing::warn!(
                    peer = &*self.peer,
                    line = excerpt(&frame.message),
                    "an answer belongs to no request"
                );
            }
        }
    }

    fn was_ours(&self, id: &RequestId) -> bool {
        let latest = self.latest.load(Ordering::Relaxed);
        matches!(id, RequestId::Number(number) if *number <= latest)
    }

    fn take_note(&self, note: &Notification<'_>, frame: Frame) {
        match self.owner_of(note) {
            Some(Owner::Call(waiting)) => {
                let dropped = waiting.mailbox.push(frame);
                if dropped > 0 {
                    tracing::warn!(
                        peer = &*self.peer,
                        dropped,
                        "notifications come faster than they are taken"
                    );
                }
            }
            Some(Owner::Ended(waiting)) => waiting.mailbox.finish(Some(frame)),
            None => {
                if !self.take_loose(frame) {
                    let method = &*note.method;
                    tracing::debug!(peer = &*self.peer, method, "nobody hears this notification");
                }
            }
        }
    }

    /// The request that a notification belongs to.
    fn owner_of(&self, note: &Notification<'_>) -> Option<Owner> {
        let version = *self.version.lock();
        let of = wire::client_for_version(version.unwrap_or(ProtocolVersion::LATEST));
        // The era is not known before it is negotiated: progress is the same in both.
        let read = of.decode_server_notification(note);
        if let Some(ServerNotification::Progress { token, .. }) = &read {
            // A token is the id of its request.
            // spec: PROG-01
            return self
                .pending
                .lock()
                .get(token.as_id())
                .cloned()
                .map(Owner::Call);
        }
        if of.version().is_modern() {
            // spec: CAN-09
            if let Some(ServerNotification::Cancelled(cancelled)) = &read {
                let waiting = self.pending.lock().remove(cancelled.request_id.as_ref()?);
                return waiting.map(Owner::Ended);
            }
            // spec: STDIO-09, SUB-07
            if let Some(subscription) = of.subscription_id(note) {
                return self
                    .pending
                    .lock()
                    .get(&subscription)
                    .cloned()
                    .map(Owner::Call);
            }
            // What a call logs does not say which call: among several it cannot be told.
            // spec: LOG-05
            if let Some(ServerNotification::Log(_)) = &read {
                let pending = self.pending.lock();
                let (_, waiting) = pending.single(|waiting| !waiting.is_subscription)?;
                return Some(Owner::Call(waiting.clone()));
            }
        }
        None
    }

    /// Keeps what belongs to no request, for whoever asked for it.
    fn take_loose(&self, frame: Frame) -> bool {
        let is_heard = self.loose_taken.load(Ordering::Relaxed);
        if is_heard && self.loose.push(frame) > 0 {
            tracing::warn!(
                peer = &*self.peer,
                "messages come faster than they are taken"
            );
        }
        is_heard
    }

    /// The one call that waits: what names no request can only be about that.
    fn settle_only(&self) -> Option<Waiting> {
        let mut pending = self.pending.lock();
        let (id, _) = pending.single(|waiting| !waiting.is_subscription)?;
        let id = id.clone();
        pending.remove(&id)
    }
}

enum Owner {
    Call(Waiting),
    /// There is nothing more to come.
    Ended(Waiting),
}
