//! Connecting a host to a view: the loop that reads and writes messages.

use std::pin::pin;
use std::sync::Arc;

use futures_util::{Sink, SinkExt as _, Stream, StreamExt as _};
use mcp_core::{BoxFuture, catch_panic};
use mcp_types::{
    Cancelled, ErrorObject, Implementation, Message, Method, Notification, RawObject, Request,
    RequestId, Response, codes,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::bridge::{HostBridge, ModeHandler, NotificationHandler};
use super::message::{call, read_params, response, write_result};
use super::state::{Answer, Conversation, Phase};
use super::types::{AppCapabilities, DisplayMode, ModelContext, ViewError};
use super::view::View;

/// The version of the messages.
const PROTOCOL_VERSION: &str = "2026-01-26";

/// Messages to the view that wait until it reads.
const OUTBOX: usize = 64;

impl HostBridge {
    /// Connects to a view: a stream and a sink of messages, one JSON text each. The returned future
    /// runs the connection; it ends with the stream, or with an error when the view breaks a limit.
    pub fn connect<I, O>(
        self,
        incoming: I,
        outgoing: O,
    ) -> (
        View,
        impl Future<Output = Result<(), ViewError>> + Send + use<I, O>,
    )
    where
        I: Stream<Item = String> + Send,
        O: Sink<String> + Send,
    {
        let (outbox, queue) = mpsc::channel(OUTBOX);
        let conversation = Arc::new(Conversation::new(self.limits, outbox));
        let view = View::new(conversation.clone());
        let connection = Connection {
            bridge: self,
            conversation,
            running: JoinSet::new(),
        };
        (view, connection.run(incoming, outgoing, queue))
    }
}

/// A notification that waits for its handler.
type Queued = (NotificationHandler, RawObject);

/// A running conversation.
struct Connection {
    bridge: HostBridge,
    conversation: Arc<Conversation>,
    running: JoinSet<()>,
}

/// Closes the conversation, also when the connection's future is dropped.
struct CloseOnDrop(Arc<Conversation>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Connection {
    /// Reads and writes until the view is gone.
    async fn run<I, O>(
        self,
        incoming: I,
        outgoing: O,
        queue: mpsc::Receiver<String>,
    ) -> Result<(), ViewError>
    where
        I: Stream<Item = String> + Send,
        O: Sink<String> + Send,
    {
        let _close = CloseOnDrop(self.conversation.clone());
        let limit = self.conversation.limits.queued_notifications.max(1);
        let (notify, notifications) = mpsc::channel(limit);
        let mut handlers = JoinSet::new();
        handlers.spawn(handle_notifications(notifications));
        tokio::select! {
            result = self.read(incoming, notify) => result,
            () = write(outgoing, queue) => Ok(()),
        }
    }

    async fn read(
        mut self,
        incoming: impl Stream<Item = String> + Send,
        notify: mpsc::Sender<Queued>,
    ) -> Result<(), ViewError> {
        let mut incoming = pin!(incoming);
        loop {
            let text = tokio::select! {
                Some(_) = self.running.join_next() => continue,
                text = incoming.next() => text,
            };
            let Some(text) = text else { return Ok(()) };
            let (bytes, limit) = (text.len(), self.conversation.limits.message_bytes);
            if bytes > limit {
                return Err(ViewError::MessageTooLarge { bytes, limit });
            }
            match Message::parse(text.as_bytes()) {
                Ok(Message::Response(Response {
                    id: Some(id),
                    outcome,
                    ..
                })) => match outcome.map(RawObject::from_raw) {
                    Ok(Ok(result)) => self.conversation.answer(&id, Ok(result))?,
                    Ok(Err(_)) => self.conversation.count_invalid()?,
                    Err(error) => self.conversation.answer(&id, Err(error))?,
                },
                Ok(Message::Notification(Notification { method, params, .. })) => {
                    self.receive_notification(&method, params.to_object(), &notify)?;
                }
                Ok(Message::Request(Request {
                    id, method, params, ..
                })) => {
                    self.receive_request(id, &method, params.to_object()).await;
                }
                _ => self.conversation.count_invalid()?,
            }
        }
    }

    fn receive_notification(
        &mut self,
        method: &str,
        params: RawObject,
        notify: &mpsc::Sender<Queued>,
    ) -> Result<(), ViewError> {
        let phase = self.conversation.current_phase();
        tracing::debug!(
            method,
            bytes = params.as_str().len(),
            "notification of a view"
        );
        match method {
            "ui/notifications/initialized" if phase == Phase::Initializing => {
                self.conversation.phase.send_replace(Phase::Ready);
                return Ok(());
            }
            "ui/notifications/initialized" => return self.conversation.count_invalid(),
            "ui/notifications/sandbox-proxy-ready" => return self.send_document(phase),
            _ if method == Method::Cancelled.as_str() => return self.cancel(&params),
            _ => {}
        }
        let Some(handler) = self.bridge.notifications.get(method) else {
            tracing::debug!(method, "a notification of a view was ignored");
            return Ok(());
        };
        if phase != Phase::Ready || notify.try_send((handler.clone(), params)).is_err() {
            tracing::warn!(method, "a notification of a view was dropped");
        }
        Ok(())
    }

    /// Sends the document to the sandbox proxy, once, and before the view has spoken.
    // spec: APP-12
    fn send_document(&mut self, phase: Phase) -> Result<(), ViewError> {
        if phase != Phase::New {
            return self.conversation.count_invalid();
        }
        let Some(document) = self.bridge.document.take() else {
            tracing::warn!(
                "a sandbox proxy waits for a document; set it with `HostBridge::document`"
            );
            return Ok(());
        };
        let params = json!({
            "html": document.html(),
            "csp": document.ui().csp,
            "permissions": document.ui().permissions,
        });
        let text = call(
            None,
            "ui/notifications/sandbox-resource-ready",
            &without_null(params),
        )?;
        // Nothing else was sent, so that the queue has space unless the writer has ended.
        let _ = self.conversation.outbox.try_send(text);
        Ok(())
    }

    /// Ends a running request of the view. It receives no answer.
    fn cancel(&self, params: &RawObject) -> Result<(), ViewError> {
        let Ok(cancelled) = read_params::<Cancelled>(params) else {
            return self.conversation.count_invalid();
        };
        let conversation = &self.conversation;
        let id = cancelled.request_id;
        let running = id.and_then(|id| conversation.state.lock().running.remove(&id));
        // The request may have been answered in the meantime.
        if let Some(running) = running {
            running.abort();
        }
        Ok(())
    }

    async fn receive_request(&mut self, id: RequestId, method: &str, params: RawObject) {
        tracing::debug!(
            method = shown(method),
            bytes = params.as_str().len(),
            "request of a view"
        );
        let answer = match method {
            _ if method == Method::Ping.as_str() => Ok(RawObject::default()),
            "ui/initialize" => self.initialize(&params),
            _ if self.conversation.current_phase() == Phase::New => {
                let message = "send `ui/initialize` first";
                Err(ErrorObject::new(codes::INVALID_REQUEST, message))
            }
            "ui/update-model-context" if self.bridge.keeps_model_context => {
                self.set_model_context(&params)
            }
            _ => match self.start(id.clone(), method, params) {
                Ok(()) => return,
                Err(error) => Err(error),
            },
        };
        if let Some(text) = response(&id, &answer) {
            // An error means that the writer has ended, which ends the connection.
            let _ = self.conversation.outbox.send(text).await;
        }
    }

    // spec: APP-13, APP-14
    fn initialize(&self, params: &RawObject) -> Result<RawObject, ErrorObject> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Initialize {
            app_info: Option<Implementation>,
            #[serde(default)]
            app_capabilities: AppCapabilities,
        }

        if self.conversation.current_phase() != Phase::New {
            let message = "`ui/initialize` was answered before";
            return Err(ErrorObject::new(codes::INVALID_REQUEST, message));
        }
        let read: Initialize = read_params(params)?;
        {
            let mut state = self.conversation.state.lock();
            state.capabilities = read.app_capabilities;
            state.info = read.app_info;
        }
        let bridge = &self.bridge;
        let context = bridge.context.clone();
        let context = context
            .with_value("displayMode", &DisplayMode::Inline)
            .with_value("availableDisplayModes", &bridge.modes);
        let result = write_result(&json!({
            "protocolVersion": PROTOCOL_VERSION,
            "hostInfo": bridge.info,
            "hostCapabilities": bridge.published_capabilities(),
            "hostContext": context,
        }))?;
        self.conversation.phase.send_replace(Phase::Initializing);
        Ok(result)
    }

    // spec: APP-20
    fn set_model_context(&self, params: &RawObject) -> Result<RawObject, ErrorObject> {
        let context: ModelContext = read_params(params)?;
        self.conversation.state.lock().model_context = Some(context);
        Ok(RawObject::default())
    }

    /// Starts a request handler on its own task.
    fn start(&mut self, id: RequestId, method: &str, params: RawObject) -> Result<(), ErrorObject> {
        // spec: APP-24
        if self.running.len() >= self.conversation.limits.running_requests {
            let message = "too many requests are running; wait for their answers";
            return Err(ErrorObject::new(codes::BAD_REQUEST, message));
        }
        if self.conversation.state.lock().running.contains_key(&id) {
            let message = "a request with this id is running";
            return Err(ErrorObject::new(codes::INVALID_REQUEST, message));
        }
        let conversation = self.conversation.clone();
        let answer: BoxFuture<'static, Answer> =
            match (method, self.bridge.requests.get(method).cloned()) {
                ("ui/request-display-mode", _) => {
                    let set = self.bridge.set_mode.clone();
                    let mode = self.choose_mode(&params)?;
                    Box::pin(set_mode(conversation, set, mode))
                }
                (_, Some(handler)) => Box::pin(async move { handler(params).await }),
                (_, None) => {
                    let message = format!("method not found: {}", shown(method));
                    return Err(ErrorObject::new(codes::METHOD_NOT_FOUND, message));
                }
            };
        let task = answer_request(self.conversation.clone(), id.clone(), answer);
        // Held until the id is inserted: the task removes it, and may be faster.
        let mut state = self.conversation.state.lock();
        let running = self.running.spawn(task);
        state.running.insert(id, running);
        Ok(())
    }

    /// Returns the requested mode, or `None` if the host or the view does not have it.
    // spec: APP-21
    fn choose_mode(&self, params: &RawObject) -> Result<Option<DisplayMode>, ErrorObject> {
        #[derive(Deserialize)]
        struct Requested {
            mode: DisplayMode,
        }

        let Requested { mode } = read_params(params)?;
        let state = self.conversation.state.lock();
        let declared = &state.capabilities.available_display_modes;
        let is_declared = declared.is_empty() || declared.contains(&mode);
        Ok((is_declared && self.bridge.modes.contains(&mode)).then_some(mode))
    }
}

/// Runs a handler within its time limit, and sends its answer.
async fn answer_request(
    conversation: Arc<Conversation>,
    id: RequestId,
    answer: BoxFuture<'static, Answer>,
) {
    let limit = conversation.limits.handler_timeout;
    let answer = match tokio::time::timeout(limit, catch_panic(answer)).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(panic)) => {
            tracing::error!(
                panic = %mcp_types::escaped(&panic),
                "the handler of a view's request panicked"
            );
            Err(ErrorObject::new(codes::INTERNAL_ERROR, "the host failed"))
        }
        Err(_) => {
            let message = "the host took too long";
            Err(ErrorObject::new(codes::BAD_REQUEST, message))
        }
    };
    // A view may use the id again as soon as it has the answer.
    conversation.state.lock().running.remove(&id);
    if let Some(text) = response(&id, &answer) {
        // An error means that the writer has ended, which ends the connection.
        let _ = conversation.outbox.send(text).await;
    }
}

/// Sets the display mode, and returns the one that results.
async fn set_mode(
    conversation: Arc<Conversation>,
    set: Option<ModeHandler>,
    mode: Option<DisplayMode>,
) -> Result<RawObject, ErrorObject> {
    let result = match (set, mode) {
        (Some(set), Some(mode)) => {
            let result = set(mode).await;
            conversation.state.lock().mode = result;
            result
        }
        _ => conversation.state.lock().mode,
    };
    write_result(&json!({ "mode": result }))
}

/// Removes the members that are null.
fn without_null(mut value: Value) -> Value {
    if let Some(members) = value.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    value
}

/// Shortens a name that a view chose, for messages.
fn shown(name: &str) -> String {
    name.chars().take(100).collect()
}

async fn handle_notifications(mut queue: mpsc::Receiver<Queued>) {
    while let Some((handler, params)) = queue.recv().await {
        if mcp_core::catch_panic_sync(|| handler(params)).is_err() {
            tracing::error!("the handler of a view's notification panicked");
        }
    }
}

async fn write(outgoing: impl Sink<String> + Send, mut queue: mpsc::Receiver<String>) {
    let mut outgoing = pin!(outgoing);
    while let Some(text) = queue.recv().await {
        if outgoing.send(text).await.is_err() {
            return;
        }
    }
}
