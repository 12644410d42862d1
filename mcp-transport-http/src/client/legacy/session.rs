//! One session: its state, its pending calls, and the requests that belong to it.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management>

use std::collections::{HashMap, VecDeque};
use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Uri};
use mcp_core::close_signal::CloseSignal;
use mcp_core::{
    CancelHook, ChannelError, ClientNotification, CloseReason, Frame, OneWayMessage, SessionId,
};
use mcp_types::meta::keys;
use mcp_types::{Cancelled, Message, Meta, ProgressToken, ProtocolVersion, RequestId};
use parking_lot::Mutex;
use tokio::sync::{Notify, OnceCell, mpsc, watch};
use tokio::time::timeout;

use super::frame_queue::FrameQueue;
use crate::client::http_client::HttpBody;
use crate::client::request::{RequestParts, RequestSender, WriteHeaders};
use crate::client::response::{self, ResponseBody, ResponseEvents};
use crate::headers::names;

/// Options of a channel that concern sessions. Both are on by default.
#[derive(Debug, Clone, Copy)]
pub(in crate::client) struct SessionSettings {
    /// Opens the standalone GET stream once the session is initialized.
    pub(in crate::client) standalone: bool,
    /// Tries HTTP+SSE of 2024-11-05 when the server refuses Streamable HTTP.
    pub(in crate::client) http_sse: bool,
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self {
            standalone: true,
            http_sse: true,
        }
    }
}

/// A session. Exists before `initialize` is sent and after the session has ended.
pub(super) struct Session {
    pub(super) http: Arc<RequestSender>,
    /// The close signal of the whole channel.
    pub(super) closing: CloseSignal<CloseReason>,
    /// This session's close signal.
    end: CloseSignal<EndReason>,
    /// The server's session id: a secret, which is never shown.
    id: OnceLock<HeaderValue>,
    version: Mutex<Option<ProtocolVersion>>,
    /// The URL for messages of HTTP+SSE. Streamable HTTP uses the endpoint.
    message_uri: OnceLock<Uri>,
    pub(super) calls: Mutex<HashMap<RequestId, Arc<PendingCall>>>,
    /// Messages that belong to no call.
    pub(super) inbox: FrameQueue,
    pub(super) inbox_claimed: AtomicBool,
    cancellations: mpsc::Sender<Bytes>,
    /// The receiver of `cancellations`, until the task of the session takes it.
    cancellation_receiver: Mutex<Option<mpsc::Receiver<Bytes>>>,
    /// Notified when the server has accepted `notifications/initialized`.
    pub(super) initialized: Notify,
    /// Notified when the first standalone GET is answered or has failed.
    pub(super) standalone_answered: Notify,
    /// The standalone stream was open, and is being opened again.
    pub(super) interrupted: watch::Sender<bool>,
    /// Notified when the server has answered a POST with success.
    pub(super) responded: Notify,
    deleted: OnceCell<()>,
    /// The session replaces one that has ended as [refused](EndReason::Refused), and no request has succeeded in it.
    pub(super) is_replacement: AtomicBool,
}

/// The reason why a session has ended while its channel has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndReason {
    /// The server does not know the session any more.
    Expired,
    /// The server refused a request with 400, probably because of its session.
    Refused,
    /// A later `initialize` has opened another session.
    Replaced,
    /// The channel was dropped.
    Dropped,
}

impl From<EndReason> for ChannelError {
    fn from(end: EndReason) -> Self {
        match end {
            EndReason::Expired | EndReason::Refused | EndReason::Replaced => Self::SessionExpired,
            EndReason::Dropped => Self::Closed(CloseReason::Local),
        }
    }
}

/// A call that waits for its response.
pub(super) struct PendingCall {
    pub(super) id: RequestId,
    pub(super) progress_token: Option<ProgressToken>,
    pub(super) queue: FrameQueue,
    has_response: AtomicBool,
    /// Notified when the response has arrived.
    pub(super) response_arrived: Notify,
    /// The latest requests that the server has sent during the call.
    requests: Mutex<VecDeque<RequestId>>,
    /// The error with which the call ends.
    failure: Mutex<Option<ChannelError>>,
}

impl PendingCall {
    pub(super) fn has_response(&self) -> bool {
        self.has_response.load(Ordering::Acquire)
    }

    /// Queues the response. Further responses are ignored.
    pub(super) fn respond(&self, frame: Frame) {
        if !self.has_response.swap(true, Ordering::AcqRel) {
            self.queue.push_over_limit(frame);
            self.response_arrived.notify_one();
        }
    }

    /// Remembers a request that the server has sent during the call.
    pub(super) fn add_request(&self, id: &RequestId) {
        let mut requests = self.requests.lock();
        if requests.len() >= MAX_REQUESTS {
            requests.pop_front();
        }
        requests.push_back(id.clone());
    }

    /// Ends the call, unless its response has arrived.
    fn fail(&self, error: ChannelError) {
        if !self.has_response() {
            *self.failure.lock() = Some(error);
            self.queue.close();
        }
    }

    /// Returns the error of a call that was ended.
    pub(super) fn take_failure(&self) -> Option<ChannelError> {
        self.failure.lock().take()
    }
}

/// Requests of the server that a call remembers. A client answers fewer at the same time.
const MAX_REQUESTS: usize = 64;
/// Largest number of queued cancellations. Further ones are dropped.
const MAX_CANCELLATIONS: usize = 64;
/// Timeout of a POST with a notification or a response.
pub(super) const NOTIFY_TIMEOUT: Duration = Duration::from_secs(30);
/// Timeout of the DELETE request for a session that nobody closes, as when a channel is dropped.
pub(super) const DELETE_TIMEOUT: Duration = Duration::from_secs(5);

impl Session {
    pub(super) fn new(http: Arc<RequestSender>, closing: CloseSignal<CloseReason>) -> Self {
        let (cancellations, cancellation_receiver) = mpsc::channel(MAX_CANCELLATIONS);
        Self {
            http,
            closing,
            end: CloseSignal::default(),
            id: OnceLock::new(),
            version: Mutex::default(),
            message_uri: OnceLock::new(),
            calls: Mutex::default(),
            inbox: FrameQueue::default(),
            inbox_claimed: AtomicBool::new(false),
            cancellations,
            cancellation_receiver: Mutex::new(Some(cancellation_receiver)),
            initialized: Notify::new(),
            standalone_answered: Notify::new(),
            interrupted: watch::Sender::new(false),
            responded: Notify::new(),
            deleted: OnceCell::new(),
            is_replacement: AtomicBool::new(false),
        }
    }

    /// Sets the negotiated revision. A later call replaces it.
    pub(super) fn set_version(&self, version: ProtocolVersion) {
        *self.version.lock() = Some(version);
    }

    /// Sets the revision of a message unless one is set already.
    pub(super) fn set_default_version(&self, version: ProtocolVersion) {
        self.version.lock().get_or_insert(version);
    }

    pub(super) fn version(&self) -> Option<ProtocolVersion> {
        *self.version.lock()
    }

    /// Stores the session id from the `initialize` response's headers. An empty one counts as absent.
    // spec: SESS-01
    pub(super) fn set_id_from(&self, headers: &HeaderMap) {
        if let Some(id) = headers.get(names::MCP_SESSION_ID)
            && !id.is_empty()
        {
            let mut id = id.clone();
            // spec: SESS-04
            id.set_sensitive(true);
            let observed = id.to_str().ok().map(|id| SessionId(id.into()));
            self.http.learn(|state| state.session = observed);
            let _ = self.id.set(id);
        }
    }

    /// Switches the session to HTTP+SSE: messages go to `uri`.
    // spec: SSE-03
    pub(super) fn set_message_uri(&self, uri: Uri) {
        let _ = self.message_uri.set(uri);
    }

    /// Returns whether the session uses HTTP+SSE, where all responses arrive on one stream.
    pub(super) fn is_http_sse(&self) -> bool {
        self.message_uri.get().is_some()
    }

    pub(super) fn has_id(&self) -> bool {
        self.id.get().is_some()
    }

    /// Claims the inbox. Returns whether this is the first claim.
    pub(super) fn claim_inbox(&self) -> bool {
        !self.inbox_claimed.swap(true, Ordering::AcqRel)
    }

    pub(super) fn take_cancellations(&self) -> Option<mpsc::Receiver<Bytes>> {
        self.cancellation_receiver.lock().take()
    }

    /// Ends the session. The first reason counts.
    pub(super) fn end(&self, reason: EndReason) {
        self.end.close(reason);
        self.inbox.close();
    }

    /// Returns the reason if this session, but not the channel, has ended.
    pub(super) fn end_reason(&self) -> Option<EndReason> {
        self.end.reason()
    }

    /// Waits for the end of the session or of the channel. Returns the error for running calls.
    pub(super) async fn ended(&self) -> ChannelError {
        tokio::select! {
            biased;
            reason = self.closing.closed() => ChannelError::Closed(reason),
            end = self.end.closed() => end.into(),
        }
    }

    /// Waits until the client ends the session or the channel. The expiry of the session at the
    /// server does not count.
    pub(super) async fn ended_locally(&self) -> ChannelError {
        let end = async {
            match self.end.closed().await {
                EndReason::Expired | EndReason::Refused => pending().await,
                end => end,
            }
        };
        tokio::select! {
            biased;
            reason = self.closing.closed() => ChannelError::Closed(reason),
            end = end => end.into(),
        }
    }

    /// Waits until the standalone stream is open again and its messages are read, or until the session
    /// ends. Returns whether the stream was interrupted.
    pub(super) async fn inbound_restored(&self) -> bool {
        let mut interrupted = self.interrupted.subscribe();
        let was_interrupted = *interrupted.borrow_and_update();
        let restored = async {
            // Cannot fail, because the session keeps the sender.
            let _ = interrupted.wait_for(|interrupted| !interrupted).await;
            self.inbox.read_to_end().await;
        };
        tokio::select! {
            biased;
            _ = self.ended() => {}
            () = restored => {}
        }
        was_interrupted
    }

    /// Returns the error for new requests if the session or the channel has ended.
    pub(super) fn end_error(&self) -> Option<ChannelError> {
        match self.closing.reason() {
            Some(reason) => Some(ChannelError::Closed(reason)),
            None => self.end_reason().map(Into::into),
        }
    }

    /// Adds a call. [`remove_call`](Self::remove_call) removes it.
    ///
    /// # Errors
    ///
    /// Returns [`ChannelError::NotSendable`] when a pending call has the same id.
    pub(super) fn insert_call(
        &self,
        id: RequestId,
        body: &[u8],
    ) -> Result<Arc<PendingCall>, ChannelError> {
        let call = Arc::new(PendingCall {
            id: id.clone(),
            progress_token: progress_token(body),
            queue: FrameQueue::default(),
            has_response: AtomicBool::new(false),
            response_arrived: Notify::new(),
            requests: Mutex::default(),
            failure: Mutex::default(),
        });
        match self.calls.lock().entry(id) {
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(Arc::clone(&call));
                Ok(call)
            }
            // spec: BASE-04
            std::collections::hash_map::Entry::Occupied(_) => Err(ChannelError::NotSendable(
                "a request with this id waits for its answer already".to_owned(),
            )),
        }
    }

    /// Ends the call during which the server has sent the request `id`.
    pub(super) fn fail_call(&self, id: &RequestId, error: ChannelError) {
        let calls = self.calls.lock();
        let waiting = calls
            .values()
            .find(|call| call.requests.lock().contains(id))
            .cloned();
        drop(calls);
        if let Some(call) = waiting {
            call.fail(error);
        }
    }

    /// Returns the running call if there is exactly one.
    pub(super) fn only_call(&self) -> Option<Arc<PendingCall>> {
        let calls = self.calls.lock();
        let mut running = calls.values();
        match (running.next(), running.next()) {
            (Some(only), None) => Some(Arc::clone(only)),
            _ => None,
        }
    }

    pub(super) fn remove_call(&self, call: &PendingCall) {
        self.calls.lock().remove(&call.id);
    }

    /// Queues `notifications/cancelled` for a call. Does not block: when the queue is full, the
    /// notification is dropped.
    // spec: CAN-01, HTTP-C-12
    pub(super) fn cancel(&self, call: &PendingCall, hook: Option<&CancelHook>) {
        let Some(version) = self.version() else {
            return;
        };
        let mut cancelled = Cancelled::from(call.id.clone());
        cancelled.reason = Some("the caller dropped the call".to_owned());
        let notification = ClientNotification::Cancelled(cancelled);
        let meta = hook.and_then(|hook| hook());
        if let Some(message) = OneWayMessage::notification(&notification, meta.as_ref(), version) {
            let _ = self.cancellations.try_send(message.body);
        }
    }

    // spec: HTTP-C-09, HTTP-C-10, SESS-05
    fn write_headers(&self, headers: &mut HeaderMap) {
        if let Some(version) = self.version()
            && version.has_version_header()
        {
            let version = HeaderValue::from_static(version.as_str());
            headers.insert(names::MCP_PROTOCOL_VERSION, version);
        }
        if let Some(id) = self.id.get() {
            headers.insert(names::MCP_SESSION_ID, id.clone());
        }
    }

    /// Sends a message with the session's headers. The caller looks for a status that ends the
    /// session.
    // spec: HTTP-C-01
    pub(super) async fn post(
        &self,
        body: Bytes,
        call_headers: &HeaderMap,
    ) -> Result<Response<HttpBody>, ChannelError> {
        let protocol = |headers: &mut HeaderMap| self.write_headers(headers);
        self.post_with(&protocol, body, call_headers).await
    }

    /// Sends `initialize`, without the session's headers.
    pub(super) async fn post_initialize(
        &self,
        body: Bytes,
        call_headers: &HeaderMap,
    ) -> Result<Response<HttpBody>, ChannelError> {
        self.post_with(&|_| {}, body, call_headers).await
    }

    async fn post_with(
        &self,
        protocol_headers: WriteHeaders<'_>,
        body: Bytes,
        call_headers: &HeaderMap,
    ) -> Result<Response<HttpBody>, ChannelError> {
        let uri = self.message_uri.get().unwrap_or(&self.http.server_url.uri);
        let parts = RequestParts::post(uri, body, call_headers, protocol_headers);
        let response = self.http.send(parts).await?;
        if response.status().is_success() {
            self.responded.notify_waiters();
        }
        Ok(response)
    }

    /// Sends a notification or a response, and waits until the server accepts it.
    pub(super) async fn notify(
        &self,
        body: Bytes,
        headers: &HeaderMap,
    ) -> Result<(), ChannelError> {
        let accepted = async {
            let response = self.post(body, headers).await?;
            self.check_expired(response.status())?;
            response::check_accepted(response, &self.http).await
        };
        match timeout(NOTIFY_TIMEOUT, accepted).await {
            Ok(accepted) => accepted,
            Err(_) => Err(ChannelError::Broken {
                source: Some("the server did not accept the message in time".into()),
            }),
        }
    }

    /// Opens a stream by GET: the standalone stream, or a broken stream after event `last_id`.
    pub(super) async fn open_stream(
        &self,
        last_id: Option<&HeaderValue>,
        call_headers: &HeaderMap,
    ) -> Result<ResponseEvents, ChannelError> {
        let protocol = |headers: &mut HeaderMap| {
            self.write_headers(headers);
            if let Some(id) = last_id {
                headers.insert(names::LAST_EVENT_ID, id.clone());
            }
        };
        let parts = RequestParts::get(&self.http.server_url.uri, call_headers, &protocol);
        let response = self.http.send(parts).await?;
        if !response.status().is_success() {
            return Err(response::status_error(response, &self.http).await);
        }
        match response::read(response, &self.http).await? {
            ResponseBody::Events(events) => Ok(events),
            ResponseBody::Message(_) | ResponseBody::Empty => Err(ChannelError::Malformed(
                "the server answers GET, but not with a stream of events".to_owned(),
            )),
        }
    }

    /// Returns true for a session that the server may end by itself: one with an id.
    pub(super) fn may_expire(&self) -> bool {
        self.has_id() && !self.is_http_sse()
    }

    /// Ends the session if `status` of a notification's response is 404, which means that the server does not know the
    /// session id. 400 has many other causes and is ignored.
    ///
    /// # Errors
    ///
    /// Returns [`ChannelError::SessionExpired`] when the session has expired.
    // spec: SESS-08
    pub(super) fn check_expired(&self, status: StatusCode) -> Result<(), ChannelError> {
        if status == StatusCode::NOT_FOUND && self.may_expire() {
            self.end(EndReason::Expired);
            return Err(ChannelError::SessionExpired);
        }
        Ok(())
    }

    /// Deletes the session at the server. Concurrent callers wait for one request; after a failure, the next
    /// caller sends it again.
    ///
    /// # Errors
    ///
    /// Returns an error when the request fails, or when the server refuses it. Two statuses are no refusal:
    /// with 404 the session has ended already, and with 405 the server lets clients end none.
    // spec: SESS-09
    pub(super) async fn delete(&self) -> Result<(), ChannelError> {
        let is_over = matches!(
            self.end_reason(),
            Some(EndReason::Expired | EndReason::Refused)
        );
        if !self.has_id() || is_over {
            return Ok(());
        }
        let delete = self.deleted.get_or_try_init(|| self.send_delete());
        delete.await.copied()
    }

    async fn send_delete(&self) -> Result<(), ChannelError> {
        let parts = RequestParts {
            method: Method::DELETE,
            uri: &self.http.server_url.uri,
            body: Bytes::new(),
            call_headers: &HeaderMap::new(),
            protocol_headers: &|headers| self.write_headers(headers),
        };
        let response = self.http.send(parts).await?;
        match response.status() {
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => Ok(()),
            status if status.is_success() => Ok(()),
            _ => Err(response::status_error(response, &self.http).await),
        }
    }
}

fn progress_token(body: &[u8]) -> Option<ProgressToken> {
    let Ok(Message::Request(request)) = Message::parse(body) else {
        return None;
    };
    let meta: Meta = request.params.optional("_meta").ok()??;
    meta.get(keys::PROGRESS_TOKEN)
}
