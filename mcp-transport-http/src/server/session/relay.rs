//! Messages between the servers that share sessions: a response, cancellation or DELETE that reaches
//! one server is passed to the server that waits for it.

use std::borrow::Cow;
use std::sync::{Arc, Weak};

use mcp_core::store::{RelayEvent, RelayMessage, RelayTarget, SessionRelay, StoreError};
use mcp_types::{Message, RequestId, Response};
use tokio::task::{AbortHandle, JoinSet};

use super::super::config::{Config, NODE_SHIFT, SessionEnd};
use super::super::request::rejection::Rejection;
use super::super::store_guard::guard;
use super::context::SessionContext;
use super::http_session::HttpSession;
use super::message;
use super::store;
use super::table::SessionTable;

/// Number of sessions that are loaded at the same time because another server has changed them.
const CONCURRENT_LOADS: usize = 64;

/// Starts the task that receives messages of other servers.
pub(super) fn start(context: &SessionContext<'_>) {
    if let Some(relay) = &context.config.sessions.relay {
        let task = || spawn(context, Arc::clone(relay));
        context.table.start_relay_task(task);
    }
}

fn spawn(context: &SessionContext<'_>, relay: Arc<dyn SessionRelay>) -> AbortHandle {
    let table = Arc::downgrade(context.table);
    let config = Arc::clone(context.config);
    tokio::spawn(receive(table, config, relay)).abort_handle()
}

async fn receive(table: Weak<SessionTable>, config: Arc<Config>, relay: Arc<dyn SessionRelay>) {
    let mut loading = JoinSet::new();
    loop {
        let RelayMessage { session, event } = relay.receive().await;
        let Some(table) = table.upgrade() else {
            return;
        };
        let Some(session) = table.find(session.as_bytes()) else {
            continue;
        };
        if event == RelayEvent::Changed {
            if loading.len() >= CONCURRENT_LOADS {
                loading.join_next().await;
            }
            while loading.try_join_next().is_some() {}
            loading.spawn(reload(Arc::clone(&config), session));
            continue;
        }
        apply(&table, &session, event);
    }
}

/// Updates a session to the state that another server has stored.
async fn reload(config: Arc<Config>, session: Arc<HttpSession>) {
    if let Some(store) = &config.sessions.store
        && let Ok(Some(record)) = store::load(&config, &**store, &session.id).await
    {
        session.apply_stored(record);
    }
}

fn apply(table: &SessionTable, session: &Arc<HttpSession>, event: RelayEvent) {
    match event {
        RelayEvent::Response(json) => {
            // An error means that the request has ended: the response is late.
            if let Ok(Message::Response(response)) = Message::parse(json.as_bytes()) {
                drop(message::handle_response(session, &response));
            }
        }
        RelayEvent::Cancelled(id) => session.calls.cancel(&id),
        RelayEvent::Ended => table.end(&session.id, SessionEnd::Elsewhere),
        RelayEvent::StreamOpened(number) => session.end_older_reader(number),
        _ => {}
    }
}

/// Passes a response to the server that has sent the request. Returns false if it belongs to this
/// server, or if that server no longer runs.
///
/// # Errors
///
/// Returns a rejection when the relay fails, or does not reach a server that runs.
// spec: HTTP-S-07
pub(super) async fn forward_response(
    session: &HttpSession,
    response: &Response<'_>,
) -> Result<bool, Rejection> {
    let Some(relay) = &session.settings().relay else {
        return Ok(false);
    };
    let Some(node) = response.id.as_ref().and_then(node_of) else {
        return Ok(false);
    };
    if node == relay.node() {
        return Ok(false);
    }
    let target = RelayTarget::Node(node);
    let event = RelayEvent::Response(to_json(response));
    let sent = send(session, &**relay, target, event).await;
    if sent.map_err(store::rejection)? > 0 {
        return Ok(true);
    }
    let call = async { relay.is_alive(node).await };
    let is_alive = guard("look for a server", session.config.store_timeout, call).await;
    if is_alive.map_err(store::rejection)? {
        let message = "the response was not delivered: the server that waits for it is cut off";
        return Err(Rejection::unavailable(message));
    }
    Ok(false)
}

/// Returns the number of a new GET stream. `None` without a relay, and when it fails: the stream opens
/// nevertheless, and ends when another one with a number opens.
pub(super) async fn stream_number(session: &HttpSession) -> Option<u64> {
    let relay = session.settings().relay.as_ref()?;
    let call = async { relay.next_number().await };
    // The error is in the log.
    let number = guard("number a stream", session.config.store_timeout, call).await;
    number.ok()
}

/// Notifies the other servers about a session's event. Does nothing without a relay.
pub(super) async fn notify(session: &HttpSession, event: RelayEvent) {
    if let Some(relay) = &session.settings().relay {
        // The error is in the log. The other servers learn about changes and ends from the store.
        drop(send(session, &**relay, RelayTarget::Others, event).await);
    }
}

async fn send(
    session: &HttpSession,
    relay: &dyn SessionRelay,
    target: RelayTarget,
    event: RelayEvent,
) -> Result<usize, StoreError> {
    let message = RelayMessage {
        session: (*session.id).to_owned(),
        event,
    };
    let call = async { relay.send(target, message).await };
    guard("relay a message", session.config.store_timeout, call).await
}

/// Returns a response as a JSON-RPC message.
fn to_json(response: &Response<'_>) -> String {
    // Ids and error objects are always serializable.
    let id = serde_json::to_string(&response.id).unwrap_or_default();
    let (name, value) = match &response.outcome {
        Ok(result) => ("result", Cow::Borrowed(result.as_str())),
        Err(error) => {
            let error = serde_json::to_string(error).unwrap_or_default();
            ("error", Cow::Owned(error))
        }
    };
    format!(r#"{{"jsonrpc":"2.0","id":{id},"{name}":{value}}}"#)
}

/// Returns the number of the server that made the id of a request to a client.
fn node_of(id: &RequestId) -> Option<u32> {
    let spelled = id.spelled_number();
    match spelled.as_ref().unwrap_or(id) {
        RequestId::Number(number) => {
            let node = u32::try_from(number >> NODE_SHIFT).ok()?;
            (node > 0).then_some(node)
        }
        _ => None,
    }
}
