//! Questions that are not sent, invalid answers, invalid states.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use futures::executor::block_on;
use mcp_core::{Call, Fault, InputState, Reply, ResultBody, ServerIdentity, Service};
use mcp_macros::Elicit;
use mcp_server::{
    Ask, AskError, Prefix, PromptError, PromptExt, RawArgs, ResourceError, ResourceExt, Sampling,
    Server, StateKeys, Tool, ToolError, ToolExt,
};
use mcp_types::{
    ClientCapabilities, ElicitResult, ElicitUrlParams, EnumSchema, FormSchema, GetPromptParams,
    IncludeContext, NumberSchema, Prompt, ProtocolVersion, ReadResourceParams, Resource,
    SamplingMessage, StringFormat, StringSchema, ToolResultContent,
};
use serde_json::{Value, json};

use super::client::{
    Client, Session, all_capabilities, answered, asked, bad_params, internal, text, tool, tool_with,
};

const URL: &str = "https://example.com/login";
/// A secret of two nodes.
const SECRET: &str = "KrM0ZQpgdAnbqXnrA46gEhQ1uK7JdTQW";

#[derive(Elicit)]
#[elicit(crate = mcp_server)]
struct Name {
    #[elicit(length = 1..=5)]
    name: String,
    #[expect(dead_code, reason = "it is only asked")]
    age: Option<u8>,
}

/// Tools that are named after the question that they ask.
fn asking(name: &str) -> Server {
    let server = Server::new("s", "1");
    let tool = Tool::new(name);
    server.tool(match name {
        "form" => tool.handler(|ask: Ask| async move {
            let answer = ask.form::<Name>("key", "Who?").await?;
            Ok::<_, ToolError>(
                answer
                    .accepted()
                    .map_or("nobody".to_owned(), |form| form.name),
            )
        }),
        "raw" => tool.handler(|ask: Ask| async move {
            let form = FormSchema::new().required("name", StringSchema::new());
            let answer = ask.raw_form("key", "Who?", form).await?;
            Ok::<_, ToolError>(format!("{answer:?}"))
        }),
        "url" => tool.handler(|ask: Ask| async move {
            let answer = ask.url("key", "Sign in", URL).await?;
            Ok::<_, ToolError>(format!("{answer:?}"))
        }),
        "sampling" => tool.handler(|ask: Ask| async move {
            let answer = ask.sample("key", Sampling::user("Hi")).await?;
            Ok::<_, ToolError>(answer.content.text())
        }),
        "tools" => tool.handler(|ask: Ask| async move {
            let sampling = Sampling::user("Hi").tool(Tool::new("t"));
            let answer = ask.sample("key", sampling).await?;
            Ok::<_, ToolError>(answer.content.text())
        }),
        "context" => tool.handler(|ask: Ask| async move {
            let mut sampling = Sampling::user("Hi");
            sampling.include_context = Some(IncludeContext::AllServers);
            let answer = ask.sample("key", sampling).await?;
            Ok::<_, ToolError>(answer.content.text())
        }),
        _ => tool.handler(|ask: Ask| async move {
            let roots = ask.roots("key").await?;
            Ok::<_, ToolError>(format!("{}", roots.len()))
        }),
    })
}

// spec: VER-14, SAMP-04, ELIC-02
#[test]
fn question_without_declared_capability_is_a_fault() {
    // spec: MRTR-05
    let none = ClientCapabilities::default;
    let context = || {
        let mut capabilities = none().with_sampling();
        let sampling = capabilities.sampling.as_mut().unwrap();
        sampling.context = Some(Default::default());
        capabilities
    };
    let url_alone = none().with_url_elicitation();
    for (name, declared, missing) in [
        ("form", none(), json!({"elicitation": {}})),
        ("form", url_alone, json!({"elicitation": {}})),
        ("raw", none(), json!({"elicitation": {}})),
        (
            "url",
            none().with_elicitation(),
            json!({"elicitation": {"url": {}}}),
        ),
        ("sampling", none().with_roots(), json!({"sampling": {}})),
        ("tools", none(), json!({"sampling": {"tools": {}}})),
        (
            "tools",
            none().with_sampling(),
            json!({"sampling": {"tools": {}}}),
        ),
        (
            "context",
            none().with_sampling(),
            json!({"sampling": {"context": {}}}),
        ),
        (
            "context",
            all_capabilities(),
            json!({"sampling": {"context": {}}}),
        ),
        ("roots", none().with_sampling(), json!({"roots": {}})),
        ("form", none().with_elicitation(), Value::Null),
        ("url", all_capabilities(), Value::Null),
        ("sampling", none().with_sampling(), Value::Null),
        ("tools", all_capabilities(), Value::Null),
        ("context", context(), Value::Null),
        ("roots", none().with_roots(), Value::Null),
    ] {
        let mut client = Client::new();
        client.capabilities = declared;
        let session = Session::new([]);
        let recorded = client.send(&asking(name), &tool(name), InputState::default());
        if missing.is_null() {
            asked(recorded);
            continue;
        }
        // The same in a session.
        let live = client.send(&asking(name), &tool(name), session.input());
        assert!(session.asked.lock().unwrap().is_empty());
        for reply in [recorded, live] {
            let Reply::Fault(Fault::MissingCapability { required }) = reply else {
                panic!("{name}: {reply:?}")
            };
            assert_eq!(serde_json::to_value(required).unwrap(), missing, "{name}");
        }
    }
    // Revisions without a capability for context allow it with sampling.
    let mut client = Client::new();
    client.capabilities = none().with_sampling();
    client.version = ProtocolVersion::V2025_06_18;
    asked(client.send(&asking("context"), &tool("context"), InputState::default()));
}

#[test]
fn missing_capability_is_a_failed_result_in_sessions() {
    let mut client = Client::new();
    client.capabilities = ClientCapabilities::default();
    client.version = ProtocolVersion::V2025_11_25;
    for (name, part) in [
        ("form", "`elicitation` (it asks the user)"),
        ("url", "`elicitation.url` (it asks the user to visit a URL)"),
        ("sampling", "`sampling` (it asks the language model)"),
        ("roots", "`roots` (it asks for the roots)"),
    ] {
        let session = Session::new([]);
        let reply = client.send(&asking(name), &tool(name), session.input());
        let Reply::Complete {
            body: ResultBody::CallTool(result),
            ..
        } = reply
        else {
            panic!("{name}: {reply:?}")
        };
        assert!(result.is_error(), "{result:?}");
        assert!(result.text().contains(part), "{result:?}");
    }
}

// spec: ELIC-08, ELIC-16, ELIC-10
#[test]
fn elicitations_have_unique_ids() {
    let handler = |ask: Ask| async move {
        let answer = ask.url("key", "Sign in", URL).await?;
        let twice = [
            ask.elicitation_complete("key"),
            ask.elicitation_complete("key"),
        ];
        Ok::<_, ToolError>(format!("{answer:?} {twice:?}"))
    };
    let visit = || Fault::UrlElicitationRequired {
        elicitations: vec![ElicitUrlParams::new("Sign in", URL)],
    };
    let server = Server::new("s", "1")
        .tool(Tool::new("ask").handler(handler))
        .tool(Tool::new("refuse").handler(move || Err::<String, _>(ToolError::fault(visit()))));
    let mut client = Client::new();
    client.version = ProtocolVersion::V2025_11_25;
    let mut ids = BTreeSet::new();
    for _ in 0..3 {
        let session = Session::new([Ok(ElicitResult::accept_url().into())]);
        let done = text(client.send(&server, &tool("ask"), session.input()));
        assert_eq!(done, "Accept(()) [true, false]");
        let asked = serde_json::to_value(&session.asked.lock().unwrap()[0]).unwrap();
        let id = asked["params"]["elicitationId"]
            .as_str()
            .unwrap()
            .to_owned();
        let sent = session.sent.lock().unwrap().clone();
        let complete: Value = serde_json::from_slice(&sent[0]).unwrap();
        assert_eq!(
            complete,
            json!({
                "jsonrpc": "2.0", "method": "notifications/elicitation/complete",
                "params": {"elicitationId": id},
            })
        );
        assert_eq!(sent.len(), 1);
        ids.insert(id);
        let refused = client.send(&server, &tool("refuse"), session.input());
        let Reply::Fault(Fault::UrlElicitationRequired { elicitations }) = refused else {
            panic!("{refused:?}")
        };
        ids.extend(elicitations[0].elicitation_id.clone());
    }
    assert_eq!(ids.len(), 6, "{ids:?}");
    assert!(ids.iter().all(|id| id.len() == 32), "{ids:?}");
    // Other revisions do not have the notification.
    client.version = ProtocolVersion::V2025_06_18;
    let session = Session::new([Ok(ElicitResult::accept_url().into())]);
    let done = text(client.send(&server, &tool("ask"), session.input()));
    assert_eq!(done, "Accept(()) [false, false]");
}

#[test]
fn require_rejects_client_before_side_effects() {
    let handler = |ask: Ask| async move {
        ask.require(&all_capabilities())?;
        Ok::<_, ToolError>("all there")
    };
    let server = Server::new("s", "1").tool(Tool::new("t").handler(handler));
    let mut client = Client::new();
    let send = |client: &Client| client.send(&server, &tool("t"), InputState::default());
    assert_eq!(text(send(&client)), "all there");
    client.capabilities = ClientCapabilities::default()
        .with_elicitation()
        .with_sampling();
    let Reply::Fault(Fault::MissingCapability { required }) = send(&client) else {
        panic!("something is missing")
    };
    assert_eq!(
        serde_json::to_value(required).unwrap(),
        json!({"roots": {}, "sampling": {"tools": {}}, "elicitation": {"url": {}}})
    );
}

#[test]
fn missing_capability_is_named_in_error() {
    let required = Arc::new(all_capabilities());
    let error = AskError::MissingCapability { required };
    assert_eq!(
        error.to_string(),
        "the client cannot be asked: it does not declare `roots`, `sampling.tools`, \
         `elicitation.form`, `elicitation.url`"
    );
}

#[test]
fn invalid_answer_becomes_bad_params() {
    let accept = |content: Value| json!({"action": "accept", "content": content});
    for (name, answer, problem) in [
        ("form", json!(12345), "expected a JSON object, got a number"),
        ("form", json!({"roots": []}), "missing field `action`"),
        (
            "form",
            json!({"action": "shrug"}),
            "must be accept, decline or cancel",
        ),
        ("form", json!({"action": "accept"}), "`name` is missing"),
        (
            "form",
            accept(json!({"name": 7})),
            "`name` must be a text, not a number",
        ),
        (
            "form",
            accept(json!({"name": ""})),
            "`name` has 0 characters",
        ),
        (
            "form",
            accept(json!({"name": "abcdef"})),
            "at most 5 are allowed",
        ),
        (
            "form",
            accept(json!({"name": "a", "age": 300})),
            "`age` is 300",
        ),
        ("raw", accept(json!({})), "`name` is missing"),
        ("sampling", json!({"action": "decline"}), "missing field"),
        (
            "roots",
            json!({"roots": [{"uri": "http://x"}]}),
            "not a `file://` URI",
        ),
    ] {
        let (client, server, call) = (Client::new(), asking(name), tool(name));
        let first = asked(client.send(&server, &call, InputState::default()));
        let reply = client.send(&server, &call, answered(&first, &json!({"key": answer})));
        let message = bad_params(reply);
        assert!(
            message.starts_with("`params.inputResponses.key`: "),
            "{message}"
        );
        assert!(message.contains(problem), "{message}");
    }
    let good = accept(json!({"name": "Ada", "age": null}));
    for (answer, result) in [
        (good, "Ada"),
        (json!({"action": "decline"}), "nobody"),
        (json!({"action": "cancel", "content": {}}), "nobody"),
    ] {
        let (client, server, call) = (Client::new(), asking("form"), tool("form"));
        let first = asked(client.send(&server, &call, InputState::default()));
        let reply = client.send(&server, &call, answered(&first, &json!({"key": answer})));
        assert_eq!(text(reply), result);
    }
}

fn filled(content: Value) -> ElicitResult {
    ElicitResult::accept(content.as_object().unwrap().clone())
}

// spec: ELIC-13
#[test]
fn invalid_answer_in_a_session_is_a_failed_result() {
    let mut client = Client::new();
    client.version = ProtocolVersion::V2025_11_25;
    let shrug = serde_json::from_value::<ElicitResult>(json!({"action": "shr\u{7}ug"})).unwrap();
    for (answer, problem) in [
        (filled(json!({})), "`name` is missing"),
        (
            filled(json!({"name": 7})),
            "`name` must be a text, not a number",
        ),
        (filled(json!({"name": ""})), "`name` has 0 characters"),
        (
            shrug,
            r#"`action` must be accept, decline or cancel, got "shr\u{7}ug""#,
        ),
    ] {
        for server in [asking("form"), asking("form").mask_errors()] {
            let session = Session::new([Ok(answer.clone().into())]);
            let reply = client.send(&server, &tool("form"), session.input());
            let Reply::Complete {
                body: ResultBody::CallTool(result),
                ..
            } = reply
            else {
                panic!("{reply:?}")
            };
            assert!(result.is_error());
            let text = result.text();
            assert!(
                text.starts_with("the client's answer is malformed: `key`: "),
                "{text}"
            );
            assert!(text.contains(problem), "{text}");
        }
    }
}

// spec: ELIC-09, ELIC-13
#[test]
fn blank_form_field_is_absent_unless_it_takes_text() {
    let rejected = serde_json::from_value::<ElicitResult>(json!({"action": "reject"})).unwrap();
    let form = || {
        let mail = StringSchema::new().format(StringFormat::Email);
        let count = NumberSchema::integer().default_value(2);
        FormSchema::new()
            .required("name", StringSchema::new())
            .optional("note", StringSchema::new())
            .optional("code", StringSchema::new().min_length(2))
            .optional("mail", mail)
            .optional("count", count)
            .optional("level", EnumSchema::new(["low", "high"]))
    };
    let server =
        Server::new("s", "1").tool(Tool::new("form").handler(move |ask: Ask| async move {
            let answer = ask.raw_form("key", "Who?", form()).await?;
            let content = answer.accepted().map(Value::Object);
            Ok::<_, ToolError>(content.unwrap_or_default().to_string())
        }));
    let blank = json!({"name": "", "note": "", "code": "", "mail": " ", "count": "", "level": ""});
    let mut client = Client::new();
    for (answer, expected) in [
        (filled(blank), r#"{"name":"","note":"","count":2}"#),
        (rejected, "null"),
    ] {
        client.version = ProtocolVersion::V2025_11_25;
        let session = Session::new([Ok(answer.clone().into())]);
        let live = client.send(&server, &tool("form"), session.input());
        client.version = ProtocolVersion::V2026_07_28;
        let first = asked(client.send(&server, &tool("form"), InputState::default()));
        let answers = answered(&first, &json!({ "key": answer }));
        for reply in [live, client.send(&server, &tool("form"), answers)] {
            assert_eq!(text(reply), expected);
        }
    }
}

#[test]
fn corrected_answer_with_same_state_is_accepted() {
    let (client, server, call) = (Client::new(), asking("form"), tool("form"));
    let first = asked(client.send(&server, &call, InputState::default()));
    let bad = json!({"key": {"action": "accept", "content": {}}});
    bad_params(client.send(&server, &call, answered(&first, &bad)));
    let good = json!({"key": {"action": "accept", "content": {"name": "Ada"}}});
    let reply = client.send(&server, &call, answered(&first, &good));
    assert_eq!(text(reply), "Ada");
}

// spec: ELIC-16
#[test]
fn state_is_valid_for_same_request_and_caller_until_expiry() {
    // spec: MRTR-07
    let time = Arc::new(AtomicU64::new(0));
    let clock = time.clone();
    let keys = StateKeys::new(SECRET)
        .unwrap()
        .clock(move || UNIX_EPOCH + Duration::from_secs(clock.load(Ordering::Relaxed)));
    let handler = |ask: Ask, _: RawArgs| async move {
        let answer = ask.url("key", "Sign in", URL).await?;
        Ok::<_, ToolError>(format!("{answer:?}"))
    };
    let server = || {
        Server::new("s", "1")
            .request_state_keys(keys.clone())
            .tool(Tool::new("a").handler(handler))
            .tool(Tool::new("b").handler(handler))
    };
    let call = tool_with("a", json!({"x": 1, "y": 2}));
    let ada = Client::authenticated("ada");
    let first = asked(ada.send(&server(), &call, InputState::default()));
    let answers = json!({"key": {"action": "accept"}});
    let good = answered(&first, &answers);
    // Another node with the same secret accepts it, also twice.
    for _ in 0..2 {
        assert_eq!(text(ada.send(&server(), &call, good.clone())), "Accept(())");
    }

    let mut tampered = good.clone();
    tampered.state = Some(format!("{}-TAMPERED", good.state.clone().unwrap()).into());
    let mut made_up = good.clone();
    made_up.state = Some("".into());
    let elsewhere = Server::new("s", "1").tool(Tool::new("a").handler(handler));
    let other_name = Server::new("bank", "1")
        .request_state_keys(keys.clone())
        .tool(Tool::new("a").handler(handler));
    let here = server();
    let refusals = [
        ada.send(&here, &call, tampered),
        ada.send(&here, &call, made_up),
        ada.send(
            &here,
            &tool_with("b", json!({"x": 1, "y": 2})),
            good.clone(),
        ),
        ada.send(
            &here,
            &tool_with("a", json!({"x": 1, "y": 3})),
            good.clone(),
        ),
        Client::authenticated("bob").send(&here, &call, good.clone()),
        Client::new().send(&here, &call, good.clone()),
        ada.send(&elsewhere, &call, good.clone()),
        ada.send(&other_name, &call, good.clone()),
        {
            time.store(30 * 60, Ordering::Relaxed);
            ada.send(&here, &call, good)
        },
    ];
    for reply in refusals {
        assert_eq!(
            bad_params(reply),
            "`params.requestState` is not valid for this request; repeat the request without it \
             and without `inputResponses`"
        );
    }
}

#[test]
fn state_with_default_key_is_valid_at_its_endpoint_only() {
    let client = Client::new();
    let (server, call) = (|| asking("url"), tool("url"));
    let (one, two) = (server(), server());
    let answers = json!({"key": {"action": "accept"}});
    let good = answered(
        &asked(client.send(&one, &call, InputState::default())),
        &answers,
    );
    // A server of the same name and code in the same process.
    bad_params(client.send(&two, &call, good.clone()));
    assert_eq!(text(client.send(&one, &call, good)), "Accept(())");

    // An endpoint that makes a server for each request.
    let (shop, bank) = (ServerIdentity::unique(), ServerIdentity::unique());
    let send = |endpoint: ServerIdentity, input: InputState| {
        let mut exchange = client.exchange(&call, input);
        exchange.extensions.insert(endpoint);
        block_on(server().call(exchange))
    };
    let good = answered(&asked(send(shop, InputState::default())), &answers);
    bad_params(send(bank, good.clone()));
    bad_params(client.send(&server(), &call, good.clone()));
    assert_eq!(text(send(shop, good)), "Accept(())");
}

#[test]
fn state_reveals_no_plain_text() {
    let handler = |ask: Ask| async move {
        ask.keep(&"classified")?;
        ask.url("key", "Sign in", URL).await?;
        Ok::<_, ToolError>(())
    };
    let server = Server::new("s", "1").tool(Tool::new("t").handler(handler));
    let ada = Client::authenticated("ada");
    let state = |_| asked(ada.send(&server, &tool("t"), InputState::default())).request_state;
    let [one, two] = [0, 1].map(state);
    assert!(one.is_some() && one != two);
    let text = one.unwrap();
    assert!(
        !text.contains("classified") && !text.contains("ada"),
        "{text}"
    );
}

#[test]
fn too_large_state_is_not_sent() {
    let handler = |ask: Ask, raw: RawArgs| async move {
        let kept = raw.as_str().to_owned();
        ask.once("work", || async { kept }).await?;
        ask.form::<Name>("key", "Who?").await?;
        Ok::<_, ToolError>(())
    };
    let keys = StateKeys::new(SECRET).unwrap().max_bytes(200);
    let server = Server::new("s", "1")
        .request_state_keys(keys)
        .tool(Tool::new("t").handler(handler));
    let call = |length| tool_with("t", json!({"x": "y".repeat(length)}));
    asked(Client::new().send(&server, &call(50), InputState::default()));
    for (length, part) in [
        (
            300,
            "`work` cannot be kept: it has 314 bytes, and at most 200 are allowed",
        ),
        (150, "the state of the call cannot be sealed: it has 2"),
    ] {
        let reply = Client::new().send(&server, &call(length), InputState::default());
        let message = internal(reply);
        assert!(message.starts_with(part), "{message}");
    }
}

#[test]
fn invalid_question_or_key_is_internal_fault() {
    // spec: MRTR-04, ELIC-08, ELIC-15, SAMP-08, SAMP-09
    let twice = |ask: Ask| async move {
        ask.form::<Name>("key", "Who?").await?;
        ask.url("key", "Sign in", URL).await?;
        Ok::<_, ToolError>(())
    };
    let work_twice = |ask: Ask| async move {
        ask.once("work", || async { 1 }).await?;
        ask.once("work", || async { 1 }).await?;
        Ok::<_, ToolError>(())
    };
    let inside = |ask: Ask| async move {
        let work = || async {
            let answer = ask.url("key", "Sign in", URL).await?;
            Ok::<_, ToolError>(answer.is_accepted())
        };
        ask.try_once("work", work).await
    };
    let no_url = |ask: Ask| async move {
        ask.url("key", "Sign in", "/login").await?;
        Ok::<_, ToolError>(())
    };
    let script = |ask: Ask| async move {
        ask.url("key", "Sign in", "javascript:alert(1)").await?;
        Ok::<_, ToolError>(())
    };
    let plain = |ask: Ask| async move {
        ask.url("key", "Sign in", "http://example.com/").await?;
        Ok::<_, ToolError>(())
    };
    let broken = |ask: Ask| async move {
        let results = SamplingMessage::user(ToolResultContent::new("id", Vec::new()));
        ask.sample("key", Sampling::new([results], 5)).await?;
        Ok::<_, ToolError>(())
    };
    let no_json = |ask: Ask| async move {
        ask.keep(&std::collections::BTreeMap::from([((1, 2), 3)]))?;
        Ok::<_, ToolError>(())
    };
    let endless = |ask: Ask| async move {
        let questions = (0..200).map(|index| ask.roots(format!("key-{index}")));
        ask.all(questions.collect::<Vec<_>>()).await?;
        Ok::<_, ToolError>(())
    };
    let server = Server::new("s", "1")
        .tool(Tool::new("twice").handler(twice))
        .tool(Tool::new("work_twice").handler(work_twice))
        .tool(Tool::new("inside").handler(inside))
        .tool(Tool::new("no_url").handler(no_url))
        .tool(Tool::new("script").handler(script))
        .tool(Tool::new("plain").handler(plain))
        .tool(Tool::new("broken").handler(broken))
        .tool(Tool::new("no_json").handler(no_json))
        .tool(Tool::new("endless").handler(endless));
    let answers = json!({"key": {"action": "accept", "content": {"name": "Ada"}}});
    for (name, problem) in [
        ("twice", "`key` is used twice in one call"),
        ("work_twice", "`work` is used twice in one call"),
        ("inside", "what `Ask::once` runs cannot ask"),
        (
            "no_url",
            "`key` cannot be asked: \"/login\" is not an absolute URL",
        ),
        ("script", "the scheme `javascript` is not allowed"),
        ("plain", "the scheme `http` is not allowed"),
        ("broken", "`key` cannot be asked: "),
        ("no_json", "`keep` cannot be kept: "),
        ("endless", "a call asks 100 questions at most"),
    ] {
        let (reply, _) = Client::new().run(&server, &tool(name), &answers);
        let message = internal(reply);
        assert!(message.contains(problem), "{name}: {message}");
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the wizard failed")]
struct WizardError(#[from] AskError);

#[test]
fn wrapped_ask_error_becomes_its_fault() {
    let server = Server::new("s", "1")
        .tool(Tool::new("t").handler(|ask: Ask| async move {
            let wizard = async { Ok::<_, WizardError>(ask.roots("key").await?.len().to_string()) };
            wizard.await.map_err(ToolError::from)
        }))
        .prompt(Prompt::new("p").handler(|ask: Ask| async move {
            Ok::<_, PromptError>(ask.roots("key").await?.len().to_string())
        }))
        .resource(Resource::new("a://b").read(|ask: Ask| async move {
            Ok::<_, ResourceError>(ask.roots("key").await?.len().to_string())
        }));
    let mut client = Client::new();
    client.capabilities = ClientCapabilities::default();
    for call in [
        tool("t"),
        Call::GetPrompt(GetPromptParams::new("p", None)),
        Call::ReadResource(ReadResourceParams::from("a://b")),
    ] {
        let reply = client.send(&server, &call, InputState::default());
        let missing = matches!(reply, Reply::Fault(Fault::MissingCapability { .. }));
        assert!(missing, "{reply:?}");
    }
}

#[test]
fn kept_value_with_another_type_is_rejected() {
    let keys = StateKeys::new(SECRET).unwrap();
    let server = |handler| {
        Server::new("s", "1")
            .request_state_keys(keys.clone())
            .tool(handler)
    };
    let old = server(Tool::new("t").handler(|ask: Ask| async move {
        ask.once("work", || async { "seven".to_owned() }).await?;
        ask.roots("key").await?;
        Ok::<_, ToolError>(())
    }));
    let new = server(Tool::new("t").handler(|ask: Ask| async move {
        let work = ask.once("work", || async { 7 }).await?;
        ask.roots("key").await?;
        Ok::<_, ToolError>(work)
    }));
    let first = asked(Client::new().send(&old, &tool("t"), InputState::default()));
    let reply = Client::new().send(&new, &tool("t"), answered(&first, &json!({})));
    assert!(bad_params(reply).contains("repeat the request without it"));
}

#[test]
fn check_reports_completion_that_asks() {
    // spec: MRTR-02
    let server = Server::new("s", "1").prompt(
        Prompt::new("p")
            .handler(|raw: RawArgs| raw.as_str().to_owned())
            .completion("x", |_: Prefix, _: Option<Ask>| Vec::<String>::new()),
    );
    let problems = server.check().unwrap_err().to_string();
    assert!(
        problems.contains("a completion cannot ask the client"),
        "{problems}"
    );
}
