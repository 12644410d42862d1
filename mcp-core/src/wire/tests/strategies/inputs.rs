//! Requests for input and their responses.

use crate::message::{ClientResponse, Fault, InputState, ServerRequest};
use mcp_types::legacy_tasks::TaskMetadata;
use mcp_types::{
    BooleanSchema, Choice, CreateMessageParams, CreateMessageResult, ElicitFormParams,
    ElicitParams, ElicitResult, ElicitUrlParams, EnumSchema, FormSchema, IncludeContext,
    InputRequest, InputRequired, InputResponse, InputResponses, JsonObject, ListRootsResult,
    ModelPreferences, MultiSelectSchema, NumberSchema, PrimitiveSchema, RawObject, Root,
    SamplingContent, SamplingMessage, StringFormat, StringSchema, ToolChoiceMode,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::basics::{Range, meta, number, role, session_meta, share, text, uri};
use super::content::{simple_block, tool_block};
use super::definitions::tool;

fn field(range: Range) -> BoxedStrategy<PrimitiveSchema> {
    let values = || vec("[a-z]{1,4}".prop_map(String::from), 1..3);
    let choices = || {
        vec(("[a-z]{1,4}", text()), 1..3).prop_map(|choices| -> Vec<Choice> {
            let choices = choices.into_iter();
            choices
                .map(|(value, title)| Choice::new(value, title))
                .collect()
        })
    };
    let string = (of(text()), of(0_u64..9), of(text()), any::<bool>());
    let string = string.prop_map(|(title, least, default, formatted)| {
        let mut field = StringSchema::new();
        (field.title, field.min_length, field.default) = (title, least, default);
        field.format = formatted.then_some(StringFormat::Date);
        field.into()
    });
    // The schemas up to 2025-11-25 allow integers only.
    let number = (any::<bool>(), of(0_u32..9), of(0_u32..9)).prop_map(|(whole, least, default)| {
        let mut field = if whole {
            NumberSchema::integer()
        } else {
            NumberSchema::number()
        };
        (field.minimum, field.default) = (least.map(f64::from), default.map(f64::from));
        field.into()
    });
    let boolean = of(any::<bool>()).prop_map(|default| {
        let mut field = BooleanSchema::new().description("d");
        field.default = default;
        field.into()
    });
    let _ = range;
    prop_oneof![
        string,
        number,
        boolean,
        values().prop_map(|values| {
            let first = values[0].clone();
            EnumSchema::new(values).default_value(first).into()
        }),
        choices().prop_map(|choices| EnumSchema::new(choices).title("t").into()),
        (values(), of(text())).prop_map(|(values, description)| {
            let mut field = MultiSelectSchema::new(values.clone()).max_items(2);
            (field.description, field.default) = (description, Some(values));
            field.into()
        }),
        choices().prop_map(|choices| MultiSelectSchema::new(choices).into()),
    ]
    .boxed()
}

/// A request for input.
pub(crate) fn input_request(range: Range) -> BoxedStrategy<InputRequest> {
    let form = vec(("[a-z]{1,3}", field(range), any::<bool>()), 0..4);
    let task = || range.apart(Just(TaskMetadata::default()));
    let form = (form, text(), any::<bool>(), task(), session_meta(range));
    let form = form.prop_map(|(fields, message, named, task, meta)| {
        let mut schema = FormSchema::new();
        for (name, field, required) in fields {
            schema = if required {
                schema.required(name, field)
            } else {
                schema.optional(name, field)
            };
        }
        let mut form = ElicitFormParams::new(message, schema);
        form = if named { form.with_mode() } else { form };
        (form.task, form.meta) = (task, meta);
        ElicitParams::from(form).into()
    });
    // The field that one of the two newest revisions requires and the other does not have.
    let url = (text(), of(text()), task(), session_meta(range));
    let url = url.prop_map(|(message, id, task, meta)| {
        let mut url = ElicitUrlParams::new(message, "https://example.com/a");
        (url.elicitation_id, url.task, url.meta) = (id, task, meta);
        ElicitParams::from(url).into()
    });
    let roots = Just(InputRequest::ListRoots);
    match range {
        Range::Shared => prop_oneof![3 => form, 3 => create_message(range), 1 => roots].boxed(),
        Range::All => {
            prop_oneof![3 => form, 2 => url, 3 => create_message(range), 1 => roots].boxed()
        }
    }
}

fn sampling_content(range: Range) -> BoxedStrategy<SamplingContent> {
    let one = || prop_oneof![2 => simple_block(), 1 => tool_block(range)];
    prop_oneof![
        one().prop_map(SamplingContent::One),
        vec(one(), 0..4).prop_map(SamplingContent::Many),
    ]
    .boxed()
}

fn create_message(range: Range) -> BoxedStrategy<InputRequest> {
    let message = (role(), sampling_content(range), meta()).prop_map(|(role, content, meta)| {
        let mut message = SamplingMessage::new(role, content);
        message.meta = meta;
        message
    });
    let preferences = of((text(), of(share())).prop_map(|(name, cost)| {
        let mut it = ModelPreferences::default().hint(name);
        it.cost_priority = cost;
        it
    }));
    // The schema of 2026-07-28 does not allow `null` and fractions here.
    let metadata = vec(("[a-z]{1,3}", text().prop_map(Value::from)), 0..3);
    let metadata = metadata.prop_map(|members| members.into_iter().collect::<JsonObject>());
    let options = (of(text()), of(number()), vec(text(), 0..2), of(metadata));
    let tools = (vec(tool(range), 0..2), of(Just(ToolChoiceMode::Required)));
    let apart = (
        range.apart(Just(TaskMetadata::default())),
        session_meta(range),
    );
    (vec(message, 0..3), preferences, options, tools, apart)
        .prop_map(
            |(messages, preferences, options, (tools, choice), (task, meta))| {
                let mut it = CreateMessageParams::new(messages, 100);
                it.include_context = Some(IncludeContext::None);
                let (prompt, temperature, stop, metadata) = options;
                (it.model_preferences, it.system_prompt) = (preferences, prompt);
                (it.temperature, it.stop_sequences, it.metadata) = (temperature, stop, metadata);
                (it.tools, it.task, it.meta) = (tools, task, meta);
                if let Some(mode) = choice {
                    it = it.tool_choice(mode);
                }
                it.into()
            },
        )
        .boxed()
}

/// A request of a server with a response.
pub(crate) fn asked_and_answered(range: Range) -> BoxedStrategy<(ServerRequest, ClientResponse)> {
    let ping = Just((ServerRequest::Ping, ClientResponse::Pong));
    let input = input_request(range).prop_flat_map(move |request| {
        let response = input_response(&request, range);
        (
            Just(request.into()),
            response.prop_map(ClientResponse::Input),
        )
    });
    let fault =
        input_request(range).prop_map(|request| (request.into(), Fault::bad_params("no").into()));
    prop_oneof![1 => ping, 8 => input, 1 => fault].boxed()
}

/// A response to a request for input.
pub(crate) fn input_response(request: &InputRequest, range: Range) -> BoxedStrategy<InputResponse> {
    match request {
        InputRequest::Elicit(params) => elicited(params, range),
        InputRequest::CreateMessage(_) => {
            let reason = of(prop_oneof![Just("endTurn".to_owned()), text()]);
            (sampling_content(range), reason, session_meta(range))
                .prop_map(|(content, reason, meta)| {
                    let mut it = CreateMessageResult::new("model", content);
                    (it.stop_reason, it.meta) = (reason.map(Into::into), meta);
                    it.into()
                })
                .boxed()
        }
        _ => {
            let root = (uri(), of(text()), meta()).prop_map(|(uri, name, meta)| {
                let mut root = Root::from(uri);
                (root.name, root.meta) = (name, meta);
                root
            });
            (vec(root, 0..3), session_meta(range))
                .prop_map(|(roots, meta)| {
                    let mut it = ListRootsResult::from(roots);
                    it.meta = meta;
                    it.into()
                })
                .boxed()
        }
    }
}

/// The values of a form: a list where the field has several values.
fn elicited(params: &ElicitParams, range: Range) -> BoxedStrategy<InputResponse> {
    let content = match params {
        ElicitParams::Form(form) => {
            let fields = form.requested_schema.fields().map(|(name, field)| {
                let value = match field {
                    PrimitiveSchema::Number(_) => json!(7),
                    PrimitiveSchema::Boolean(_) => json!(true),
                    PrimitiveSchema::MultiSelect(_) => json!(["a", "b"]),
                    _ => json!("a"),
                };
                (name.to_owned(), value)
            });
            Some(fields.collect::<JsonObject>())
        }
        _ => None,
    };
    let accepted = match content {
        Some(content) => ElicitResult::accept(content),
        None => ElicitResult::accept_url(),
    };
    let results = prop_oneof![
        4 => Just(accepted),
        1 => Just(ElicitResult::decline()),
        1 => Just(ElicitResult::cancel()),
    ];
    (results, session_meta(range))
        .prop_map(|(mut result, meta)| {
            result.meta = meta;
            result.into()
        })
        .boxed()
}

/// A modern result that asks for input.
pub(crate) fn input_required(range: Range) -> BoxedStrategy<InputRequired> {
    (
        vec((text(), input_request(range)), 0..4),
        of(text()),
        meta(),
    )
        .prop_map(|(requests, state, meta)| {
            let mut it = InputRequired::new(&requests.into_iter().collect()).unwrap();
            (it.request_state, it.meta) = (state, meta);
            it
        })
        .boxed()
}

/// The input of a repeated request.
pub(crate) fn retried() -> BoxedStrategy<InputState> {
    let answered = input_request(Range::All).prop_flat_map(|asked| {
        let answer = input_response(&asked, Range::All);
        (text(), answer.prop_map(|answer| answer.to_raw().unwrap()))
    });
    (of(vec(answered, 0..3)), of(text()))
        .prop_map(|(answers, state)| {
            let responses = answers.map(|answers| {
                let answers: InputResponses = answers.into_iter().collect();
                RawObject::from_value(&answers).unwrap()
            });
            InputState {
                responses,
                state: state.map(Into::into),
            }
        })
        .boxed()
}
