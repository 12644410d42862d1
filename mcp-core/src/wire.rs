//! Messages as JSON, per protocol revision.
//!
//! [`Wire`] is the server's half of a revision: it decodes requests and encodes replies.
//! [`ClientWire`] adds the client's half. [`for_version`] and [`client_for_version`] return the wire
//! of a revision.
//!
//! | module | content |
//! |---|---|
//! | `modern` | requests, replies and errors of 2026-07-28 |
//! | `legacy` | the same for the revisions with sessions, and [`batch`]es |
//! | `narrow` | removes from a value the fields that an older revision does not have |
//! | `calls`, `results`, `sessions`, `server_requests`, `notifications` | messages that both eras share |
//! | `raw` | results that are passed on without decoding their content |
//! | `write` | functions that append JSON to a buffer |

mod calls;
mod client;
mod context;
mod legacy;
mod modern;
mod narrow;
mod notifications;
mod raw;
mod reply;
mod results;
mod server;
mod server_requests;
mod sessions;
mod write;

use mcp_types::{Meta, ProtocolVersion, RawObject, RequestId};

use crate::ClientProfile;

pub use client::ClientWire;
pub use context::{
    ClientRequestContext, DecodedRequest, DecodedServerRequest, ReplyContext, ServerRequestContext,
};
pub use legacy::batch;
pub use modern::Envelope;
pub use raw::{decoded, tool_result, undecoded};
pub use reply::{DecodeError, EncodedReply};
pub use server::Wire;
use write::{
    RequestHead, clear_line_breaks, splice_json, splice_tool_result, write_error, write_json,
    write_request, write_scalar,
};

/// The server half of the 2026-07-28 wire.
pub static MODERN: &dyn Wire = &modern::Modern;

/// Returns the server half of a revision's wire.
pub fn for_version(version: ProtocolVersion) -> &'static dyn Wire {
    client_for_version(version)
}

/// Encodes an extension notification of a client.
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

/// Returns both halves of a revision's wire.
pub fn client_for_version(version: ProtocolVersion) -> &'static dyn ClientWire {
    match legacy::for_version(version) {
        Some(wire) => wire,
        None => &modern::Modern,
    }
}
