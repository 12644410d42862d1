//! What is asked, without the wire it came over.

use std::sync::Arc;

use mcp_types::{
    CallToolParams, CompleteParams, GetPromptParams, InitializeParams, LoggingLevel, Method, Page,
    RawObject, ReadResourceParams, SubscribeParams, SubscriptionFilter,
};

/// A call that reaches a service: the eight methods that all revisions share, and everything that
/// no revision knows (an extension's methods).
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
    /// A method that the protocol itself does not have.
    Other {
        /// Its name.
        method: Box<str>,
        /// Its parameters without `_meta`.
        params: Option<RawObject>,
    },
}

impl Call {
    /// The method, when it is one of the protocol.
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
            Self::Other { .. } => return None,
        })
    }

    /// The method's name on the wire.
    pub fn method_name(&self) -> &str {
        match self {
            Self::Other { method, .. } => method,
            // Every other variant has a method.
            _ => self.method().map_or("", Method::as_str),
        }
    }

    /// The tool, prompt or resource that is asked for; modern HTTP clients mirror it in a header.
    // spec: HTTP-SM-07
    pub fn item(&self) -> Option<&str> {
        match self {
            Self::CallTool(params) => Some(&params.name),
            Self::ReadResource(params) => Some(&params.uri),
            Self::GetPrompt(params) => Some(&params.name),
            _ => None,
        }
    }
}

/// Everything that a client can ask: a call, or what the library answers by itself.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ClientRequest {
    /// For the service.
    Call(Call),
    /// `server/discover` (modern era alone).
    Discover,
    /// `subscriptions/listen` (modern era alone).
    Listen(Arc<SubscriptionFilter>),
    /// What opens and tends a session (legacy era alone).
    Session(SessionRequest),
}

/// What opens and tends a session.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SessionRequest {
    /// `initialize`
    Initialize(Arc<InitializeParams>),
    /// `ping`, which the server asks, too.
    Ping,
    /// `logging/setLevel`
    SetLevel(LoggingLevel),
    /// `resources/subscribe`
    Subscribe(SubscribeParams),
    /// `resources/unsubscribe`
    Unsubscribe(SubscribeParams),
}

impl SessionRequest {
    /// The method.
    pub fn method(&self) -> Method {
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
    /// The method, when it is one of the protocol.
    pub fn method(&self) -> Option<Method> {
        match self {
            Self::Call(call) => call.method(),
            Self::Discover => Some(Method::Discover),
            Self::Listen(_) => Some(Method::Listen),
            Self::Session(call) => Some(call.method()),
        }
    }

    /// The method's name on the wire.
    pub fn method_name(&self) -> &str {
        match self {
            Self::Call(call) => call.method_name(),
            // Every other variant has a method.
            _ => self.method().map_or("", Method::as_str),
        }
    }

    /// The tool, prompt or resource that is asked for.
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
