//! [`HostBridge`]: a host's settings and handlers for one view.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryFutureExt as _;
use mcp_core::BoxFuture;
use mcp_core::extension::from_params;
use mcp_types::{
    CallToolParams, CreateMessageParams, CreateMessageResult, ErrorObject, Implementation,
    JsonObject, ListResourceTemplatesResult, ListResourcesResult, LogMessage, Method, RawObject,
    ReadResourceParams,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use super::message::{read_params, write_result};
use super::server::{AppServer, call_tool, list_tools};
use super::types::{DisplayMode, Download, HostContext, Refusal, ViewMessage, ViewSize};
use crate::document::AppDocument;

/// A handler of view requests.
pub(super) type RequestHandler =
    Arc<dyn Fn(RawObject) -> BoxFuture<'static, Result<RawObject, ErrorObject>> + Send + Sync>;
/// A handler of view notifications.
pub(super) type NotificationHandler = Arc<dyn Fn(RawObject) + Send + Sync>;
/// A function that changes the display mode.
pub(super) type ModeHandler =
    Arc<dyn Fn(DisplayMode) -> BoxFuture<'static, DisplayMode> + Send + Sync>;

/// The limits of one view.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ViewLimits {
    /// Maximum size of a message from the view, in bytes. A larger one ends the connection. Default: 4 MiB.
    pub message_bytes: usize,
    /// Maximum number of requests from the view that run at the same time. Further ones are refused.
    /// Default: 16.
    pub running_requests: usize,
    /// Maximum number of requests to the view that wait for an answer. Further ones fail with
    /// [`ViewError::TooManyPending`](crate::ViewError::TooManyPending). Default: 16.
    pub pending_requests: usize,
    /// Maximum number of notifications from the view that wait for their handler. Further ones are dropped.
    /// Default: 64.
    pub queued_notifications: usize,
    /// Number of invalid messages that the connection tolerates, including answers without a request. The
    /// next one ends it. Default: 100.
    pub invalid_messages: usize,
    /// Time that the view has to initialize, and to answer each request. Default: 30 seconds.
    pub timeout: Duration,
    /// Time limit of each request handler. Default: 5 minutes, because handlers may ask the user.
    pub handler_timeout: Duration,
}

impl Default for ViewLimits {
    fn default() -> Self {
        Self {
            message_bytes: 4 << 20,
            running_requests: 16,
            pending_requests: 16,
            queued_notifications: 64,
            invalid_messages: 100,
            timeout: Duration::from_secs(30),
            handler_timeout: Duration::from_secs(300),
        }
    }
}

/// The host's half of the conversation with a view.
///
/// Setting a handler also declares the capability that it serves; without handlers a view can do nothing. A
/// view is untrusted: a handler with an effect outside the view asks the user first. Handlers run on
/// separate tasks, so the bridge needs a tokio runtime.
///
/// # Examples
///
/// ```
/// use mcp::apps::{HostBridge, HostContext, Refusal, Theme};
///
/// # async fn example(
/// #     client: mcp::Client,
/// #     frame: (futures_util::stream::Empty<String>, futures_util::sink::Drain<String>),
/// # ) -> Result<(), mcp::apps::ViewError> {
/// let bridge = HostBridge::new("my-host", "1.0.0")
///     .context(HostContext::new().theme(Theme::Dark))
///     .serve(client)
///     .on_open_link(async |url| match url.host_str() {
///         Some("example.com") => Ok(()), // open the browser
///         _ => Err(Refusal::new("the user said no")),
///     });
///
/// // `frame` carries the messages of the sandboxed frame, for example over a WebSocket.
/// let (incoming, outgoing) = frame;
/// let (view, connection) = bridge.connect(incoming, outgoing);
/// tokio::spawn(connection);
/// view.send_input(&serde_json::json!({"city": "Rome"})).await?;
/// view.send_result(&mcp::CallToolResult::from_text("sunny")).await?;
/// # Ok(())
/// # }
/// ```
pub struct HostBridge {
    pub(super) info: Implementation,
    pub(super) context: HostContext,
    pub(super) capabilities: JsonObject,
    pub(super) requests: HashMap<&'static str, RequestHandler>,
    pub(super) notifications: HashMap<&'static str, NotificationHandler>,
    pub(super) modes: Vec<DisplayMode>,
    pub(super) set_mode: Option<ModeHandler>,
    pub(super) keeps_model_context: bool,
    announces_lists: bool,
    /// The document for a sandbox proxy.
    pub(super) document: Option<AppDocument>,
    pub(super) limits: ViewLimits,
}

impl HostBridge {
    /// Creates a host without handlers: its view only receives inputs and results.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            info: Implementation::new(name, version),
            context: HostContext::new(),
            capabilities: JsonObject::new(),
            requests: HashMap::new(),
            notifications: HashMap::new(),
            modes: vec![DisplayMode::Inline],
            set_mode: None,
            keeps_model_context: false,
            announces_lists: false,
            document: None,
            limits: ViewLimits::default(),
        }
    }

    /// Sets the context that the view receives when it initializes, such as the theme. Default: empty.
    #[must_use]
    pub fn context(mut self, context: HostContext) -> Self {
        self.context = context;
        self
    }

    /// Changes the limits.
    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut ViewLimits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Sets the view's document, and tells the view which domains and permissions the host grants.
    ///
    /// A web host shows the document in a frame inside another frame, the sandbox proxy, which has an origin of
    /// its own. Connect the bridge to the sandbox proxy: when it reports
    /// `ui/notifications/sandbox-proxy-ready`, the bridge sends it the document, its policy and its
    /// permissions. The proxy then forwards the view's messages.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::apps::{AppDocument, HostBridge, Permissions};
    ///
    /// fn bridge(document: AppDocument) -> HostBridge {
    ///     // Grants the location only, if the document asks for it.
    ///     let document = document.grant(&Permissions::new().geolocation());
    ///     HostBridge::new("my-host", "1.0.0").document(document)
    /// }
    /// ```
    // spec: APP-14
    #[must_use]
    pub fn document(mut self, document: AppDocument) -> Self {
        let granted = json!({
            "csp": document.ui().csp.clone().unwrap_or_default(),
            "permissions": document.ui().permissions.clone().unwrap_or_default(),
        });
        self.document = Some(document);
        self.declare_with("sandbox", granted)
    }

    /// Declares an experimental capability of the host.
    // spec: APP-14
    #[must_use]
    pub fn experimental(mut self, name: &str, settings: JsonObject) -> Self {
        let all = self.capabilities.entry("experimental").or_insert(json!({}));
        if let Some(all) = all.as_object_mut() {
            all.insert(name.to_owned(), Value::Object(settings));
        }
        self
    }

    /// Declares that the host notifies the view when its server's lists change:
    /// [`View::send_tools_changed`](crate::View::send_tools_changed) and
    /// [`View::send_resources_changed`](crate::View::send_resources_changed).
    // spec: APP-14
    #[must_use]
    pub fn with_list_changes(mut self) -> Self {
        self.announces_lists = true;
        self
    }

    /// Lets the view call its server's tools and read its resources. A tool must be visible to views; see
    /// [`ToolAccess`](crate::ToolAccess).
    // spec: APP-19
    #[must_use]
    pub fn serve(mut self, server: impl AppServer) -> Self {
        let server: Arc<dyn AppServer> = Arc::new(server);
        let tools = server.clone();
        self.request(Method::ListTools.as_str(), move |_: RawObject| {
            list_tools(tools.clone())
        });
        let tools = server.clone();
        self.request(Method::CallTool.as_str(), move |params: CallToolParams| {
            call_tool(tools.clone(), params)
        });
        let resources = server.clone();
        self.request(Method::ListResources.as_str(), move |_: RawObject| {
            let listed = resources.list_resources();
            listed.map_ok(ListResourcesResult::from)
        });
        let templates = server.clone();
        self.request(
            Method::ListResourceTemplates.as_str(),
            move |_: RawObject| {
                let listed = templates.list_templates();
                listed.map_ok(ListResourceTemplatesResult::from)
            },
        );
        self.request(
            Method::ReadResource.as_str(),
            move |params: ReadResourceParams| server.read_resource(params.uri),
        );
        self.declare("serverTools").declare("serverResources")
    }

    /// Opens links. Only `https:`, `http:` and `mailto:` URLs reach the handler. Ask the user first, and do not
    /// pass the URL to a shell.
    // spec: APP-23
    #[must_use]
    pub fn on_open_link<F, Fut>(mut self, open: F) -> Self
    where
        F: Fn(Url) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), Refusal>> + Send + 'static,
    {
        #[derive(Deserialize)]
        struct Link {
            url: String,
        }

        self.request("ui/open-link", move |Link { url }: Link| {
            let opened = check_link(&url).map(&open);
            async move { opened?.await.map(|()| json!({})) }
        });
        self.declare("openLinks")
    }

    /// Accepts messages that the view adds to the conversation in the user's name. Show that the view wrote
    /// them.
    // spec: APP-20, APP-23
    #[must_use]
    pub fn on_message<F, Fut>(mut self, send: F) -> Self
    where
        F: Fn(ViewMessage) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), Refusal>> + Send + 'static,
    {
        self.request("ui/message", move |message: ViewMessage| {
            let is_from_user = message.role == mcp_types::Role::User;
            let sent = is_from_user.then(|| send(message));
            async move {
                let refusal = || Refusal::new("`role` must be `user`");
                sent.ok_or_else(refusal)?.await.map(|()| json!({}))
            }
        });
        self.declare_with(
            "message",
            json!({"text": {}, "image": {}, "audio": {}, "resource": {}, "resourceLink": {}}),
        )
    }

    /// Keeps the latest data that the view provides for the language model; see
    /// [`View::take_model_context`](crate::View::take_model_context).
    // spec: APP-20, APP-23
    #[must_use]
    pub fn with_model_context(mut self) -> Self {
        self.keeps_model_context = true;
        self.declare_with(
            "updateModelContext",
            json!({"text": {}, "image": {}, "audio": {}, "resource": {}, "resourceLink": {}, "structuredContent": {}}),
        )
    }

    /// Offers display modes in addition to `inline`. The handler changes the mode, and returns the mode that is
    /// then in effect. It is not called for modes that the view does not support.
    #[must_use]
    pub fn on_display_mode<F, Fut>(mut self, modes: &[DisplayMode], set: F) -> Self
    where
        F: Fn(DisplayMode) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = DisplayMode> + Send + 'static,
    {
        for mode in modes {
            if !self.modes.contains(mode) {
                self.modes.push(*mode);
            }
        }
        self.set_mode = Some(Arc::new(move |mode| Box::pin(set(mode))));
        self
    }

    /// Offers the view's files to the user as downloads. A file is a resource or a link to one; other content is
    /// refused.
    #[must_use]
    pub fn on_download<F, Fut>(mut self, save: F) -> Self
    where
        F: Fn(Download) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), Refusal>> + Send + 'static,
    {
        self.request("ui/download-file", move |files: Download| {
            let saved = files.check().map(|()| save(files));
            async move { saved?.await.map(|()| json!({})) }
        });
        self.declare("downloadFile")
    }

    /// Answers the view's sampling requests with the language model. If `tools` is false, requests with tools
    /// are refused.
    // spec: APP-19
    #[must_use]
    pub fn on_sample<F, Fut>(mut self, tools: bool, sample: F) -> Self
    where
        F: Fn(CreateMessageParams) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<CreateMessageResult, Refusal>> + Send + 'static,
    {
        self.request(
            Method::CreateMessage.as_str(),
            move |params: CreateMessageParams| {
                let has_tools = !params.tools.is_empty() || params.tool_choice.is_some();
                let sampled = (tools || !has_tools).then(|| sample(params));
                async move {
                    let refusal = || Refusal::new("the host does not offer sampling with tools");
                    sampled.ok_or_else(refusal)?.await
                }
            },
        );
        let tools = if tools {
            json!({"tools": {}})
        } else {
            json!({})
        };
        self.declare_with("sampling", tools)
    }

    /// Receives the size that the view requests. Keep it within your own limits.
    // spec: APP-22
    #[must_use]
    pub fn on_size(mut self, resize: impl Fn(ViewSize) + Send + Sync + 'static) -> Self {
        self.notification("ui/notifications/size-changed", resize);
        self
    }

    /// Receives the view's log messages.
    #[must_use]
    pub fn on_log(mut self, log: impl Fn(LogMessage) + Send + Sync + 'static) -> Self {
        self.notification(Method::LogMessage.as_str(), log);
        self.declare("logging")
    }

    /// Is called when the view asks to be removed. Call [`View::teardown`](crate::View::teardown) to do so.
    #[must_use]
    pub fn on_teardown_request(mut self, requested: impl Fn() + Send + Sync + 'static) -> Self {
        self.notification("ui/notifications/request-teardown", move |_: RawObject| {
            requested()
        });
        self
    }

    /// Is called when the view's own tools change.
    #[must_use]
    pub fn on_tools_changed(mut self, changed: impl Fn() + Send + Sync + 'static) -> Self {
        self.notification(Method::ToolsChanged.as_str(), move |_: RawObject| changed());
        self
    }

    /// Returns the host's capabilities as the view receives them.
    pub(super) fn published_capabilities(&self) -> JsonObject {
        let mut capabilities = self.capabilities.clone();
        for name in ["serverTools", "serverResources"] {
            let settings = capabilities.get_mut(name).and_then(Value::as_object_mut);
            if let Some(settings) = settings.filter(|_| self.announces_lists) {
                settings.insert("listChanged".to_owned(), Value::Bool(true));
            }
        }
        capabilities
    }

    fn declare(self, capability: &str) -> Self {
        self.declare_with(capability, json!({}))
    }

    fn declare_with(mut self, capability: &str, settings: Value) -> Self {
        self.capabilities.insert(capability.to_owned(), settings);
        self
    }

    fn request<P, R, F, Fut>(&mut self, method: &'static str, handler: F)
    where
        P: DeserializeOwned,
        R: Serialize,
        F: Fn(P) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, Refusal>> + Send + 'static,
    {
        let handler: RequestHandler = Arc::new(move |params| {
            let running = read_params(&params).map(&handler);
            Box::pin(async move { write_result(&running?.await.map_err(Refusal::into_error)?) })
        });
        self.requests.insert(method, handler);
    }

    fn notification<P: DeserializeOwned>(
        &mut self,
        method: &'static str,
        handler: impl Fn(P) + Send + Sync + 'static,
    ) {
        let handler: NotificationHandler = Arc::new(move |params| {
            match from_params(Some(params.as_str())) {
                Ok(params) => handler(params),
                Err(error) => {
                    tracing::warn!(method, error = %mcp_types::escaped(&error), "malformed notification from a view")
                }
            }
        });
        self.notifications.insert(method, handler);
    }
}

/// Parses a link, and refuses schemes that a host must not open.
// spec: APP-23
fn check_link(url: &str) -> Result<Url, Refusal> {
    let url = Url::parse(url).map_err(|error| Refusal::new(format!("`url`: {error}")))?;
    match url.scheme() {
        "https" | "http" | "mailto" => Ok(url),
        _ => Err(Refusal::new(
            "`url`: only https, http and mailto links are opened",
        )),
    }
}

impl fmt::Debug for HostBridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostBridge")
            .field("info", &self.info)
            .field("capabilities", &self.capabilities)
            .finish_non_exhaustive()
    }
}
