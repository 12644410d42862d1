//! Messages as JSON, per protocol revision.
//!
//! The messages encode and decode themselves: [`Fault::encode`](crate::Fault::encode),
//! [`Reply::decode`](crate::Reply::decode), [`ReplyTarget::encode`](crate::ReplyTarget::encode) and
//! others get the revision as an argument. Encoders write only what the revision has: values lose the
//! fields that an older peer does not know, and messages that the revision does not have are refused.
//!
//! Functions of clients, and all that only they call, are `#[inline]`: the crates that call them compile
//! them, and a server does not.
//!
//! | module | content |
//! |---|---|
//! | `context`, `reply` | data beside a message; encoded replies, and their addressee |
//! | `framing` | the bytes around a message on a stream |
//! | `modern` | requests, replies and errors of 2026-07-28, without the parameters of calls |
//! | `legacy` | the same for the revisions with sessions, and batches |
//! | `convert` | the public functions of the messages |
//! | `mend` | repairs of results that do not fit their types |
//! | `narrow` | removes from a value the fields that an older revision does not have |
//! | `params` | parameters of calls, for both eras |
//! | `results` | results, for both eras: `strict` in the modern one, `tolerant` for older servers |
//! | `sessions`, `server_requests`, `notifications` | other messages that both eras share |
//! | `raw` | results that are passed on without decoding their content |
//! | `write` | functions that append JSON to a buffer |

mod context;
mod convert;
pub(crate) mod framing;
mod legacy;
mod mend;
mod modern;
mod narrow;
mod notifications;
mod params;
mod raw;
pub(crate) mod reply;
mod results;
mod server_requests;
mod sessions;
mod write;

use mcp_types::{Meta, ProtocolVersion, RawObject, Request, RequestId};

use crate::connection::ClientProfile;
use crate::message::{ClientRequest, Fault};

pub use context::ClientRequestContext;
pub(crate) use context::{DecodedRequest, ServerRequestContext};
pub(crate) use framing::{Framing, LINE_FRAMING};
pub(crate) use legacy::batch;
pub(crate) use modern::Envelope;
#[doc(hidden)]
pub use narrow::wraps_structure;
pub use notifications::subscription_id;
pub(crate) use notifications::{write_client, write_server};
pub use raw::{decoded, tool_result};
pub(crate) use reply::ReplyTarget;
pub use reply::{DecodeError, EncodedReply};
pub(crate) use server_requests::{read_response, write as write_server_request, write_response};
use write::{
    RequestHead, SHARED_BYTES, clear_line_breaks, splice_json, splice_tool_result, write_error,
    write_json, write_request, write_scalar,
};

/// Decodes a client request.
///
/// # Errors
///
/// Returns [`Fault::NoSuchMethod`] when the revision does not have the method, and
/// [`Fault::BadParams`] when the parameters do not fit it.
pub(crate) fn decode_request(
    request: &Request<'_>,
    version: ProtocolVersion,
) -> Result<DecodedRequest, Fault> {
    if version.is_modern() {
        modern::decode_request(request)
    } else {
        legacy::decode_request(request, version)
    }
}

/// Encodes a request. A server refuses a method that the revision does not have.
#[inline]
pub(crate) fn encode_request(
    request: &ClientRequest,
    context: &ClientRequestContext<'_>,
    version: ProtocolVersion,
) -> Vec<u8> {
    if version.is_modern() {
        modern::encode_request(request, context)
    } else {
        legacy::encode_request(request, context, version)
    }
}

/// Encodes an extension notification of a client.
#[inline]
pub(crate) fn custom_notification(
    method: &str,
    params: &RawObject,
    meta: Option<&Meta>,
    version: ProtocolVersion,
    profile: &ClientProfile,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    out.extend_from_slice(br#"{"jsonrpc":"2.0","method":"#);
    write_scalar(&mut out, method);
    out.extend_from_slice(br#","params":{"#);
    if version.is_modern() {
        let id = RequestId::from(0);
        let mut context = ClientRequestContext::new(&id, profile);
        context.meta = meta;
        out.extend_from_slice(br#""_meta":"#);
        modern::write_request_meta(&mut out, &context);
    } else if let Some(meta) = meta {
        out.extend_from_slice(br#""_meta":"#);
        write_json(&mut out, meta);
    }
    splice_json(&mut out, params);
    out.push(b'}');
    out
}

#[cfg(test)]
mod tests;
