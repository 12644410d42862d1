//! Replies of servers.

use std::sync::Arc;

use crate::message::{Call, ClientRequest, Fault, ItemKind, Reply, ResultBody, SessionRequest};
use mcp_types::{
    CallToolParams, CallToolResult, ClientCapabilities, CompleteResult, DiscoverResult,
    ElicitUrlParams, ErrorObject, GetPromptResult, InitializeResult, ListenResult, PromptMessage,
    ProtocolVersion, ReadResourceResult,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::basics::{Range, meta, object, raw_object, role, text, value};
use super::calls::asked;
use super::content::{block, contents};
use super::definitions::{prompts, resources, templates, tools};
use super::inputs::input_required;
use super::profile::{implementation, server_capabilities};

fn tool_result(range: Range) -> BoxedStrategy<CallToolResult> {
    let structured = match range {
        Range::Shared => of(object().prop_map(Value::from)).boxed(),
        Range::All => of(value()).boxed(),
    };
    (
        vec(block(range), 0..3),
        structured,
        of(any::<bool>()),
        meta(),
    )
        .prop_map(|(content, structured, is_error, meta)| {
            let mut it = CallToolResult::new(content);
            it.structured_content =
                structured.map(|value| RawValue::from_string(value.to_string()).unwrap());
            (it.is_error, it.meta) = (is_error, meta);
            it
        })
        .boxed()
}

/// A request with its result.
pub(crate) fn exchange(
    range: Range,
    version: ProtocolVersion,
) -> BoxedStrategy<(ClientRequest, ResultBody)> {
    asked(range, version)
        .prop_flat_map(move |asked| {
            let body = body(&asked, range, version);
            (Just(asked), body)
        })
        .boxed()
}

pub(super) fn body(
    asked: &ClientRequest,
    range: Range,
    version: ProtocolVersion,
) -> BoxedStrategy<ResultBody> {
    match asked {
        ClientRequest::Call(call) => call_body(call, range),
        ClientRequest::Discover => (server_capabilities(range), of(text()), meta())
            .prop_map(|(capabilities, instructions, meta)| {
                let mut it = DiscoverResult::default();
                it.supported_versions = vec![ProtocolVersion::LATEST.to_string()];
                it.capabilities = capabilities;
                (it.instructions, it.meta) = (instructions, meta);
                ResultBody::Discover(Arc::new(it))
            })
            .boxed(),
        ClientRequest::Listen(_) => Just(ResultBody::Listen(ListenResult::default())).boxed(),
        ClientRequest::Session(SessionRequest::Initialize(_)) => (
            implementation(),
            server_capabilities(range),
            of(text()),
            meta(),
        )
            .prop_map(move |(info, capabilities, instructions, meta)| {
                let mut it = InitializeResult::new(version, capabilities, info);
                (it.instructions, it.meta) = (instructions, meta);
                ResultBody::Initialize(Arc::new(it))
            })
            .boxed(),
        _ => Just(ResultBody::Empty).boxed(),
    }
}

fn call_body(call: &Call, range: Range) -> BoxedStrategy<ResultBody> {
    match call {
        Call::ListTools(_) => tools(range),
        Call::ListResources(_) => resources(range),
        Call::ListResourceTemplates(_) => templates(range),
        Call::ListPrompts(_) => prompts(range),
        Call::CallTool(_) => tool_result(range).prop_map(ResultBody::CallTool).boxed(),
        Call::ReadResource(_) => (vec(contents(), 0..3), meta())
            .prop_map(|(contents, meta)| {
                let mut it = ReadResourceResult::default();
                (it.contents, it.meta) = (contents, meta);
                ResultBody::ReadResource(it)
            })
            .boxed(),
        Call::GetPrompt(_) => (vec((role(), block(range)), 0..3), of(text()), meta())
            .prop_map(|(messages, description, meta)| {
                let mut it = GetPromptResult::default();
                it.messages = messages
                    .into_iter()
                    .map(|(role, block)| PromptMessage::new(role, block))
                    .collect();
                (it.description, it.meta) = (description, meta);
                ResultBody::GetPrompt(it)
            })
            .boxed(),
        Call::Complete(_) => (vec(text(), 0..3), of(0_u64..9), of(any::<bool>()))
            .prop_map(|(values, total, has_more)| {
                let mut it = CompleteResult::default();
                it.completion.values = values;
                (it.completion.total, it.completion.has_more) = (total, has_more);
                ResultBody::Complete(it)
            })
            .boxed(),
        _ => raw_object().prop_map(ResultBody::Other).boxed(),
    }
}

/// Faults of every kind.
pub(crate) fn fault() -> BoxedStrategy<Fault> {
    let url = ElicitUrlParams::new("Sign in", "https://example.com/a");
    let fixed = vec![
        Fault::InvalidRequest("r".into()),
        Fault::bad_params("p").with_data(&json!({"a": 1})),
        Fault::no_such_method("m"),
        Fault::no_such_tool("t"),
        Fault::NoSuchItem {
            kind: ItemKind::Resource,
            id: "file:///a".into(),
        },
        Fault::MissingCapability {
            required: Arc::new(ClientCapabilities::default().with_sampling()),
        },
        Fault::UnsupportedVersion {
            requested: "1900-01-01".into(),
            supported: vec!["2026-07-28".to_owned()],
        },
        Fault::HeaderMismatch("h".into()),
        Fault::UrlElicitationRequired {
            elicitations: vec![url.clone().elicitation_id("e"), url],
        },
        Fault::UserRejected("no".into()),
        Fault::Refused("q".into()),
        Fault::Deadline,
        Fault::internal("i"),
        Fault::InvalidMessage(mcp_types::ParseError::Batch),
    ];
    let own = prop_oneof![
        (-32_800_i64..-31_900),
        any::<i64>(),
        Just(-32_042),
        Just(-32_002)
    ];
    let own = (own, text()).prop_map(|(code, text)| Fault::Protocol(ErrorObject::new(code, text)));
    prop_oneof![2 => proptest::sample::select(fixed), 1 => own].boxed()
}

/// A request with a reply of any kind.
pub(crate) fn reply(
    range: Range,
    version: ProtocolVersion,
) -> BoxedStrategy<(ClientRequest, Reply)> {
    let complete = exchange(range, version).prop_map(|(asked, body)| (asked, body.into()));
    let failed = (asked(range, version), fault()).prop_map(|(asked, fault)| (asked, fault.into()));
    if !version.is_modern() {
        return prop_oneof![8 => complete, 1 => failed].boxed();
    }
    let tool = || ClientRequest::Call(Call::CallTool(CallToolParams::new("add", None)));
    let first =
        input_required(range).prop_map(move |required| (tool(), Reply::InputRequired(required)));
    prop_oneof![6 => complete, 2 => first, 1 => failed].boxed()
}
