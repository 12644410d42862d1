//! Replies to calls, independent of the wire.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use mcp_types::{
    CacheHint, CallToolResult, CompleteResult, DiscoverResult, GetPromptResult, InitializeResult,
    InputRequired, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, ListenResult, Method, ProtocolVersion, RawObject, ReadResourceResult,
};

use super::fault::Fault;
use super::raw_result::RawResult;

/// The reply to a call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Reply {
    /// A result.
    Complete {
        /// The result.
        body: ResultBody,
        /// The time for which the client may cache the result. `None`: private, not cacheable.
        cache: Option<CacheHint>,
    },
    /// A request for input. The client repeats the call with it.
    InputRequired(InputRequired),
    /// A result of a kind that an extension defines.
    Extended {
        /// The kind (`resultType`).
        result_type: Box<str>,
        /// The result without `resultType`.
        body: RawObject,
    },
    /// An error.
    Fault(Fault),
}

/// The result of a method.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ResultBody {
    /// The result of `server/discover`.
    Discover(Arc<DiscoverResult>),
    /// The result of `tools/list`.
    ListTools(Arc<Listing<ListToolsResult>>),
    /// The result of `tools/call`.
    CallTool(CallToolResult),
    /// The result of `resources/list`.
    ListResources(Arc<Listing<ListResourcesResult>>),
    /// The result of `resources/templates/list`.
    ListResourceTemplates(Arc<Listing<ListResourceTemplatesResult>>),
    /// The result of `resources/read`.
    ReadResource(ReadResourceResult),
    /// The result of `prompts/list`.
    ListPrompts(Arc<Listing<ListPromptsResult>>),
    /// The result of `prompts/get`.
    GetPrompt(GetPromptResult),
    /// The result of `completion/complete`.
    Complete(CompleteResult),
    /// The result of `subscriptions/listen`, which ends the subscription.
    Listen(ListenResult),
    /// The result of `initialize`.
    Initialize(Arc<InitializeResult>),
    /// The empty result of the other session requests.
    Empty,
    /// The result of an extension's method.
    Other(RawObject),
    /// The result of `tools/call`, `resources/read` or `prompts/get` that is passed on without decoding its content.
    Raw(Box<RawResult>),
}

impl ResultBody {
    /// Returns the method of a result that a handler may pass on: `tools/call`, `resources/read` or `prompts/get`.
    pub fn forwarded_method(&self) -> Option<Method> {
        match self {
            Self::CallTool(_) => Some(Method::CallTool),
            Self::ReadResource(_) => Some(Method::ReadResource),
            Self::GetPrompt(_) => Some(Method::GetPrompt),
            Self::Raw(result) => Some(result.method()),
            _ => None,
        }
    }

    /// Marks the result of a tool whose output schema accepts other values than objects: revisions with
    /// objects only receive its structured content as `{"result": …}`.
    // spec: TOOL-18
    #[doc(hidden)]
    pub fn wrap_structure(&mut self) {
        match self {
            Self::CallTool(result) => result.wraps_structure = true,
            Self::Raw(result) => result.wraps_structure = true,
            _ => {}
        }
    }

    /// Returns true for the result of a tool that is an error.
    pub fn is_tool_error(&self) -> bool {
        match self {
            Self::CallTool(result) => result.is_error(),
            Self::Raw(result) => result.is_error(),
            _ => false,
        }
    }
}

impl From<CallToolResult> for ResultBody {
    fn from(result: CallToolResult) -> Self {
        Self::CallTool(result)
    }
}

impl From<ReadResourceResult> for ResultBody {
    fn from(result: ReadResourceResult) -> Self {
        Self::ReadResource(result)
    }
}

impl From<GetPromptResult> for ResultBody {
    fn from(result: GetPromptResult) -> Self {
        Self::GetPrompt(result)
    }
}

impl From<ResultBody> for Reply {
    fn from(body: ResultBody) -> Self {
        Self::Complete { body, cache: None }
    }
}

impl From<CallToolResult> for Reply {
    fn from(result: CallToolResult) -> Self {
        ResultBody::CallTool(result).into()
    }
}

impl From<Fault> for Reply {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Result<Self, Fault>> for Reply {
    fn from(result: Result<Self, Fault>) -> Self {
        result.unwrap_or_else(Self::Fault)
    }
}

/// A part of a server's list that a client leaves out, so that the other parts can be used.
///
/// It is reported once: as an event of `Client::omission_events`, and as a warning in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Omission {
    /// The list's method, such as `tools/list`.
    pub list: String,
    /// The place in the list's page, such as `tools[3]`.
    pub place: String,
    /// The name or URI of an item, if it has a readable one. Of a name above 64 characters, a client reports only the
    /// start.
    pub name: Option<String>,
    /// The reason.
    pub reason: String,
}

impl Omission {
    /// A part at a place in the list with the method `list`.
    pub fn new(list: &str, place: String, name: Option<String>, reason: String) -> Self {
        Self {
            list: list.to_owned(),
            place,
            name,
            reason,
        }
    }
}

impl fmt::Display for Omission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { list, place, .. } = self;
        match &self.name {
            Some(name) => write!(f, "{list}: `{name}` ({place}) is left out: {}", self.reason),
            None => write!(f, "{list}: {place} is left out: {}", self.reason),
        }
    }
}

/// A page of a list with its JSON, which is encoded once per revision and then shared by all replies.
/// Keep the `Arc` as long as the list does not change.
#[derive(Debug)]
pub struct Listing<T> {
    page: T,
    /// The parts of a received page that cannot be read and are not in the page.
    pub omissions: Vec<Omission>,
    encoded: [OnceLock<Bytes>; ProtocolVersion::ALL.len()],
}

impl<T> Listing<T> {
    /// A page that is not encoded yet.
    pub fn new(page: T) -> Self {
        Self {
            page,
            omissions: Vec::new(),
            encoded: Default::default(),
        }
    }

    pub(crate) fn with_omissions(self, omissions: Vec<Omission>) -> Self {
        Self { omissions, ..self }
    }

    /// Returns the page.
    pub fn into_page(self) -> T {
        self.page
    }

    /// Returns the JSON for a revision, with the brace that closes the message: one byte behind a long
    /// list would be another write to the socket. Calls `encode` the first time.
    pub(crate) fn encoded(
        &self,
        version: ProtocolVersion,
        encode: impl FnOnce(&T) -> Vec<u8>,
    ) -> Bytes {
        let encode = || {
            let mut json = encode(&self.page);
            json.push(b'}');
            Bytes::from(json)
        };
        match self.encoded.get(version as usize) {
            Some(slot) => slot.get_or_init(encode).clone(),
            None => encode(),
        }
    }
}

impl<T> Deref for Listing<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.page
    }
}
