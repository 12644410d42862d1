//! What the server of a session says by itself: its requests, answered by the same handlers as
//! those of the modern era, and its notifications.

use std::collections::HashMap;
use std::future::pending;
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{Either, select};
use mcp_core::{
    ChannelError, ClientResponse, Fault, Frame, Frames, MirroredHeaders, OneWayMessage,
    ServerNotification, ServerRequest, wire,
};
use mcp_types::{Message, Notification, Request, RequestId};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use crate::client::Inner;
use crate::{Asker, Change, Client};

/// Requests of the server that are answered at the same time; more are refused.
const MAX_ASKS: usize = 32;

/// Refusals on their way to a server that asks ever more; beyond them it gets no answer at all.
const MAX_REFUSALS: usize = 32;

/// How long an answer may take to be sent.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);

/// Starts the task that listens to the server, where there is something to listen to. It ends with
/// the session or with the client.
pub(super) fn start(client: &Client) {
    let Some(frames) = client.inner.channel.inbound() else {
        return;
    };
    let dispatcher = Dispatcher {
        client: Arc::downgrade(&client.inner),
        answers: JoinSet::new(),
        running: HashMap::new(),
    };
    let task = tokio::spawn(dispatcher.run(frames));
    client.inner.dispatcher.replace(task.abort_handle());
}

struct Dispatcher {
    client: Weak<Inner>,
    answers: JoinSet<RequestId>,
    running: HashMap<RequestId, AbortHandle>,
}

/// What happens next.
enum Next {
    Frame(Frame),
    Answered(RequestId),
    /// Something may be missing.
    Gap,
    Nothing,
    End,
}

impl Dispatcher {
    async fn run(mut self, mut frames: Frames) {
        loop {
            match self.next(&mut frames).await {
                Next::Frame(frame) => self.take(&frame.message),
                Next::Answered(id) => {
                    self.running.remove(&id);
                }
                Next::Gap => {
                    if let Some(inner) = self.client.upgrade() {
                        inner.hear_change(Change::Missed(inner.watched.everything()));
                    }
                }
                Next::Nothing => {}
                Next::End => return,
            }
        }
    }

    async fn next(&mut self, frames: &mut Frames) -> Next {
        let done = pin!(next_done(&mut self.answers));
        match select(frames.next(), done).await {
            Either::Left((Some(Ok(frame)), _)) => Next::Frame(frame),
            Either::Left((Some(Err(ChannelError::Broken { .. })), _)) => Next::Gap,
            // A message that cannot be read concerns nobody here.
            Either::Left((Some(Err(_)), _)) | Either::Right((None, _)) => Next::Nothing,
            Either::Left((None, _)) => Next::End,
            Either::Right((Some(id), _)) => Next::Answered(id),
        }
    }

    fn take(&mut self, text: &[u8]) {
        let Some(inner) = self.client.upgrade() else {
            return;
        };
        match Message::parse(text) {
            Ok(Message::Request(request)) => self.answer(&inner, &request),
            Ok(Message::Notification(note)) => self.hear(&inner, &note),
            _ => {}
        }
    }

    fn hear(&mut self, inner: &Inner, note: &Notification<'_>) {
        match wire::client_for_version(inner.version()).decode_server_notification(note) {
            // spec: CAN-04, CAN-05
            Some(ServerNotification::Cancelled(cancelled)) => {
                let id = cancelled.request_id;
                if let Some(task) = id.and_then(|id| self.running.remove(&id)) {
                    task.abort();
                }
            }
            Some(note) => inner.hear(note),
            None => {}
        }
    }

    fn answer(&mut self, inner: &Inner, request: &Request<'_>) {
        if self.answers.len() >= MAX_ASKS + MAX_REFUSALS {
            return;
        }
        let version = inner.version();
        let ask = match wire::client_for_version(version).decode_server_request(request) {
            Ok(_) if self.answers.len() >= MAX_ASKS => Err(Fault::Refused(
                "this client answers too many requests already".into(),
            )),
            Ok(decoded) => Ok(decoded.request),
            Err(fault) => Err(fault),
        };
        let work = Work {
            client: self.client.clone(),
            id: request.id.clone(),
            mirrored: MirroredHeaders::new(version, &request.method, None),
        };
        let task = self.answers.spawn(work.run(ask));
        // One id twice is the server's mistake; the newer one can be taken back.
        self.running.insert(request.id.clone(), task);
    }
}

/// The id of the next request that is done with; `None` for one that was taken back.
async fn next_done(answers: &mut JoinSet<RequestId>) -> Option<RequestId> {
    match answers.join_next().await {
        Some(done) => done.ok(),
        None => pending().await,
    }
}

/// One answer. The client is not held while somebody thinks about it.
struct Work {
    client: Weak<Inner>,
    id: RequestId,
    mirrored: MirroredHeaders,
}

impl Work {
    async fn run(self, ask: Result<ServerRequest, Fault>) -> RequestId {
        let answer = match ask {
            Ok(ask) => self.find(ask).await,
            Err(fault) => ClientResponse::Fault(fault),
        };
        let mut body = Vec::new();
        let wire = wire::client_for_version(self.mirrored.version);
        if wire.encode_client_response(&answer, &self.id, &mut body) {
            let note = OneWayMessage::new(body, self.mirrored);
            let sending = self
                .client
                .upgrade()
                .map(|inner| inner.channel.notify(note));
            if let Some(sending) = sending {
                // A server that cannot be reached any more waits for nothing.
                let _ = timeout(ANSWER_LIMIT, sending).await;
            }
        }
        self.id
    }

    async fn find(&self, ask: ServerRequest) -> ClientResponse {
        let ServerRequest::Input(request) = ask else {
            return ClientResponse::Pong;
        };
        let Some(inner) = self.client.upgrade() else {
            return ClientResponse::Fault(Fault::internal("the client has gone"));
        };
        let inputs = inner.inputs.clone();
        let declared = inner.profile.capabilities.clone();
        let asker = Arc::new(Asker {
            server: inner.channel.peer().into_owned(),
            info: inner.server().and_then(|server| server.info.clone()),
            method: None,
            item: None,
        });
        let _asked = inner.questions.begin();
        drop(inner);
        match inputs.answer(request, asker, &declared).await {
            Ok(response) => ClientResponse::Input(response),
            Err(error) => ClientResponse::Fault(error.into_fault()),
        }
    }
}
