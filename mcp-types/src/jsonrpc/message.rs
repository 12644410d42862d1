//! Messages as they arrive: the envelope decoded, everything else borrowed.

use std::borrow::Cow;

use super::{ErrorObject, Params, RequestId};
use crate::RawJson;

/// One JSON-RPC message, borrowed from its text. Made by [`Message::parse`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Message<'a> {
    /// A call that wants an answer.
    Request(Request<'a>),
    /// A message that is never answered.
    Notification(Notification<'a>),
    /// An answer.
    Response(Response<'a>),
}

/// A call that wants an answer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The id that the answer has to carry.
    pub id: RequestId,
    /// The name of the method.
    pub method: Cow<'a, str>,
    /// The members of `params`; empty when there are none.
    pub params: Params<'a>,
}

/// A message that is never answered.
// spec: BASE-12
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Notification<'a> {
    /// The name of the method.
    pub method: Cow<'a, str>,
    /// The members of `params`; empty when there are none.
    pub params: Params<'a>,
}

/// An answer: its result raw, to be decoded by the method that was asked.
// spec: BASE-07, BASE-08
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Response<'a> {
    /// The id of the request; `None` when the peer could not read it.
    pub id: Option<RequestId>,
    /// The raw result, or the error.
    pub outcome: Result<RawJson<'a>, ErrorObject>,
}
