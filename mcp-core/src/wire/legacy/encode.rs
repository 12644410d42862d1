//! Encoding of legacy requests and replies.

use std::sync::Arc;

use mcp_types::{ListenParams, ProtocolVersion};
use serde::Serialize;

use super::errors;
use crate::message::{ClientRequest, Fault, Listing, Reply, ResultBody};
use crate::wire::narrow::{Narrow, narrowed};
use crate::wire::{
    ClientRequestContext, EncodedReply, ReplyTarget, RequestHead, params, raw, sessions,
    splice_json, splice_tool_result, write_error, write_json, write_request, write_scalar,
};

/// Encodes a reply after the bytes in `head`.
pub(in crate::wire) fn reply(
    mut reply: Reply,
    target: &ReplyTarget,
    head: Vec<u8>,
) -> EncodedReply {
    let version = target.version;
    raw::fit(&mut reply, version);
    let mut out = EncodedReply {
        head,
        ..EncodedReply::default()
    };
    let body = match reply {
        Reply::Complete { body, .. } => body,
        other => {
            let fault = match other {
                Reply::Fault(fault) => fault,
                // A legacy call asks its client while it runs, and extensions have results of their
                // own only in the modern era.
                _ => Fault::internal("this result needs a newer revision of the protocol"),
            };
            write_error(
                &mut out.head,
                Some(&target.id),
                &errors::to_error(&fault, version),
            );
            return out;
        }
    };
    out.head.reserve(256);
    out.head.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    write_scalar(&mut out.head, &target.id);
    out.head.extend_from_slice(br#","result":"#);
    result(body, version, &mut out);
    out.close_message();
    out
}

// spec: BASE-26
fn result(body: ResultBody, version: ProtocolVersion, out: &mut EncodedReply) {
    match body {
        ResultBody::CallTool(mut body) => {
            body.narrow(version);
            out.head.push(b'{');
            splice_tool_result(out, body);
        }
        ResultBody::ReadResource(body) => whole(body, version, out),
        ResultBody::GetPrompt(body) => whole(body, version, out),
        ResultBody::Complete(body) => write_json(&mut out.head, &body),
        ResultBody::Other(body) => write_json(&mut out.head, &body),
        ResultBody::Raw(body) => raw::encode(*body, out),
        ResultBody::Initialize(body) => whole(Arc::unwrap_or_clone(body), version, out),
        ResultBody::Empty => out.head.extend_from_slice(b"{}"),
        // Only the modern era has these two.
        ResultBody::Discover(body) => whole(Arc::unwrap_or_clone(body), version, out),
        ResultBody::Listen(body) => write_json(&mut out.head, &body),
        ResultBody::ListTools(list) => listed(&list, version, out),
        ResultBody::ListResources(list) => listed(&list, version, out),
        ResultBody::ListResourceTemplates(list) => listed(&list, version, out),
        ResultBody::ListPrompts(list) => listed(&list, version, out),
    }
}

fn whole<T: Serialize + Narrow>(mut body: T, version: ProtocolVersion, out: &mut EncodedReply) {
    body.narrow(version);
    write_json(&mut out.head, &body);
}

/// Writes a list, whose JSON is cached per revision and shared between replies.
fn listed<T: Serialize + Clone + Narrow>(
    list: &Listing<T>,
    version: ProtocolVersion,
    out: &mut EncodedReply,
) {
    out.shared = list.encoded(version, |page| {
        let mut text = Vec::new();
        write_json(&mut text, &narrowed(page, version));
        text
    });
}

/// Encodes a request.
#[inline]
pub(in crate::wire) fn request(
    request: &ClientRequest,
    context: &ClientRequestContext<'_>,
    version: ProtocolVersion,
) -> Vec<u8> {
    if let ClientRequest::Session(request) = request {
        return sessions::write(request, context, version);
    }
    let head = RequestHead::from_client(request.method_name(), context);
    write_request(&head, None, |out| match request {
        ClientRequest::Call(call) => params::write(out, call, version),
        ClientRequest::Listen(filter) => splice_json(out, &ListenParams::from((**filter).clone())),
        _ => out.push(b'}'),
    })
}
