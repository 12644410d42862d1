//! Client requests, independent of the wire.

use std::sync::Arc;

use mcp_types::ext::tasks::{CANCEL, GET, UPDATE};
use mcp_types::{
    CallToolParams, CompleteParams, GetPromptParams, InitializeParams, LoggingLevel, Method, Page,
    RawObject, ReadResourceParams, SubscribeParams, SubscriptionFilter,
};
use serde::Deserialize;

/// A call that a service answers: one of the eight methods that all revisions share, or an extension
/// message.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Call {
    /// `tools/list`
    ListTools(Page),
    /// `tools/call`
    CallTool(CallToolParams),
    /// `resources/list`
    ListResources(Page),
    /// `resources/templates/list`
    ListResourceTemplates(Page),
    /// `resources/read`
    ReadResource(ReadResourceParams),
    /// `prompts/list`
    ListPrompts(Page),
    /// `prompts/get`
    GetPrompt(GetPromptParams),
    /// `completion/complete`
    Complete(Arc<CompleteParams>),
    /// An extension method.
    Other {
        /// The method name.
        method: Box<str>,
        /// The parameters without `_meta`.
        params: Option<RawObject>,
    },
    /// An extension notification. Its reply is not sent.
    Notification {
        /// The method name.
        method: Box<str>,
        /// The parameters without `_meta`.
        params: Option<RawObject>,
    },
}

impl Call {
    /// Returns the method. `None` for an extension method.
    pub fn method(&self) -> Option<Method> {
        Some(match self {
            Self::ListTools(_) => Method::ListTools,
            Self::CallTool(_) => Method::CallTool,
            Self::ListResources(_) => Method::ListResources,
            Self::ListResourceTemplates(_) => Method::ListResourceTemplates,
            Self::ReadResource(_) => Method::ReadResource,
            Self::ListPrompts(_) => Method::ListPrompts,
            Self::GetPrompt(_) => Method::GetPrompt,
            Self::Complete(_) => Method::Complete,
            Self::Other { .. } | Self::Notification { .. } => return None,
        })
    }

    /// Returns true if the reply may ask the client for input: the protocol allows it for some of its
    /// methods, and an extension decides for its own ones.
    // spec: MRTR-02
    pub fn may_require_input(&self) -> bool {
        match self {
            Self::Other { method, .. } => Method::from_name(method).is_none(),
            call => call
                .method()
                .is_some_and(|method| method.spec().may_require_input),
        }
    }

    /// Returns the method name.
    pub fn method_name(&self) -> &str {
        match self {
            Self::Other { method, .. } | Self::Notification { method, .. } => method,
            // Every other variant has a method.
            _ => self.method().map_or("", Method::as_str),
        }
    }

    /// Returns the tool or prompt name, resource URI or task id that the call names. Modern HTTP
    /// clients mirror it in a header.
    pub fn item(&self) -> Option<&str> {
        match self {
            Self::CallTool(params) => Some(&params.name),
            Self::ReadResource(params) => Some(&params.uri),
            Self::GetPrompt(params) => Some(&params.name),
            // spec: TASK-21
            Self::Other {
                method,
                params: Some(params),
            } if matches!(&**method, GET | UPDATE | CANCEL) => task_id(params),
            _ => None,
        }
    }
}

/// Returns the id in the parameters of a task method. An id with escapes is not borrowed, and no
/// server of this library creates one.
fn task_id(params: &RawObject) -> Option<&str> {
    #[derive(Deserialize)]
    struct Id<'a> {
        #[serde(rename = "taskId", borrow)]
        id: &'a str,
    }

    let Id { id } = serde_json::from_str(params.as_str()).ok()?;
    Some(id)
}

/// A client request: a call for a service, or a request that this library answers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ClientRequest {
    /// A call for the service.
    Call(Call),
    /// `server/discover` (modern era only).
    Discover,
    /// `subscriptions/listen` (modern era only).
    Listen(Arc<SubscriptionFilter>),
    /// A request that opens or maintains a session (legacy era only).
    Session(SessionRequest),
}

/// A request that opens or maintains a session.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SessionRequest {
    /// `initialize`
    Initialize(Arc<InitializeParams>),
    /// `ping`. Servers send it as well.
    Ping,
    /// `logging/setLevel`
    SetLevel(LoggingLevel),
    /// `resources/subscribe`
    Subscribe(SubscribeParams),
    /// `resources/unsubscribe`
    Unsubscribe(SubscribeParams),
}

impl SessionRequest {
    /// Returns the method.
    pub(crate) fn method(&self) -> Method {
        match self {
            Self::Initialize(_) => Method::Initialize,
            Self::Ping => Method::Ping,
            Self::SetLevel(_) => Method::SetLevel,
            Self::Subscribe(_) => Method::Subscribe,
            Self::Unsubscribe(_) => Method::Unsubscribe,
        }
    }
}

impl ClientRequest {
    /// Returns the method. `None` for an extension method.
    pub fn method(&self) -> Option<Method> {
        match self {
            Self::Call(call) => call.method(),
            Self::Discover => Some(Method::Discover),
            Self::Listen(_) => Some(Method::Listen),
            Self::Session(call) => Some(call.method()),
        }
    }

    /// Returns the method name.
    pub fn method_name(&self) -> &str {
        match self {
            Self::Call(call) => call.method_name(),
            // Every other variant has a method.
            _ => self.method().map_or("", Method::as_str),
        }
    }

    /// Returns the name of the tool or prompt, or the resource's URI.
    pub fn item(&self) -> Option<&str> {
        match self {
            Self::Call(call) => call.item(),
            _ => None,
        }
    }
}

impl From<Call> for ClientRequest {
    fn from(call: Call) -> Self {
        Self::Call(call)
    }
}

impl From<SessionRequest> for ClientRequest {
    fn from(call: SessionRequest) -> Self {
        Self::Session(call)
    }
}
