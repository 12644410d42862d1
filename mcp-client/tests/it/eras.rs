//! Detection of legacy servers.

use std::sync::Arc;
use std::time::Duration;

use mcp_client::Verdict;
use mcp_client::{Client, ConnectMode, Over};
use mcp_core::{ChannelError, CloseReason};
use mcp_types::ProtocolVersion::{self, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};
use mcp_types::codes;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::script::{Script, Step, error, refuse, result, say, wait};
use crate::session::{methods, no_method, opened, text};

fn verdict(stored: Value) -> Verdict {
    serde_json::from_value(stored).unwrap()
}

fn legacy() -> Verdict {
    verdict(json!({"era": "legacy", "version": "2025-06-18"}))
}

// spec: LIFE-01, LIFE-03, LIFE-06
#[tokio::test]
async fn auto_mode_with_legacy_server_opens_session() {
    // spec: BASE-15
    let (script, _inbound) = Script::session([no_method(), opened("2025-06-18"), text("3")]);
    let client = Client::builder()
        .identity("me", "1")
        .roots(["file:///a"])
        .connect(Over(script.channel()))
        .await
        .unwrap();
    assert_eq!(client.protocol_version(), V2025_06_18);
    assert_eq!(client.server_info().unwrap().name, "old");
    assert_eq!(client.instructions().as_deref(), Some("Be patient."));
    assert!(client.server_capabilities().unwrap().logging.is_some());
    assert_eq!(
        client.negotiation().to_string(),
        "server/discover (2026-07-28): no (-32601); initialize (2025-11-25): 2025-06-18; negotiated: 2025-06-18"
    );
    assert_eq!(client.negotiation().verdict, legacy());
    assert_eq!(script.adopted(), [V2026_07_28, V2025_11_25, V2025_06_18]);

    assert_eq!(
        client.call("add", json!({"a": 1})).await.unwrap().text(),
        "3"
    );
    let sent = script.sent();
    assert_eq!(
        sent[1].body["params"],
        json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"roots": {"listChanged": true}},
            "clientInfo": {"name": "me", "version": "1"},
        })
    );
    assert_eq!(
        sent[2].body["params"],
        json!({"name": "add", "arguments": {"a": 1}})
    );
    assert_eq!(sent[2].mirrored.version, V2025_06_18);
    let notes = script.notes(1).await;
    assert_eq!(
        notes[0].body,
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
    );
    assert_eq!(notes[0].mirrored.version, V2025_06_18);
    let error = client.discover().await.unwrap_err().to_string();
    assert!(error.contains("has no server/discover"), "{error}");
}

#[tokio::test]
async fn connect_modes_send_expected_requests() {
    let modern = || verdict(json!({"era": "modern", "version": "2026-07-28"}));
    for (mode, answers, asked, spoken) in [
        (
            ConnectMode::Legacy,
            vec![opened("2025-03-26")],
            vec!["initialize"],
            V2025_03_26,
        ),
        (
            ConnectMode::Pin(V2025_06_18),
            vec![opened("2025-06-18")],
            vec!["initialize"],
            V2025_06_18,
        ),
        (ConnectMode::Pin(V2026_07_28), vec![], vec![], V2026_07_28),
        (ConnectMode::Prior(modern()), vec![], vec![], V2026_07_28),
        (
            ConnectMode::Prior(legacy()),
            vec![opened("2025-06-18")],
            vec!["initialize"],
            V2025_06_18,
        ),
    ] {
        let (script, _inbound) = Script::session(answers);
        let client = Client::builder()
            .mode(mode.clone())
            .connect(Over(script.channel()))
            .await
            .unwrap();
        assert_eq!(methods(&script), asked, "{mode:?}");
        assert_eq!(client.protocol_version(), spoken);
    }
    // No other revision than the pinned one is accepted.
    let (script, _inbound) = Script::session([opened("2025-03-26")]);
    let mode = ConnectMode::Pin(V2025_06_18);
    let error = Client::builder()
        .mode(mode)
        .connect(Over(script.channel()))
        .await
        .unwrap_err();
    assert_eq!(error.supported_versions().unwrap(), ["2025-03-26"]);
}

#[tokio::test]
async fn prior_verdict_skips_discover() {
    let found = json!({
        "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
        "instructions": "Hi.", "ttlMs": 0, "cacheScope": "private",
    });
    let script = Script::new([vec![result(&found)]]);
    let first = Client::connect(Over(script.channel())).await.unwrap();
    let kept = serde_json::to_string(&first.negotiation().verdict).unwrap();
    let prior: Verdict = serde_json::from_str(&kept).unwrap();
    let again = Client::builder()
        .mode(ConnectMode::Prior(prior))
        .connect(Over(script.channel()))
        .await
        .unwrap();
    assert_eq!(again.instructions().as_deref(), Some("Hi."));
    assert_eq!(again.negotiation().to_string(), "negotiated: 2026-07-28");
    assert_eq!(script.sent().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn silent_or_ended_pipe_counts_as_legacy() {
    // The server answers only `initialize`.
    let script = Script::pipe([vec![wait(900)], opened("2025-11-25")]);
    let start = Instant::now();
    let client = Client::connect(Over(script.channel())).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 5);
    assert_eq!(
        (client.protocol_version(), script.reopened()),
        (V2025_11_25, 0)
    );

    // The server ends at `server/discover` and is started again.
    for end in [
        vec![],
        vec![Step::Fail(ChannelError::Closed(CloseReason::Remote))],
    ] {
        let script = Script::pipe([end, opened("2025-11-25")]);
        Client::connect(Over(script.channel())).await.unwrap();
        assert_eq!(script.reopened(), 1);
    }
    // Over HTTP neither silence nor a lost connection counts as evidence.
    let cut = Step::Fail(ChannelError::Broken { source: None });
    for answer in [vec![wait(900)], vec![cut]] {
        let script = Script::new([answer, opened("2025-11-25")]);
        let error = Client::connect(Over(script.channel())).await.unwrap_err();
        assert!(error.is_timeout() || error.is_closed(), "{error}");
        assert_eq!(script.sent().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn silence_is_remembered_in_a_file_until_a_connection_fails() {
    // spec: COMPAT-12
    let folder = std::env::temp_dir().join(format!("mcp-silence-{}", std::process::id()));
    let file = folder.join("server");
    let connect = async |script: Arc<Script>| {
        let start = Instant::now();
        let client = Client::builder().remember_silence(&file);
        let connected = client.connect(Over(script.channel())).await;
        connected.map(|_| start.elapsed().as_secs())
    };
    let silent = || Script::pipe([vec![wait(900)], opened("2025-11-25")]);
    let known = || Script::pipe([opened("2025-11-25")]);
    assert_eq!(connect(silent()).await.unwrap(), 5);
    assert_eq!(connect(known()).await.unwrap(), 0);
    assert_eq!(connect(known()).await.unwrap(), 0);

    // After a day the server is asked again.
    let old = std::time::SystemTime::now() - Duration::from_secs(86_500);
    let times = std::fs::File::options().write(true).open(&file).unwrap();
    times.set_modified(old).unwrap();
    assert_eq!(connect(silent()).await.unwrap(), 5);

    let refused = || vec![say(error(codes::INTERNAL_ERROR, &json!(null)))];
    connect(Script::pipe([refused(), refused()]))
        .await
        .unwrap_err();
    assert!(!file.exists());
    assert_eq!(connect(silent()).await.unwrap(), 5);
    std::fs::remove_dir_all(&folder).unwrap();
}

// spec: COMPAT-08, COMPAT-09
#[tokio::test]
async fn unusable_answer_to_discover_leads_to_initialize() {
    const UNUSABLE: [&str; 9] = [
        r#"{"jsonrpc":"2.0","id":$ID}"#,
        r#"{"id":$ID,"result":{}}"#,
        r#"{"jsonrpc":"1.0","id":$ID,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":$ID,"result":{},"error":{"code":-32601,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":$ID,"error":"method not found"}"#,
        r#"{"jsonrpc":"2.0","id":$ID,"error":{"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":$ID,"result":"ok"}"#,
        "<html>",
        "[]",
    ];
    for answer in UNUSABLE {
        for script in [Script::pipe, Script::new] {
            let script = script([vec![say(answer)], opened("2025-11-25")]);
            let client = Client::connect(Over(script.channel())).await;
            let client = client.unwrap_or_else(|error| panic!("{answer}: {error}"));
            assert_eq!(client.protocol_version(), V2025_11_25, "{answer}");
            assert_eq!(methods(&script), ["server/discover", "initialize"]);
            assert_eq!(script.reopened(), 0, "{answer}");
        }
    }
    // Over HTTP a response without any message, as with status 202.
    let script = Script::new([vec![], opened("2025-11-25")]);
    assert!(Client::connect(Over(script.channel())).await.is_ok());
}

#[tokio::test]
async fn slow_discover_is_retried_after_initialize() {
    let supported = json!({"supported": ["2026-07-28"], "requested": "2025-11-25"});
    let refused = refuse(400, error(codes::UNSUPPORTED_PROTOCOL_VERSION, &supported));
    let found = json!({
        "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {},
        "ttlMs": 0, "cacheScope": "private",
    });
    let script = Script::new([no_method(), vec![refused], vec![result(&found)]]);
    let client = Client::connect(Over(script.channel())).await.unwrap();
    assert_eq!(client.protocol_version(), ProtocolVersion::LATEST);
    assert_eq!(
        methods(&script),
        ["server/discover", "initialize", "server/discover"]
    );
}

// spec: LIFE-08
#[tokio::test]
async fn failed_initialize_is_named_in_its_error() {
    let refused = || vec![refuse(400, error(codes::INVALID_REQUEST, &Value::Null))];
    for answer in [opened("1999-01-01"), refused()] {
        let script = Script::new([no_method(), answer]);
        let failed = Client::connect(Over(script.channel())).await.unwrap_err();
        assert_eq!(methods(&script), ["server/discover", "initialize"]);
        let text = failed.to_string();
        assert!(text.starts_with("initialize at "), "{text}");
    }
}

fn end(reason: &str) -> Vec<Step> {
    let reason = CloseReason::broken(reason);
    vec![Step::Fail(ChannelError::Closed(reason))]
}

#[tokio::test]
async fn server_that_refuses_initialize_after_discover_is_started_again() {
    let refused = || vec![say(error(codes::INVALID_REQUEST, &json!(null)))];
    let exits = || end("exit status: 1");
    for spoiled in [refused(), exits(), vec![]] {
        let script = Script::pipe([no_method(), spoiled, opened("2025-06-18")]);
        let client = Client::connect(Over(script.channel())).await.unwrap();
        assert_eq!(client.protocol_version(), V2025_06_18);
        assert_eq!(script.reopened(), 1);
        let expected = ["server/discover", "initialize", "initialize"];
        assert_eq!(methods(&script), expected);
    }
    // A fresh process that refuses `initialize` as well is not started a third time.
    let script = Script::pipe([no_method(), refused(), refused()]);
    let error = Client::connect(Over(script.channel())).await.unwrap_err();
    assert!(error.fault().is_some(), "{error}");
    assert_eq!((script.reopened(), script.sent().len()), (1, 3));
    // Without a probe nothing is started again.
    let script = Script::pipe([refused()]);
    let legacy = Client::builder().mode(ConnectMode::Legacy);
    assert!(legacy.connect(Over(script.channel())).await.is_err());
    assert_eq!(script.reopened(), 0);
}

#[tokio::test]
async fn server_that_ends_at_its_start_is_reported_with_its_last_lines_once() {
    let reason = "the server has ended with exit status: 1; its standard error ends with:\nno key";
    let script = Script::pipe([end(reason), end(reason)]);
    let error = Client::connect(Over(script.channel())).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("initialize at script:: before its first response, {reason}").replace('\n', "\n  ")
    );
    assert!(error.is_closed());
    assert_eq!(script.reopened(), 1);
}
