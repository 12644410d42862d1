//! One session: what it sends with every request, what it waits for, and which message belongs
//! where.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management>

use std::collections::HashMap;
use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method as Verb, Response, StatusCode, Uri};
use mcp_core::close_signal::CloseSignal;
use mcp_core::wire;
use mcp_core::{ChannelError, ClientNotification, CloseReason, Frame};
use mcp_types::meta::keys;
use mcp_types::{
    Cancelled, Message, Meta, Method, ParseError, ProgressToken, ProtocolVersion, RequestId,
};
use parking_lot::Mutex;
use tokio::sync::{Notify, OnceCell, mpsc};
use tokio::time::timeout;

use super::queue::Queue;
use crate::client::answer::{self, Answer, Events};
use crate::client::requests::{Body, Http, Unsent};
use crate::headers::names;

/// A session, from before it is opened until after its end.
pub(super) struct Session {
    pub(super) http: Arc<Http>,
    /// The end of the whole channel.
    pub(super) closing: CloseSignal<CloseReason>,
    /// Its own end.
    over: CloseSignal<Over>,
    /// What the server calls it: a secret, which nothing shows.
    // spec: SESS-04
    id: OnceLock<HeaderValue>,
    version: Mutex<Option<ProtocolVersion>>,
    /// Where messages go, when that is not the URL of the server: HTTP+SSE.
    messages: OnceLock<Uri>,
    calls: Mutex<HashMap<RequestId, Arc<OpenCall>>>,
    /// What belongs to no call.
    pub(super) inbox: Queue,
    inbox_taken: AtomicBool,
    cancels: mpsc::Sender<Bytes>,
    /// The other end of `cancels`, until somebody keeps the session.
    unsent_cancels: Mutex<Option<mpsc::Receiver<Bytes>>>,
    /// The server knows that the client is ready.
    pub(super) ready: Notify,
    /// The first GET for the stream outside of calls is answered or has failed.
    pub(super) standalone_answered: Notify,
    /// The server has answered something.
    pub(super) alive: Notify,
    deleted: OnceCell<()>,
}

/// Why a session is over, while the channel is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    /// The server does not know it any more.
    Expired,
    /// Another one has taken its place.
    Replaced,
    /// The channel was dropped.
    Left,
}

impl From<Over> for ChannelError {
    fn from(over: Over) -> Self {
        match over {
            Over::Expired | Over::Replaced => Self::SessionExpired,
            Over::Left => Self::Closed(CloseReason::Local),
        }
    }
}

/// A call that waits for its answer.
pub(super) struct OpenCall {
    pub(super) id: RequestId,
    progress_token: Option<ProgressToken>,
    pub(super) queue: Queue,
    answered: AtomicBool,
    pub(super) has_answer: Notify,
}

impl OpenCall {
    pub(super) fn is_answered(&self) -> bool {
        self.answered.load(Ordering::Acquire)
    }

    /// Only the first answer counts.
    fn answer(&self, frame: Frame) {
        if !self.answered.swap(true, Ordering::AcqRel) {
            self.queue.force(frame);
            self.has_answer.notify_one();
        }
    }
}

/// Cancellations that wait to be sent; more of them are left out.
const CANCELS: usize = 64;
/// How long a message without an answer may take to be accepted.
pub(super) const NOTE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long ending a session may take.
const DELETE_TIMEOUT: Duration = Duration::from_secs(5);

impl Session {
    pub(super) fn new(http: Arc<Http>, closing: CloseSignal<CloseReason>) -> Self {
        let (cancels, unsent_cancels) = mpsc::channel(CANCELS);
        Self {
            http,
            closing,
            over: CloseSignal::default(),
            id: OnceLock::new(),
            version: Mutex::default(),
            messages: OnceLock::new(),
            calls: Mutex::default(),
            inbox: Queue::default(),
            inbox_taken: AtomicBool::new(false),
            cancels,
            unsent_cancels: Mutex::new(Some(unsent_cancels)),
            ready: Notify::new(),
            standalone_answered: Notify::new(),
            alive: Notify::new(),
            deleted: OnceCell::new(),
        }
    }

    /// The revision that was chosen; the last choice counts.
    pub(super) fn set_version(&self, version: ProtocolVersion) {
        *self.version.lock() = Some(version);
    }

    /// The revision that a message speaks, for as long as none was chosen.
    pub(super) fn assume(&self, version: ProtocolVersion) {
        let mut known = self.version.lock();
        known.get_or_insert(version);
    }

    fn version(&self) -> Option<ProtocolVersion> {
        *self.version.lock()
    }

    /// What the server calls the session, as the answer to `initialize` says.
    // spec: SESS-01
    pub(super) fn named_by(&self, headers: &HeaderMap) {
        if let Some(id) = headers.get(names::MCP_SESSION_ID) {
            let mut id = id.clone();
            id.set_sensitive(true);
            let _ = self.id.set(id);
        }
    }

    /// From now on messages go there: HTTP+SSE.
    // spec: SSE-03
    pub(super) fn send_to(&self, messages: Uri) {
        let _ = self.messages.set(messages);
    }

    /// Answers come on the one stream of HTTP+SSE, not where the request went.
    pub(super) fn has_one_stream(&self) -> bool {
        self.messages.get().is_some()
    }

    pub(super) fn has_id(&self) -> bool {
        self.id.get().is_some()
    }

    /// Somebody takes what belongs to no call, which one can do.
    pub(super) fn take_inbox(&self) -> bool {
        !self.inbox_taken.swap(true, Ordering::AcqRel)
    }

    pub(super) fn take_cancels(&self) -> Option<mpsc::Receiver<Bytes>> {
        self.unsent_cancels.lock().take()
    }

    /// Ends the session, if it has not ended.
    pub(super) fn end(&self, over: Over) {
        self.over.close(over);
        self.inbox.close();
    }

    /// Why it is over, if it is and the channel is not.
    pub(super) fn over(&self) -> Option<Over> {
        self.over.reason()
    }

    /// Waits for its end, and tells what that means for calls.
    pub(super) async fn ended(&self) -> ChannelError {
        tokio::select! {
            biased;
            reason = self.closing.closed() => ChannelError::Closed(reason),
            over = self.over.closed() => over.into(),
        }
    }

    /// Waits until this side has no use for it any more.
    pub(super) async fn abandoned(&self) -> ChannelError {
        let over = async {
            match self.over.closed().await {
                Over::Expired => pending().await,
                over => over,
            }
        };
        tokio::select! {
            biased;
            reason = self.closing.closed() => ChannelError::Closed(reason),
            over = over => over.into(),
        }
    }

    /// Why nothing can be sent, if that is so.
    pub(super) fn refusal(&self) -> Option<ChannelError> {
        match self.closing.reason() {
            Some(reason) => Some(ChannelError::Closed(reason)),
            None => self.over().map(Into::into),
        }
    }

    /// Enters a call, which leaves by [`leave`](Self::leave).
    pub(super) fn enter(&self, id: RequestId, body: &[u8]) -> Result<Arc<OpenCall>, ChannelError> {
        let call = Arc::new(OpenCall {
            id: id.clone(),
            progress_token: progress_token(body),
            queue: Queue::default(),
            answered: AtomicBool::new(false),
            has_answer: Notify::new(),
        });
        match self.calls.lock().entry(id) {
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(Arc::clone(&call));
                Ok(call)
            }
            // spec: BASE-04
            std::collections::hash_map::Entry::Occupied(_) => Err(ChannelError::Unsendable(
                "a request with this id waits for its answer already".to_owned(),
            )),
        }
    }

    pub(super) fn leave(&self, call: &OpenCall) {
        self.calls.lock().remove(&call.id);
    }

    /// Nobody waits for a call any more. Never waits; when too many such notes wait, this one is
    /// left out.
    // spec: CAN-01, HTTP-C-12
    pub(super) fn cancel(&self, call: &OpenCall) {
        let Some(version) = self.version() else {
            return;
        };
        let note = Cancelled::new(call.id.clone()).reason("nobody waits for the answer any more");
        let mut text = Vec::new();
        let wire = wire::client_for_version(version);
        if wire.encode_client_notification(&ClientNotification::Cancelled(note), &mut text) {
            let _ = self.cancels.try_send(text.into());
        }
    }

    // spec: HTTP-C-02, HTTP-C-09, HTTP-C-10, SESS-05
    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(8);
        if let Some(version) = self.version()
            && version.has_version_header()
        {
            let version = HeaderValue::from_static(version.as_str());
            headers.insert(names::MCP_PROTOCOL_VERSION, version);
        }
        if let Some(id) = self.id.get() {
            headers.insert(names::MCP_SESSION_ID, id.clone());
        }
        headers
    }

    /// Sends a message. A session that the server does not know any more ends by that.
    // spec: HTTP-C-01, SESS-08
    pub(super) async fn post(
        &self,
        body: Bytes,
        caller: &HeaderMap,
    ) -> Result<Response<Body>, ChannelError> {
        self.post_with(self.headers(), body, caller).await
    }

    /// Sends `initialize`, which knows nothing of a session yet.
    pub(super) async fn initialize(
        &self,
        body: Bytes,
        caller: &HeaderMap,
    ) -> Result<Response<Body>, ChannelError> {
        self.post_with(HeaderMap::new(), body, caller).await
    }

    async fn post_with(
        &self,
        mut protocol: HeaderMap,
        body: Bytes,
        caller: &HeaderMap,
    ) -> Result<Response<Body>, ChannelError> {
        protocol.insert(names::ACCEPT, names::ACCEPT_BOTH);
        protocol.insert(names::CONTENT_TYPE, names::JSON);
        let unsent = Unsent {
            method: Verb::POST,
            uri: self.messages.get().unwrap_or(&self.http.endpoint.uri),
            body,
            caller,
            protocol,
        };
        let response = self.http.send(unsent).await?;
        self.check_known(response.status())?;
        if response.status().is_success() {
            self.alive.notify_waiters();
        }
        Ok(response)
    }

    /// Sends what nobody answers.
    pub(super) async fn note(&self, body: Bytes) -> Result<(), ChannelError> {
        let accepted = async {
            let response = self.post(body, &HeaderMap::new()).await?;
            answer::accepted(response, &self.http).await
        };
        match timeout(NOTE_TIMEOUT, accepted).await {
            Ok(accepted) => accepted,
            Err(_) => Err(ChannelError::Broken {
                source: Some("the server did not accept the message in time".into()),
            }),
        }
    }

    /// Opens a stream: the one outside of calls, or one that broke, from its last event on.
    pub(super) async fn get(
        &self,
        last_id: Option<&HeaderValue>,
        caller: &HeaderMap,
    ) -> Result<Events, ChannelError> {
        let mut protocol = self.headers();
        protocol.insert(names::ACCEPT, names::EVENT_STREAM);
        if let Some(id) = last_id {
            protocol.insert(names::LAST_EVENT_ID, id.clone());
        }
        let unsent = Unsent {
            method: Verb::GET,
            uri: &self.http.endpoint.uri,
            body: Bytes::new(),
            caller,
            protocol,
        };
        let response = self.http.send(unsent).await?;
        if !response.status().is_success() {
            return Err(answer::refused(response, &self.http).await);
        }
        match answer::read(response, &self.http).await? {
            Answer::Events(events) => Ok(events),
            Answer::Message(_) | Answer::Nothing => Err(ChannelError::Malformed(
                "the server answers GET, but not with a stream of events".to_owned(),
            )),
        }
    }

    /// 404 says that the server has forgotten the session; where there is none it says nothing.
    /// 400 is no such sign: it has many other reasons.
    // spec: SESS-08
    pub(super) fn check_known(&self, status: StatusCode) -> Result<(), ChannelError> {
        if status == StatusCode::NOT_FOUND && self.has_id() && !self.has_one_stream() {
            self.end(Over::Expired);
            return Err(ChannelError::SessionExpired);
        }
        Ok(())
    }

    /// Tells the server that the session has ended, once; everybody who asks waits for that.
    // spec: SESS-09
    pub(super) async fn delete(&self) {
        if !self.has_id() || self.over() == Some(Over::Expired) {
            return;
        }
        let unsent = Unsent {
            method: Verb::DELETE,
            uri: &self.http.endpoint.uri,
            body: Bytes::new(),
            caller: &HeaderMap::new(),
            protocol: self.headers(),
        };
        self.deleted
            .get_or_init(|| async {
                // A server may refuse it, and whatever else it says changes nothing.
                let _ = timeout(DELETE_TIMEOUT, self.http.send(unsent)).await;
            })
            .await;
    }

    /// Brings a message to where it belongs. `on` is the call whose stream it came on.
    pub(super) async fn deliver(&self, on: Option<&OpenCall>, frame: Frame) {
        let allows_batch = self.version().is_some_and(ProtocolVersion::allows_batch);
        if allows_batch && Message::parse(&frame.message).err() == Some(ParseError::Batch) {
            // spec: BASE-14
            for text in Message::split_batch(&frame.message).unwrap_or_default() {
                let mut part = Frame::new(frame.message.slice_ref(text.as_bytes()));
                part.status = frame.status;
                self.deliver_one(on, part).await;
            }
            return;
        }
        self.deliver_one(on, frame).await;
    }

    async fn deliver_one(&self, on: Option<&OpenCall>, frame: Frame) {
        match self.place(on, &frame.message) {
            Place::Answer(call) => call.answer(frame),
            Place::OwnAnswer => {
                if let Some(call) = on {
                    call.answer(frame);
                }
            }
            Place::OwnNote => {
                if let Some(call) = on {
                    call.queue.push(frame).await;
                }
            }
            // Whoever reads this stream does not wait for the reader of another one.
            Place::Note(call) => drop(call.queue.offer(frame)),
            Place::Inbox if self.inbox_taken.load(Ordering::Acquire) => {
                self.inbox.push(frame).await;
            }
            // Nobody listens yet, and perhaps nobody ever will.
            Place::Inbox => drop(self.inbox.offer(frame)),
            Place::Nowhere => {}
        }
    }

    fn place(&self, on: Option<&OpenCall>, text: &[u8]) -> Place {
        let own_answer = if on.is_some() {
            Place::OwnAnswer
        } else {
            Place::Nowhere
        };
        match Message::parse(text) {
            Ok(Message::Response(response)) => match response.id {
                Some(id) if on.is_none_or(|call| call.id != id) => {
                    // An answer to nothing that waits: on the stream of a call it is an error,
                    // which the caller tells; elsewhere the answer to a call that was cancelled.
                    // spec: BASE-06, CAN-06
                    self.calls
                        .lock()
                        .get(&id)
                        .cloned()
                        .map_or(own_answer, Place::Answer)
                }
                _ => own_answer,
            },
            Ok(Message::Notification(note)) => match Method::from_name(&note.method) {
                Some(Method::Progress) => {
                    let token = note.params.required::<ProgressToken>("progressToken").ok();
                    self.place_progress(on, token.as_ref())
                }
                // spec: HTTP-SL-03
                Some(Method::LogMessage) if on.is_some() => Place::OwnNote,
                _ => Place::Inbox,
            },
            Ok(_) => Place::Inbox,
            // The caller tells what is wrong with it.
            Err(_) => own_answer,
        }
    }

    // spec: PROG-02
    fn place_progress(&self, on: Option<&OpenCall>, token: Option<&ProgressToken>) -> Place {
        let Some(token) = token else {
            return Place::Nowhere;
        };
        let is_of = |call: &OpenCall| call.progress_token.as_ref() == Some(token);
        if on.is_some_and(is_of) {
            return Place::OwnNote;
        }
        let calls = self.calls.lock();
        let other = calls.values().find(|call| is_of(call));
        other.cloned().map_or(Place::Inbox, Place::Note)
    }
}

/// Where a message belongs.
enum Place {
    /// It answers the call whose stream it came on.
    OwnAnswer,
    /// It answers another call.
    Answer(Arc<OpenCall>),
    /// It is a note of the call whose stream it came on.
    OwnNote,
    /// It is a note of another call.
    Note(Arc<OpenCall>),
    /// It belongs to no call.
    Inbox,
    /// Nobody can do anything with it.
    Nowhere,
}

fn progress_token(body: &[u8]) -> Option<ProgressToken> {
    let Ok(Message::Request(request)) = Message::parse(body) else {
        return None;
    };
    let meta: Meta = request.params.optional("_meta").ok()??;
    let token = meta.as_object().get(keys::PROGRESS_TOKEN)?;
    let number = token.as_i64().map(ProgressToken::from);
    number.or_else(|| token.as_str().map(ProgressToken::from))
}
