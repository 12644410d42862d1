//! Subscriptions by `subscriptions/listen`: one request whose answer is the stream of changes.

use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::{StreamExt, stream};
use mcp_core::backoff::Backoff;
use mcp_core::wire::ClientRequestContext;
use mcp_core::{ClientRequest, Frames, Reply, ServerNotification};
use mcp_types::{Message, RequestId, SubscriptionFilter};
use tokio::time::{Instant, sleep, timeout_at};

use super::{Settings, Subscription};
use crate::attempt::{check_id, send};
use crate::change::Change;
use crate::clock::Clock;
use crate::error::Kind;
use crate::{Client, Error};

/// A stream that lasted that long was no failure, even when it told nothing.
const LASTING: Duration = Duration::from_secs(60);

pub(super) async fn subscribe(
    client: Client,
    asked: SubscriptionFilter,
    settings: Settings,
) -> Result<Subscription, Error> {
    let request = Request {
        client,
        asked: asked.clone(),
        settings,
    };
    let stream = request.begin().await;
    let stream = stream.map_err(|kind| request.failed(kind))?;
    let granted = stream.granted.clone();
    let listening = Listening {
        request,
        backoff: Backoff::new(Duration::from_millis(500), Duration::from_secs(30)),
        stream: Some(stream),
        is_over: false,
    };
    let changes = stream::unfold(listening, |mut listening| async move {
        let next = listening.next().await?;
        Some((next, listening))
    });
    Ok(Subscription {
        asked,
        granted,
        changes: Box::pin(changes),
    })
}

/// A subscription over all the streams that it takes.
struct Listening {
    request: Request,
    backoff: Backoff,
    stream: Option<Acknowledged>,
    is_over: bool,
}

/// What begins a stream.
struct Request {
    client: Client,
    asked: SubscriptionFilter,
    settings: Settings,
}

/// One stream of changes.
struct Acknowledged {
    id: RequestId,
    frames: Frames,
    granted: SubscriptionFilter,
    since: Instant,
}

/// What a message of the stream comes to.
enum Heard {
    Granted(SubscriptionFilter),
    Change(Change),
    /// The server has ended the subscription in good order.
    End,
    Nothing,
}

impl Listening {
    /// The next change; `None` at the end.
    async fn next(&mut self) -> Option<Result<Change, Error>> {
        if self.is_over {
            return None;
        }
        loop {
            let Some(stream) = &mut self.stream else {
                let outcome = self.again().await;
                self.is_over = outcome.is_err();
                return Some(outcome.map_err(|kind| self.request.failed(kind)));
            };
            match hear(&self.request, stream).await {
                Ok(Heard::Change(change)) => {
                    self.backoff.reset();
                    self.request.forget(&change);
                    return Some(Ok(change));
                }
                Ok(Heard::End) => {
                    self.is_over = true;
                    return None;
                }
                Ok(_) => {}
                // spec: SUB-10
                Err(kind) if kind.is_broken() => {
                    if stream.since.elapsed() >= LASTING {
                        self.backoff.reset();
                    }
                    self.stream = None;
                }
                Err(kind) => {
                    self.is_over = true;
                    return Some(Err(self.request.failed(kind)));
                }
            }
        }
    }

    /// Begins anew after a break, however often that takes.
    // spec: SUB-11
    async fn again(&mut self) -> Result<Change, Kind> {
        let end = Instant::now() + self.request.settings.retry_for;
        loop {
            let wait = self.backoff.next_delay();
            match select(
                Box::pin(sleep(wait)),
                Box::pin(self.request.client.inner.closing.closed()),
            )
            .await
            {
                Either::Left(_) => {}
                Either::Right((reason, _)) => {
                    return Err(Kind::closed(reason));
                }
            }
            match self.request.begin().await {
                Ok(stream) => {
                    let missed = Change::Missed(stream.granted.clone());
                    self.stream = Some(stream);
                    self.request.forget(&missed);
                    return Ok(missed);
                }
                Err(kind) if kind.may_pass() && Instant::now() < end => {}
                Err(kind) => return Err(kind),
            }
        }
    }
}

impl Request {
    /// Sends the request and waits until the server acknowledges it.
    // spec: SUB-03, SUB-04
    async fn begin(&self) -> Result<Acknowledged, Kind> {
        let inner = &self.client.inner;
        let clock = Clock::start(inner.timeouts, self.settings.timeout, None);
        let deadline = clock.deadline();
        let id = RequestId::from(inner.next_id());
        let asked = self.listen();
        let outgoing = ClientRequestContext::new(&id, &inner.profile);
        let headers = &self.settings.headers;
        let frames = send(inner, &asked, inner.version(), &outgoing, headers);
        let mut stream = Acknowledged {
            id: id.clone(),
            frames,
            granted: SubscriptionFilter::new(),
            since: Instant::now(),
        };
        loop {
            let heard = hear(self, &mut stream);
            match timeout_at(deadline, heard).await {
                Ok(Ok(Heard::Granted(granted))) => {
                    stream.granted = granted;
                    return Ok(stream);
                }
                Ok(Ok(Heard::End)) => return Err(Kind::NotAcknowledged),
                Ok(Ok(_)) => {}
                Ok(Err(kind)) => return Err(kind),
                Err(_) => return Err(clock.timed_out(deadline)),
            }
        }
    }

    /// Kept answers that a change makes stale are not used any more.
    fn forget(&self, change: &Change) {
        let inner = &self.client.inner;
        inner.cache.invalidate(&inner.channel.peer(), change);
    }

    fn listen(&self) -> ClientRequest {
        ClientRequest::Listen(self.asked.clone().into())
    }

    fn failed(&self, kind: Kind) -> Error {
        Error::of(&self.client.inner.channel.peer(), &self.listen(), kind)
    }
}

/// Waits for the next message of the stream.
async fn hear(request: &Request, stream: &mut Acknowledged) -> Result<Heard, Kind> {
    let inner = &request.client.inner;
    let closed = Box::pin(inner.closing.closed());
    let frame = match select(stream.frames.next(), closed).await {
        Either::Left((Some(frame), _)) => frame.map_err(Kind::Channel)?,
        Either::Left((None, _)) => return Err(Kind::Unanswered),
        Either::Right((reason, _)) => return Err(Kind::closed(reason)),
    };
    match Message::parse(&frame.message).map_err(Kind::Unreadable)? {
        Message::Notification(note) => {
            // spec: SUB-07
            let wire = inner.wire();
            let of = wire.subscription_id(&note);
            if of.is_some_and(|id| id != stream.id) {
                return Ok(Heard::Nothing);
            }
            Ok(match wire.decode_server_notification(&note) {
                Some(ServerNotification::Acknowledged(granted)) => Heard::Granted(granted),
                // spec: CAN-09, GAP-01
                Some(ServerNotification::Cancelled(cancelled))
                    if cancelled.request_id.as_ref() == Some(&stream.id) =>
                {
                    Heard::End
                }
                Some(note) => match Change::of(note) {
                    Some(change) if change.is_in(&request.asked) => Heard::Change(change),
                    _ => Heard::Nothing,
                },
                None => Heard::Nothing,
            })
        }
        Message::Response(response) => {
            check_id(&response, &stream.id, frame.status)?;
            let listen = request.listen();
            let reply = inner.wire().decode_reply(&listen, &response);
            match reply.map_err(Kind::Decode)? {
                // spec: SUB-09, SUB-10
                Reply::Complete { .. } => Ok(Heard::End),
                Reply::Fault(fault) => Err(Kind::of_fault(fault, frame.status, &inner.spoken)),
                _ => Err(Kind::OtherResult),
            }
        }
        _ => Ok(Heard::Nothing),
    }
}
