//! Single calls: requests, results and errors.

use std::error::Error as _;
use std::sync::Arc;

use http::StatusCode;
use mcp_client::{Error, TypedCall};
use mcp_core::{ChannelError, Fault};
use mcp_types::{CallToolResult, LoggingLevel, codes};
use serde_json::{Value, json};

use crate::script::{Script, Step, error, log, progress, refuse, result, say, text};

async fn call(answer: Vec<Step>) -> Result<CallToolResult, Error> {
    Script::new([answer]).client().await.call("add", ()).await
}

async fn failure(answer: Vec<Step>) -> Error {
    call(answer).await.unwrap_err()
}

#[tokio::test]
async fn call_sends_request_and_returns_result() {
    let script = Script::new([
        vec![text("3")],
        vec![text("x")],
        vec![text("x")],
        vec![text("x")],
    ]);
    let client = script.client().await;
    let sum: f64 = client
        .call("add", json!({"a": 1, "b": 2}))
        .await
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(sum, 3.0);
    client.call("add", json!({})).await.unwrap();
    client.call("add", ()).await.unwrap();
    client.call("add", None::<u8>).await.unwrap();

    let sent = script.sent();
    let body = &sent[0].body;
    assert_eq!(body["jsonrpc"], "2.0");
    assert_eq!(body["method"], "tools/call");
    assert_eq!(body["params"]["name"], "add");
    assert_eq!(body["params"]["arguments"], json!({"a": 1, "b": 2}));
    let meta = |key: &str| {
        sent[0]
            .meta(&format!("io.modelcontextprotocol/{key}"))
            .clone()
    };
    assert_eq!(meta("protocolVersion"), "2026-07-28");
    assert_eq!(meta("clientCapabilities"), json!({}));
    assert_eq!(meta("clientInfo")["name"], "omnimcp-client");
    assert_eq!(meta("logLevel"), Value::Null);
    assert_eq!(sent[0].meta("progressToken"), &Value::Null);
    assert_eq!(&*sent[0].mirrored.method, "tools/call");
    assert_eq!(sent[0].mirrored.name.as_deref(), Some("add"));
    assert_eq!(sent[1].body["params"]["arguments"], json!({}));
    assert_eq!(sent[2].body["params"].get("arguments"), None);
    assert_eq!(sent[3].body["params"].get("arguments"), None);
    let mut ids: Vec<_> = sent
        .iter()
        .map(|sent| sent.body["id"].as_i64().unwrap())
        .collect();
    ids.dedup();
    assert_eq!(ids.len(), 4);
    assert_eq!(script.cancelled(), 0);
}

#[tokio::test]
async fn call_options_are_sent() {
    let script = Script::new([vec![text("")]]);
    let call = script
        .client()
        .await
        .call("add", ())
        .header("x-tenant", "a")
        .header("x-tenant", "b")
        .meta("com.example/region", "eu")
        .meta("io.modelcontextprotocol/protocolVersion", "1999-01-01")
        .log_level(LoggingLevel::Error)
        .on_progress(drop);
    assert_eq!(
        format!("{call:?}"),
        r#"PreparedCall { method: "tools/call", item: Some("add"), .. }"#
    );
    call.await.unwrap();
    let sent = &script.sent()[0];
    let values: Vec<_> = sent.headers.get_all("x-tenant").iter().collect();
    assert_eq!(values, ["a", "b"]);
    assert_eq!(sent.meta("com.example/region"), "eu");
    assert_eq!(
        sent.meta("io.modelcontextprotocol/protocolVersion"),
        "2026-07-28"
    );
    assert_eq!(sent.meta("io.modelcontextprotocol/logLevel"), "error");
    assert_eq!(sent.meta("progressToken"), &sent.body["id"]);
}

#[tokio::test]
async fn notifications_before_response_reach_hooks() {
    let other_token = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"else","progress":9}}"#;
    let script = Script::new([vec![
        progress(1.0),
        log("info"),
        say(other_token),
        say(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#),
        say(r#"{"jsonrpc":"2.0","method":"notifications/nobody/knows","params":{"a":1}}"#),
        say(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#),
        say(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#),
        progress(2.5),
        text("done"),
    ]]);
    let client = script.client().await;
    let (mut steps, mut logs) = (Vec::new(), Vec::new());
    let result = client
        .call("add", ())
        .on_progress(|progress| steps.push(progress.progress))
        .on_log(|message| logs.push(message.level))
        .await
        .unwrap();
    assert_eq!(result.text(), "done");
    assert_eq!(steps, [1.0, 2.5]);
    assert_eq!(logs, [LoggingLevel::Info]);
    assert_eq!(
        script.sent()[0].meta("io.modelcontextprotocol/logLevel"),
        "info"
    );
}

// spec: BASE-19
#[tokio::test]
async fn unrequested_notifications_are_ignored() {
    // spec: BASE-17, PROG-02
    let unknown = json!({"jsonrpc": "2.0", "method": "notifications/x", "params": {"a": 1}});
    let request = json!({"jsonrpc": "2.0", "id": "x", "method": "roots/list"});
    let notes = vec![
        progress(1.0),
        log("error"),
        say(unknown.to_string()),
        say(request.to_string()),
        text("done"),
    ];
    assert_eq!(call(notes).await.unwrap().text(), "done");
}

#[tokio::test]
async fn panicking_hook_is_not_run_again() {
    let client = Script::new([vec![
        progress(1.0),
        progress(2.0),
        log("info"),
        text("done"),
    ]])
    .client()
    .await;
    let (mut runs, mut logs) = (0, 0);
    let result = client
        .call("add", ())
        .on_progress(|_| {
            runs += 1;
            panic!("the hook")
        })
        .on_log(|_| logs += 1)
        .await
        .unwrap();
    assert_eq!(result.text(), "done");
    assert_eq!((runs, logs), (1, 1));
}

#[tokio::test]
async fn call_outlives_its_client_handle() {
    let client = Script::new([vec![text("1")], vec![text("2")]])
        .client()
        .await;
    let first = tokio::spawn(client.call("a", ()).into_future());
    let second = client.clone().call("b", ()).into_future();
    drop(client);
    assert_eq!(second.await.unwrap().text().len(), 1);
    assert_eq!(first.await.unwrap().unwrap().text().len(), 1);
}

#[tokio::test]
async fn invalid_responses_fail_call() {
    for (answer, message) in [
        (vec![], "the stream ended without a response"),
        (vec![progress(1.0)], "the stream ended without a response"),
        (
            vec![say(r#"{"jsonrpc":"2.0","id":4711,"result":{}}"#)],
            "the response is for another request, 4711",
        ),
        (
            vec![say(r#"{"jsonrpc":"2.0","id":"01","result":{}}"#)],
            "the response is for another request, 01",
        ),
        (
            vec![say("<html>")],
            "the response is not a valid message: invalid JSON",
        ),
        (
            vec![say("[]")],
            "the response is not a valid message: batches",
        ),
        (
            vec![result(&json!({"content": 7}))],
            "the result of tools/call is malformed",
        ),
        (
            vec![result(&json!({"resultType": "task", "content": []}))],
            "the result has the unknown type \"task\"",
        ),
        (
            vec![result(&json!({"resultType": "input_required"}))],
            "the server asks for input without saying for which",
        ),
    ] {
        let error = failure(answer).await;
        let text = error.to_string();
        assert!(
            text.starts_with(&format!("tools/call \"add\" at script:: {message}")),
            "{text}"
        );
        assert!(
            error.fault().is_none() && !error.is_timeout() && !error.is_auth(),
            "{text}"
        );
    }
    let kinds = failure(vec![]).await;
    assert!(kinds.is_closed() && kinds.is_retryable());
}

#[tokio::test]
async fn result_without_type_is_complete() {
    let plain = json!({"content": [{"type": "text", "text": "old"}]});
    assert_eq!(call(vec![result(&plain)]).await.unwrap().text(), "old");
}

#[tokio::test]
async fn result_without_content_is_accepted() {
    let structured = json!({"resultType": "complete", "structuredContent": {"sum": 3}});
    let result = call(vec![result(&structured)]).await.unwrap();
    assert!(result.content.is_empty());
    assert_eq!(result.parse::<Value>().unwrap(), json!({"sum": 3}));
}

#[tokio::test]
async fn server_error_is_returned_as_fault() {
    let failed = failure(vec![say(error(codes::INVALID_PARAMS, &json!({"a": 1})))]).await;
    let Some(Fault::Protocol(object)) = failed.fault() else {
        panic!("{failed:?}")
    };
    assert_eq!(object.code, codes::INVALID_PARAMS);
    assert_eq!(object.data_as::<Value>(), Some(json!({"a": 1})));
    assert_eq!(
        failed.to_string(),
        "tools/call \"add\" at script:: no (-32602)"
    );
    assert!(failed.source().is_none());

    // A server that could not read the id responds with null or with an invented id.
    for id in ["", "\"id\":null,", "\"id\":\"server-error\","] {
        let answer =
            format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-32700,"message":"what?"}}}}"#);
        assert!(failure(vec![refuse(400, answer)]).await.fault().is_some());
    }

    let header = failure(vec![refuse(
        400,
        error(codes::HEADER_MISMATCH, &Value::Null),
    )])
    .await;
    assert!(matches!(header.fault(), Some(Fault::HeaderMismatch(_))));
    let unauthorized = failure(vec![refuse(401, error(-1, &Value::Null))]).await;
    assert!(unauthorized.is_auth() && unauthorized.fault().is_some());
    let overloaded = failure(vec![refuse(503, error(-1, &Value::Null))]).await;
    assert!(overloaded.is_retryable() && !overloaded.is_auth());
}

#[tokio::test]
async fn channel_error_is_classified() {
    let status = |code, seconds: Option<u64>| ChannelError::Status {
        status: StatusCode::from_u16(code).unwrap(),
        excerpt: "no".to_owned(),
        retry_after: seconds.map(std::time::Duration::from_secs),
        challenge: None,
    };
    let error = failure(vec![Step::Fail(status(503, Some(7)))]).await;
    assert!(error.is_retryable() && !error.is_closed());
    assert_eq!(error.retry_after().unwrap().as_secs(), 7);
    assert!(failure(vec![Step::Fail(status(403, None))]).await.is_auth());
    let gone = failure(vec![Step::Fail(status(404, None))]).await;
    assert!(!gone.is_retryable() && !gone.is_auth());
    assert_eq!(
        gone.to_string(),
        "tools/call \"add\" at script:: HTTP status 404 Not Found: no"
    );

    let broken = failure(vec![
        progress(1.0),
        Step::Fail(ChannelError::Broken {
            source: Some("reset".into()),
        }),
    ])
    .await;
    assert!(broken.is_closed() && broken.is_retryable());
    assert!(
        broken
            .to_string()
            .contains("the connection broke before the answer was there: reset; ")
    );

    let refused = ChannelError::Connect {
        peer: "http://a/".to_owned(),
        source: "refused".into(),
    };
    let connect = failure(vec![Step::Fail(refused)]).await;
    assert!(connect.is_retryable() && !connect.is_closed());
    assert_eq!(
        connect.to_string(),
        "tools/call \"add\": cannot connect to http://a/: refused"
    );
}

#[tokio::test]
async fn invalid_arguments_or_header_fail_call() {
    let script = Script::new([]);
    let client = script.client().await;
    let error = client.call("add", [1, 2]).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "tools/call \"add\" at script:: the arguments cannot be sent: expected a JSON object, got an array"
    );
    let error = client
        .call("add", ())
        .header("x-key", "hidden\n")
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "tools/call \"add\" at script:: the header \"x-key\" cannot be sent: its name or its value is invalid"
    );
    assert!(client.call("add", ()).header("x y", "").await.is_err());
    assert!(script.sent().is_empty());
}

#[tokio::test]
async fn failed_tool_is_reported_in_result() {
    let failed = json!({"isError": true, "content": [{"type": "text", "text": "no disk"}]});
    let result = call(vec![result(&failed)]).await.unwrap();
    assert!(result.is_error());
    let error = Error::from(result.parse::<f64>().unwrap_err());
    assert_eq!(error.tool_error(), Some("no disk"));
    assert_eq!(error.to_string(), "the tool failed: no disk");
    let other = Error::from(CallToolResult::from_text("x").parse::<f64>().unwrap_err());
    assert_eq!(other.tool_error(), None);
}

#[tokio::test]
async fn typed_call_names_tool_and_text_of_another_shape() {
    let failed = json!({"isError": true, "content": [{"type": "text", "text": "no disk"}]});
    let client = Script::new([vec![text("three")], vec![result(&failed)]])
        .client()
        .await;
    let error = TypedCall::<f64>::new(client.call("add", ()))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "tools/call \"add\" at script:: the tool's result has another shape: expected ident at line 1 column 2; \
         it is `three`"
    );
    let error = TypedCall::<f64>::new(client.call("add", ()))
        .with_result()
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "tools/call \"add\" at script:: the tool failed: no disk"
    );
    assert_eq!(error.tool_error(), Some("no disk"));
}

#[tokio::test]
async fn dropped_call_closes_its_stream() {
    let script: Arc<Script> = Script::new([]);
    let client = script.client().await;
    let call = client.call("add", ()).into_future();
    assert!(futures::FutureExt::now_or_never(call).is_none());
    assert_eq!((script.sent().len(), script.cancelled()), (1, 1));

    // A call that is not awaited is not sent.
    drop(client.call("add", ()));
    drop(client.call("add", ()).into_future());
    assert_eq!(script.sent().len(), 1);
}

#[tokio::test]
async fn prompts_resources_and_completion_are_called() {
    use mcp_types::{CompleteParams, CompletionReference};

    let script = Script::new([
        vec![result(
            &json!({"contents": [{"uri": "file:///a%20b", "text": "hi"}]}),
        )],
        vec![result(
            &json!({"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}]}),
        )],
        vec![result(&json!({"completion": {"values": ["rust"]}}))],
    ]);
    let client = script.client().await;
    let read = client.read_resource("file:///a%20b").await.unwrap();
    assert_eq!(read.contents.len(), 1);
    let prompt = client
        .get_prompt("review", json!({"file": "x"}))
        .await
        .unwrap();
    assert_eq!(prompt.messages.len(), 1);
    let reference = CompletionReference::Prompt {
        name: "review".to_owned(),
    };
    let found = client
        .complete(CompleteParams::new(reference, "language", "ru"))
        .await
        .unwrap();
    assert_eq!(found.completion.values, ["rust"]);

    let sent = script.sent();
    let mirrored: Vec<_> = sent
        .iter()
        .map(|sent| (sent.mirrored.method.as_ref(), sent.mirrored.name.as_deref()))
        .collect();
    assert_eq!(
        mirrored,
        [
            ("resources/read", Some("file:///a%20b")),
            ("prompts/get", Some("review")),
            ("completion/complete", None),
        ]
    );
    assert_eq!(
        sent[2].body["params"]["argument"],
        json!({"name": "language", "value": "ru"})
    );
}

#[tokio::test]
async fn extension_request_returns_raw_result() {
    let script = Script::new([vec![result(
        &json!({"resultType": "complete", "skills": [], "more": 1}),
    )]]);
    let client = script.client().await;
    let request = client.request("skills/list", json!({"cursor": "2"}));
    let found = request.header("x-a", "1").await.unwrap();
    let found: Value = found.parse().unwrap();
    assert_eq!((&found["skills"], &found["more"]), (&json!([]), &json!(1)));
    let sent = &script.sent()[0];
    assert_eq!(sent.body["method"], "skills/list");
    assert_eq!(sent.body["params"]["cursor"], "2");
    assert_eq!(sent.headers["x-a"], "1");
    let error = client.request("skills/list", [1]).await.unwrap_err();
    assert!(
        error.to_string().contains("the arguments cannot be sent"),
        "{error}"
    );
}

#[tokio::test]
async fn response_with_foreign_id_is_ignored_until_own_response() {
    let answer = |id: &str| {
        say(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","content":[]}}}}"#
        ))
    };
    let steps = vec![
        answer("4711"),
        answer("\"1\""),
        answer("\"$ID\""),
        progress(1.0),
        say(r#"{"jsonrpc":"2.0","id":99,"error":{"code":-32603,"message":"no"}}"#),
        text("own"),
    ];
    assert_eq!(call(steps).await.unwrap().text(), "own");
}
