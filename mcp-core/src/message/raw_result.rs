//! [`RawResult`]: the result of a call that is passed on without decoding its content.

use bytes::Bytes;
use mcp_types::{
    CacheHint, CallToolResult, GetPromptResult, Meta, Method, ProtocolVersion, ReadResourceResult,
};

/// The result of a call as its server has sent it: the members of the result as JSON. Gateways pass it on without
/// decoding its content, which saves the time and the memory that decoding takes.
///
/// The wire decodes it if the revision of the receiver does not have all that the result may contain.
/// [`wire::tool_result`](crate::wire::tool_result) decodes a tool's result.
#[derive(Debug, Clone)]
pub struct RawResult {
    pub(crate) method: Method,
    /// The server's revision.
    pub(crate) version: ProtocolVersion,
    /// Protocol-level metadata (`_meta`).
    pub meta: Option<Meta>,
    /// The other members, without those that the wire adds. The JSON contains no line breaks.
    pub(crate) members: Vec<(Box<str>, Bytes)>,
    /// The time for which a client may cache the result, if the server permits it.
    pub cache: Option<CacheHint>,
    /// Older revisions receive the structured content as `{"result": …}`.
    pub(crate) wraps_structure: bool,
    /// Decodes the result. A pointer from the client's wire, so that programs without clients do not
    /// contain the decoders.
    pub(crate) decode: fn(&str) -> serde_json::Result<DecodedResult>,
}

/// A raw result, decoded by its method.
pub(crate) enum DecodedResult {
    CallTool(CallToolResult),
    GetPrompt(GetPromptResult),
    ReadResource(ReadResourceResult),
}

impl RawResult {
    /// Returns the request's method.
    pub(crate) fn method(&self) -> Method {
        self.method
    }

    /// Returns true for the result of a tool that is an error.
    pub fn is_error(&self) -> bool {
        self.method == Method::CallTool && self.member("isError") == Some(b"true")
    }

    /// Returns the length of the members as JSON, in bytes.
    pub fn json_len(&self) -> usize {
        let members = self.members.iter();
        members.map(|(name, json)| name.len() + json.len()).sum()
    }

    /// Returns a member as JSON, as the server has written it.
    pub fn member(&self, name: &str) -> Option<&[u8]> {
        let mut members = self.members.iter();
        let member = members.find(|(given, _)| **given == *name);
        member.map(|(_, json)| &**json)
    }
}
