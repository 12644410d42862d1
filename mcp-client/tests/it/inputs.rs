//! Input requests and their responses.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::FutureExt;
use mcp_client::{
    Client, ClientBuilder, ConnectMode, ElicitRequest, Error, InputError, InputKind, Over,
    Rejected, SampleRequest, UrlRequest,
};
use mcp_types::{ClientCapabilities, CreateMessageResult, ElicitResult, ProtocolVersion, Root};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::script::{Script, Step, result, text, wait};

fn asks(requests: &Value, state: Option<&str>) -> Vec<Step> {
    let mut asked = json!({"resultType": "input_required", "inputRequests": requests});
    if let Some(state) = state {
        asked["requestState"] = state.into();
    }
    vec![result(&asked)]
}

fn form() -> Value {
    json!({"method": "elicitation/create", "params": {
        "message": "Who?",
        "requestedSchema": {"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string", "minLength": 2},
            "age": {"type": "integer", "default": 30},
        }},
    }})
}

fn url() -> Value {
    let params = json!({"mode": "url", "message": "Pay", "url": "https://example.com/pay"});
    json!({"method": "elicitation/create", "params": params})
}

fn sampling(tools: &Value) -> Value {
    let mut params = json!({
        "maxTokens": 5,
        "messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}],
    });
    if !tools.is_null() {
        params["tools"] = tools.clone();
    }
    json!({"method": "sampling/createMessage", "params": params})
}

async fn client(script: &Arc<Script>, builder: ClientBuilder) -> Client {
    let mode = ConnectMode::Pin(ProtocolVersion::LATEST);
    builder
        .mode(mode)
        .connect(Over(script.channel()))
        .await
        .unwrap()
}

/// Makes a call that requires one input, and returns its result.
async fn asked_for(
    request: &Value,
    builder: ClientBuilder,
) -> (Result<String, Error>, Arc<Script>) {
    let script = Script::new([asks(&json!({"it": request}), None), vec![text("done")]]);
    let outcome = client(&script, builder).await.call("add", ()).await;
    (outcome.map(|result| result.text()), script)
}

async fn failure(request: &Value, builder: ClientBuilder) -> Error {
    let (outcome, script) = asked_for(request, builder).await;
    assert_eq!(
        script.sent().len(),
        1,
        "nobody asks again without the answer"
    );
    outcome.unwrap_err()
}

fn ada() -> ClientBuilder {
    Client::builder()
        .on_elicit(|form: ElicitRequest| async move { form.accept(json!({"name": "Ada"})) })
}

// spec: MRTR-12
#[tokio::test]
async fn call_with_all_input_kinds_runs_all_handlers() {
    // spec: BASE-05, MRTR-11
    let everything = json!({
        "form": form(), "url": url(), "model": sampling(&Value::Null),
        "roots": {"method": "roots/list"},
    });
    let state = "opaque \"\u{e9}\" state";
    let script = Script::new([
        asks(&everything, Some(state)),
        asks(&json!({"form": form()}), None),
        vec![text("done")],
    ]);
    let builder = ada()
        .on_elicit_url(|ask: UrlRequest| async move {
            assert_eq!(
                (ask.message(), ask.url().as_str()),
                ("Pay", "https://example.com/pay")
            );
            assert_eq!(ask.asker.server, "script:");
            assert_eq!(ask.asker.item.as_deref(), Some("add"));
            ElicitResult::accept_url()
        })
        .on_sample(|ask: SampleRequest| async move {
            assert_eq!(ask.params.max_tokens, 5);
            CreateMessageResult::new("model", "hello")
        })
        .roots(["file:///home"]);
    let client = client(&script, builder).await;
    let result = client
        .call("add", json!({"a": 1}))
        .on_progress(drop)
        .await
        .unwrap();
    assert_eq!(result.text(), "done");

    let sent = script.sent();
    for (before, after) in sent.iter().zip(&sent[1..]) {
        assert_ne!(before.body["id"], after.body["id"]);
        assert_ne!(before.meta("progressToken"), after.meta("progressToken"));
        assert_eq!(before.body["params"]["name"], after.body["params"]["name"]);
        assert_eq!(
            before.body["params"]["arguments"],
            after.body["params"]["arguments"]
        );
        assert_eq!(before.mirrored, after.mirrored);
    }
    let params = |index: usize| &sent[index].body["params"];
    let declared = sent[0].meta("io.modelcontextprotocol/clientCapabilities");
    assert_eq!(
        declared,
        &json!({"roots": {}, "sampling": {}, "elicitation": {"form": {}, "url": {}}})
    );
    assert_eq!(params(0).get("inputResponses"), None);
    assert_eq!(params(0).get("requestState"), None);
    let filled = json!({"action": "accept", "content": {"name": "Ada", "age": 30}});
    assert_eq!(
        params(1)["inputResponses"],
        json!({
            "form": filled,
            "url": {"action": "accept"},
            "model": {
                "role": "assistant", "model": "model", "content": {"type": "text", "text": "hello"},
            },
            "roots": {"roots": [{"uri": "file:///home"}]},
        })
    );
    assert_eq!(params(1)["requestState"], state);
    assert_eq!(params(2)["inputResponses"], json!({"form": filled}));
    assert_eq!(params(2).get("requestState"), None);
}

// spec: SAMP-01, ELIC-01, ROOT-01
#[tokio::test]
async fn handlers_declare_capabilities() {
    let tools = ClientCapabilities::default().with_sampling_tools();
    for (builder, declared) in [
        (Client::builder(), json!({})),
        (ada(), json!({"elicitation": {}})),
        (
            Client::builder().on_elicit_url(|_| async { ElicitResult::cancel() }),
            json!({"elicitation": {"url": {}}}),
        ),
        (
            Client::builder()
                .on_sample(|_| async { CreateMessageResult::new("m", "") })
                .capabilities(tools),
            json!({"sampling": {"tools": {}}}),
        ),
        (
            Client::builder().roots([] as [Root; 0]),
            json!({"roots": {}}),
        ),
    ] {
        let script = Script::new([vec![text("")]]);
        client(&script, builder)
            .await
            .call("add", ())
            .await
            .unwrap();
        let meta = script.sent()[0]
            .meta("io.modelcontextprotocol/clientCapabilities")
            .clone();
        assert_eq!(meta, declared);
    }
}

#[tokio::test]
async fn rejected_sampling_fails_call() {
    for (answer, action) in [
        (ElicitResult::decline(), "decline"),
        (ElicitResult::cancel(), "cancel"),
    ] {
        let mut answer = answer;
        answer.content = Some(mcp_types::JsonObject::new());
        let builder = Client::builder().on_elicit(move |_| {
            let answer = answer.clone();
            async move { answer }
        });
        let (outcome, script) = asked_for(&form(), builder).await;
        assert_eq!(outcome.unwrap(), "done");
        let answers = &script.sent()[1].body["params"]["inputResponses"];
        assert_eq!(answers, &json!({"it": {"action": action}}));
    }
    let refuses = |_| async { Err::<CreateMessageResult, _>(Rejected::new("too dear")) };
    let error = failure(
        &sampling(&Value::Null),
        Client::builder().on_sample(refuses),
    )
    .await;
    let Some(InputError::Failed { source, .. }) = error.input() else {
        panic!("{error}");
    };
    assert!(source.is::<Rejected>());
    let message = "the handler for sampling/createMessage failed: the user refuses: too dear";
    assert_eq!(
        error.to_string(),
        format!("tools/call \"add\" at script:: {message}")
    );
}

#[tokio::test]
async fn missing_handler_fails_call_with_hint() {
    let unknown = json!({"method": "dreams/tell", "params": {}});
    let voice =
        json!({"method": "elicitation/create", "params": {"mode": "voice", "message": "m"}});
    for (request, kind, message) in [
        (
            form(),
            InputKind::Form,
            "elicitation/create (form), for which this client has no handler; set one with `ClientBuilder::on_elicit`",
        ),
        (
            url(),
            InputKind::Url,
            "elicitation/create (url), for which this client has no handler; set one with `ClientBuilder::on_elicit_url`",
        ),
        (
            sampling(&Value::Null),
            InputKind::Sampling,
            "sampling/createMessage, for which this client has no handler; set one with `ClientBuilder::on_sample`",
        ),
        (
            json!({"method": "roots/list"}),
            InputKind::Roots,
            "roots/list, for which this client has no handler; set them with `ClientBuilder::roots`",
        ),
        (
            unknown,
            InputKind::Other("dreams/tell".into()),
            "dreams/tell, for which this client has no handler",
        ),
        (
            voice,
            InputKind::Other("elicitation/create (voice)".into()),
            "elicitation/create (voice), for which this client has no handler",
        ),
    ] {
        let error = failure(&request, Client::builder()).await;
        let text = error.to_string();
        assert_eq!(
            text,
            format!("tools/call \"add\" at script:: the server requests {message}")
        );
        let Some(InputError::NoHandler { wants }) = error.input() else {
            panic!("{text}")
        };
        assert_eq!(wants, &kind);
    }
}

// spec: SAMP-03
#[tokio::test]
async fn invalid_answer_or_request_fails_call() {
    // spec: SAMP-08
    let short = Client::builder()
        .on_elicit(|form: ElicitRequest| async move { form.accept(json!({"name": "A"})) });
    let unchecked = Client::builder()
        .on_elicit(|_| async { ElicitResult::accept(mcp_types::JsonObject::new()) });
    let list = Client::builder().on_elicit(|form: ElicitRequest| async move { form.accept([1]) });
    let panics =
        Client::builder().on_elicit(|_| -> std::future::Ready<ElicitResult> { panic!("at once") });
    let later = Client::builder().on_elicit(|_| async {
        if true {
            panic!("later")
        } else {
            ElicitResult::cancel()
        }
    });
    for (builder, message) in [
        (
            short,
            "the answer does not match the form: `name` has 1 characters; at least 2 are wanted",
        ),
        (
            unchecked,
            "the answer does not match the form: `name` is missing",
        ),
        (
            list,
            "the answer to the form cannot be serialized: expected a JSON object, got an array",
        ),
        (panics, "the handler for elicitation/create (form) panicked"),
        (later, "the handler for elicitation/create (form) panicked"),
    ] {
        let error = failure(&form(), builder).await;
        assert!(error.to_string().ends_with(message), "{error}");
    }
    let sampler = || Client::builder().on_sample(|_| async { CreateMessageResult::new("m", "") });
    let tools = json!([{"name": "t", "inputSchema": {"type": "object"}}]);
    let error = failure(&sampling(&tools), sampler()).await;
    assert!(
        matches!(error.input(), Some(InputError::NoSamplingTools)),
        "{error}"
    );
    let mut orphan = sampling(&Value::Null);
    orphan["params"]["messages"] = json!([
        {"role": "assistant", "content": {"type": "tool_use", "id": "1", "name": "t", "input": {}}},
        {"role": "user", "content": {"type": "text", "text": "no result"}},
    ]);
    let error = failure(&orphan, sampler()).await;
    assert!(
        matches!(error.input(), Some(InputError::Conversation(_))),
        "{error}"
    );

    let error = Client::builder()
        .roots(["https://example.com"])
        .connect(Over(Script::new([]).channel()))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the root \"https://example.com\" is not a `file://` URI"
    );
}

#[tokio::test]
async fn input_rounds_over_limit_fail_call() {
    let script = Script::new((0..20).map(|_| asks(&json!({"it": form()}), None)));
    let busy = client(&script, ada()).await;
    let error = busy.call("add", ()).await.unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("the server still asks for input after 10 rounds; raise `max_input_rounds`"),
        "{error}"
    );
    assert_eq!(script.sent().len(), 11);

    let script = Script::new([asks(&json!({"it": form()}), None)]);
    let strict = client(&script, ada().max_input_rounds(0)).await;
    assert!(strict.call("add", ()).await.unwrap_err().input().is_some());

    let script = Script::new([asks(&json!({"it": form()}), None)]);
    let error = client(&script, ada()).await.list_tools().await.unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("the server asks for input, which it may not do here"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn requests_in_one_round_run_concurrently() {
    let slow = || {
        Client::builder().on_elicit(|form: ElicitRequest| async move {
            sleep(Duration::from_secs(3600)).await;
            form.accept(json!({"name": "Ada"}))
        })
    };
    let script = Script::new([
        asks(&json!({"a": form(), "b": form(), "c": form()}), None),
        vec![wait(50), text("done")],
    ]);
    let start = Instant::now();
    let client = client(&script, slow()).await;
    // The time of the user does not count as the time of the server.
    let result = client
        .call("add", ())
        .max_total_timeout(Duration::from_secs(60))
        .await;
    assert_eq!(result.unwrap().text(), "done");
    assert_eq!(start.elapsed().as_secs(), 3650);
}

#[tokio::test(start_paused = true)]
async fn total_timeout_spans_all_rounds() {
    let round = || {
        let mut steps = vec![wait(50)];
        steps.extend(asks(&json!({"it": form()}), None));
        steps
    };
    let script = Script::new([round(), round()]);
    let call = client(&script, ada())
        .await
        .call("add", ())
        .max_total_timeout(Duration::from_secs(70));
    let start = Instant::now();
    assert!(call.await.unwrap_err().is_timeout());
    assert_eq!(start.elapsed().as_secs(), 70);
}

#[tokio::test]
async fn dropped_call_drops_running_handler() {
    struct Guard(Arc<AtomicUsize>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let count = dropped.clone();
    let builder = Client::builder().on_elicit(move |_| {
        let guard = Guard(count.clone());
        async move {
            let _guard = guard;
            pending::<ElicitResult>().await
        }
    });
    let script = Script::new([asks(&json!({"a": form(), "b": form()}), None)]);
    let call = client(&script, builder).await.call("add", ()).into_future();
    assert!(call.now_or_never().is_none());
    assert_eq!(dropped.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn step_returns_input_requests() {
    let script = Script::new([
        asks(&json!({"it": form()}), Some("s1")),
        vec![result(
            &json!({"resultType": "input_required", "requestState": "s2"}),
        )],
        vec![text("done")],
    ]);
    let client = client(&script, Client::builder()).await;
    let call = client
        .call("add", ())
        .max_total_timeout(Duration::from_secs(60));
    let mcp_client::Step::InputRequired(asks) = call.step().await.unwrap() else {
        panic!()
    };
    assert_eq!(asks.requests().keys().collect::<Vec<_>>(), ["it"]);
    assert_eq!(asks.required().request_state.as_deref(), Some("s1"));
    sleep(Duration::from_secs(7200)).await;
    let mcp_client::Step::InputRequired(asks) = asks
        .answer([("it", ElicitResult::decline())])
        .await
        .unwrap()
    else {
        panic!()
    };
    assert!(asks.requests().is_empty());
    let mcp_client::Step::Done(result) =
        asks.answer([] as [(&str, ElicitResult); 0]).await.unwrap()
    else {
        panic!()
    };
    assert_eq!(result.text(), "done");
    let sent = script.sent();
    assert_eq!(sent[1].body["params"]["requestState"], "s1");
    assert_eq!(sent[2].body["params"]["requestState"], "s2");
    assert_eq!(sent[2].body["params"].get("inputResponses"), None);
}

#[tokio::test]
async fn step_with_wrong_responses_fails() {
    let script = Script::new([asks(&json!({"it": form()}), None)]);
    let client = client(&script, Client::builder()).await;
    let mcp_client::Step::InputRequired(asks) = client.call("add", ()).step().await.unwrap() else {
        panic!()
    };
    let error = asks
        .answer([("other", ElicitResult::decline())])
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "tools/call \"add\" at script:: the response \"other\" has no request"
    );
    assert!(matches!(error.input(), Some(InputError::Answer(_))));
    assert_eq!(script.sent().len(), 1);
}
