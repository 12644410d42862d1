//! What is asked, without the wire it came over.

use mcp_types::{
    CallToolParams, CompleteParams, GetPromptParams, Method, Page, RawObject, ReadResourceParams,
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
    Complete(CompleteParams),
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

/// Everything that a modern client can ask: a call, or what the library answers by itself.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Asked {
    /// For the service.
    Call(Call),
    /// `server/discover`
    Discover,
}

impl Asked {
    /// The method, when it is one of the protocol.
    pub fn method(&self) -> Option<Method> {
        match self {
            Self::Call(call) => call.method(),
            Self::Discover => Some(Method::Discover),
        }
    }

    /// The method's name on the wire.
    pub fn method_name(&self) -> &str {
        match self {
            Self::Call(call) => call.method_name(),
            Self::Discover => Method::Discover.as_str(),
        }
    }

    /// The tool, prompt or resource that is asked for.
    pub fn item(&self) -> Option<&str> {
        match self {
            Self::Call(call) => call.item(),
            Self::Discover => None,
        }
    }
}
