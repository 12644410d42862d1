//! The loop that reads and writes the messages of a view.

use std::pin::pin;
use std::sync::Arc;

use futures_util::{Sink, SinkExt as _, Stream, StreamExt as _};
use mcp_core::extension::{from_params, to_object};
use mcp_types::{ErrorObject, Method, RawObject, RequestId, codes};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::bridge::{HostBridge, ModeHandler, NotificationHandler};
use super::message::{Incoming, Kind, response};
use super::state::{Conversation, Phase};
use super::types::{AppCapabilities, DisplayMode, ModelContext, ViewError};

/// The version of the messages.
const PROTOCOL_VERSION: &str = "2026-01-26";

/// A notification that waits for its handler.
type Queued = (NotificationHandler, RawObject);

/// A running conversation.
pub(super) struct Connection {
    bridge: HostBridge,
    conversation: Arc<Conversation>,
    running: JoinSet<()>,
}

/// Closes the conversation, also when the future of the connection is dropped.
struct CloseOnDrop(Arc<Conversation>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Connection {
    pub(super) fn new(bridge: HostBridge, conversation: Arc<Conversation>) -> Self {
        Self {
            bridge,
            conversation,
            running: JoinSet::new(),
        }
    }

    /// Reads and writes until the view is gone.
    pub(super) async fn run<I, O>(
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
            match Incoming::parse(&text) {
                None => self.conversation.count_invalid()?,
                Some(Kind::Response(id, answer)) => self.conversation.answer(&id, answer)?,
                Some(Kind::Notification(method, params)) => {
                    self.receive_notification(&method, params, &notify)?;
                }
                Some(Kind::Request(id, method, params)) => {
                    self.receive_request(id, &method, params).await;
                }
            }
        }
    }

    fn receive_notification(
        &self,
        method: &str,
        params: RawObject,
        notify: &mpsc::Sender<Queued>,
    ) -> Result<(), ViewError> {
        let phase = self.conversation.current_phase();
        // spec: APP-15
        if method == "ui/notifications/initialized" {
            if phase == Phase::Initializing {
                self.conversation.phase.send_replace(Phase::Ready);
                return Ok(());
            }
            return self.conversation.count_invalid();
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

    async fn receive_request(&mut self, id: RequestId, method: &str, params: RawObject) {
        let answer = match method {
            _ if method == Method::Ping.as_str() => Ok(RawObject::empty()),
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
            #[serde(default)]
            app_capabilities: AppCapabilities,
        }

        if self.conversation.current_phase() != Phase::New {
            let message = "`ui/initialize` was answered before";
            return Err(ErrorObject::new(codes::INVALID_REQUEST, message));
        }
        let Initialize { app_capabilities } = read(params)?;
        self.conversation.state.lock().capabilities = app_capabilities;
        let bridge = &self.bridge;
        let context = bridge.context.clone();
        let context = context
            .with_value("displayMode", &DisplayMode::Inline)
            .with_value("availableDisplayModes", &bridge.modes);
        let result = to_object(&json!({
            "protocolVersion": PROTOCOL_VERSION,
            "hostInfo": bridge.info,
            "hostCapabilities": bridge.capabilities,
            "hostContext": context,
        }));
        let result =
            result.map_err(|error| ErrorObject::new(codes::INTERNAL_ERROR, error.to_string()))?;
        self.conversation.phase.send_replace(Phase::Initializing);
        Ok(result)
    }

    // spec: APP-20
    fn set_model_context(&self, params: &RawObject) -> Result<RawObject, ErrorObject> {
        let context: ModelContext = read(params)?;
        self.conversation.state.lock().model_context = Some(context);
        Ok(RawObject::empty())
    }

    /// Starts the handler of a request on a task of its own.
    fn start(&mut self, id: RequestId, method: &str, params: RawObject) -> Result<(), ErrorObject> {
        if self.running.len() >= self.conversation.limits.running_requests {
            let message = "too many requests are running; wait for their answers";
            return Err(ErrorObject::new(codes::BAD_REQUEST, message));
        }
        let answer = match (method, self.bridge.requests.get(method)) {
            ("ui/request-display-mode", _) => {
                let set = self.bridge.set_mode.clone();
                let mode = self.choose_mode(&params)?;
                let conversation = self.conversation.clone();
                Box::pin(set_mode(conversation, set, mode))
            }
            (_, Some(handler)) => handler(params),
            (_, None) => {
                let message = format!("method not found: {}", shown(method));
                return Err(ErrorObject::new(codes::METHOD_NOT_FOUND, message));
            }
        };
        let conversation = self.conversation.clone();
        self.running.spawn(async move {
            let limit = conversation.limits.handler_timeout;
            let answer = tokio::time::timeout(limit, answer).await;
            let answer = answer.unwrap_or_else(|_| {
                Err(ErrorObject::new(
                    codes::BAD_REQUEST,
                    "the host took too long",
                ))
            });
            if let Some(text) = response(&id, &answer) {
                let _ = conversation.outbox.send(text).await;
            }
        });
        Ok(())
    }

    /// Returns the requested mode, or `None` if the host or the view does not have it.
    // spec: APP-21
    fn choose_mode(&self, params: &RawObject) -> Result<Option<DisplayMode>, ErrorObject> {
        #[derive(Deserialize)]
        struct Requested {
            mode: DisplayMode,
        }

        let Requested { mode } = read(params)?;
        let state = self.conversation.state.lock();
        let declared = &state.capabilities.available_display_modes;
        let is_declared = declared.is_empty() || declared.contains(&mode);
        Ok((is_declared && self.bridge.modes.contains(&mode)).then_some(mode))
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
    to_object(&json!({ "mode": result }))
        .map_err(|error| ErrorObject::new(codes::INTERNAL_ERROR, error.to_string()))
}

fn read<T: serde::de::DeserializeOwned>(params: &RawObject) -> Result<T, ErrorObject> {
    let read = from_params(Some(params.as_str()));
    read.map_err(|error| ErrorObject::new(codes::INVALID_PARAMS, format!("`params`: {error}")))
}

/// The start of a name that a view chose.
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
