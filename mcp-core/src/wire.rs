//! Messages as JSON, per protocol revision.
//!
//! The messages encode and decode themselves: [`Fault::encode`](crate::Fault::encode),
//! [`Reply::decode`](crate::Reply::decode), [`ReplyTarget::encode`](crate::ReplyTarget::encode) and
//! others get the revision as an argument.
//!
//! | module | content |
//! |---|---|
//! | `context`, `reply` | data beside a message; encoded replies |
//! | `revision` | the traits `Wire` and `ClientWire`: the encoders and decoders of a revision |
//! | `modern` | requests, replies and errors of 2026-07-28 |
//! | `legacy` | the same for the revisions with sessions, and batches |
//! | `convert` | the public functions of the messages |
//! | `mend` | repairs of results that do not fit their types |
//! | `narrow` | removes from a value the fields that an older revision does not have |
//! | `calls`, `results`, `sessions`, `server_requests`, `notifications` | messages that both eras share |
//! | `raw` | results that are passed on without decoding their content |
//! | `write` | functions that append JSON to a buffer |

mod calls;
mod context;
mod convert;
mod legacy;
mod mend;
mod modern;
mod narrow;
mod notifications;
mod raw;
mod reply;
mod results;
mod revision;
mod server_requests;
mod sessions;
mod write;

use mcp_types::{Meta, ProtocolVersion, RawObject, RequestId};

use crate::ClientProfile;

pub use context::ClientRequestContext;
pub(crate) use context::{DecodedRequest, ReplyContext, ServerRequestContext};
pub(crate) use legacy::batch;
pub(crate) use modern::Envelope;
#[doc(hidden)]
pub use narrow::wraps_structure;
pub use notifications::subscription_id;
pub use raw::{decoded, tool_result};
pub use reply::{DecodeError, EncodedReply};
pub(crate) use revision::{ClientWire, Wire};
use write::{
    RequestHead, SHARED_BYTES, clear_line_breaks, splice_json, splice_tool_result, write_error,
    write_json, write_request, write_scalar,
};

/// The wire of 2026-07-28.
pub(crate) static MODERN: &dyn Wire = &modern::Modern;

/// Returns the wire of a revision.
pub(crate) fn for_version(version: ProtocolVersion) -> &'static dyn Wire {
    match legacy::for_version(version) {
        Some(wire) => wire,
        None => MODERN,
    }
}

/// Returns the wire of a revision, for a client.
#[inline]
pub(crate) fn client_for_version(version: ProtocolVersion) -> &'static dyn ClientWire {
    match legacy::for_version(version) {
        Some(wire) => wire,
        None => &modern::Modern,
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
