//! What is answered, without the wire it goes over.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use mcp_types::{
    CacheHint, CallToolResult, CompleteResult, DiscoverResult, GetPromptResult, InitializeResult,
    InputRequired, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, ListenResult, ProtocolVersion, RawObject, ReadResourceResult,
};

use crate::Fault;

/// The answer to a call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Reply {
    /// The result.
    Complete {
        /// The result itself.
        body: ResultBody,
        /// How long it stays fresh; private and stale at once when `None`.
        cache: Option<CacheHint>,
    },
    /// Input is needed first.
    InputRequired(InputRequired),
    /// A result of a kind that an extension adds.
    Extended {
        /// The kind.
        result_type: Box<str>,
        /// The members of the result, without `resultType`.
        body: RawObject,
    },
    /// No result.
    Fault(Fault),
}

/// A result, by method.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ResultBody {
    /// Of `server/discover`.
    Discover(Arc<DiscoverResult>),
    /// Of `tools/list`.
    ListTools(Arc<Listing<ListToolsResult>>),
    /// Of `tools/call`.
    CallTool(CallToolResult),
    /// Of `resources/list`.
    ListResources(Arc<Listing<ListResourcesResult>>),
    /// Of `resources/templates/list`.
    ListResourceTemplates(Arc<Listing<ListResourceTemplatesResult>>),
    /// Of `resources/read`.
    ReadResource(ReadResourceResult),
    /// Of `prompts/list`.
    ListPrompts(Arc<Listing<ListPromptsResult>>),
    /// Of `prompts/get`.
    GetPrompt(GetPromptResult),
    /// Of `completion/complete`.
    Complete(CompleteResult),
    /// Of `subscriptions/listen`: the subscription has ended in good order.
    Listen(ListenResult),
    /// Of `initialize`.
    Initialize(Arc<InitializeResult>),
    /// Of the other methods that tend a session: there is nothing to say.
    Empty,
    /// Of a method that the protocol itself does not have.
    Other(RawObject),
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

/// A page of a list together with its text, which is written once per revision and then shared by
/// all answers. Keep the `Arc` as long as the list does not change.
#[derive(Debug)]
pub struct Listing<T> {
    page: T,
    texts: [OnceLock<Bytes>; ProtocolVersion::ALL.len()],
}

impl<T> Listing<T> {
    /// A page whose text is not written yet.
    pub fn new(page: T) -> Self {
        Self {
            page,
            texts: Default::default(),
        }
    }

    /// The page itself.
    pub fn into_page(self) -> T {
        self.page
    }

    /// The text for a revision, written by `encode` the first time.
    pub(crate) fn text(&self, version: ProtocolVersion, encode: impl FnOnce(&T) -> Bytes) -> Bytes {
        match self.texts.get(version as usize) {
            Some(slot) => slot.get_or_init(|| encode(&self.page)).clone(),
            None => encode(&self.page),
        }
    }
}

impl<T> Deref for Listing<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.page
    }
}
