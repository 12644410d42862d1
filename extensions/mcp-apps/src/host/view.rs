//! The messages that a host sends to a view.

use std::sync::Arc;

use mcp_core::extension::from_params;
use mcp_types::{
    CallToolParams, CallToolResult, Cancelled, Implementation, JsonObject, ListToolsResult, Method,
    RawObject, RequestId, Tool,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::time::timeout;

use super::message::call;
use super::state::{CallPhase, Conversation, Phase};
use super::types::{AppCapabilities, DisplayMode, HostContext, ModelContext, ViewError};

/// A connected view. Clones are handles of the same view.
///
/// Every method first waits until the view is initialized.
///
/// # Examples
///
/// ```
/// use mcp::apps::{View, ViewError};
///
/// /// Removes the view. Its answer is worth a wait, but not an error.
/// async fn remove(view: View) {
///     match view.teardown("the conversation ended").await {
///         Ok(()) | Err(ViewError::Closed) => {}
///         Err(error) => eprintln!("removed the view at once: {error}"),
///     }
/// }
/// ```
#[derive(Debug, Clone)]
pub struct View(Arc<Conversation>);

impl View {
    pub(super) fn new(conversation: Arc<Conversation>) -> Self {
        Self(conversation)
    }

    /// Waits until the view is initialized, and returns its capabilities.
    ///
    /// # Errors
    ///
    /// Returns [`ViewError::TimedOut`] after [`ViewLimits::timeout`](crate::ViewLimits::timeout), and
    /// [`ViewError::Closed`] when the connection ends.
    // spec: APP-15
    pub async fn ready(&self) -> Result<AppCapabilities, ViewError> {
        let mut phase = self.0.phase.subscribe();
        let after = self.0.limits.timeout;
        let is_decided = |phase: &Phase| matches!(phase, Phase::Ready | Phase::Closed);
        let reached = match timeout(after, phase.wait_for(is_decided)).await {
            Ok(Ok(phase)) => *phase,
            Ok(Err(_)) => Phase::Closed,
            Err(_) => {
                let method = "ui/notifications/initialized";
                return Err(ViewError::TimedOut { method, after });
            }
        };
        match reached {
            Phase::Ready => Ok(self.0.state.lock().capabilities.clone()),
            _ => Err(ViewError::Closed),
        }
    }

    /// Returns the name and version that the view gives itself. `None` before it is initialized, and if it
    /// gives none.
    pub fn info(&self) -> Option<Implementation> {
        self.0.state.lock().info.clone()
    }

    /// Sends a part of the call's arguments while the language model writes them.
    ///
    /// # Errors
    ///
    /// Returns [`ViewError::Order`] after [`send_input`](Self::send_input).
    // spec: APP-16
    pub async fn send_partial_input(&self, arguments: &impl Serialize) -> Result<(), ViewError> {
        let method = "ui/notifications/tool-input-partial";
        let params = json!({ "arguments": to_value(method, arguments)? });
        self.notify_in_order(method, &params, |phase| match phase {
            CallPhase::Input => Ok(CallPhase::Input),
            _ => Err("the complete input was sent"),
        })
        .await
    }

    /// Sends the arguments of the tool call, once.
    ///
    /// # Errors
    ///
    /// Returns [`ViewError::Order`] the second time.
    // spec: APP-16
    pub async fn send_input(&self, arguments: &impl Serialize) -> Result<(), ViewError> {
        let method = "ui/notifications/tool-input";
        let params = json!({ "arguments": to_value(method, arguments)? });
        self.notify_in_order(method, &params, |phase| match phase {
            CallPhase::Input => Ok(CallPhase::Result),
            _ => Err("the input was sent"),
        })
        .await
    }

    /// Sends the result of the tool call.
    ///
    /// # Errors
    ///
    /// Returns [`ViewError::Order`] before [`send_input`](Self::send_input) and after the end of the
    /// call.
    // spec: APP-17
    pub async fn send_result(&self, result: &CallToolResult) -> Result<(), ViewError> {
        self.notify_in_order(
            "ui/notifications/tool-result",
            result,
            |phase| match phase {
                CallPhase::Result => Ok(CallPhase::Ended),
                CallPhase::Input => Err("send the input first"),
                CallPhase::Ended => Err("the call has ended"),
            },
        )
        .await
    }

    /// Notifies the view that the tool call was cancelled, for whatever reason.
    ///
    /// # Errors
    ///
    /// Returns [`ViewError::Order`] after the end of the call.
    // spec: APP-17
    pub async fn send_cancelled(&self, reason: &str) -> Result<(), ViewError> {
        let params = json!({ "reason": reason });
        self.notify_in_order(
            "ui/notifications/tool-cancelled",
            &params,
            |phase| match phase {
                CallPhase::Ended => Err("the call has ended"),
                _ => Ok(CallPhase::Ended),
            },
        )
        .await
    }

    /// Sends the members of the surroundings that have changed. The view keeps all others.
    ///
    /// # Errors
    ///
    /// Returns [`ViewError::Closed`] when the connection has ended.
    // spec: APP-22
    pub async fn send_context(&self, changed: &HostContext) -> Result<(), ViewError> {
        self.notify("ui/notifications/host-context-changed", changed)
            .await
    }

    /// Notifies the view that the user has changed the display mode.
    ///
    /// # Errors
    ///
    /// Returns [`ViewError::Order`] for a mode that the view does not declare.
    // spec: APP-21
    pub async fn send_display_mode(&self, mode: DisplayMode) -> Result<(), ViewError> {
        let declared = self.ready().await?.available_display_modes;
        if !declared.is_empty() && !declared.contains(&mode) {
            return Err(ViewError::Order {
                method: "ui/notifications/host-context-changed",
                reason: "the view does not declare this display mode",
            });
        }
        self.0.state.lock().mode = mode;
        self.send_context(&HostContext::new().with_value("displayMode", &mode))
            .await
    }

    /// Notifies the view that the list of the server's tools has changed. Declare it with
    /// [`HostBridge::with_list_changes`](crate::HostBridge::with_list_changes).
    ///
    /// # Errors
    ///
    /// Returns [`ViewError::Closed`] when the connection has ended.
    pub async fn send_tools_changed(&self) -> Result<(), ViewError> {
        self.notify(Method::ToolsChanged.as_str(), &json!({})).await
    }

    /// Notifies the view that the list of the server's resources has changed. Declare it with
    /// [`HostBridge::with_list_changes`](crate::HostBridge::with_list_changes).
    ///
    /// # Errors
    ///
    /// Returns [`ViewError::Closed`] when the connection has ended.
    pub async fn send_resources_changed(&self) -> Result<(), ViewError> {
        self.notify(Method::ResourcesChanged.as_str(), &json!({}))
            .await
    }

    /// Returns the view's last data for the language model, once. For the next turn, after the
    /// bridge was built with [`HostBridge::with_model_context`](crate::HostBridge::with_model_context).
    // spec: APP-23
    pub fn take_model_context(&self) -> Option<ModelContext> {
        self.0.state.lock().model_context.take()
    }

    /// Returns the display mode.
    pub fn display_mode(&self) -> DisplayMode {
        self.0.state.lock().mode
    }

    /// Lists the view's own tools.
    ///
    /// # Errors
    ///
    /// Returns [`ViewError::Order`] for a view without tools.
    pub async fn list_tools(&self) -> Result<Vec<Tool>, ViewError> {
        self.check_tools(Method::ListTools.as_str()).await?;
        let result: ListToolsResult = self.request(Method::ListTools.as_str(), &json!({})).await?;
        Ok(result.tools)
    }

    /// Calls a tool of the view itself.
    ///
    /// # Errors
    ///
    /// Returns [`ViewError::Order`] for a view without tools, and [`ViewError::Refused`] with its error.
    pub async fn call_tool(&self, params: &CallToolParams) -> Result<CallToolResult, ViewError> {
        self.check_tools(Method::CallTool.as_str()).await?;
        self.request(Method::CallTool.as_str(), params).await
    }

    /// Prepares the view for its removal, and waits for its answer.
    ///
    /// # Errors
    ///
    /// Returns [`ViewError::TimedOut`] if it does not answer. Remove it in any case.
    // spec: APP-18
    pub async fn teardown(&self, reason: &str) -> Result<(), ViewError> {
        let params = json!({ "reason": reason });
        let _: JsonObject = self.request("ui/resource-teardown", &params).await?;
        Ok(())
    }

    async fn check_tools(&self, method: &'static str) -> Result<(), ViewError> {
        match self.ready().await?.tools {
            Some(_) => Ok(()),
            None => Err(ViewError::Order {
                method,
                reason: "the view declares no tools",
            }),
        }
    }

    async fn notify(&self, method: &'static str, params: &impl Serialize) -> Result<(), ViewError> {
        self.notify_in_order(method, params, Ok).await
    }

    /// Sends a notification, if `next` allows it in the call's current phase.
    async fn notify_in_order(
        &self,
        method: &'static str,
        params: &impl Serialize,
        next: impl FnOnce(CallPhase) -> Result<CallPhase, &'static str>,
    ) -> Result<(), ViewError> {
        let text = call(None, method, params)?;
        self.ready().await?;
        let slot = self.0.outbox.reserve().await;
        let slot = slot.map_err(|_| ViewError::Closed)?;
        // The lock orders the messages of several tasks.
        let mut state = self.0.state.lock();
        state.call = next(state.call).map_err(|reason| ViewError::Order { method, reason })?;
        slot.send(text);
        Ok(())
    }

    async fn request<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: &impl Serialize,
    ) -> Result<T, ViewError> {
        self.ready().await?;
        let (id, answer) = self.0.start_request()?;
        let text = call(Some(&id), method, params)?;
        let after = self.0.limits.timeout;
        let mut cancellation = CancelOnDrop {
            conversation: &self.0,
            id: Some(id),
        };
        let exchange = async {
            let sent = self.0.outbox.send(text).await;
            sent.map_err(|_| ViewError::Closed)?;
            answer.await.map_err(|_| ViewError::Closed)
        };
        let answer = timeout(after, exchange).await;
        if answer.is_ok() {
            cancellation.id = None;
        }
        let answer: Result<RawObject, _> =
            answer.map_err(|_| ViewError::TimedOut { method, after })??;
        let result = answer.map_err(|error| ViewError::Refused { method, error })?;
        from_params(Some(result.as_str())).map_err(|error| ViewError::malformed(method, error))
    }
}

/// Cancels a request that nobody waits for any more, after a timeout or in a dropped future.
struct CancelOnDrop<'a> {
    conversation: &'a Conversation,
    id: Option<RequestId>,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else {
            return;
        };
        let mut cancelled = Cancelled::from(id);
        cancelled.reason = Some("the host does not wait any more".to_owned());
        if let Ok(text) = call(None, Method::Cancelled.as_str(), &cancelled) {
            // A view that does not read learns about it when the connection ends.
            let _ = self.conversation.outbox.try_send(text);
        }
    }
}

fn to_value(method: &'static str, value: &impl Serialize) -> Result<serde_json::Value, ViewError> {
    serde_json::to_value(value).map_err(|error| ViewError::malformed(method, error))
}
