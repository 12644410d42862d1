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
use mcp_types::{Message, Request, codes};

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
    let Some(open) = connection.session.get() else {
        return match message {
            Message::Request(request) => initialize(context, &head, &connection, &request),
            _ => Err(Rejection::bad_session_request(
                "a session begins with `initialize`",
            )),
        };
    };
    let OpenSession { session, output } = open;
    if !session
        .protocol
        .belongs_to(head.extensions.get::<Principal>())
    {
        return Err(session_not_found());
    }
    if output.buffered() > MAX_BUFFERED {
        let message = "too much waits to be read on the connection; read it first";
        let status = StatusCode::SERVICE_UNAVAILABLE;
        return Err(Rejection::session(status, codes::BAD_REQUEST, message));
    }
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

/// Opens the session of a connection.
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
    let limits = context.config.sessions.limits;
    let (protocol, reply) =
        Session::open(&params, &context.service, principal, limits).map_err(reject)?;
    let Some(permit) = connection.take_permit() else {
        return Err(Rejection::bad_session_request(
            "the session is being initialized already",
        ));
    };
    let (id, reader) = (Arc::clone(&connection.id), Arc::clone(&connection.reader));
    let session = context.new_session(id, protocol, permit, Some(reader));
    context.insert(&session).map_err(|_| session_not_found())?;
    let wire = session.protocol.wire();
    let output = Arc::new(new_buffer(wire).replacing_when_full());
    send(&output, &session.reply_target(&request.id), reply);
    session.announce_opened();
    // The permit was taken once, so the session is set once.
    let _ = connection.session.set(OpenSession { session, output });
    connection.reader.wake();
    Ok(response::accepted())
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
            start_call(session, output, head, *inbound, target, permit);
        }
        Ok(StartedRequest::Reply(reply)) => send(output, &target, reply),
        Err(fault) => send(output, &target, fault.into()),
    }
}

enum StartedRequest {
    Call(Box<InboundRequest>, CallPermit),
    Reply(Reply),
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
            Ok(StartedRequest::Call(inbound, permit))
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
