//! What opens and tends a session, read and written.

use std::sync::Arc;

use mcp_types::{Method, ProtocolVersion, Request, SetLevelParams, SubscribeParams};

use super::asks::whole;
use super::narrow::narrowed;
use super::{ClientRequestContext, RequestHead, splice_json, write_request};
use crate::{Fault, SessionRequest};

/// Reads a request that opens or tends a session; `None` for every other one.
pub(super) fn read(request: &Request<'_>) -> Result<Option<SessionRequest>, Fault> {
    let params = &request.params;
    Ok(Some(match Method::from_name(&request.method) {
        Some(Method::Initialize) => SessionRequest::Initialize(Arc::new(whole(request)?)),
        Some(Method::Ping) => SessionRequest::Ping,
        // spec: LOG-03
        Some(Method::SetLevel) => SessionRequest::SetLevel(params.required_value("level")?),
        Some(Method::Subscribe) => SessionRequest::Subscribe(SubscribeParams::new(
            params.required_value::<String>("uri")?,
        )),
        Some(Method::Unsubscribe) => SessionRequest::Unsubscribe(SubscribeParams::new(
            params.required_value::<String>("uri")?,
        )),
        _ => return Ok(None),
    }))
}

/// Writes a request that opens or tends a session.
#[inline]
pub(super) fn write(
    call: &SessionRequest,
    from: &ClientRequestContext<'_>,
    to: ProtocolVersion,
) -> Vec<u8> {
    let head = RequestHead::of_client(call.method().as_str(), from);
    match call {
        SessionRequest::Initialize(params) => {
            let mut params = narrowed(&**params, to);
            let meta = params.meta.take();
            write_request(&head, meta, |out| splice_json(out, &params))
        }
        SessionRequest::Ping => write_request(&head, None, |out| out.push(b'}')),
        SessionRequest::SetLevel(level) => {
            let params = SetLevelParams::new(*level);
            write_request(&head, None, |out| splice_json(out, &params))
        }
        SessionRequest::Subscribe(params) | SessionRequest::Unsubscribe(params) => {
            write_request(&head, None, |out| splice_json(out, params))
        }
    }
}
