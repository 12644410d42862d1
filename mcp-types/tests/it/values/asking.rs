//! Requests of a server to its client, and the responses.

use mcp_types::legacy_tasks::TaskMetadata;
use mcp_types::{
    BooleanSchema, Choice, Choices, CreateMessageParams, CreateMessageResult, ElicitFormParams,
    ElicitParams, ElicitResult, ElicitUrlParams, ElicitationComplete, EnumSchema, FormSchema,
    IncludeContext, InputRequest, InputRequests, InputRequired, InputResponse, InputResponses,
    ListRootsResult, Method, ModelHint, ModelPreferences, MultiSelectSchema, NumberSchema,
    PlainNotification, PrimitiveSchema, Root, SamplingMessage, StopReason, StringFormat,
    StringSchema, ToolChoice, ToolChoiceMode,
};
use serde_json::json;

use super::{Cases, R1, R3, R4, R5, Shape, extra, object, text, tool, tool_result, tool_use};

pub(super) fn add(cases: &mut Cases) {
    sampling(cases);
    fields(cases);
    elicitation(cases);
    roots(cases);
    input(cases);
}

fn preferences() -> ModelPreferences {
    let mut preferences = ModelPreferences::default().hint("small");
    preferences.cost_priority = Some(0.0);
    preferences.speed_priority = Some(1.0);
    preferences.intelligence_priority = Some(0.25);
    preferences
}

fn create_message() -> CreateMessageParams {
    let messages = [
        SamplingMessage::user(text()),
        SamplingMessage::assistant("ok"),
    ];
    let mut params = CreateMessageParams::new(messages, 100)
        .model_preferences(preferences())
        .system_prompt("Be brief.")
        .temperature(0.5);
    params.include_context = Some(IncludeContext::ThisServer);
    params.stop_sequences.push("END".to_owned());
    params.metadata = json!({"provider": {"x": 1}}).as_object().cloned();
    params
}

fn sampling(cases: &mut Cases) {
    let ask = Method::CreateMessage;
    let mut result = CreateMessageResult::new("small", text()).stop_reason(StopReason::MaxTokens);
    result.meta = Some(extra());
    let mut message = SamplingMessage::user("hi");
    message.meta = Some(extra());
    cases
        .span(R1, R5)
        .plain("ModelPreferences", &ModelPreferences::default())
        .plain("ModelPreferences", &preferences())
        .plain("ModelHint", &ModelHint::default())
        .plain("ModelHint", &preferences().hints[0])
        .plain("SamplingMessage", &message)
        .asked(
            "CreateMessageRequest",
            ask,
            &CreateMessageParams::new([], 1),
        )
        .asked("CreateMessageRequest", ask, &create_message())
        .plain("CreateMessageResult", &CreateMessageResult::new("m", "hi"))
        .plain(
            "CreateMessageResult",
            &result.clone().stop_reason("of its own"),
        )
        .plain("CreateMessageResult", &result);
    let called = SamplingMessage::assistant(vec![text(), tool_use()]);
    let answered = SamplingMessage::user(vec![tool_result(json!({}))]);
    let mut with_tools = CreateMessageParams::new([called.clone(), answered.clone()], 1)
        .tool(tool())
        .tool_choice(ToolChoiceMode::Required);
    cases
        .span(R4, R5)
        .plain("SamplingMessage", &called)
        .plain("SamplingMessage", &answered)
        .plain("SamplingMessage", &SamplingMessage::assistant(tool_use()))
        .plain("ToolChoice", &ToolChoice::default())
        .plain("ToolChoice", &with_tools.tool_choice)
        .asked("CreateMessageRequest", ask, &with_tools)
        .plain(
            "CreateMessageResult",
            &CreateMessageResult::new("m", vec![text(), tool_use()]),
        );
    with_tools.task = Some(TaskMetadata::default());
    cases
        .span(R4, R4)
        .asked("CreateMessageRequest", ask, &with_tools);
}

fn colours() -> Vec<Choice> {
    vec![Choice::new("#f00", "Red"), Choice::new("#0f0", "Green")]
}

fn string() -> StringSchema {
    StringSchema::new()
        .title("Mail")
        .description("Where to write to.")
        .min_length(3)
        .max_length(50)
        .format(StringFormat::Email)
        .default_value("a@b")
}

fn number() -> NumberSchema {
    NumberSchema::number()
        .title("Share")
        .description("From 0 to 1.")
        .minimum(0)
        .maximum(1)
        .default_value(0.5)
}

fn plain_choice() -> EnumSchema {
    EnumSchema::new(["S", "M"])
        .title("Size")
        .description("Your size.")
        .default_value("S")
}

fn multi(choices: impl Into<Choices>) -> MultiSelectSchema {
    MultiSelectSchema::new(choices)
        .title("Days")
        .description("When you can come.")
        .min_items(1)
        .max_items(2)
        .default_value(["#f00"])
}

fn fields(cases: &mut Cases) {
    let boolean = BooleanSchema::new()
        .title("News")
        .description("Now and then.")
        .default_value(true);
    let titled = EnumSchema::new(colours())
        .title("Colour")
        .description("The best.");
    let titled = titled.default_value("#f00");
    let legacy = Choices::Legacy {
        values: vec!["#f00".to_owned(), "#0f0".to_owned()],
        titles: vec!["Red".to_owned(), "Green".to_owned()],
    };
    let legacy = EnumSchema::new(legacy).default_value("#0f0");
    cases
        .span(R3, R5)
        .plain("StringSchema", &StringSchema::new())
        .plain("StringSchema", &string())
        .plain("NumberSchema", &NumberSchema::integer())
        .plain("NumberSchema", &number())
        .plain("BooleanSchema", &BooleanSchema::new())
        .plain("BooleanSchema", &boolean)
        .plain("EnumSchema", &legacy)
        .plain("EnumSchema", &plain_choice());
    let fields: [PrimitiveSchema; 4] = [
        string().into(),
        number().into(),
        boolean.into(),
        legacy.clone().into(),
    ];
    for field in &fields {
        cases.plain("PrimitiveSchemaDefinition", field);
    }
    cases
        .span(R4, R5)
        .plain("LegacyTitledEnumSchema", &legacy)
        .plain("UntitledSingleSelectEnumSchema", &EnumSchema::new(["a"]))
        .plain("UntitledSingleSelectEnumSchema", &plain_choice())
        .plain("TitledSingleSelectEnumSchema", &titled)
        .plain("SingleSelectEnumSchema", &titled)
        .plain(
            "UntitledMultiSelectEnumSchema",
            &MultiSelectSchema::new(["a"]),
        )
        .plain("UntitledMultiSelectEnumSchema", &multi(["#f00", "#0f0"]))
        .plain("TitledMultiSelectEnumSchema", &multi(colours()))
        .plain("MultiSelectEnumSchema", &multi(colours()))
        .plain("MultiSelectEnumSchema", &multi(["a"]))
        .plain("EnumSchema", &titled)
        .plain("EnumSchema", &multi(colours()))
        .plain("PrimitiveSchemaDefinition", &titled)
        .plain("PrimitiveSchemaDefinition", &multi(["a"]));
}

fn form() -> FormSchema {
    let mut form = FormSchema::new()
        .required("mail", string())
        .optional("share", number())
        .optional("size", plain_choice());
    form.dialect = Some("https://json-schema.org/draft/2020-12/schema".to_owned());
    form
}

fn elicitation(cases: &mut Cases) {
    let ask = Method::Elicit;
    let least = ElicitParams::from(ElicitFormParams::new("m", FormSchema::new()));
    let full = ElicitFormParams::new("m", form()).with_mode();
    let url = ElicitUrlParams::new("Sign in", "https://example.com/login");
    let content = object(json!({"mail": "a@b", "age": 7, "news": false}));
    cases
        .span(R3, R5)
        .asked("ElicitRequest", ask, &least)
        .asked("ElicitRequest", ask, &full)
        .plain("ElicitResult", &ElicitResult::accept(content))
        .plain("ElicitResult", &ElicitResult::accept_url())
        .plain("ElicitResult", &ElicitResult::decline())
        .plain("ElicitResult", &ElicitResult::cancel());
    let days = object(json!({"days": ["#f00"]}));
    cases
        .span(R4, R5)
        .plain("ElicitRequestFormParams", &least)
        .plain("ElicitRequestFormParams", &full)
        .plain("ElicitResult", &ElicitResult::accept(days));
    cases
        .span(R5, R5)
        .plain("ElicitRequestURLParams", &url)
        .plain("ElicitRequestParams", &ElicitParams::from(url.clone()))
        .asked("ElicitRequest", ask, &ElicitParams::from(url.clone()));
    let mut named = url.elicitation_id("e");
    let mut task = TaskMetadata::default();
    task.ttl = Some(60_000);
    named.task = Some(task);
    named.meta = Some(extra());
    cases
        .span(R4, R4)
        .plain("ElicitRequestURLParams", &named)
        .asked("ElicitRequest", ask, &named)
        .note(
            "ElicitationCompleteNotification",
            Method::ElicitationComplete,
            &ElicitationComplete::from("e"),
        );
}

fn roots(cases: &mut Cases) {
    let mut root = Root::from("file:///home").name("Home");
    root.meta = Some(extra());
    cases
        .span(R1, R5)
        .plain("Root", &Root::from("file:///"))
        .plain("Root", &root)
        .asked(
            "ListRootsRequest",
            Method::ListRoots,
            &PlainNotification::default(),
        )
        .plain("ListRootsResult", &ListRootsResult::default())
        .plain("ListRootsResult", &ListRootsResult::from(vec![root]));
    cases.span(R1, R4).note(
        "RootsListChangedNotification",
        Method::RootsChanged,
        &PlainNotification::default(),
    );
}

fn input(cases: &mut Cases) {
    let requests = InputRequests::from([
        (
            "form".to_owned(),
            ElicitParams::from(ElicitFormParams::new("m", form())).into(),
        ),
        (
            "url".to_owned(),
            ElicitParams::from(ElicitUrlParams::new("m", "https://example.com")).into(),
        ),
        ("model".to_owned(), create_message().into()),
        ("roots".to_owned(), InputRequest::ListRoots),
    ]);
    let answers = [
        InputResponse::from(ElicitResult::cancel()),
        CreateMessageResult::new("m", "hi").into(),
        ListRootsResult::from(vec![Root::from("file:///")]).into(),
    ];
    let responses: InputResponses = answers
        .iter()
        .enumerate()
        .map(|(index, answer)| (index.to_string(), answer.to_raw().unwrap()))
        .collect();
    cases
        .span(R5, R5)
        .plain("InputRequests", &requests)
        .plain("InputResponses", &responses);
    for request in requests.values() {
        cases.plain("InputRequest", request);
    }
    for answer in &answers {
        cases.write_only("InputResponse", Shape::Plain, answer);
    }
    let mut asked = InputRequired::new(&requests).unwrap();
    asked.request_state = Some("sealed".to_owned());
    asked.meta = Some(extra());
    cases
        .result("InputRequiredResult", &InputRequired::again("sealed"))
        .result("InputRequiredResult", &asked);
}
