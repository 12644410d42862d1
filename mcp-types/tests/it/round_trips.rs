//! Property tests: values round trip through text and `serde_json::Value`, with members in any order.

use std::fmt::Debug;

use mcp_types::legacy_tasks::TaskStatus;
use mcp_types::meta::TraceParent;
use mcp_types::{
    Annotations, AudioContent, Blob, BooleanSchema, CacheScope, CallToolResult, Choice, Choices,
    ClientCapabilities, ContentBlock, CreateMessageParams, ElicitFormParams, ElicitParams,
    ElicitUrlParams, ElicitationCapability, EnumSchema, ExtraFields, FormSchema, ImageContent,
    InputRequest, InputRequests, InputRequired, JsonObject, Meta, MultiSelectSchema, NumberSchema,
    PrimitiveSchema, ProgressParams, ProgressUpdate, RawObject, RequestId, ResourceContents,
    ResourceLink, Role, RootsCapability, SamplingCapability, SamplingContent, SamplingMessage,
    StopReason, StringFormat, StringSchema, SubscriptionFilter, TextContent, ToolResultContent,
    ToolUseContent,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::{BoxedStrategy, Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

#[track_caller]
fn round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(it: &T) {
    let text = serde_json::to_string(it).unwrap();
    let from_text: T = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
    assert_eq!(&from_text, it, "{text}");
    let value = serde_json::to_value(it).unwrap();
    let from_value: T = serde_json::from_value(value.clone()).unwrap();
    assert_eq!(&from_value, it, "{text}");
    // Arrays keep their order. The order of members does not matter.
    let from_reversed: T = serde_json::from_value(reversed(value.clone())).unwrap();
    assert_eq!(serde_json::to_value(&from_reversed).unwrap(), value);
}

fn reversed(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter().rev();
            members.map(|(key, value)| (key, reversed(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(reversed).collect(),
        extra => extra,
    }
}

/// Strings, some of which need escapes.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,6}",
        "\\PC{0,6}",
        Just("\"\\\n\u{0}\u{1f600}".to_owned())
    ]
}

/// Numbers that round trip exactly through text.
fn number() -> impl Strategy<Value = f64> {
    (-4_000_i32..4_000).prop_map(|quarters| f64::from(quarters) / 4.0)
}

fn json() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        number().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            vec((text(), inner), 0..3).prop_map(|members| members.into_iter().collect()),
        ]
    })
    .boxed()
}

/// Members that no type defines.
fn unknown() -> impl Strategy<Value = JsonObject> {
    btree_map("x-[a-z]{1,3}", json(), 0..3).prop_map(|members| members.into_iter().collect())
}

fn meta() -> impl Strategy<Value = Option<Meta>> {
    option::weighted(0.3, unknown().prop_map(Meta::from))
}

fn raw() -> impl Strategy<Value = RawObject> {
    unknown().prop_map(|members| RawObject::from_value(&members).unwrap())
}

fn hints() -> BoxedStrategy<Option<Annotations>> {
    let role = text().prop_map(Role::from);
    let made = (
        vec(role, 0..3),
        option::of(number()),
        option::of(text()),
        unknown(),
    );
    let made = made.prop_map(|(audience, priority, last_modified, extra)| {
        let mut hints = Annotations::default();
        hints.audience = audience;
        hints.priority = priority;
        hints.last_modified = last_modified;
        hints.extra = extra.into();
        hints
    });
    option::weighted(0.3, made).boxed()
}

fn resource() -> BoxedStrategy<ResourceContents> {
    let bytes = vec(any::<u8>(), 0..9);
    let contents = prop_oneof![
        (text(), text()).prop_map(|(uri, text)| ResourceContents::text(uri, text)),
        (text(), bytes).prop_map(|(uri, bytes)| ResourceContents::blob(uri, bytes)),
    ];
    (contents, option::of(text()), option::of(json()))
        .prop_map(|(contents, kind, extra)| {
            let contents = match kind {
                Some(kind) => contents.mime_type(kind),
                None => contents,
            };
            match extra {
                Some(extra) => contents.meta("x", extra),
                None => contents,
            }
        })
        .boxed()
}

/// Blocks without nested blocks.
fn plain_block() -> BoxedStrategy<ContentBlock> {
    let bytes = || vec(any::<u8>(), 0..9);
    prop_oneof![
        (text(), hints(), meta()).prop_map(|(text, hints, meta)| {
            let mut block = TextContent::default();
            block.text = text;
            (block.annotations, block.meta) = (hints, meta);
            block.into()
        }),
        (bytes(), text(), hints()).prop_map(|(bytes, kind, hints)| {
            let mut block = ImageContent::default();
            (block.data, block.mime_type) = (bytes.into(), kind);
            block.annotations = hints;
            block.into()
        }),
        (bytes(), text(), meta()).prop_map(|(bytes, kind, meta)| {
            let mut block = AudioContent::default();
            (block.data, block.mime_type) = (bytes.into(), kind);
            block.meta = meta;
            block.into()
        }),
        (resource(), hints(), meta()).prop_map(|(resource, hints, meta)| {
            let mut block = ContentBlock::resource(resource);
            if let ContentBlock::Resource(embedded) = &mut block {
                (embedded.annotations, embedded.meta) = (hints, meta);
            }
            block
        }),
        (text(), text(), option::of(any::<u64>()), meta()).prop_map(|(uri, name, size, meta)| {
            let mut block = ResourceLink::new(uri, name).title("T");
            (block.size, block.meta) = (size, meta);
            block.into()
        }),
        ("x-[a-z]{1,4}", unknown()).prop_map(|(kind, rest)| {
            let tag = std::iter::once(("type".to_owned(), Value::from(kind)));
            ContentBlock::Other(tag.chain(rest).collect())
        }),
    ]
    .boxed()
}

fn block() -> BoxedStrategy<ContentBlock> {
    let blocks = vec(plain_block(), 0..3);
    prop_oneof![
        4 => plain_block(),
        1 => (text(), text(), raw(), meta()).prop_map(|(id, name, input, meta)| {
            let mut block = ToolUseContent::new(id, name, input);
            block.meta = meta;
            block.into()
        }),
        1 => (text(), blocks, option::of(json()), any::<Option<bool>>()).prop_map(
            |(id, blocks, structured, failed)| {
                let mut block = ToolResultContent::new(id, blocks);
                (block.structured_content, block.is_error) = (structured, failed);
                block.into()
            }
        ),
    ]
    .boxed()
}

fn extra_fields() -> impl Strategy<Value = Option<ExtraFields>> {
    option::of(unknown().prop_map(ExtraFields::from))
}

fn client() -> BoxedStrategy<ClientCapabilities> {
    let roots = (any::<Option<bool>>(), unknown()).prop_map(|(changed, extra)| {
        let mut roots = RootsCapability::default();
        (roots.list_changed, roots.extra) = (changed, extra.into());
        roots
    });
    let sampling =
        (extra_fields(), extra_fields(), unknown()).prop_map(|(context, tools, extra)| {
            let mut sampling = SamplingCapability::default();
            (sampling.context, sampling.tools, sampling.extra) = (context, tools, extra.into());
            sampling
        });
    let elicitation = (extra_fields(), extra_fields(), unknown()).prop_map(|(form, url, extra)| {
        let mut elicitation = ElicitationCapability::default();
        (elicitation.form, elicitation.url, elicitation.extra) = (form, url, extra.into());
        elicitation
    });
    let tasks = option::of(Just(
        serde_json::json!({"list": {}, "requests": {"x-y": {}}}),
    ));
    let known = (
        option::of(roots),
        option::of(sampling),
        option::of(elicitation),
        tasks,
    );
    (known, unknown(), unknown(), unknown())
        .prop_map(
            |((roots, sampling, elicitation, tasks), extensions, experimental, extra)| {
                let mut client = ClientCapabilities::default();
                (client.roots, client.sampling, client.elicitation) =
                    (roots, sampling, elicitation);
                client.tasks = tasks.map(|tasks| serde_json::from_value(tasks).unwrap());
                (client.extensions, client.experimental, client.extra) =
                    (extensions.into(), experimental.into(), extra.into());
                client
            },
        )
        .boxed()
}

fn legacy_choices(choices: &Choices) -> Choices {
    let pairs = choices.iter();
    let (values, titles) = pairs
        .map(|(value, title)| (value.to_owned(), title.to_owned()))
        .unzip();
    Choices::Legacy { values, titles }
}

fn choices() -> BoxedStrategy<Choices> {
    prop_oneof![
        vec(text(), 0..3).prop_map(Choices::from),
        vec((text(), text()), 0..3).prop_map(|pairs| {
            let choices = pairs
                .into_iter()
                .map(|(value, title)| Choice::new(value, title));
            Choices::from(choices.collect::<Vec<_>>())
        }),
    ]
    .boxed()
}

fn field() -> BoxedStrategy<PrimitiveSchema> {
    let size = || option::of(any::<u64>());
    prop_oneof![
        (option::of(text()), size(), size(), option::of(text())).prop_map(
            |(title, least, most, format)| {
                let mut field = StringSchema::new();
                field.title = title;
                (field.min_length, field.max_length) = (least, most);
                field.format = format.map(StringFormat::from);
                field.into()
            }
        ),
        (any::<bool>(), option::of(number()), option::of(number())).prop_map(
            |(whole, least, default)| {
                let mut field = if whole {
                    NumberSchema::integer()
                } else {
                    NumberSchema::number()
                };
                (field.minimum, field.default) = (least, default);
                field.into()
            }
        ),
        any::<Option<bool>>().prop_map(|default| {
            let mut field = BooleanSchema::new().title("B");
            field.default = default;
            field.into()
        }),
        (choices(), option::of(text()), any::<bool>()).prop_map(|(choices, default, legacy)| {
            let choices = if legacy {
                legacy_choices(&choices)
            } else {
                choices
            };
            let mut field = EnumSchema::new(choices);
            field.default = default;
            field.into()
        }),
        (choices(), size(), option::of(vec(text(), 0..3))).prop_map(|(choices, most, default)| {
            let mut field = MultiSelectSchema::new(choices);
            (field.max_items, field.default) = (most, default);
            field.into()
        }),
        unknown().prop_map(PrimitiveSchema::Other),
    ]
    .boxed()
}

fn form() -> impl Strategy<Value = FormSchema> {
    vec((text(), field(), any::<bool>()), 0..4).prop_map(|fields| {
        fields
            .into_iter()
            .fold(FormSchema::new(), |form, (name, field, needed)| {
                if needed {
                    form.required(name, field)
                } else {
                    form.optional(name, field)
                }
            })
    })
}

fn elicit() -> BoxedStrategy<ElicitParams> {
    prop_oneof![
        (text(), form(), any::<bool>(), meta()).prop_map(|(message, form, mode, meta)| {
            let mut asked = ElicitFormParams::new(message, form);
            asked.meta = meta;
            if mode { asked.with_mode() } else { asked }.into()
        }),
        (text(), text(), option::of(text())).prop_map(|(message, url, id)| {
            let mut asked = ElicitUrlParams::new(message, url);
            asked.elicitation_id = id;
            asked.into()
        }),
        ("x-[a-z]{1,4}", unknown()).prop_map(|(mode, rest)| {
            let mode = std::iter::once(("mode".to_owned(), Value::from(mode)));
            ElicitParams::Other(mode.chain(rest).collect())
        }),
    ]
    .boxed()
}

fn message() -> BoxedStrategy<SamplingMessage> {
    let content = prop_oneof![
        block().prop_map(SamplingContent::from),
        vec(block(), 0..3).prop_map(SamplingContent::from),
    ];
    (text(), content)
        .prop_map(|(role, content)| SamplingMessage::new(Role::from(role), content))
        .boxed()
}

fn input() -> BoxedStrategy<InputRequest> {
    prop_oneof![
        elicit().prop_map(InputRequest::from),
        (vec(message(), 0..3), any::<u64>(), option::of(number())).prop_map(
            |(messages, most, temperature)| {
                let mut params = CreateMessageParams::new(messages, most);
                params.temperature = temperature;
                params.into()
            }
        ),
        Just(InputRequest::ListRoots),
        ("x-[a-z]{1,4}", option::of(unknown()))
            .prop_map(|(method, params)| InputRequest::Other { method, params }),
    ]
    .boxed()
}

fn filter() -> impl Strategy<Value = SubscriptionFilter> {
    let flags = any::<(bool, bool, bool, bool)>();
    (flags, vec(text(), 0..3), vec(text(), 0..3), unknown()).prop_map(
        |((tools, prompts, resources, events), uris, ids, extra)| {
            let mut filter = SubscriptionFilter::new();
            filter.tools_list_changed = tools;
            filter.prompts_list_changed = prompts;
            filter.resources_list_changed = resources;
            filter.events_list_changed = events;
            (filter.resource_subscriptions, filter.task_ids, filter.extra) =
                (uris, ids, extra.into());
            filter
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn id_and_string_enum_round_trip(number in any::<i64>(), text in text(), public in any::<bool>()) {
        round_trip(&RequestId::from(number));
        round_trip(&RequestId::from(&*text));
        round_trip(&Role::from(&*text));
        round_trip(&StopReason::from(&*text));
        round_trip(&TaskStatus::from(&*text));
        round_trip(&if public { CacheScope::Public } else { CacheScope::Private });
    }

    // spec: RSRC-07
    #[test]
    fn blob_round_trips(bytes in vec(any::<u8>(), 0..99)) {
        round_trip(&Blob::from(bytes));
    }

    // spec: META-05
    #[test]
    fn raw_object_and_meta_round_trip(raw in raw(), meta in unknown()) {
        round_trip(&raw);
        round_trip(&Meta::from(meta.clone()));
        round_trip(&ExtraFields::from(meta));
    }

    #[test]
    fn content_block_round_trips(block in block(), contents in resource()) {
        round_trip(&block);
        round_trip(&contents);
        let result = CallToolResult::new(vec![block]);
        let text = serde_json::to_string(&result).unwrap();
        let read: CallToolResult = serde_json::from_str(&text).unwrap();
        assert_eq!(read.content, result.content);
    }

    #[test]
    fn client_capabilities_round_trip(client in client()) {
        round_trip(&client);
    }

    #[test]
    fn form_round_trips(field in field(), form in form()) {
        round_trip(&field);
        let text = serde_json::to_string(&form).unwrap();
        // The order of fields is significant, so the members are not reversed.
        assert_eq!(serde_json::from_str::<FormSchema>(&text).unwrap(), form);
    }

    #[test]
    fn input_request_round_trips(asked in elicit(), message in message(), input in input()) {
        let text = serde_json::to_string(&asked).unwrap();
        assert_eq!(serde_json::from_str::<ElicitParams>(&text).unwrap(), asked);
        round_trip(&message);
        let text = serde_json::to_string(&input).unwrap();
        assert_eq!(serde_json::from_str::<InputRequest>(&text).unwrap(), input);
        let requests = InputRequests::from([("k".to_owned(), input)]);
        let required = InputRequired::new(&requests).unwrap();
        assert_eq!(required.requests().unwrap(), requests);
    }

    #[test]
    fn filter_and_progress_round_trip(filter in filter(), (done, total) in (number(), number())) {
        round_trip(&filter);
        let progress = ProgressParams::new("t", ProgressUpdate::new(done).of(total));
        round_trip(&progress);
    }

    #[test]
    fn trace_parent_round_trips(trace in 1..u128::MAX, span in 1..u64::MAX, flags in any::<u8>()) {
        let mut parent = TraceParent::new(trace, span).unwrap();
        parent.flags = flags;
        round_trip(&parent);
    }

    #[test]
    fn trace_parent_parsed_from_any_text_round_trips(text in "[0-9a-f-]{0,60}|\\PC{0,60}") {
        if let Ok(parent) = text.parse::<TraceParent>() {
            assert_eq!(parent.to_string().parse(), Ok(parent));
        }
    }
}
