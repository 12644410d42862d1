//! HTTP+SSE, the transport of 2024-11-05. A GET opens a connection, whose stream carries all messages
//! of the server. The client sends each message in a POST, which is answered with 202.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse>

mod connections;
mod stream;

use std::sync::Arc;

use http::request::Parts;
use http::{Response, StatusCode};
use mcp_core::legacy::{HandledRequest, Session};
use mcp_core::{Fault, InboundRequest, NotificationBuffer, Principal, Reply, ReplyTarget};
use mcp_types::{Message, Method, Request, codes};

use super::call::{HttpCall, new_buffer};
use super::exchange;
use super::rejection::Rejection;
use super::response::{self, Body};
use super::running_calls::CallPermit;
use super::session::{self, HttpSession, SessionContext, session_not_found};
pub(super) use connections::SseConnections;
use connections::{OpenSession, SseConnection};
use stream::SseConnectionStream;

/// Prefix of the query parameter with the id of a connection.
const CONNECTION_ID: &str = "sessionId=";
/// Maximum number of buffered bytes for a client that sends messages but does not read.
const MAX_BUFFERED: usize = 4 << 20;

/// Returns the id of the connection that a POST belongs to.
pub(super) fn connection_id(head: &Parts) -> Option<&str> {
    let mut params = head.uri.query()?.split('&');
    params.find_map(|param| param.strip_prefix(CONNECTION_ID))
}

/// Opens a connection. Its first event is the URI for the messages of the client.
///
/// # Errors
///
/// Returns a rejection when the maximum number of sessions is reached.
// spec: SSE-01, SSE-02
pub(super) fn open(
    connections: &Arc<SseConnections>,
    context: &SessionContext,
    head: Box<Parts>,
) -> Result<Response<Body>, Rejection> {
    let permit = context.reserve(head.extensions.get::<Principal>())?;
    let connection = SseConnection::new(permit);
    let lease = connection.reader.lease()?;
    connections.insert(&connection);
    // A relative URI stays valid behind a proxy with a path prefix.
    let id = &connection.id;
    let endpoint = format!("event: endpoint\ndata: ?{CONNECTION_ID}{id}\n\n");
    let subscriber = session::long_lived_subscriber(head, &context.config);
    let stream = SseConnectionStream::new(connections, context, connection, lease, subscriber);
    Ok(response::events(stream.into_events(endpoint.into())))
}

/// Handles a message of a client. The reply is sent on the connection.
///
/// # Errors
///
/// Returns a rejection when the connection does not exist, when the message is invalid, or when the
/// client does not read.
// spec: SSE-03, SSE-04
pub(super) fn post(
    connections: &SseConnections,
    context: &SessionContext,
    head: Box<Parts>,
    body: &[u8],
) -> Result<Response<Body>, Rejection> {
    let connection = connection_id(&head).and_then(|id| connections.find(id));
    let connection = connection.ok_or_else(session_not_found)?;
    let message = session::parse(body)?;
    if let Message::Request(request) = &message
        && request.method == Method::Initialize.as_str()
    {
        return initialize(context, &head, &connection, request);
    }
    let Some(open) = connection.session() else {
        return match message {
            Message::Request(request) => initialize(context, &head, &connection, &request),
            _ => Err(Rejection::bad_session_request(
                "a session begins with `initialize`",
            )),
        };
    };
    open.check_client(&head)?;
    let OpenSession { session, output } = &*open;
    match message {
        Message::Request(request) => handle_request(session, output, head, &request),
        Message::Notification(notification) => {
            session::handle_notification(session, &notification);
        }
        Message::Response(response) => session::handle_response(session, &response)?,
        _ => {}
    }
    Ok(response::accepted())
}

/// Opens the session of a connection, in place of the previous one: bridges initialize one connection
/// again for each of their clients. Running calls of the previous session continue.
fn initialize(
    context: &SessionContext,
    head: &Parts,
    connection: &SseConnection,
    request: &Request<'_>,
) -> Result<Response<Body>, Rejection> {
    let reject =
        |fault| Rejection::legacy(StatusCode::BAD_REQUEST, Some(request.id.clone()), fault);
    let params = session::decode_initialize(request).map_err(reject)?;
    let principal = head.extensions.get::<Principal>();
    let mut limits = context.config.sessions.limits;
    // Locked, so that two requests at once open one session after the other.
    let mut slot = connection.session.lock();
    if let Some(previous) = &*slot {
        previous.check_client(head)?;
        limits.request_ids_after = previous.session.protocol.last_request_number();
    }
    let (protocol, reply) =
        Session::open(&params, &context.service, principal, limits).map_err(reject)?;
    let (session, output) = match &*slot {
        Some(previous) => {
            let session = Arc::new(previous.session.successor(protocol));
            let replaced = context.table.replace(&session);
            replaced.map_err(|_| session_not_found())?;
            (session, Arc::clone(&previous.output))
        }
        None => open_first(context, connection, protocol)?,
    };
    send(&output, &session.reply_target(&request.id), reply);
    let open = Arc::new(OpenSession { session, output });
    let previous = slot.replace(Arc::clone(&open));
    drop(slot);
    if let Some(previous) = previous {
        previous.session.end_replaced();
    }
    open.session.announce_opened();
    connection.reader.wake();
    Ok(response::accepted())
}

/// Opens the first session of a connection.
fn open_first(
    context: &SessionContext,
    connection: &SseConnection,
    protocol: Session,
) -> Result<(Arc<HttpSession>, Arc<NotificationBuffer>), Rejection> {
    let permit = connection.take_permit().ok_or_else(session_not_found)?;
    let (id, reader) = (Arc::clone(&connection.id), Arc::clone(&connection.reader));
    let session = context.new_session(id, protocol, permit, Some(reader));
    context.insert(&session).map_err(|_| session_not_found())?;
    let wire = session.protocol.wire();
    let output = Arc::new(new_buffer(wire).replacing_when_full());
    Ok((session, output))
}

impl OpenSession {
    /// Checks that a message is from the client of the session, and that the client reads.
    ///
    /// # Errors
    ///
    /// Returns a rejection for a message with another principal, and for a client that does not read.
    fn check_client(&self, head: &Parts) -> Result<(), Rejection> {
        let principal = head.extensions.get::<Principal>();
        if !self.session.protocol.belongs_to(principal) {
            return Err(session_not_found());
        }
        if self.output.buffered() > MAX_BUFFERED {
            let message = "too much waits to be read on the connection; read it first";
            let status = StatusCode::SERVICE_UNAVAILABLE;
            return Err(Rejection::session(status, codes::BAD_REQUEST, message));
        }
        Ok(())
    }
}

fn send(output: &NotificationBuffer, target: &ReplyTarget, reply: Reply) {
    output.push(&target.encode(reply, Vec::new()).into_bytes());
}

/// Handles a request. A call runs in a task of its own.
fn handle_request(
    session: &Arc<HttpSession>,
    output: &Arc<NotificationBuffer>,
    head: Box<Parts>,
    request: &Request<'_>,
) {
    let target = session.reply_target(&request.id);
    match start_request(session, &head, request) {
        Ok(StartedRequest::Call(inbound, permit)) => {
            start_call(session, output, head, inbound, target, permit);
        }
        Ok(StartedRequest::Reply(reply)) => send(output, &target, reply),
        Ok(StartedRequest::Cancelled) => {}
        Err(fault) => send(output, &target, fault.into()),
    }
}

enum StartedRequest {
    Call(InboundRequest, CallPermit),
    Reply(Reply),
    /// The client cancelled the call before it arrived.
    Cancelled,
}

fn start_request(
    session: &Arc<HttpSession>,
    head: &Parts,
    request: &Request<'_>,
) -> Result<StartedRequest, Fault> {
    let config = &session.config;
    let subscriber = || session::subscriber(Box::new(head.clone()), config);
    match session.protocol.handle_request(request, subscriber)? {
        HandledRequest::Call(mut inbound) => {
            exchange::authorize(config, &mut inbound, head)?;
            let permit = session.calls.insert(&request.id)?;
            match permit.is_cancelled() {
                true => Ok(StartedRequest::Cancelled),
                false => Ok(StartedRequest::Call(inbound, permit)),
            }
        }
        HandledRequest::Reply(reply) => Ok(StartedRequest::Reply(reply)),
        _ => Err(Fault::internal("the session returned no reply")),
    }
}

fn start_call(
    session: &Arc<HttpSession>,
    output: &Arc<NotificationBuffer>,
    head: Box<Parts>,
    mut inbound: InboundRequest,
    target: ReplyTarget,
    permit: CallPermit,
) {
    inbound.input = session.protocol.input(Arc::clone(output) as _);
    let mut call = HttpCall::start(
        &session.service,
        target,
        inbound,
        head.into(),
        Some(Arc::clone(output)),
        Some(permit),
    );
    let output = Arc::clone(output);
    tokio::spawn(async move {
        if let Some(reply) = call.end().await.into_reply() {
            send(&output, call.target(), reply);
        }
    });
}
