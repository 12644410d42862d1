//! Golden messages per revision: sessions, requests for input, and
//! subscriptions.

use std::sync::Arc;

use crate::message::{
    ClientNotification, ClientRequest, ClientResponse, Fault, Reply, ResultBody,
    ServerNotification, ServerRequest, SessionRequest,
};
use mcp_types::legacy_tasks::TasksCapability;
use mcp_types::meta::keys;
use mcp_types::{
    BooleanSchema, Cancelled, Choice, ClientCapabilities, ContentBlock, CreateMessageParams,
    CreateMessageResult, ElicitFormParams, ElicitParams, ElicitResult, ElicitUrlParams,
    ElicitationComplete, EnumSchema, ExtraFields, FormSchema, Implementation, InitializeParams,
    InitializeResult, InputRequest, InputRequests, InputRequired, ListRootsResult, ListenResult,
    LogMessage, LoggingLevel, Meta, Method, MultiSelectSchema, NumberSchema, ProgressUpdate,
    ProtocolVersion, RawObject, RequestId, Root, SamplingMessage, ServerCapabilities, StringSchema,
    SubscribeParams, SubscriptionFilter, ToolUseContent,
};
use serde_json::{Value, json};

use super::messages::Side;

const R1: ProtocolVersion = ProtocolVersion::V2024_11_05;
const R2: ProtocolVersion = ProtocolVersion::V2025_03_26;
const R3: ProtocolVersion = ProtocolVersion::V2025_06_18;
const R4: ProtocolVersion = ProtocolVersion::V2025_11_25;
const R5: ProtocolVersion = ProtocolVersion::V2026_07_28;
const LEGACY: [ProtocolVersion; 4] = [R1, R2, R3, R4];

/// An encoded message for the schema test, with the method of its request.
pub(crate) struct Golden {
    pub(crate) version: ProtocolVersion,
    pub(crate) method: Option<Method>,
    pub(crate) text: Vec<u8>,
}

/// Collects encoded messages.
#[derive(Default)]
struct Book(Vec<Golden>);

impl Book {
    fn value(&mut self, version: ProtocolVersion, method: Option<Method>, text: Vec<u8>) -> Value {
        let value = serde_json::from_slice(&text).unwrap();
        self.0.push(Golden {
            version,
            method,
            text,
        });
        value
    }

    fn call(&mut self, version: ProtocolVersion, call: impl Into<ClientRequest>) -> Value {
        let text = Side::new(version).call(&call.into());
        self.value(version, None, text)["params"].take()
    }

    fn reply(
        &mut self,
        version: ProtocolVersion,
        method: Method,
        reply: impl Into<Reply>,
    ) -> Value {
        let text = Side::new(version).reply(&reply.into());
        self.value(version, Some(method), text)["result"].take()
    }

    fn ask(
        &mut self,
        version: ProtocolVersion,
        ask: impl Into<InputRequest>,
    ) -> Result<Value, Fault> {
        let text = Side::new(version).ask(&ServerRequest::Input(ask.into()))?;
        Ok(self.value(version, None, text)["params"].take())
    }

    fn answer(
        &mut self,
        version: ProtocolVersion,
        method: Method,
        answer: impl Into<ClientResponse>,
    ) -> Value {
        let text = Side::new(version).answer(&answer.into());
        self.value(version, Some(method), text)["result"].take()
    }

    fn note(
        &mut self,
        version: ProtocolVersion,
        note: &ServerNotification,
        of: Option<&RequestId>,
    ) -> Option<Value> {
        let text = Side::new(version).note(note, of)?;
        Some(self.value(version, None, text))
    }

    fn client_note(
        &mut self,
        version: ProtocolVersion,
        note: &ClientNotification,
    ) -> Option<Value> {
        let text = Side::new(version).client_note(note)?;
        Some(self.value(version, None, text))
    }
}

/// Returns all messages of this file, for the schema test.
pub(crate) fn all() -> Vec<Golden> {
    let mut book = Book::default();
    handshakes(&mut book);
    tending(&mut book);
    forms(&mut book);
    urls(&mut book);
    sampling(&mut book);
    roots(&mut book);
    notes(&mut book);
    subscriptions(&mut book);
    book.0
}

fn info() -> Implementation {
    Implementation::new("agent", "1")
        .title("Agent")
        .description("d")
}

#[test]
fn handshake_has_the_fields_for_its_revision() {
    handshakes(&mut Book::default());
}

fn handshakes(book: &mut Book) {
    let mut offered = ClientCapabilities::default()
        .with_roots_changes()
        .with_sampling_tools()
        .with_elicitation()
        .with_url_elicitation()
        .with_extension("com.example/x", &json!({}));
    offered.tasks = Some(Arc::<TasksCapability>::default());
    let initialize = |version| {
        let params = InitializeParams::new(version, offered.clone(), info());
        SessionRequest::Initialize(Arc::new(params))
    };
    let first = json!({"roots": {"listChanged": true}, "sampling": {}, "extensions": {"com.example/x": {}}});
    let third = json!({"roots": {"listChanged": true}, "sampling": {}, "elicitation": {}, "extensions": {"com.example/x": {}}});
    let fourth = json!({
        "roots": {"listChanged": true}, "sampling": {"tools": {}}, "elicitation": {"form": {}, "url": {}},
        "tasks": {}, "extensions": {"com.example/x": {}},
    });
    let plain = json!({"name": "agent", "version": "1"});
    let titled = json!({"name": "agent", "version": "1", "title": "Agent"});
    let described = json!({"name": "agent", "version": "1", "title": "Agent", "description": "d"});
    for (version, capabilities, info) in [
        (R1, &first, &plain),
        (R2, &first, &plain),
        (R3, &third, &titled),
        (R4, &fourth, &described),
    ] {
        let expected = json!({
            "protocolVersion": version, "capabilities": capabilities, "clientInfo": info,
        });
        assert_eq!(
            book.call(version, initialize(version)),
            expected,
            "{version}"
        );
    }

    for version in LEGACY {
        let mut capabilities = ServerCapabilities::default();
        capabilities.completions = Some(ExtraFields::default());
        capabilities.tasks = Some(Arc::<TasksCapability>::default());
        let mut result = InitializeResult::new(version, capabilities, info());
        result.instructions = Some("i".to_owned());
        let body = ResultBody::Initialize(Arc::new(result));
        let result = book.reply(version, Method::Initialize, body);
        let offered = &result["capabilities"];
        assert_eq!(
            offered.get("completions").is_some(),
            version != R1,
            "{version}"
        );
        assert_eq!(offered.get("tasks").is_some(), version == R4, "{version}");
        assert_eq!(
            result["serverInfo"].get("title").is_some(),
            version >= R3,
            "{version}"
        );
        assert_eq!(result["instructions"], "i");
    }
}

#[test]
fn session_requests_are_equal_in_every_revision() {
    tending(&mut Book::default());
}

fn tending(book: &mut Book) {
    for version in LEGACY {
        assert_eq!(book.call(version, SessionRequest::Ping), json!({}));
        let level = SessionRequest::SetLevel(LoggingLevel::Warning);
        assert_eq!(book.call(version, level), json!({"level": "warning"}));
        let uri = SubscribeParams::from("file:///a");
        let expected = json!({"uri": "file:///a"});
        assert_eq!(
            book.call(version, SessionRequest::Subscribe(uri.clone())),
            expected
        );
        assert_eq!(
            book.call(version, SessionRequest::Unsubscribe(uri)),
            expected
        );
        assert_eq!(
            book.reply(version, Method::Ping, ResultBody::Empty),
            json!({})
        );
        assert_eq!(
            book.answer(version, Method::Ping, ClientResponse::Pong),
            json!({})
        );
        let text = Side::new(version).ask(&ServerRequest::Ping).unwrap();
        assert_eq!(
            text,
            br#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{}}"#
        );
    }
}

#[test]
fn form_field_becomes_the_nearest_older_one() {
    forms(&mut Book::default());
}

fn forms(book: &mut Book) {
    let colours = || vec![Choice::new("#f00", "Red"), Choice::new("#0f0", "Green")];
    let schema = FormSchema::new()
        .required("name", StringSchema::new().default_value("Ada"))
        .optional("age", NumberSchema::integer().default_value(7))
        .optional("news", BooleanSchema::new().default_value(true))
        .optional("colour", EnumSchema::new(colours()).default_value("#f00"))
        .optional(
            "colours",
            MultiSelectSchema::new(colours()).title("Colours"),
        );
    let form = ElicitParams::from(ElicitFormParams::new("Who?", schema));
    let ElicitParams::Form(named) = form.clone() else {
        panic!()
    };
    let named = ElicitParams::from(named.with_mode());

    for version in [R1, R2, R5] {
        let refused = book.ask(version, form.clone());
        let is_missing = matches!(refused, Err(Fault::MissingCapability { .. }));
        assert_eq!(is_missing, version != R5, "{refused:?}");
        assert!(refused.is_err(), "{version}");
    }
    let old = json!({
        "message": "Who?",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "age": {"type": "integer"},
                "news": {"type": "boolean", "default": true},
                "colour": {"type": "string", "enum": ["#f00", "#0f0"], "enumNames": ["Red", "Green"]},
                "colours": {
                    "type": "string", "title": "Colours",
                    "description": "Any of these, separated by commas: #f00, #0f0",
                },
            },
            "required": ["name"],
        },
    });
    assert_eq!(book.ask(R3, named.clone()).unwrap(), old);
    let new = book.ask(R4, named.clone()).unwrap();
    assert_eq!(new["mode"], "form");
    let fields = &new["requestedSchema"]["properties"];
    assert_eq!(
        fields["colour"]["oneOf"][0],
        json!({"const": "#f00", "title": "Red"})
    );
    assert_eq!(fields["colours"]["items"]["anyOf"][1]["title"], "Green");
    assert_eq!(fields["age"]["default"], 7);

    // The answer to a narrowed form is decoded as the answer to the original one, and vice versa.
    let typed = json!({"name": "Ada", "colours": " #f00, #0f0,"});
    let text = json!({"jsonrpc": "2.0", "id": 7, "result": {"action": "accept", "content": typed}});
    let read = Side::new(R3).read_answer(
        &InputRequest::from(named).into(),
        text.to_string().as_bytes(),
    );
    let content = json!({"name": "Ada", "colours": ["#f00", "#0f0"]});
    let accepted = ElicitResult::accept(content.as_object().unwrap().clone());
    assert_eq!(read, ClientResponse::Input(accepted.clone().into()));
    let answer = ClientResponse::Input(accepted.into());
    let old = book.answer(R3, Method::Elicit, answer.clone());
    assert_eq!(old["content"]["colours"], "#f00, #0f0");
    assert_eq!(book.answer(R4, Method::Elicit, answer)["content"], content);
}

// spec: ELIC-08
#[test]
fn url_elicitation_has_an_id_in_one_revision() {
    // spec: ELIC-02
    urls(&mut Book::default());
}

fn urls(book: &mut Book) {
    let url = || ElicitUrlParams::new("Sign in", "https://example.com/a");
    for version in [R1, R2, R3, R5] {
        assert!(
            book.ask(version, ElicitParams::from(url())).is_err(),
            "{version}"
        );
    }
    for (params, id) in [(url().elicitation_id("e"), "e"), (url(), "7")] {
        let asked = book.ask(R4, ElicitParams::from(params)).unwrap();
        let expected = json!({
            "mode": "url", "message": "Sign in", "url": "https://example.com/a", "elicitationId": id,
        });
        assert_eq!(asked, expected);
    }
    let asked = ElicitParams::from(url().elicitation_id("e"));
    let requests = InputRequests::from([("login".to_owned(), asked.into())]);
    let required = Reply::InputRequired(InputRequired::new(&requests).unwrap());
    let result = book.reply(R5, Method::CallTool, required);
    assert_eq!(result["resultType"], "input_required");
    assert_eq!(
        result["inputRequests"]["login"],
        json!({
            "method": "elicitation/create",
            "params": {"mode": "url", "message": "Sign in", "url": "https://example.com/a"},
        })
    );
}

#[test]
fn sampling_has_one_block_per_message_in_older_revisions() {
    // spec: SAMP-04
    sampling(&mut Book::default());
}

fn sampling(book: &mut Book) {
    let call = ToolUseContent::new("1", "add", RawObject::default());
    let blocks = vec![
        ContentBlock::text("a"),
        ContentBlock::audio(b"abc", "audio/wav"),
        call.into(),
    ];
    let params = CreateMessageParams::new([SamplingMessage::user(blocks.clone())], 9);
    let sound = json!({"type": "audio", "data": "YWJj", "mimeType": "audio/wav"});
    let words = json!({"type": "text", "text": "[sound, audio/wav, 3 bytes]"});
    let called = json!({"type": "text", "text": "[call of add: {}]"});
    for (version, sound) in [(R1, &words), (R2, &sound), (R3, &sound)] {
        let message = |content: &Value| json!({"role": "user", "content": content});
        let text = json!({"type": "text", "text": "a"});
        let expected = json!({
            "messages": [message(&text), message(sound), message(&called)], "maxTokens": 9,
        });
        assert_eq!(
            book.ask(version, params.clone()).unwrap(),
            expected,
            "{version}"
        );
    }
    let asked = book.ask(R4, params.clone()).unwrap();
    assert_eq!(asked["messages"][0]["content"][2]["type"], "tool_use");

    let with_tools = params.tool(mcp_types::Tool::new("add"));
    for version in LEGACY {
        let asked = book.ask(version, with_tools.clone());
        assert_eq!(asked.is_ok(), version == R4, "{version}");
        let result = CreateMessageResult::new("m", blocks.clone());
        let answer = ClientResponse::Input(result.into());
        let answer = book.answer(version, Method::CreateMessage, answer);
        let one = "a\n[sound, audio/wav, 3 bytes]\n[call of add: {}]";
        if version == R4 {
            assert_eq!(answer["content"].as_array().unwrap().len(), 3);
        } else {
            assert_eq!(answer["content"], json!({"type": "text", "text": one}));
        }
    }
}

#[test]
fn roots_have_meta_since_2025_06_18() {
    roots(&mut Book::default());
}

fn roots(book: &mut Book) {
    let mut root = Root::from("file:///a").name("a");
    root.meta = Some(Meta::default().with("com.example/x", 1));
    let listed = ListRootsResult::from(vec![root]);
    for version in LEGACY {
        assert_eq!(
            book.ask(version, InputRequest::ListRoots).unwrap(),
            json!({})
        );
        let answer = book.answer(
            version,
            Method::ListRoots,
            ClientResponse::Input(listed.clone().into()),
        );
        assert_eq!(answer["roots"][0]["name"], "a");
        assert_eq!(answer["roots"][0].get("_meta").is_some(), version >= R3);
    }
}

#[test]
fn unknown_notification_is_not_written() {
    // spec: CAN-01
    notes(&mut Book::default());
}

fn notes(book: &mut Book) {
    let complete = ServerNotification::ElicitationComplete(ElicitationComplete::from("e"));
    let nobody = || {
        let mut it = Cancelled::from(1);
        it.request_id = None;
        it
    };
    for version in ProtocolVersion::ALL {
        let is_legacy = version != R5;
        let written = book.note(version, &complete, None);
        assert_eq!(written.is_some(), version == R4, "{version}");
        let written = book.client_note(version, &ClientNotification::Cancelled(nobody()));
        assert_eq!(written.is_some(), version == R4, "{version}");
        for note in [
            ServerNotification::ToolsChanged,
            ServerNotification::PromptsChanged,
            ServerNotification::ResourcesChanged,
        ] {
            let written = book.note(version, &note, None);
            assert_eq!(written.is_some(), is_legacy, "{version} {note:?}");
        }
        for note in [
            ClientNotification::Initialized,
            ClientNotification::RootsChanged,
        ] {
            let written = book.client_note(version, &note);
            assert_eq!(written.is_some(), is_legacy, "{version} {note:?}");
        }
        let mut cancelled = Cancelled::from("a");
        cancelled.reason = Some("r".to_owned());
        let cancelled = book.client_note(version, &ClientNotification::Cancelled(cancelled));
        assert_eq!(
            cancelled.unwrap(),
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "a", "reason": "r"}})
        );
    }
}

#[test]
fn notification_for_a_subscription_has_its_id() {
    // spec: CAN-09, LOG-05, HTTP-SM-17, META-13
    subscriptions(&mut Book::default());
}

fn subscriptions(book: &mut Book) {
    let filter = SubscriptionFilter::new()
        .tools_changed()
        .resource("file:///a");
    let params = book.call(R5, ClientRequest::Listen(filter.clone().into()));
    assert_eq!(
        params["notifications"],
        json!({"toolsListChanged": true, "resourceSubscriptions": ["file:///a"]})
    );
    for id in [RequestId::from(7), RequestId::from("7")] {
        let stamp = json!({"io.modelcontextprotocol/subscriptionId": id});
        for (note, params) in [
            (
                ServerNotification::Acknowledged(filter.clone()),
                json!({"notifications": filter, "_meta": stamp}),
            ),
            (ServerNotification::ToolsChanged, json!({"_meta": stamp})),
            (ServerNotification::PromptsChanged, json!({"_meta": stamp})),
            (
                ServerNotification::ResourcesChanged,
                json!({"_meta": stamp}),
            ),
            (
                ServerNotification::ResourceUpdated {
                    uri: "file:///a".to_owned(),
                },
                json!({"uri": "file:///a", "_meta": stamp}),
            ),
            (
                ServerNotification::Cancelled(Cancelled::from(id.clone())),
                json!({"requestId": id, "_meta": stamp}),
            ),
        ] {
            let written = book.note(R5, &note, Some(&id)).unwrap();
            assert_eq!(written["params"], params);
            assert_eq!(book.note(R5, &note, None), None, "{note:?}");
            // A session has no subscriptions.
            let of_session = book.note(R4, &note, Some(&id));
            let acknowledged = matches!(note, ServerNotification::Acknowledged(_));
            assert_eq!(of_session.is_none(), acknowledged);
            assert!(of_session.is_none_or(|message| message["params"].get("_meta").is_none()));
        }
        let other = ServerNotification::Cancelled(Cancelled::from("of another"));
        assert_eq!(book.note(R5, &other, Some(&id)), None);
        assert_eq!(book.note(R5, &other, None), None);
        let log = ServerNotification::Log(LogMessage::new(LoggingLevel::Info, "x"));
        let progress = ServerNotification::Progress {
            token: 1.into(),
            progress: ProgressUpdate::new(1.0),
        };
        for of_call in [log, progress] {
            assert!(book.note(R5, &of_call, None).is_some());
            assert_eq!(book.note(R5, &of_call, Some(&id)), None, "{of_call:?}");
        }
    }
    let result = book.reply(
        R5,
        Method::Listen,
        ResultBody::Listen(ListenResult::default()),
    );
    assert_eq!(result["_meta"]["io.modelcontextprotocol/subscriptionId"], 7);
    let read = Side::new(R5).reply(&ResultBody::Listen(ListenResult::default()).into());
    let Reply::Complete {
        body: ResultBody::Listen(end),
        ..
    } = Side::new(R5).read_reply(&ClientRequest::Listen(filter.into()), &read)
    else {
        panic!()
    };
    let subscription = end.meta.unwrap().get(keys::SUBSCRIPTION_ID);
    assert_eq!(subscription, Some(RequestId::from(7)));
}
