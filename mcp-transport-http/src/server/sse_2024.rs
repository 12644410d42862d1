//! HTTP+SSE, the transport of 2024-11-05. A GET opens a connection, whose stream carries all messages
//! of the server. The client sends each message in a POST, which is answered with 202.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse>

mod connections;
mod stream;

use std::sync::Arc;

use http::request::Parts;
use http::{Response, StatusCode};
use mcp_core::legacy::{Session, decode_initialize};
use mcp_core::{Fault, NotificationBuffer, Principal, Reply, ReplyTarget, ResultBody};
use mcp_types::{Message, Method, ProtocolVersion, Request, codes};

use super::call::{HttpCall, new_buffer};
use super::exchange::ResponseFuture;
use super::request::rejection::Rejection;
use super::request::route;
use super::response::{self, Body};
use super::session::{self, EarlyAnswer, HttpSession, PermittedCall, SessionContext};
use crate::headers::McpHeaders;
use crate::status;
pub(super) use connections::SseConnections;
use connections::{OpenSession, SseConnection, send};
use stream::SseConnectionStream;

/// Prefix of the query parameter with a connection id.
const CONNECTION_ID: &str = "sessionId=";
/// Maximum number of buffered bytes for a client that sends messages but does not read.
const MAX_BUFFERED: usize = 4 << 20;

/// Returns the id of the connection that a POST belongs to.
pub(super) fn connection_id(head: &Parts) -> Option<&str> {
    let mut params = head.uri.query()?.split('&');
    params.find_map(|param| param.strip_prefix(CONNECTION_ID))
}

/// Opens a connection. Its first event is the URI for the messages of the client: the request's
/// path, behind the configured prefix.
///
/// # Errors
///
/// Returns a rejection when the maximum number of sessions is reached, or when the path is too long.
// spec: SSE-01, SSE-02
pub(super) fn open(
    connections: &Arc<SseConnections>,
    context: &SessionContext<'_>,
    head: Box<Parts>,
) -> Result<Response<Body>, Rejection> {
    let principal = head.extensions.get::<Principal>();
    let key = session::new_key(context.table, context.config, &head)
        .map_err(|fault| Rejection::legacy(status::for_rejection(&fault), None, fault))?;
    let permit = context.reserve(principal, &head)?;
    let connection = SseConnection::new(key, permit, principal);
    let lease = connection.reader.lease(None)?;
    connections.insert(&connection);
    let path = endpoint_path(&context.config.sessions.http_sse_prefix, head.uri.path());
    let id = &connection.id;
    let endpoint = format!("event: endpoint\ndata: {path}?{CONNECTION_ID}{id}\n\n");
    let subscriber = session::long_lived_subscriber(head, context.config);
    let stream = SseConnectionStream::new(connections, context, connection, lease, subscriber);
    Ok(response::events(stream.into_events(endpoint.into())))
}

/// Returns the endpoint's path as clients see it. It has one slash at its start, because a client
/// would read `//name` as the name of another host.
fn endpoint_path(prefix: &str, path: &str) -> String {
    let (prefix, path) = (prefix.trim_matches('/'), path.trim_start_matches('/'));
    match (prefix, path) {
        ("", path) => format!("/{path}"),
        (prefix, "") => format!("/{prefix}"),
        (prefix, path) => format!("/{prefix}/{path}"),
    }
}

/// Handles a client message. The reply is sent on the connection.
///
/// # Errors
///
/// Returns a rejection when the connection does not exist, belongs to another principal or was opened at
/// another path, when the message is invalid, or when the client does not read.
// spec: SSE-04, SESS-11
pub(super) fn post(
    connections: &SseConnections,
    context: &SessionContext<'_>,
    head: Box<Parts>,
    body: &[u8],
) -> Result<ResponseFuture, Rejection> {
    let connection = connection_id(&head).and_then(|id| connections.find(id));
    let connection = connection
        .filter(|connection| connection.belongs_to(head.extensions.get::<Principal>()))
        .filter(|connection| session::has_key(context.config, &head, &connection.key))
        .ok_or_else(Rejection::session_not_found)?;
    let message = session::parse(body).inspect_err(|rejection| {
        if let (Some(response), Some(open)) = (rejection.as_response(body), connection.session()) {
            // An error means that no such request is pending.
            drop(session::handle_response(&open.session, &response));
        }
    })?;
    let headers = McpHeaders::collect(&head.headers);
    headers
        .check_one_version()
        .and_then(|()| headers.verify_legacy(&message))
        .map_err(|fault| route::header_mismatch(&message, fault))?;
    if connection.unread() > MAX_BUFFERED {
        let message = "too many unread messages on the connection; read its event stream first";
        let status = StatusCode::SERVICE_UNAVAILABLE;
        return Err(Rejection::session(status, codes::BAD_REQUEST, message));
    }
    match (message, connection.session()) {
        (Message::Request(request), _) if request.method == Method::Initialize.as_str() => {
            if let Err(fault) = initialize(context, &head, &connection, &request) {
                connection.send(&session_target(context, &request), fault.into());
            }
        }
        (Message::Request(request), Some(open)) => {
            handle_request(&open.session, &open.output, head, &request)?;
        }
        (Message::Request(request), None) => {
            connection.send(&session_target(context, &request), early_reply(&request));
        }
        (Message::Notification(notification), Some(open)) => {
            return session::handle_notification(&open.session, head, &notification);
        }
        (Message::Response(response), Some(open)) => {
            session::handle_response(&open.session, &response)?;
        }
        (Message::Response(_), None) => {
            return Err(Rejection::bad_session_request(
                "a session begins with `initialize`",
            ));
        }
        // Before `initialize` there is nothing that a notification could change. A client that probes
        // for other revisions may cancel its request.
        _ => {}
    }
    Ok(response::accepted().into())
}

/// Returns the target of a reply that does not come from a session.
fn session_target(context: &SessionContext<'_>, request: &Request<'_>) -> ReplyTarget {
    ReplyTarget {
        id: request.id.clone(),
        profile: context.service.profile(),
        version: ProtocolVersion::V2024_11_05,
    }
}

/// Returns the reply to a request before the session is open.
fn early_reply(request: &Request<'_>) -> Reply {
    if request.method == Method::Ping.as_str() {
        ResultBody::Empty.into()
    } else if request.method == Method::Discover.as_str() {
        // spec: COMPAT-16
        Fault::no_such_method(Method::Discover.as_str()).into()
    } else {
        Fault::InvalidRequest("a session begins with `initialize`".into()).into()
    }
}

/// Opens the session of a connection, in place of the previous one: bridges initialize one connection
/// again for each of their clients. Running calls of the previous session continue.
fn initialize(
    context: &SessionContext<'_>,
    head: &Parts,
    connection: &SseConnection,
    request: &Request<'_>,
) -> Result<(), Fault> {
    let params = decode_initialize(request)?;
    let principal = head.extensions.get::<Principal>();
    let mut limits = context.config.sessions.limits;
    // Locked, so that two requests at once open one session after the other.
    let mut slot = connection.session.lock();
    if let Some(previous) = &*slot {
        limits.request_ids_after = previous.session.protocol.last_request_number();
    }
    let (protocol, reply) = Session::open(
        Some(&request.id),
        &params,
        context.service,
        principal,
        limits,
    )?;
    let (session, output) = match &*slot {
        Some(previous) => {
            let session = Arc::new(previous.session.successor(protocol));
            let replaced = context.table.replace(&session);
            replaced.map_err(|_| Rejection::session_not_found().into_fault().1)?;
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
    Ok(())
}

/// Opens the first session of a connection.
fn open_first(
    context: &SessionContext<'_>,
    connection: &SseConnection,
    protocol: Session,
) -> Result<(Arc<HttpSession>, Arc<NotificationBuffer>), Fault> {
    let permit = connection.take_permit();
    let permit = permit.ok_or_else(|| Rejection::session_not_found().into_fault().1)?;
    let (id, reader) = (Arc::clone(&connection.id), Arc::clone(&connection.reader));
    let key = Arc::clone(&connection.key);
    let session = context.new_session(id, key, protocol, permit, Some(reader));
    if context.insert(&session).is_err() {
        return Err(Fault::internal("the server has no id for the new session"));
    }
    let output = Arc::new(new_buffer(session.protocol.version()).replacing_when_full());
    Ok((session, output))
}

/// Handles a request. A call runs in a task of its own.
///
/// # Errors
///
/// Returns a rejection when the caller lacks scopes: clients read the POST's challenge.
fn handle_request(
    session: &Arc<HttpSession>,
    output: &Arc<NotificationBuffer>,
    head: Box<Parts>,
    request: &Request<'_>,
) -> Result<(), Rejection> {
    let target = session.reply_target(&request.id);
    let answer = match session::permit_call(session, head, request) {
        Ok(call) => {
            start_call(session, output, call, target);
            return Ok(());
        }
        Err(answer) => *answer,
    };
    match answer {
        EarlyAnswer::Reply(reply) => send(output, &target, reply),
        EarlyAnswer::Refusal(status, fault @ Fault::InsufficientScope { .. }) => {
            return Err(Rejection::legacy(status, Some(target.id), fault));
        }
        EarlyAnswer::Refusal(_, fault) => send(output, &target, fault.into()),
        EarlyAnswer::Cancelled => {}
    }
    Ok(())
}

fn start_call(
    session: &Arc<HttpSession>,
    output: &Arc<NotificationBuffer>,
    call: PermittedCall,
    target: ReplyTarget,
) {
    let mut inbound = call.inbound;
    inbound.input = session.protocol.input(Arc::clone(output) as _);
    let mut call = HttpCall::start(
        &session.service,
        target,
        inbound,
        call.extensions,
        Some(Arc::clone(output)),
        Some(call.permit),
    );
    let output = Arc::clone(output);
    tokio::spawn(async move {
        if let Some(reply) = call.end().await.into_reply() {
            send(&output, call.target(), reply);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::endpoint_path;

    #[test]
    fn endpoint_path_is_below_the_prefix_and_on_this_host() {
        for (prefix, path, expected) in [
            ("", "/mcp", "/mcp"),
            ("", "/a/b/", "/a/b/"),
            ("", "/", "/"),
            ("", "//evil.example/mcp", "/evil.example/mcp"),
            ("/tools", "/mcp", "/tools/mcp"),
            ("tools/", "/mcp", "/tools/mcp"),
            ("/mcp", "/", "/mcp"),
            ("//evil.example", "/mcp", "/evil.example/mcp"),
        ] {
            assert_eq!(endpoint_path(prefix, path), expected, "{prefix} {path}");
        }
    }
}
