//! Writing modern messages: each value is serialized once, straight into its message.

use std::sync::Arc;

use mcp_types::json::{self, Piece, Write, WriteEntries};
use mcp_types::{
    CacheHint, CacheScope, ContentBlock, JsonObject, ListenParams, Meta, RawObject, meta::keys,
};
use memchr::memmem;
use serde_json::Value;

use super::{VERSION, errors, result_type};
use crate::reply::Listing;
use crate::wire::narrow::{self, Narrow, fitting, narrowed};
use crate::wire::{
    ClientRequestContext, EncodedReply, ReplyContext, calls, splice_called, splice_json,
    write_error, write_json, write_text,
};
use crate::{ClientRequest, Reply, ResultBody};

/// Writes the answer behind `head`.
pub(super) fn reply(reply: Reply, to: &ReplyContext<'_>, head: Vec<u8>) -> EncodedReply {
    let mut out = EncodedReply {
        head,
        ..EncodedReply::default()
    };
    if let Reply::Fault(fault) = &reply {
        write_error(&mut out.head, Some(to.id), &errors::to_error(fault));
        return out;
    }
    out.head.reserve(room(&reply));
    out.head.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    json::write(&mut out.head, to.id);
    out.head.extend_from_slice(br#","result":"#);
    match reply {
        Reply::Complete { body, cache } => complete(body, cache, to, &mut out),
        Reply::InputRequired(mut asked) => {
            let meta = asked.meta.take();
            asked.input_requests = asked.input_requests.map(narrow::embedded);
            write_stamp(&mut out.head, result_type::INPUT_REQUIRED, None, meta, to);
            splice_json(&mut out.head, &asked);
        }
        Reply::Extended { result_type, body } => {
            let (meta, body) = unstamped(body);
            write_stamp(&mut out.head, &result_type, None, meta, to);
            splice_json(&mut out.head, &body);
        }
        // Written above.
        Reply::Fault(_) => {}
    }
    out.push(b"}");
    out
}

/// What is needed at the least: a large text does not make the buffer grow on its way.
fn room(reply: &Reply) -> usize {
    let texts = match reply {
        Reply::Complete {
            body: ResultBody::CallTool(result),
            ..
        } => result.content.iter().filter_map(ContentBlock::as_text),
        _ => return 256,
    };
    256 + texts.map(str::len).sum::<usize>()
}

fn complete(
    body: ResultBody,
    cache: Option<CacheHint>,
    to: &ReplyContext<'_>,
    out: &mut EncodedReply,
) {
    let cached = Some(cache.unwrap_or_default());
    let head = &mut out.head;
    match body {
        ResultBody::CallTool(mut body) => {
            body.narrow(VERSION);
            write_stamp(head, result_type::COMPLETE, None, body.meta.take(), to);
            splice_called(head, &body);
        }
        ResultBody::GetPrompt(mut body) => {
            body.narrow(VERSION);
            whole(head, body.meta.take(), &body, None, to);
        }
        ResultBody::Complete(mut body) => whole(head, body.meta.take(), &body, None, to),
        ResultBody::Other(body) => {
            let (meta, body) = unstamped(body);
            whole(head, meta, &body, None, to);
        }
        ResultBody::Discover(body) => {
            let mut body = Arc::unwrap_or_clone(body);
            body.narrow(VERSION);
            whole(head, body.meta.take(), &body, cached, to);
        }
        ResultBody::ReadResource(mut body) => whole(head, body.meta.take(), &body, cached, to),
        ResultBody::ListTools(list) => listed(&list, cached, to, out),
        ResultBody::ListResources(list) => listed(&list, cached, to, out),
        ResultBody::ListResourceTemplates(list) => listed(&list, cached, to, out),
        ResultBody::ListPrompts(list) => listed(&list, cached, to, out),
        // spec: SUB-09
        ResultBody::Listen(body) => {
            let meta = body.meta.unwrap_or_default().for_subscription(to.id);
            whole(head, Some(meta), &JsonObject::new(), None, to);
        }
        // Of a session, which has its own wire.
        ResultBody::Initialize(body) => {
            let mut body = Arc::unwrap_or_clone(body);
            whole(head, body.meta.take(), &body, None, to);
        }
        ResultBody::Empty => whole(head, None, &JsonObject::new(), None, to),
    }
}

fn whole(
    out: &mut Vec<u8>,
    meta: Option<Meta>,
    body: &dyn Write,
    cache: Option<CacheHint>,
    to: &ReplyContext<'_>,
) {
    write_stamp(out, result_type::COMPLETE, cache, meta, to);
    splice_json(out, body);
}

/// Takes a raw result apart, so that nothing that the stamp writes comes twice: a proxy may pass on
/// what another server has stamped.
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
    let body = RawObject::of(&members).unwrap_or(body);
    (meta, body)
}

/// A list: its text is written once and shared, unless it carries a `_meta` of its own.
fn listed<T: Write + Clone + HasMeta + Narrow>(
    list: &Listing<T>,
    cache: Option<CacheHint>,
    to: &ReplyContext<'_>,
    out: &mut EncodedReply,
) {
    if list.meta().is_some() {
        let mut page = narrowed::<T>(list, VERSION);
        let meta = page.take_meta();
        return whole(&mut out.head, meta, &page, cache, to);
    }
    write_stamp(&mut out.head, result_type::COMPLETE, cache, None, to);
    out.shared = list.text(VERSION, |page| {
        let mut text = Vec::new();
        splice_json(&mut text, &narrowed(page, VERSION));
        text.into()
    });
}

/// Pages of lists, by what the stamp has to know of them.
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

/// Opens a result with what the wire adds to it. [`splice_json`] has to follow.
// spec: BASE-21, BASE-22, CACHE-01, CACHE-02, META-12
fn write_stamp(
    out: &mut Vec<u8>,
    result_type: &str,
    cache: Option<CacheHint>,
    meta: Option<Meta>,
    to: &ReplyContext<'_>,
) {
    out.extend_from_slice(br#"{"resultType":"#);
    match result_type {
        // The usual one needs no look at its characters.
        result_type::COMPLETE => out.extend_from_slice(br#""complete""#),
        other => write_text(out, other),
    }
    if let Some(cache) = cache {
        out.extend_from_slice(br#","ttlMs":"#);
        json::write(out, &cache.ttl_ms());
        out.extend_from_slice(match cache.scope {
            CacheScope::Public => br#","cacheScope":"public""#.as_slice(),
            _ => br#","cacheScope":"private""#,
        });
    }
    out.extend_from_slice(br#","_meta":{"#);
    let meta = meta.filter(|meta| !meta.is_empty());
    let members = meta.as_ref().map(Meta::as_object);
    // What a proxied result says of its own server stays.
    if members.is_none_or(|members| !members.contains_key(keys::SERVER_INFO)) {
        out.extend_from_slice(to.profile.info_member().as_bytes());
        if members.is_some() {
            out.push(b',');
        }
    }
    for (index, (key, value)) in members.into_iter().flatten().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_text(out, key);
        out.push(b':');
        write_json(out, value);
    }
    out.push(b'}');
}

/// Writes a request.
// spec: BASE-01, VER-01, META-07
#[inline]
pub(super) fn call(asked: &ClientRequest, from: &ClientRequestContext<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    write_json(&mut out, from.id);
    out.extend_from_slice(br#","method":"#);
    write_text(&mut out, asked.method_name());
    out.extend_from_slice(br#","params":{"_meta":"#);
    write_json(&mut out, &RequestMeta(from));
    if let Some(input) = from.input {
        if let Some(responses) = &input.responses {
            out.extend_from_slice(br#","inputResponses":"#);
            write_json(&mut out, responses);
        }
        if let Some(state) = &input.state {
            out.extend_from_slice(br#","requestState":"#);
            write_text(&mut out, state);
        }
    }
    write_params(&mut out, asked);
    out.push(b'}');
    out
}

/// Discovery has no parameters of its own; what tends a session does not exist here.
#[inline]
fn write_params(out: &mut Vec<u8>, asked: &ClientRequest) {
    match asked {
        ClientRequest::Call(call) => calls::write_params(out, call, VERSION),
        ClientRequest::Listen(filter) => splice_json(out, &ListenParams::new((**filter).clone())),
        ClientRequest::Discover | ClientRequest::Session(_) => splice_json(out, &JsonObject::new()),
    }
}

/// The `_meta` of a request: the envelope, then what the caller adds.
// spec: META-08, META-11
struct RequestMeta<'a>(&'a ClientRequestContext<'a>);

impl Write for RequestMeta<'_> {
    #[inline]
    fn piece(&self) -> Piece<'_> {
        Piece::Entries(self)
    }
}

impl WriteEntries for RequestMeta<'_> {
    #[inline]
    fn give(&self, take: &mut dyn FnMut(&str, Piece<'_>)) {
        let from = self.0;
        take(keys::PROTOCOL_VERSION, VERSION.piece());
        take(keys::CLIENT_INFO, from.profile.info.piece());
        let capabilities = fitting(&from.profile.capabilities, VERSION, narrow::is_modern);
        take(keys::CLIENT_CAPABILITIES, capabilities.piece());
        if let Some(token) = from.progress_token {
            take(keys::PROGRESS_TOKEN, token.piece());
        }
        if let Some(level) = from.log_level {
            take(keys::LOG_LEVEL, level.piece());
        }
        for (key, value) in from.meta.into_iter().flat_map(|meta| meta.as_object()) {
            if !ENVELOPE.contains(&key.as_str()) {
                take(key, Piece::Value(value));
            }
        }
    }
}

/// Keys that only the wire writes.
const ENVELOPE: [&str; 5] = [
    keys::PROTOCOL_VERSION,
    keys::CLIENT_INFO,
    keys::CLIENT_CAPABILITIES,
    keys::PROGRESS_TOKEN,
    keys::LOG_LEVEL,
];
