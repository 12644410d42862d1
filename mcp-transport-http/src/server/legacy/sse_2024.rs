//! HTTP+SSE, the transport of 2024-11-05: a GET is the session, its stream carries everything
//! that the server says, and each message of the client is a POST of its own, answered with 202.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse>

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::StatusCode;
use http::request::Parts;
use mcp_core::ReplyTarget;
use mcp_core::legacy::{HandledRequest, Session};
use mcp_core::{Fault, NotificationBuffer, Principal, Reply};
use mcp_types::{Message, Request, codes};
use parking_lot::Mutex;
use tokio::time::{Sleep, sleep};
use uuid::Uuid;

use super::super::call::{Call, new_buffer};
use super::super::in_flight::Hold;
use super::super::kept::Seat;
use super::super::refused::Refused;
use super::super::respond::{self, Answer, EventSource};
use super::super::stream::Ping;
use super::audience::{audience, lasting_audience};
use super::connection::{Connection, Opened};
use super::door::{Door, no_such_session};
use super::live::Live;
use super::table::Table;
use super::{open as opening, post, read};
use crate::sse::encode as sse;
use crate::task;

/// The member of the query that names a connection.
const NAME: &str = "sessionId=";
/// What may wait for a client that sends, but does not read.
const MOST_WAITING: usize = 4 << 20;

/// The transport, where it is switched on. Its functions are named here alone: the program of a server
/// without it has no code of it. All of it is `#[inline]`, which leaves it to the crate that switches it on.
#[derive(Clone, Copy)]
pub(in super::super) struct HttpSse {
    open: fn(&Door, Box<Parts>) -> Answered,
    post: fn(&Door, Box<Parts>, &[u8]) -> Answered,
}

type Answered = Result<Answer, Refused>;

impl HttpSse {
    pub(in super::super) const ON: Self = Self { open, post };

    /// Answers a GET without a session.
    pub(super) fn get(self, door: &Door, parts: Box<Parts>) -> Answer {
        (self.open)(door, parts).unwrap_or_else(Refused::into_answer)
    }

    /// Answers a POST to a connection.
    pub(in super::super) fn post(self, door: &Door, parts: Box<Parts>, text: &[u8]) -> Answer {
        (self.post)(door, parts, text).unwrap_or_else(Refused::into_answer)
    }

    /// The POST belongs to a connection.
    pub(in super::super) fn takes(self, parts: &Parts) -> bool {
        named(parts).is_some()
    }
}

/// The connection that a POST belongs to.
fn named(parts: &Parts) -> Option<&str> {
    let mut members = parts.uri.query()?.split('&');
    members.find_map(|member| member.strip_prefix(NAME))
}

/// Opens a connection, and says where the client's messages go.
// spec: SSE-01, SSE-02
#[inline]
fn open(door: &Door, parts: Box<Parts>) -> Answered {
    let slot = opening::reserve(door, parts.extensions.get::<Principal>())?;
    let connection = Arc::new(Connection {
        id: Uuid::new_v4().to_string().into(),
        place: Arc::default(),
        slot: Mutex::new(Some(slot)),
        session: OnceLock::new(),
    });
    let seat = connection.place.enter()?;
    door.table.connect(&connection);
    let config = &door.config;
    // Relative: behind a prefix or a proxy it is still the same path.
    let endpoint = format!("event: endpoint\ndata: ?{NAME}{}\n\n", connection.id);
    Ok(respond::live_events(Box::new(Reader {
        table: Arc::downgrade(&door.table),
        connection,
        seat,
        who: lasting_audience(parts, config),
        hold: None,
        first: endpoint.into(),
        ping: Ping::new(config.streams.ping_interval),
        too_late: Box::pin(sleep(config.sessions.init_timeout)),
        draining: config.ended_by().map(|shutdown| {
            let future: Draining = Box::pin(async move { shutdown.draining().await });
            future
        }),
        is_done: false,
    })))
}

/// Takes a message of the client; its answer goes out on the connection.
// spec: SSE-03, SSE-04
#[inline]
fn post(door: &Door, parts: Box<Parts>, text: &[u8]) -> Answered {
    let connection = named(&parts).and_then(|id| door.table.find_connection(id));
    let connection = connection.ok_or_else(no_such_session)?;
    let message = read(text)?;
    let Some(opened) = connection.session.get() else {
        return match message {
            Message::Request(request) => begin(door, &parts, &connection, &request),
            _ => Err(Refused::bad_request("a session begins with `initialize`")),
        };
    };
    let Opened { live, out } = opened;
    if !live.machine.belongs_to(parts.extensions.get::<Principal>()) {
        return Err(no_such_session());
    }
    if out.buffered() > MOST_WAITING {
        let message = "too much waits to be read on the connection; read it first";
        let status = StatusCode::SERVICE_UNAVAILABLE;
        return Err(Refused::new(status, codes::BAD_REQUEST, message));
    }
    match message {
        Message::Request(request) => call(door, parts, opened, &request),
        Message::Notification(note) => post::hear(live, &note),
        Message::Response(response) => return Ok(post::settle(live, &response)),
        _ => {}
    }
    Ok(respond::accepted())
}

/// `initialize`: the connection becomes a session.
#[inline]
fn begin(
    door: &Door,
    parts: &Parts,
    connection: &Arc<Connection>,
    request: &Request<'_>,
) -> Result<Answer, Refused> {
    let refuse = |fault| Refused::fault(StatusCode::BAD_REQUEST, Some(request.id.clone()), fault);
    let params = opening::read(request).map_err(refuse)?;
    let principal = parts.extensions.get::<Principal>();
    let limits = door.config.sessions.limits;
    let (machine, reply) =
        Session::open(&params, &door.service, principal, limits).map_err(refuse)?;
    let slot = connection.slot.lock().take();
    let Some(slot) = slot else {
        return Err(Refused::bad_request(
            "the session is being initialized already",
        ));
    };
    let (id, place) = (Arc::clone(&connection.id), Arc::clone(&connection.place));
    let live = Live::at(place.into(), id, door.served(), machine, slot);
    let live = opening::enter(door, live).map_err(|_| no_such_session())?;
    let wire = live.machine.wire();
    let out = Arc::new(new_buffer(wire).replacing_when_full());
    let to = live.recipient(&request.id, live.service.profile());
    say(&out, &to, reply);
    live.tell_opened();
    // Nobody else has the slot, so nobody else gets here.
    let _ = connection.session.set(Opened { live, out });
    connection.place.wake();
    Ok(respond::accepted())
}

#[inline]
fn say(out: &NotificationBuffer, to: &ReplyTarget, reply: Reply) {
    out.push(&to.encode(reply, Vec::new()).into_bytes());
}

/// Begins a call in a task of its own.
#[inline]
fn call(door: &Door, parts: Box<Parts>, opened: &Opened, request: &Request<'_>) {
    let Opened { live, out } = opened;
    let to = live.recipient(&request.id, live.service.profile());
    let admitted = live
        .machine
        .handle_request(request, || audience(parts.clone(), &door.config));
    let admitted = admitted.and_then(|admitted| match admitted {
        HandledRequest::Call(mut inbound) => {
            if let Some(gate) = &door.config.gate {
                inbound.authorize(gate, parts.extensions.get::<Principal>())?;
            }
            let ticket = live.calls.begin(&to.id)?;
            Ok(Ok((inbound, ticket)))
        }
        HandledRequest::Reply(reply) => Ok(Err(reply)),
        _ => Err(Fault::internal("the session knows no answer")),
    });
    let (mut inbound, ticket) = match admitted {
        Ok(Ok(call)) => call,
        Ok(Err(reply)) => return say(out, &to, reply),
        Err(fault) => return say(out, &to, fault.into()),
    };
    inbound.input = live.machine.input(Arc::clone(out) as _);
    let notes = Some(Arc::clone(out));
    let mut call = Call::begin(
        &live.service,
        to,
        *inbound,
        parts.into(),
        notes,
        Some(ticket),
    );
    let out = Arc::clone(out);
    task::spawn(async move {
        let outcome = std::future::poll_fn(|cx| call.poll(cx)).await;
        if let Some(reply) = outcome.reply() {
            say(&out, call.to(), reply);
        }
    });
}

type Draining = Pin<Box<dyn Future<Output = ()> + Send + Sync>>;

/// The stream of a connection. With it the session ends.
struct Reader {
    table: Weak<Table>,
    connection: Arc<Connection>,
    seat: Seat,
    who: mcp_core::Subscriber,
    hold: Option<Hold>,
    first: Bytes,
    ping: Ping,
    /// For a client that does not begin.
    too_late: Pin<Box<Sleep>>,
    draining: Option<Draining>,
    is_done: bool,
}

impl Reader {
    #[inline]
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut ends = self.seat.poll_dismissed(cx).is_ready();
        if let Some(draining) = &mut self.draining {
            ends |= draining.as_mut().poll(cx).is_ready();
        }
        if self.hold.is_none() {
            ends |= self.too_late.as_mut().poll(cx).is_ready();
        }
        if ends { Poll::Ready(()) } else { Poll::Pending }
    }

    /// What the session has to say.
    #[inline]
    fn poll_session(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let Some(Opened { live, out }) = self.connection.session.get() else {
            return Poll::Pending;
        };
        self.hold.get_or_insert_with(|| live.calls.hold());
        while let Poll::Ready(note) = live.machine.poll_change(cx, &self.who) {
            let mut text = Vec::new();
            if live
                .machine
                .wire()
                .encode_server_notification(&note, None, &mut text)
            {
                out.push(&text);
            }
        }
        out.poll_drain(cx)
    }
}

impl EventSource for Reader {
    #[inline]
    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if !self.first.is_empty() {
            return Poll::Ready(Some(std::mem::take(&mut self.first)));
        }
        let said = self.poll_session(cx);
        if let Poll::Ready(Some(_)) = &said {
            self.ping.postpone();
            return said;
        }
        if self.is_done || said.is_ready() || self.poll_end(cx).is_ready() {
            self.is_done = true;
            return Poll::Ready(None);
        }
        self.ping
            .poll(cx)
            .map(|()| Some(Bytes::from_static(sse::PING)))
    }

    #[inline]
    fn is_done(&self) -> bool {
        self.is_done
    }
}

impl Drop for Reader {
    #[inline]
    fn drop(&mut self) {
        if let Some(table) = self.table.upgrade() {
            table.disconnect(&self.connection.id);
        }
        if let Some(Opened { out, .. }) = self.connection.session.get() {
            out.close();
        }
    }
}
