//! Encoding of modern requests and replies. Each value is serialized once, into the message.

use std::sync::Arc;

use mcp_types::{CacheHint, CacheScope, JsonObject, ListenParams, Meta, RawObject, meta::keys};
use memchr::memmem;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::constants::{self, VERSION};
use super::errors;
use crate::message::{ClientRequest, Listing, Reply, ResultBody};
use crate::wire::narrow::{self, Narrow, fitting, narrowed};
use crate::wire::{
    ClientRequestContext, EncodedReply, ReplyTarget, params, raw, splice_json, splice_tool_result,
    write_error, write_json, write_scalar,
};

/// Encodes a reply after the bytes in `head`.
pub(in crate::wire) fn reply(
    mut reply: Reply,
    target: &ReplyTarget,
    head: Vec<u8>,
) -> EncodedReply {
    raw::fit(&mut reply, VERSION);
    let mut out = EncodedReply {
        head,
        ..EncodedReply::default()
    };
    if let Reply::Fault(fault) = &reply {
        write_error(&mut out.head, Some(&target.id), &errors::to_error(fault));
        return out;
    }
    out.head.reserve(256);
    out.head.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    write_scalar(&mut out.head, &target.id);
    out.head.extend_from_slice(br#","result":"#);
    match reply {
        Reply::Complete { body, cache } => complete(body, cache, target, &mut out),
        Reply::InputRequired(mut required) => {
            let meta = required.meta.take();
            required.input_requests = required.input_requests.map(narrow::embedded);
            write_stamp(&mut out.head, constants::INPUT_REQUIRED, None, meta, target);
            splice_json(&mut out.head, &required);
        }
        Reply::Extended { result_type, body } => {
            let (meta, body) = unstamped(body);
            write_stamp(&mut out.head, &result_type, None, meta, target);
            splice_json(&mut out.head, &body);
        }
        // Returned above.
        Reply::Fault(_) => {}
    }
    out.close_message();
    out
}

fn complete(
    body: ResultBody,
    cache: Option<CacheHint>,
    target: &ReplyTarget,
    out: &mut EncodedReply,
) {
    let cached = Some(cache.unwrap_or_default());
    let head = &mut out.head;
    match body {
        ResultBody::CallTool(mut body) => {
            body.narrow(VERSION);
            write_stamp(head, constants::COMPLETE, None, body.meta.take(), target);
            splice_tool_result(out, body);
        }
        ResultBody::GetPrompt(mut body) => {
            body.narrow(VERSION);
            whole(head, body.meta.take(), &body, None, target);
        }
        ResultBody::Complete(mut body) => whole(head, body.meta.take(), &body, None, target),
        ResultBody::Other(body) => {
            let (meta, body) = unstamped(body);
            whole(head, meta, &body, None, target);
        }
        ResultBody::Discover(body) => {
            let mut body = Arc::unwrap_or_clone(body);
            body.narrow(VERSION);
            whole(head, body.meta.take(), &body, cached, target);
        }
        ResultBody::ReadResource(mut body) => whole(head, body.meta.take(), &body, cached, target),
        ResultBody::ListTools(list) => listed(&list, cached, target, out),
        ResultBody::ListResources(list) => listed(&list, cached, target, out),
        ResultBody::ListResourceTemplates(list) => listed(&list, cached, target, out),
        ResultBody::ListPrompts(list) => listed(&list, cached, target, out),
        // spec: SUB-09
        ResultBody::Listen(body) => {
            let meta = body.meta.unwrap_or_default();
            let meta = meta.with(keys::SUBSCRIPTION_ID, target.id.clone());
            whole(head, Some(meta), &JsonObject::new(), None, target);
        }
        ResultBody::Raw(raw) => {
            let cached = raw.method.spec().cacheable.then_some(cache.or(raw.cache));
            let cached = cached.map(Option::unwrap_or_default);
            write_stamp(head, constants::COMPLETE, cached, raw.meta, target);
            raw::splice(raw.members, out);
        }
        // Only sessions have these two.
        ResultBody::Initialize(body) => {
            let mut body = Arc::unwrap_or_clone(body);
            whole(head, body.meta.take(), &body, None, target);
        }
        ResultBody::Empty => whole(head, None, &JsonObject::new(), None, target),
    }
}

fn whole(
    out: &mut Vec<u8>,
    meta: Option<Meta>,
    body: &impl Serialize,
    cache: Option<CacheHint>,
    target: &ReplyTarget,
) {
    write_stamp(out, constants::COMPLETE, cache, meta, target);
    splice_json(out, body);
}

/// Splits `_meta` from a raw result and removes `resultType`, which `write_stamp` writes. A proxy
/// may pass on a result that another server has stamped.
fn unstamped(body: RawObject) -> (Option<Meta>, RawObject) {
    let is_plain = ["resultType", "_meta"]
        .iter()
        .all(|key| memmem::find(body.as_str().as_bytes(), key.as_bytes()).is_none());
    if is_plain {
        return (None, body);
    }
    let Ok(mut members) = body.parse::<JsonObject>() else {
        return (None, body);
    };
    members.shift_remove("resultType");
    let meta = members.shift_remove("_meta");
    let meta = match meta {
        Some(Value::Object(meta)) => Some(Meta::from(meta)),
        _ => None,
    };
    let body = RawObject::from_value(&members).unwrap_or(body);
    (meta, body)
}

/// Writes a list. Its JSON is cached and shared between replies unless the page has its own `_meta`.
fn listed<T: Serialize + Clone + HasMeta + Narrow>(
    list: &Listing<T>,
    cache: Option<CacheHint>,
    target: &ReplyTarget,
    out: &mut EncodedReply,
) {
    if list.meta().is_some() {
        let mut page = narrowed::<T>(list, VERSION);
        let meta = page.take_meta();
        return whole(&mut out.head, meta, &page, cache, target);
    }
    write_stamp(&mut out.head, constants::COMPLETE, cache, None, target);
    out.shared = list.encoded(VERSION, |page| {
        let mut text = Vec::new();
        splice_json(&mut text, &narrowed(page, VERSION));
        text
    });
}

/// Access to a page's `_meta`.
trait HasMeta {
    fn meta(&self) -> Option<&Meta>;
    fn take_meta(&mut self) -> Option<Meta>;
}

macro_rules! has_meta {
    ($($page:ident),*) => {
        $(impl HasMeta for mcp_types::$page {
            fn meta(&self) -> Option<&Meta> {
                self.meta.as_ref()
            }

            fn take_meta(&mut self) -> Option<Meta> {
                self.meta.take()
            }
        })*
    };
}

has_meta!(
    ListToolsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListPromptsResult
);

/// Opens a result object and writes the fields that the wire adds. The caller continues with
/// [`splice_json`].
// spec: BASE-21, BASE-22, CACHE-01, CACHE-02, META-12
fn write_stamp(
    out: &mut Vec<u8>,
    result_type: &str,
    cache: Option<CacheHint>,
    meta: Option<Meta>,
    target: &ReplyTarget,
) {
    match result_type {
        constants::COMPLETE => out.extend_from_slice(br#"{"resultType":"complete""#),
        other => {
            out.extend_from_slice(br#"{"resultType":"#);
            write_scalar(out, other);
        }
    }
    if let Some(cache) = cache {
        out.extend_from_slice(br#","ttlMs":"#);
        write_scalar(out, &cache.ttl_ms());
        out.extend_from_slice(match cache.scope {
            CacheScope::Public => br#","cacheScope":"public""#.as_slice(),
            _ => br#","cacheScope":"private""#,
        });
    }
    out.extend_from_slice(br#","_meta":{"#);
    let meta = meta.filter(|meta| !meta.is_empty());
    let members = meta.as_deref();
    // A proxied result keeps the identity of its own server.
    if members.is_none_or(|members| !members.contains_key(keys::SERVER_INFO)) {
        out.extend_from_slice(target.profile.info_member().as_bytes());
        if members.is_some() {
            out.push(b',');
        }
    }
    for (index, (key, value)) in members.into_iter().flatten().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_scalar(out, key);
        out.push(b':');
        write_json(out, value);
    }
    out.push(b'}');
}

/// Encodes a request.
// spec: BASE-01, VER-01, META-07
#[inline]
pub(in crate::wire) fn request(
    request: &ClientRequest,
    context: &ClientRequestContext<'_>,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    write_scalar(&mut out, context.id);
    out.extend_from_slice(br#","method":"#);
    write_scalar(&mut out, request.method_name());
    out.extend_from_slice(br#","params":{"_meta":"#);
    write_request_meta(&mut out, context);
    if let Some(input) = context.input {
        if let Some(responses) = &input.responses {
            out.extend_from_slice(br#","inputResponses":"#);
            write_json(&mut out, responses);
        }
        if let Some(state) = &input.state {
            // spec: VER-13, MRTR-11
            out.extend_from_slice(br#","requestState":"#);
            write_scalar(&mut out, state);
        }
    }
    write_params(&mut out, request);
    out.push(b'}');
    out
}

/// Writes the `_meta` of a request or an extension notification.
#[inline]
pub(in crate::wire) fn write_request_meta(out: &mut Vec<u8>, context: &ClientRequestContext<'_>) {
    write_json(out, &SentMeta(context));
}

/// Writes the parameters of a request. Discovery has none, and session requests do not exist in this
/// revision.
#[inline]
fn write_params(out: &mut Vec<u8>, request: &ClientRequest) {
    match request {
        ClientRequest::Call(call) => params::write(out, call, VERSION),
        ClientRequest::Listen(filter) => splice_json(out, &ListenParams::from((**filter).clone())),
        ClientRequest::Discover | ClientRequest::Session(_) => splice_json(out, &JsonObject::new()),
    }
}

/// The `_meta` of a request: the envelope, then the caller's keys.
// spec: META-08, META-11
struct SentMeta<'a>(&'a ClientRequestContext<'a>);

impl Serialize for SentMeta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let context = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(keys::PROTOCOL_VERSION, &VERSION)?;
        map.serialize_entry(keys::CLIENT_INFO, &context.profile.info)?;
        let capabilities = fitting(&context.profile.capabilities, VERSION, narrow::is_modern);
        map.serialize_entry(keys::CLIENT_CAPABILITIES, &*capabilities)?;
        if let Some(token) = context.progress_token {
            map.serialize_entry(keys::PROGRESS_TOKEN, token)?;
        }
        if let Some(level) = context.log_level {
            map.serialize_entry(keys::LOG_LEVEL, &level)?;
        }
        for (key, value) in context.meta.into_iter().flat_map(|meta| &**meta) {
            if !keys::ENVELOPE.contains(&key.as_str()) {
                map.serialize_entry(key, value)?;
            }
        }
        map.end()
    }
}
