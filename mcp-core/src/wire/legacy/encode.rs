//! Writing legacy messages.

use mcp_types::{JsonObject, Meta, ProtocolVersion, meta::keys};
use serde::Serialize;

use super::errors;
use super::narrow::Narrow;
use crate::wire::{Encoded, Outbound, Outgoing, calls, write_error, write_json};
use crate::{Asked, Call, Fault, Listing, Reply, ResultBody};

/// Writes the answer behind `head`.
pub(super) fn reply(
    reply: Reply,
    to: &Outbound<'_>,
    version: ProtocolVersion,
    head: Vec<u8>,
) -> Encoded {
    let mut out = Encoded {
        head,
        ..Encoded::default()
    };
    let body = match reply {
        Reply::Complete { body, .. } => body,
        other => {
            let fault = match other {
                Reply::Fault(fault) => fault,
                // The session asks and waits instead; an extension's results are modern ones.
                _ => Fault::internal("this result needs a newer revision of the protocol"),
            };
            write_error(
                &mut out.head,
                Some(to.id),
                errors::to_error(&fault, version),
            );
            return out;
        }
    };
    out.head.reserve(256);
    out.head.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    write_json(&mut out.head, to.id);
    out.head.extend_from_slice(br#","result":"#);
    result(body, version, &mut out);
    out.push(b"}");
    out
}

// spec: BASE-26
fn result(body: ResultBody, version: ProtocolVersion, out: &mut Encoded) {
    match body {
        ResultBody::CallTool(body) => whole(body, version, out),
        ResultBody::ReadResource(body) => whole(body, version, out),
        ResultBody::GetPrompt(body) => whole(body, version, out),
        ResultBody::Complete(body) => write_json(&mut out.head, &body),
        ResultBody::Other(body) => write_json(&mut out.head, &body),
        ResultBody::Discover(body) => write_json(&mut out.head, &body),
        ResultBody::ListTools(list) => listed(&list, version, out),
        ResultBody::ListResources(list) => listed(&list, version, out),
        ResultBody::ListResourceTemplates(list) => listed(&list, version, out),
        ResultBody::ListPrompts(list) => listed(&list, version, out),
    }
}

fn whole<T: Serialize + Narrow>(mut body: T, version: ProtocolVersion, out: &mut Encoded) {
    body.narrow(version);
    write_json(&mut out.head, &body);
}

/// A list: its text is written once per revision and shared.
fn listed<T: Serialize + Clone + Narrow>(
    list: &Listing<T>,
    version: ProtocolVersion,
    out: &mut Encoded,
) {
    out.shared = list.text(version, |page| {
        let mut page = page.clone();
        page.narrow(version);
        let mut text = Vec::new();
        write_json(&mut text, &page);
        text.into()
    });
}

/// Writes a request. `_meta` is there when it says something; what a session knows is not repeated.
// spec: BASE-01, META-06
pub(super) fn call(asked: &Asked, from: &Outgoing<'_>, version: ProtocolVersion) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    write_json(&mut out, from.id);
    out.extend_from_slice(br#","method":"#);
    write_json(&mut out, asked.method_name());
    // An open object with a member is what `write_params` goes on with.
    out.extend_from_slice(br#","params":{"_meta":"#);
    write_json(&mut out, &meta(from));
    match asked {
        Asked::Call(Call::Complete(params)) => {
            let mut params = params.clone();
            params.narrow(version);
            calls::write_params(&mut out, &Call::Complete(params));
        }
        Asked::Call(call) => calls::write_params(&mut out, call),
        Asked::Discover => crate::wire::splice_json(&mut out, &JsonObject::new()),
    }
    out.push(b'}');
    out
}

fn meta(from: &Outgoing<'_>) -> Meta {
    let mut meta = from.meta.cloned().unwrap_or_default();
    if let Some(token) = from.progress_token
        && let Ok(token) = serde_json::to_value(token)
    {
        meta = meta.with(keys::PROGRESS_TOKEN, token);
    }
    meta
}
