//! Requests of clients.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::message::{Call, ClientRequest, SessionRequest};
use mcp_types::legacy_tasks::TaskMetadata;
use mcp_types::{
    CallToolParams, CompleteParams, CompletionReference, GetPromptParams, InitializeParams,
    JsonObject, LoggingLevel, Page, ProtocolVersion, RawObject, ReadResourceParams,
    SubscribeParams, SubscriptionFilter,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use super::basics::{Range, raw_object, session_meta, text, uri};
use super::definitions::cursor;
use super::profile::{client_capabilities, implementation};

/// A call with its parameters.
pub(crate) fn call(range: Range) -> BoxedStrategy<Call> {
    let page = || cursor().prop_map(|cursor| cursor.map_or_else(Page::default, Page::from));
    let task = range.apart(of(0_u64..9).prop_map(|ttl| {
        let mut task = TaskMetadata::default();
        task.ttl = ttl;
        task
    }));
    let complete = (text(), any::<bool>(), of(text())).prop_map(|(text, prompt, known)| {
        let reference = if prompt {
            CompletionReference::prompt(&text)
        } else {
            CompletionReference::template("file:///{a}")
        };
        let params = CompleteParams::new(reference, "a", text);
        match known {
            Some(known) => params.context(JsonObject::from_iter([("b".to_owned(), known.into())])),
            None => params,
        }
    });
    let strings = vec(("[a-z]{1,3}", text()), 0..3).prop_map(|members| {
        let members: BTreeMap<_, _> = members.into_iter().collect();
        RawObject::from_value(&members).unwrap()
    });
    prop_oneof![
        page().prop_map(Call::ListTools),
        page().prop_map(Call::ListResources),
        page().prop_map(Call::ListResourceTemplates),
        page().prop_map(Call::ListPrompts),
        (text(), of(raw_object()), task).prop_map(|(name, arguments, task)| {
            let mut params = CallToolParams::new(name, arguments);
            params.task = task;
            Call::CallTool(params)
        }),
        uri().prop_map(|uri| Call::ReadResource(ReadResourceParams::from(uri))),
        (text(), of(strings))
            .prop_map(|(name, arguments)| Call::GetPrompt(GetPromptParams::new(name, arguments))),
        complete.prop_map(|params| Call::Complete(params.into())),
        raw_object().prop_map(|params| Call::Other {
            method: "com.example/do".into(),
            params: Some(params),
        }),
    ]
    .boxed()
}

pub(super) fn filter() -> BoxedStrategy<SubscriptionFilter> {
    (any::<[bool; 3]>(), vec(uri(), 0..3))
        .prop_map(|([tools, prompts, resources], uris)| {
            let mut it = SubscriptionFilter::new();
            (it.tools_list_changed, it.prompts_list_changed) = (tools, prompts);
            (it.resources_list_changed, it.resource_subscriptions) = (resources, uris);
            it
        })
        .boxed()
}

pub(super) fn level() -> BoxedStrategy<LoggingLevel> {
    prop_oneof![Just(LoggingLevel::Debug), Just(LoggingLevel::Emergency)].boxed()
}

/// Every request of a client in a revision.
pub(crate) fn asked(range: Range, version: ProtocolVersion) -> BoxedStrategy<ClientRequest> {
    if version.is_modern() {
        return prop_oneof![
            6 => call(range).prop_map(ClientRequest::Call),
            1 => Just(ClientRequest::Discover),
            1 => filter().prop_map(|filter| ClientRequest::Listen(filter.into())),
        ]
        .boxed();
    }
    let params = (
        implementation(),
        client_capabilities(range),
        session_meta(range),
    );
    let initialize = params.prop_map(move |(info, capabilities, meta)| {
        let mut params = InitializeParams::new(version, capabilities, info);
        params.meta = meta;
        SessionRequest::Initialize(Arc::new(params))
    });
    prop_oneof![
        6 => call(range).prop_map(ClientRequest::Call),
        2 => initialize.prop_map(ClientRequest::Session),
        1 => Just(SessionRequest::Ping.into()),
        1 => level().prop_map(|level| SessionRequest::SetLevel(level).into()),
        1 => uri().prop_map(|uri| SessionRequest::Subscribe(SubscribeParams::from(uri)).into()),
        1 => uri().prop_map(|uri| SessionRequest::Unsubscribe(SubscribeParams::from(uri)).into()),
    ]
    .boxed()
}
