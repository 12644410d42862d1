//! Parsed messages. They borrow everything but the id from the input.

use std::borrow::Cow;

use super::{ErrorObject, Params, RequestId};
use crate::raw::RawJson;

/// A JSON-RPC message, created by [`Message::parse`].
///
/// Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic#messages>
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Message<'a> {
    /// A request, which expects a response.
    Request(Request<'a>),
    /// A notification, which is never answered.
    Notification(Notification<'a>),
    /// A response to a request.
    Response(Response<'a>),
}

/// A JSON-RPC request.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The request's id, echoed by the response.
    pub id: RequestId,
    /// The method's name.
    pub method: Cow<'a, str>,
    /// Members of `params`. Empty if the request has no `params`.
    pub params: Params<'a>,
}

/// A JSON-RPC notification.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Notification<'a> {
    /// The method's name.
    pub method: Cow<'a, str>,
    /// Members of `params`. Empty if the notification has no `params`.
    pub params: Params<'a>,
}

/// A JSON-RPC response.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Response<'a> {
    /// The request's id. `None` if the peer could not read it.
    pub id: Option<RequestId>,
    /// The result as raw JSON, or the error. The method of the request determines the type of the
    /// result.
    pub outcome: Result<RawJson<'a>, ErrorObject>,
}

impl<'a> Response<'a> {
    /// A response with this outcome.
    pub fn new(id: Option<RequestId>, outcome: Result<RawJson<'a>, ErrorObject>) -> Self {
        Self { id, outcome }
    }
}
