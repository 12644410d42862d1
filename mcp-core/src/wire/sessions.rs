//! Requests that open and maintain a session.

use std::sync::Arc;

use mcp_types::{Method, ProtocolVersion, Request, SetLevelParams, SubscribeParams};

use super::narrow::narrowed;
use super::server_requests::params;
use super::{ClientRequestContext, RequestHead, splice_json, write_request};
use crate::message::{Fault, SessionRequest};

/// Decodes a session request. Returns `None` for every other `method`.
pub(super) fn read(
    request: &Request<'_>,
    method: Option<Method>,
) -> Result<Option<SessionRequest>, Fault> {
    let raw = &request.params;
    Ok(Some(match method {
        Some(Method::Initialize) => SessionRequest::Initialize(Arc::new(params(request)?)),
        Some(Method::Ping) => SessionRequest::Ping,
        // spec: LOG-03
        Some(Method::SetLevel) => SessionRequest::SetLevel(raw.required("level")?),
        Some(Method::Subscribe) => {
            SessionRequest::Subscribe(SubscribeParams::from(raw.required::<String>("uri")?))
        }
        Some(Method::Unsubscribe) => {
            SessionRequest::Unsubscribe(SubscribeParams::from(raw.required::<String>("uri")?))
        }
        _ => return Ok(None),
    }))
}

/// Encodes a session request.
#[inline]
pub(super) fn write(
    request: &SessionRequest,
    context: &ClientRequestContext<'_>,
    to: ProtocolVersion,
) -> Vec<u8> {
    let head = RequestHead::from_client(request.method().as_str(), context);
    match request {
        SessionRequest::Initialize(params) => {
            let mut params = narrowed(&**params, to);
            let meta = params.meta.take();
            write_request(&head, meta, |out| splice_json(out, &params))
        }
        SessionRequest::Ping => write_request(&head, None, |out| out.push(b'}')),
        SessionRequest::SetLevel(level) => {
            let params = SetLevelParams::from(*level);
            write_request(&head, None, |out| splice_json(out, &params))
        }
        SessionRequest::Subscribe(params) | SessionRequest::Unsubscribe(params) => {
            write_request(&head, None, |out| splice_json(out, params))
        }
    }
}
