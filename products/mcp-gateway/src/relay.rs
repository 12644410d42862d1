//! [`Relay`]: passes messages between one client and one server.

mod calls;
mod message;
mod session;
mod tools;

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::OptionFuture;
use futures_util::{Sink, SinkExt, Stream, StreamExt};
use mcp_core::{
    BoxFuture, Channel, ChannelError, CloseReason, Fault, Frame, Frames, MirroredHeaders,
    OneWayMessage, OutgoingRequest,
};
use mcp_types::{Message, Method, Notification, ProtocolVersion, Request, RequestId, codes};
use tokio::time::timeout;
use tracing::debug;

use self::calls::{CallMessage, Calls};
use self::session::{SEND_TIMEOUT, Session};
use self::tools::{ToolHeaders, remove_hidden};

/// Client notifications and responses that wait to be sent.
const MAX_WAITING: usize = 64;
/// Pages of tools that are read for their headers.
const MAX_PAGES: usize = 100;
/// Maximum time to close the connection to the server: longer than a program needs that must be killed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Decides by name which tools the client must not see.
type HiddenTools = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// Passes messages between one client and one server.
///
/// The client is a pair of byte streams, such as this process's pipes; the server is behind a
/// [`Channel`]. The relay keeps the messages as they are: ids, unknown members and extensions pass.
/// It only does what the two transports require:
///
/// - Values that HTTP repeats in headers are read from the messages.
/// - A cancelled request ends its HTTP request.
/// - A legacy session that the server has lost is opened again, and the request is repeated.
/// - A request without an answer gets an error response.
///
/// Client and server must share a revision: the relay does not translate.
///
/// # Examples
///
/// ```no_run
/// use mcp::HttpChannel;
/// use mcp::gateway::Relay;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// use futures::{sink, stream};
///
/// let channel = HttpChannel::new("https://mcp.example.com/mcp")?;
/// let (lines, output) = (stream::empty(), sink::drain());
/// # let output = futures::SinkExt::sink_map_err(output, |never| match never {});
/// Relay::new(channel)
///     .hide_tools(|name| name.starts_with("admin_"))
///     .run(lines, output)
///     .await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a relay does nothing before `run`"]
pub struct Relay {
    channel: Box<dyn Channel>,
    hidden: Option<HiddenTools>,
    max_calls: usize,
}

/// An error that ends a [`Relay`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RelayError {
    /// The client's messages cannot be read.
    #[error("cannot read from the client")]
    Read(#[source] io::Error),
    /// Messages cannot be written to the client.
    #[error("cannot write to the client")]
    Write(#[source] io::Error),
    /// The connection to the server has ended.
    #[error("the connection to the server has ended: {0}")]
    Closed(CloseReason),
}

impl Relay {
    /// A relay to the server behind `channel`.
    pub fn new(channel: impl Channel) -> Self {
        Self {
            channel: Box::new(channel),
            hidden: None,
            max_calls: 1024,
        }
    }

    /// Removes tools from lists, and refuses their calls. Default: no tool is hidden.
    pub fn hide_tools(mut self, is_hidden: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.hidden = Some(Box::new(is_hidden));
        self
    }

    /// Sets the largest number of requests that wait for an answer. Further ones get an error
    /// response. Default: 1024.
    pub fn max_calls(mut self, calls: usize) -> Self {
        self.max_calls = calls;
        self
    }

    /// Passes messages on until the client closes its stream. Then the session of the server is
    /// closed. `input` yields one JSON message per item, `output` takes one per item.
    ///
    /// # Errors
    ///
    /// Returns [`RelayError`] when a stream of the client fails, or when the connection to the server
    /// has ended for good. A failed request does not end the relay.
    pub async fn run<I, O>(self, input: I, output: O) -> Result<(), RelayError>
    where
        I: Stream<Item = io::Result<Bytes>> + Send,
        O: Sink<Bytes, Error = io::Error> + Send,
    {
        let channel: Arc<dyn Channel> = Arc::from(self.channel);
        let running = Running {
            channel: Arc::clone(&channel),
            hidden: self.hidden,
            max_calls: self.max_calls,
            output: pin!(output),
            calls: Calls::default(),
            session: None,
            modern: None,
            inbound: None,
            headers: ToolHeaders::default(),
            waiting: VecDeque::new(),
        };
        let done = running.run(pin!(input)).await;
        // Best effort: the session also expires at the server.
        let _ = timeout(CLOSE_TIMEOUT, channel.close()).await;
        done
    }
}

impl fmt::Debug for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relay")
            .field("server", &self.channel.peer())
            .field("max_calls", &self.max_calls)
            .finish_non_exhaustive()
    }
}

/// A relay that runs.
struct Running<'o, O> {
    channel: Arc<dyn Channel>,
    hidden: Option<HiddenTools>,
    max_calls: usize,
    output: Pin<&'o mut O>,
    calls: Calls,
    /// The legacy session, once the client has sent `initialize`.
    session: Option<Session>,
    /// The revision of the last modern request.
    modern: Option<ProtocolVersion>,
    /// The messages of the server that belong to no call.
    inbound: Option<Frames>,
    headers: ToolHeaders,
    /// The client's notifications and responses, which are sent one after the other.
    waiting: VecDeque<OneWayMessage>,
}

/// An event of the loop.
enum Event {
    Incoming(Option<io::Result<Bytes>>),
    Call(RequestId, CallMessage),
    Inbound(Option<Result<Frame, ChannelError>>),
    Sent,
    Closed(CloseReason),
}

impl<O> Running<'_, O>
where
    O: Sink<Bytes, Error = io::Error> + Send,
{
    async fn run(
        mut self,
        mut input: Pin<&mut (impl Stream<Item = io::Result<Bytes>> + Send)>,
    ) -> Result<(), RelayError> {
        let channel = Arc::clone(&self.channel);
        let mut closed = channel.closed();
        let mut sending: Option<BoxFuture<'static, ()>> = None;
        loop {
            if sending.is_none() {
                sending = self.waiting.pop_front().map(|message| self.send(message));
            }
            let is_full = self.waiting.len() >= MAX_WAITING;
            let event = tokio::select! {
                (id, event) = self.calls.next() => Event::Call(id, event),
                Some(frame) = OptionFuture::from(self.inbound.as_mut().map(Frames::next)) => Event::Inbound(frame),
                Some(()) = OptionFuture::from(sending.as_mut()) => Event::Sent,
                reason = &mut closed => Event::Closed(reason),
                message = input.next(), if !is_full => Event::Incoming(message),
            };
            match event {
                Event::Incoming(None) => return Ok(()),
                Event::Incoming(Some(message)) => {
                    self.receive(message.map_err(RelayError::Read)?).await?;
                }
                Event::Call(id, event) => self.handle_call(id, event).await?,
                Event::Inbound(Some(Ok(frame))) => self.write(frame.message).await?,
                Event::Inbound(Some(Err(error))) => {
                    debug!(error = %mcp_types::escaped(&error), "messages may be missing")
                }
                Event::Inbound(None) => self.inbound = None,
                Event::Sent => sending = None,
                Event::Closed(reason) => return Err(RelayError::Closed(reason)),
            }
        }
    }

    /// Handles a client message. A batch is handled message by message.
    async fn receive(&mut self, text: Bytes) -> Result<(), RelayError> {
        let Ok(parts) = Message::split_batch(&text) else {
            return self.receive_one(text).await;
        };
        let parts: Vec<_> = parts
            .iter()
            .map(|part| text.slice_ref(part.as_bytes()))
            .collect();
        for part in parts {
            self.receive_one(part).await?;
        }
        Ok(())
    }

    async fn receive_one(&mut self, text: Bytes) -> Result<(), RelayError> {
        match Message::parse(&text) {
            Ok(Message::Request(request)) => self.receive_request(&request, &text).await,
            Ok(Message::Notification(notification)) => {
                self.receive_notification(&notification, &text).await;
                Ok(())
            }
            Ok(Message::Response(_)) => {
                let mirrored = MirroredHeaders::new(self.version(), "", None);
                self.waiting
                    .push_back(OneWayMessage::new(text.clone(), mirrored));
                Ok(())
            }
            Ok(_) => Ok(()),
            Err(error) => self.write(message::parse_error(&error)).await,
        }
    }

    async fn receive_request(
        &mut self,
        request: &Request<'_>,
        text: &Bytes,
    ) -> Result<(), RelayError> {
        match self.outgoing(request, text) {
            Ok(request) => {
                self.start(request, false);
                Ok(())
            }
            Err(fault) => {
                let version = self.session.as_ref().map(|session| session.version);
                let response = message::error(&fault, Some(&request.id), version);
                self.write(response).await
            }
        }
    }

    /// Prepares a client request for the server, or refuses it.
    fn outgoing(&mut self, request: &Request<'_>, text: &Bytes) -> Result<OutgoingRequest, Fault> {
        let session = self.session.as_ref().map(|session| session.version);
        let version = message::version_of(request, session)?;
        if self.calls.pending.len() >= self.max_calls {
            let limit = self.max_calls;
            return Err(Fault::internal(format!(
                "{limit} requests wait for the server; send fewer at once"
            )));
        }
        if self.calls.pending.contains_key(&request.id) {
            let id = &request.id;
            return Err(Fault::InvalidRequest(
                format!("a request with the id {id} is running").into(),
            ));
        }
        let method = Method::from_name(&request.method);
        if method == Some(Method::CallTool)
            && let Some(is_hidden) = &self.hidden
        {
            // The server could read another name, such as a number, as that of a hidden tool.
            let tool = request.params.required_text("name")?;
            if is_hidden(&tool) {
                return Err(Fault::no_such_tool(tool.as_ref()));
            }
        }
        if version.is_modern() {
            self.modern = Some(version);
        } else if method == Some(Method::Initialize) {
            let session = Session::new(request, text.clone());
            self.inbound = session.prepare(&*self.channel);
            let outgoing = session.request();
            self.session = Some(session);
            return Ok(outgoing);
        }
        let mut mirrored = message::mirrored(request, version);
        if method == Some(Method::CallTool) {
            mirrored.params = self.headers.params(request);
        }
        Ok(OutgoingRequest::new(
            request.id.clone(),
            text.clone(),
            mirrored,
        ))
    }

    fn start(&mut self, request: OutgoingRequest, is_repeated: bool) {
        let renewals = self.session.as_ref().map_or(0, |session| session.renewals);
        let frames = self.channel.call(request.clone());
        self.calls.start(request, frames, renewals, is_repeated);
    }

    async fn receive_notification(&mut self, notification: &Notification<'_>, text: &Bytes) {
        // A request without an id would run on a server that looks at the method alone.
        if !notification.method.starts_with("notifications/") {
            debug!(method = %mcp_types::escaped(&notification.method), "a request without an id is not passed on");
            return;
        }
        let method = Method::from_name(&notification.method);
        if method == Some(Method::Cancelled)
            && let Ok(Some(id)) = notification.params.optional::<RequestId>("requestId")
        {
            // The channel tells the server when the messages of a call are dropped.
            self.calls.pending.remove(&id);
            return;
        }
        let mirrored = MirroredHeaders::new(self.version(), &notification.method, None);
        let message = OneWayMessage::new(text.clone(), mirrored);
        // Requests after it need the session that it completes.
        // spec: LIFE-08
        if method == Some(Method::Initialized) {
            self.send(message).await;
        } else {
            self.waiting.push_back(message);
        }
    }

    /// The revision of messages that name none.
    fn version(&self) -> ProtocolVersion {
        let session = self.session.as_ref().map(|session| session.version);
        session
            .or(self.modern)
            .unwrap_or(ProtocolVersion::LATEST_LEGACY)
    }

    fn send(&self, message: OneWayMessage) -> BoxFuture<'static, ()> {
        let method = message.mirrored.method.clone();
        let sent = timeout(SEND_TIMEOUT, self.channel.notify(message));
        Box::pin(async move {
            match sent.await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    debug!(error = %mcp_types::escaped(&error), method = %mcp_types::escaped(&method), "a message of the client was not sent")
                }
                Err(_) => {
                    debug!(method = %mcp_types::escaped(&method), "a message of the client was not sent in time")
                }
            }
        })
    }

    async fn handle_call(&mut self, id: RequestId, event: CallMessage) -> Result<(), RelayError> {
        match event {
            Some(Ok(frame)) => self.pass_on(id, frame).await,
            Some(Err(ChannelError::SessionExpired)) if self.can_renew(&id) => {
                self.repeat_in_new_session(&id).await
            }
            Some(Err(error)) => self.fail(&id, &error).await,
            None => {
                let reason = "the response ended without a message".to_owned();
                self.fail(&id, &ChannelError::Malformed(reason)).await
            }
        }
    }

    /// Passes a message of a call on to the client. The response ends the call.
    async fn pass_on(&mut self, id: RequestId, frame: Frame) -> Result<(), RelayError> {
        let error_code = match Message::parse(&frame.message) {
            Ok(Message::Response(response)) if response.id.as_ref() == Some(&id) => {
                response.outcome.err().map(|error| error.code)
            }
            // Errors about the HTTP request have no id.
            Ok(Message::Response(response)) if response.id.is_none() => {
                let error = response.outcome.err();
                let text = error.map_or_else(String::new, |error| error.message);
                return self.fail(&id, &ChannelError::Malformed(text)).await;
            }
            _ => return self.write(frame.message).await,
        };
        let Some(call) = self.calls.pending.remove(&id) else {
            return Ok(());
        };
        let mut text = frame.message;
        match Method::from_name(&call.request.mirrored.method) {
            Some(Method::Initialize) => {
                if let Some(session) = &mut self.session {
                    session.negotiated(&*self.channel, &text);
                }
            }
            Some(Method::ListTools) => {
                self.headers.learn(&text);
                if let Some(is_hidden) = &self.hidden {
                    text = remove_hidden(text, is_hidden);
                }
            }
            Some(Method::CallTool)
                if error_code == Some(codes::HEADER_MISMATCH) && !call.is_repeated =>
            {
                if let Some(request) = self.with_headers(call.request).await {
                    self.start(request, true);
                    return Ok(());
                }
            }
            _ => {}
        }
        self.write(text).await
    }

    /// Reads the server's tools, and adds the headers that the tool wants to a refused call.
    // spec: XHDR-20
    async fn with_headers(&mut self, mut call: OutgoingRequest) -> Option<OutgoingRequest> {
        let text = call.body.clone();
        let Ok(Message::Request(request)) = Message::parse(&text) else {
            return None;
        };
        let meta = request.params.get("_meta")?;
        let mut cursor = None;
        for page in 0..MAX_PAGES {
            let id = RequestId::from(format!("relay-tools-{page}"));
            let list = message::list_tools(id, call.mirrored.version, meta, cursor.as_deref())?;
            let response = last_message(self.channel.call(list)).await?;
            cursor = self.headers.learn(&response);
            if cursor.is_none() {
                break;
            }
        }
        let params = self.headers.params(&request);
        if params.is_empty() {
            return None;
        }
        call.mirrored.params = params;
        Some(call)
    }

    /// Returns whether a session exists, and the call was not sent in the session that follows it.
    fn can_renew(&self, id: &RequestId) -> bool {
        let call = self.calls.pending.get(id);
        let is_initialize = call.is_some_and(|call| {
            Method::from_name(&call.request.mirrored.method) == Some(Method::Initialize)
        });
        let is_repeated = call.is_none_or(|call| call.is_repeated);
        self.session.is_some() && !is_initialize && !is_repeated
    }

    /// Opens the session again unless another call has done it, and repeats the call once.
    async fn repeat_in_new_session(&mut self, id: &RequestId) -> Result<(), RelayError> {
        let (Some(call), Some(session)) = (self.calls.pending.remove(id), &mut self.session) else {
            return Ok(());
        };
        if call.renewals == session.renewals {
            match session.renew(&*self.channel).await {
                Ok(inbound) => self.inbound = inbound,
                Err(error) => {
                    let version = Some(session.version);
                    let fault = message::describe(&error);
                    let response = message::error(&fault, Some(id), version);
                    return self.write(response).await;
                }
            }
        }
        self.start(call.request, true);
        Ok(())
    }

    async fn fail(&mut self, id: &RequestId, error: &ChannelError) -> Result<(), RelayError> {
        let Some(call) = self.calls.pending.remove(id) else {
            return Ok(());
        };
        let version = Some(call.request.mirrored.version);
        let response = message::error(&message::describe(error), Some(id), version);
        self.write(response).await
    }

    async fn write(&mut self, message: Bytes) -> Result<(), RelayError> {
        self.output.send(message).await.map_err(RelayError::Write)
    }
}

/// Returns the last message of a call, which is its response.
async fn last_message(mut frames: Frames) -> Option<Bytes> {
    let mut last = None;
    while let Some(frame) = frames.next().await {
        last = Some(frame.ok()?.message);
    }
    last
}
