//! The text of messages, per era.
//!
//! A revision is a value: [`MODERN`], and one wire for each revision with sessions; [`for_version`] finds it.

mod asks;
mod calls;
mod client;
mod legacy;
mod modern;
mod narrow;
mod notes;
mod results;
mod sessions;
mod text;

use std::fmt::Debug;

use bytes::Bytes;
use mcp_types::json::{self, Write};
use mcp_types::meta::keys;
use mcp_types::{
    CallToolResult, ContentBlock, ErrorObject, LoggingLevel, Meta, Method, Notification,
    ProgressToken, ProtocolVersion, RawObject, Request, RequestId, Response,
};

use crate::{
    ClientNotification, ClientProfile, ClientRequest, ClientResponse, Fault, InputState, Reply,
    ServerNotification, ServerProfile, ServerRequest,
};

use text::write_text;

pub use legacy::batch;
pub use modern::Envelope;

/// The wire of 2026-07-28.
pub static MODERN: &dyn Wire = &modern::Modern;

/// The wire of a revision.
pub fn for_version(version: ProtocolVersion) -> &'static dyn Wire {
    legacy::of(version).unwrap_or(MODERN)
}

/// Translates between the neutral model and the text of one revision, in both directions. Nothing
/// is written that the revision does not have: values lose what an older peer may not see, messages
/// that do not exist are refused.
pub trait Wire: sealed::Sealed + Debug + Send + Sync {
    /// The revision.
    fn version(&self) -> ProtocolVersion;

    /// Server: reads what a request asks.
    ///
    /// # Errors
    ///
    /// [`Fault::NoSuchMethod`] or [`Fault::BadParams`].
    fn decode_request(&self, request: &Request<'_>) -> Result<DecodedRequest, Fault>;

    /// Server: writes the answer behind what `head` holds already.
    fn encode_reply(&self, reply: Reply, to: &ReplyContext<'_>, head: Vec<u8>) -> EncodedReply;

    /// The error that a fault becomes.
    fn error(&self, fault: &Fault) -> ErrorObject;

    /// Writes the answer to a message that nobody saw; without an id where that could not be read.
    fn encode_error(&self, fault: &Fault, id: Option<&RequestId>, out: &mut Vec<u8>);

    /// Server: writes a notification, stamped with the `subscriptions/listen` request that it
    /// belongs to. Sessions have no such requests and leave the stamp out.
    ///
    /// Tells whether it was written: not when the revision does not have it, or not there.
    // spec: META-13
    #[must_use = "what does not exist is not written"]
    fn encode_server_notification(
        &self,
        note: &ServerNotification,
        subscription: Option<&RequestId>,
        out: &mut Vec<u8>,
    ) -> bool;

    /// Server: reads a notification; `None` when no client may say that in this revision.
    fn decode_client_notification(&self, note: &Notification<'_>) -> Option<ClientNotification>;

    /// Server: writes a request to the client of a session.
    ///
    /// # Errors
    ///
    /// [`Fault::NoSuchMethod`] when the revision does not have it, as the modern one has none;
    /// [`Fault::MissingCapability`] when its clients cannot have what it needs.
    // spec: BASE-17, BASE-18
    fn encode_server_request(
        &self,
        ask: &ServerRequest,
        from: &ServerRequestContext<'_>,
    ) -> Result<Vec<u8>, Fault>;

    /// Server: reads the client's answer to `asked`.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] when the answer is none that the method can have.
    fn decode_client_response(
        &self,
        asked: &ServerRequest,
        response: &Response<'_>,
    ) -> Result<ClientResponse, DecodeError>;
}

mod sealed {
    #[expect(unnameable_types, reason = "seals the trait")]
    pub trait Sealed {}
    impl Sealed for super::legacy::Legacy {}
    impl Sealed for super::modern::Modern {}
}

/// What a request asks, and what it brings along.
#[derive(Debug)]
#[non_exhaustive]
pub struct DecodedRequest {
    /// What is asked.
    pub request: ClientRequest,
    /// What the client sends along when it asks again.
    pub input: InputState,
    /// The token under which the client wants progress. A modern request has it in its
    /// [`Envelope`].
    pub progress_token: Option<ProgressToken>,
    /// The request's `_meta`. A modern request has it in its [`Envelope`].
    pub meta: Option<RawObject>,
}

impl DecodedRequest {
    /// What is asked, with nothing beside.
    pub(crate) fn new(request: ClientRequest) -> Self {
        Self {
            request,
            input: InputState::default(),
            progress_token: None,
            meta: None,
        }
    }
}

/// What a server asks its client, and what it brings along.
#[derive(Debug)]
#[non_exhaustive]
pub struct DecodedServerRequest {
    /// What is asked.
    pub request: ServerRequest,
    /// The token under which the server wants progress.
    pub progress_token: Option<ProgressToken>,
    /// The request's `_meta`.
    pub meta: Option<RawObject>,
}

/// What a request of a server brings along.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ServerRequestContext<'a> {
    /// The id of the request.
    pub id: &'a RequestId,
    /// The token under which progress is wanted.
    pub progress_token: Option<&'a ProgressToken>,
    /// More keys for `_meta`.
    pub meta: Option<&'a Meta>,
}

impl<'a> ServerRequestContext<'a> {
    /// A request that brings nothing along.
    pub fn new(id: &'a RequestId) -> Self {
        Self {
            id,
            progress_token: None,
            meta: None,
        }
    }
}

/// Where an answer goes.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ReplyContext<'a> {
    /// The id of the request.
    pub id: &'a RequestId,
    /// Who answers.
    pub profile: &'a ServerProfile,
}

impl<'a> ReplyContext<'a> {
    /// An answer to a request.
    pub fn new(id: &'a RequestId, profile: &'a ServerProfile) -> Self {
        Self { id, profile }
    }
}

/// Where a request comes from, and what it brings along.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ClientRequestContext<'a> {
    /// The id of the request.
    pub id: &'a RequestId,
    /// Who asks.
    pub profile: &'a ClientProfile,
    /// The token under which progress is wanted.
    pub progress_token: Option<&'a ProgressToken>,
    /// The least level of log messages that are wanted.
    pub log_level: Option<LoggingLevel>,
    /// What the client sends along when it asks again.
    pub input: Option<&'a InputState>,
    /// More keys for `_meta`.
    pub meta: Option<&'a Meta>,
}

impl<'a> ClientRequestContext<'a> {
    /// A request that brings nothing along.
    pub fn new(id: &'a RequestId, profile: &'a ClientProfile) -> Self {
        Self {
            id,
            profile,
            progress_token: None,
            log_level: None,
            input: None,
            meta: None,
        }
    }
}

/// The text of an answer in up to three pieces, so that a prepared list is never copied.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct EncodedReply {
    /// The beginning, or all of it.
    pub head: Vec<u8>,
    /// A prepared piece that other answers share; empty when there is none.
    pub shared: Bytes,
    /// What comes after the shared piece.
    pub tail: Vec<u8>,
}

impl EncodedReply {
    /// Appends to the last piece.
    pub fn push(&mut self, text: &[u8]) {
        if self.shared.is_empty() {
            self.head.extend_from_slice(text);
        } else {
            self.tail.extend_from_slice(text);
        }
    }

    /// The length of all pieces.
    pub fn len(&self) -> usize {
        self.head.len() + self.shared.len() + self.tail.len()
    }

    /// There is no text at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All pieces as one.
    pub fn into_bytes(mut self) -> Bytes {
        self.head.extend_from_slice(&self.shared);
        self.head.extend_from_slice(&self.tail);
        self.head.into()
    }
}

/// An answer is none that its method can have.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The result has another shape.
    #[error("the result of {method} is malformed: {reason}")]
    Malformed {
        /// What was asked.
        method: Box<str>,
        /// What is wrong, and where.
        reason: String,
    },
    /// The result is of a kind that this client does not know.
    // spec: BASE-24
    #[error("the result of {method} is of the unknown kind {result_type:?}")]
    UnknownKind {
        /// What was asked.
        method: Box<str>,
        /// The kind.
        result_type: Box<str>,
        /// The text of the result.
        raw: Box<str>,
    },
}

impl DecodeError {
    pub(crate) fn malformed(method: Option<Method>, reason: impl ToString) -> Self {
        let method = method
            .map_or("an extension's method", Method::as_str)
            .into();
        Self::Malformed {
            method,
            reason: reason.to_string(),
        }
    }
}

/// Writes `value` behind what `out` holds, on one line: raw JSON that a handler passes through may
/// be laid out over several, and a line break would end the message in an event or on a pipe. A string
/// or a number has none, and is written by [`json::write`].
///
/// Types of this library cannot fail here: their keys are strings and `out` is memory.
// spec: STDIO-02
pub(crate) fn write_json(out: &mut Vec<u8>, value: &dyn Write) {
    let start = out.len();
    json::write(out, value);
    let mut rest = out.get_mut(start..).unwrap_or_default();
    // Inside of a string a line break is escaped: these stand between tokens.
    while let Some(at) = memchr::memchr2(b'\n', b'\r', rest) {
        let Some((line_break, after)) = rest.get_mut(at..).and_then(<[u8]>::split_first_mut) else {
            return;
        };
        *line_break = b' ';
        rest = after;
    }
}

/// Writes the members of `value`, an object, behind an open object, and closes it.
pub(crate) fn splice_json(out: &mut Vec<u8>, value: &dyn Write) {
    let start = out.len();
    let is_first = out.last() == Some(&b'{');
    write_json(out, value);
    debug_assert_eq!(out.get(start), Some(&b'{'), "only objects have members");
    if is_first {
        out.remove(start);
    } else if out.get(start + 1) == Some(&b'}') {
        out.truncate(start);
        out.push(b'}');
    } else if let Some(brace) = out.get_mut(start) {
        *brace = b',';
    }
}

/// Writes the members of a tool's result behind an open object, and closes it. Most results are
/// texts and nothing else; these need no serializer.
pub(crate) fn splice_called(out: &mut Vec<u8>, result: &CallToolResult) {
    let texts = || result.content.iter().map(ContentBlock::as_plain_text);
    let is_plain = result.structured_content.is_none()
        && result.meta.is_none()
        && texts().all(|text| text.is_some());
    if !is_plain {
        return splice_json(out, result);
    }
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
    out.extend_from_slice(br#""content":["#);
    for (index, text) in texts().flatten().enumerate() {
        out.extend_from_slice(match index {
            0 => br#"{"type":"text","text":"#.as_slice(),
            _ => br#",{"type":"text","text":"#,
        });
        write_text(out, text);
        out.push(b'}');
    }
    out.push(b']');
    if let Some(is_error) = result.is_error {
        out.extend_from_slice(match is_error {
            true => br#","isError":true"#.as_slice(),
            false => br#","isError":false"#,
        });
    }
    out.push(b'}');
}

/// Writes a request of a session. `own` is what its parameters have as `_meta`, `more` is what the
/// sender adds. There is a `_meta` when it says something; what a session knows is not repeated.
// spec: BASE-01, META-06
pub(crate) fn write_request(
    head: &RequestHead<'_>,
    own: Option<Meta>,
    write_params: impl FnOnce(&mut Vec<u8>),
) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    write_json(&mut out, head.id);
    out.extend_from_slice(br#","method":"#);
    write_text(&mut out, head.method);
    out.extend_from_slice(br#","params":{"#);
    let mut meta = own.unwrap_or_default();
    for (key, value) in head.more.into_iter().flat_map(Meta::as_object) {
        meta = meta.with(key, value.clone());
    }
    if let Some(token) = head.progress_token {
        meta = meta.with(keys::PROGRESS_TOKEN, token.as_id().clone());
    }
    if !meta.is_empty() {
        out.extend_from_slice(br#""_meta":"#);
        write_json(&mut out, &meta);
    }
    write_params(&mut out);
    out.push(b'}');
    out
}

/// What every request of a session begins with.
pub(crate) struct RequestHead<'a> {
    id: &'a RequestId,
    method: &'a str,
    progress_token: Option<&'a ProgressToken>,
    more: Option<&'a Meta>,
}

impl<'a> RequestHead<'a> {
    pub(crate) fn of_client(method: &'a str, from: &ClientRequestContext<'a>) -> Self {
        Self {
            id: from.id,
            method,
            progress_token: from.progress_token,
            more: from.meta,
        }
    }

    pub(crate) fn of_server(method: &'a str, from: &ServerRequestContext<'a>) -> Self {
        Self {
            id: from.id,
            method,
            progress_token: from.progress_token,
            more: from.meta,
        }
    }
}

/// Writes an error response; without an id where it could not be read.
// spec: BASE-10, BASE-11
pub(crate) fn write_error(out: &mut Vec<u8>, id: Option<&RequestId>, error: &ErrorObject) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","#);
    if let Some(id) = id {
        out.extend_from_slice(br#""id":"#);
        json::write(out, id);
        out.push(b',');
    }
    out.extend_from_slice(br#""error":"#);
    write_json(out, error);
    out.push(b'}');
}
