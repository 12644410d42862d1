//! Validation of every encoded message against the schema of its revision.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::message::{ClientRequest, ClientResponse, Reply, ServerRequest};
use mcp_types::{
    ClientMessage, ClientParams, Method, ProtocolVersion, ServerMessage, ServerParams,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use super::golden;
use super::messages::Side;
use super::spec::{Spec, members};
use super::strategies::{self, Range};

/// The number of generated values per kind.
const CASES: usize = 600;

/// Returns the folder with one folder per revision.
fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/spec/schema"))
}

struct Checker {
    spec: Spec,
    side: Side,
    counts: BTreeMap<String, usize>,
}

impl Checker {
    fn version(&self) -> ProtocolVersion {
        self.spec.version
    }

    fn check(&mut self, name: &str, value: &Value) {
        self.spec.check(name, value);
        *self.counts.entry(name.to_owned()).or_default() += 1;
    }

    /// Validates a request or notification by its own definition, and as a message.
    fn message(&mut self, text: &[u8]) {
        let message: Value = serde_json::from_slice(text).unwrap();
        owned_round_trip(&message, text);
        let is_request = message.get("id").is_some();
        let envelope = if is_request {
            "JSONRPCRequest"
        } else {
            "JSONRPCNotification"
        };
        self.spec.check(envelope, &message);
        let method = message["method"].as_str().unwrap();
        match Method::from_name(method) {
            Some(method) => self.check(definition(method), &message),
            None => *self.counts.entry("an extension's".to_owned()).or_default() += 1,
        }
    }

    /// Validates a response by the method of its request.
    fn response(&mut self, method: Option<Method>, text: &[u8]) {
        let message: Value = serde_json::from_slice(text).unwrap();
        owned_round_trip(&message, text);
        let is_old = self.spec.has("JSONRPCError");
        if message.get("error").is_some() {
            let envelope = if is_old {
                "JSONRPCError"
            } else {
                "JSONRPCErrorResponse"
            };
            self.check(envelope, &message);
            let code = message["error"]["code"].as_i64().unwrap();
            for (special, name) in [
                (-32020, "HeaderMismatchError"),
                (-32021, "MissingRequiredClientCapabilityError"),
                (-32022, "UnsupportedProtocolVersionError"),
                (-32042, "URLElicitationRequiredError"),
            ] {
                let is_ours = message["error"].get("data").is_some();
                if code == special && is_ours && self.spec.has(name) {
                    self.check(name, &message);
                }
                assert!(code != special || self.spec.has(name), "{message}");
            }
            return;
        }
        let envelope = if is_old {
            "JSONRPCResponse"
        } else {
            "JSONRPCResultResponse"
        };
        self.spec.check(envelope, &message);
        let result = &message["result"];
        let name = match method.map(result_definition) {
            _ if result["resultType"] == "input_required" => "InputRequiredResult",
            Some(name) => name,
            None => "Result",
        };
        if method.is_none() && self.version().is_modern() {
            assert!(members(result).contains_key("resultType"));
        }
        self.check(name, result);
    }
}

/// Reads and writes a message as an owned one of each side. One of them knows its parameters.
fn owned_round_trip(message: &Value, text: &[u8]) {
    let client = ClientMessage::parse(text).unwrap();
    let server = ServerMessage::parse(text).unwrap();
    assert_eq!(serde_json::to_value(&client).unwrap(), *message);
    assert_eq!(serde_json::to_value(&server).unwrap(), *message);
    let method = client.method().and_then(Method::from_name);
    let is_other = matches!(
        client,
        ClientMessage::Request {
            params: ClientParams::Other { .. },
            ..
        } | ClientMessage::Notification {
            params: ClientParams::Other { .. }
        }
    ) && matches!(
        server,
        ServerMessage::Request {
            params: ServerParams::Other { .. },
            ..
        } | ServerMessage::Notification {
            params: ServerParams::Other { .. }
        }
    );
    assert!(method.is_none() || !is_other, "{message}");
}

/// Returns the definition of a request or notification.
fn definition(method: Method) -> &'static str {
    match method {
        Method::CallTool => "CallToolRequest",
        Method::ListTools => "ListToolsRequest",
        Method::ReadResource => "ReadResourceRequest",
        Method::ListResources => "ListResourcesRequest",
        Method::ListResourceTemplates => "ListResourceTemplatesRequest",
        Method::GetPrompt => "GetPromptRequest",
        Method::ListPrompts => "ListPromptsRequest",
        Method::Complete => "CompleteRequest",
        Method::Discover => "DiscoverRequest",
        Method::Listen => "SubscriptionsListenRequest",
        Method::SubscriptionAcknowledged => "SubscriptionsAcknowledgedNotification",
        Method::Progress => "ProgressNotification",
        Method::LogMessage => "LoggingMessageNotification",
        Method::Cancelled => "CancelledNotification",
        Method::ToolsChanged => "ToolListChangedNotification",
        Method::PromptsChanged => "PromptListChangedNotification",
        Method::ResourcesChanged => "ResourceListChangedNotification",
        Method::ResourceUpdated => "ResourceUpdatedNotification",
        Method::Initialize => "InitializeRequest",
        Method::Initialized => "InitializedNotification",
        Method::Ping => "PingRequest",
        Method::SetLevel => "SetLevelRequest",
        Method::Subscribe => "SubscribeRequest",
        Method::Unsubscribe => "UnsubscribeRequest",
        Method::RootsChanged => "RootsListChangedNotification",
        Method::ListRoots => "ListRootsRequest",
        Method::CreateMessage => "CreateMessageRequest",
        Method::Elicit => "ElicitRequest",
        Method::ElicitationComplete => "ElicitationCompleteNotification",
        other => panic!("no wire writes {other}"),
    }
}

/// Returns the definition of a complete result.
fn result_definition(method: Method) -> &'static str {
    match method {
        Method::CallTool => "CallToolResult",
        Method::ListTools => "ListToolsResult",
        Method::ReadResource => "ReadResourceResult",
        Method::ListResources => "ListResourcesResult",
        Method::ListResourceTemplates => "ListResourceTemplatesResult",
        Method::GetPrompt => "GetPromptResult",
        Method::ListPrompts => "ListPromptsResult",
        Method::Complete => "CompleteResult",
        Method::Discover => "DiscoverResult",
        Method::Listen => "SubscriptionsListenResult",
        Method::Initialize => "InitializeResult",
        Method::ListRoots => "ListRootsResult",
        Method::CreateMessage => "CreateMessageResult",
        Method::Elicit => "ElicitResult",
        _ => "EmptyResult",
    }
}

fn runner() -> TestRunner {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(Config::default(), rng)
}

fn some<T: std::fmt::Debug>(strategy: &impl Strategy<Value = T>, runner: &mut TestRunner) -> T {
    strategy.new_tree(runner).unwrap().current()
}

impl Checker {
    fn calls(&mut self, runner: &mut TestRunner) {
        let calls = strategies::asked(Range::All, self.version());
        let beside = (
            strategies::id(),
            proptest::option::of(strategies::token()),
            strategies::implementation(),
            strategies::client_capabilities(Range::All),
        );
        let retried = strategies::retried();
        for _ in 0..CASES {
            let asked = some(&calls, runner);
            (
                self.side.id,
                self.side.token,
                self.side.info,
                self.side.capabilities,
            ) = some(&beside, runner);
            self.side.input = some(&retried, runner);
            let text = self.side.call(&asked);
            self.message(&text);
        }
    }

    fn replies(&mut self, runner: &mut TestRunner) {
        let replies = strategies::reply(Range::All, self.version());
        for _ in 0..CASES {
            let (asked, reply): (ClientRequest, Reply) = some(&replies, runner);
            let text = self.side.reply(&reply);
            self.response(asked.method(), &text);
        }
    }

    fn notes(&mut self, runner: &mut TestRunner) {
        let of_server = strategies::server_note(Range::All);
        let of_client = strategies::client_note(Range::All);
        for _ in 0..CASES {
            let (note, subscription) = some(&of_server, runner);
            if let Some(text) = self.side.note(&note, subscription.as_ref()) {
                self.message(&text);
            }
            if let Some(text) = self.side.client_note(&some(&of_client, runner)) {
                self.message(&text);
            }
        }
    }

    fn asks(&mut self, runner: &mut TestRunner) {
        let asks = strategies::asked_and_answered(Range::All);
        for _ in 0..CASES {
            let (ask, answer): (ServerRequest, ClientResponse) = some(&asks, runner);
            if let Ok(text) = self.side.ask(&ask) {
                self.message(&text);
                let text = self.side.answer(&answer);
                self.response(ask.method(), &text);
            }
        }
    }
}

impl Checker {
    fn golden(&mut self) {
        for golden in golden::all() {
            let is_ours = golden.version == self.version();
            match golden.method {
                _ if !is_ours => {}
                Some(_) => self.response(golden.method, &golden.text),
                None => self.message(&golden.text),
            }
        }
    }
}

/// The closed schemas refuse fields that a revision does not have. The test below relies on it.
// spec: GAP-15
#[test]
fn closed_schema_refuses_unknown_fields() {
    let folder = folder();
    let tool = json!({"name": "a", "inputSchema": {"type": "object"}});
    let with = |key: &str, value: Value| {
        let mut tool = tool.clone();
        tool[key] = value;
        tool
    };
    let capabilities = |key: &str| json!({ key: {} });
    for (version, name, value, fits) in [
        ("2024-11-05", "Tool", tool.clone(), true),
        ("2024-11-05", "Tool", with("annotations", json!({})), false),
        ("2025-03-26", "Tool", with("annotations", json!({})), true),
        ("2025-03-26", "Tool", with("title", json!("A")), false),
        ("2025-06-18", "Tool", with("icons", json!([])), false),
        ("2025-11-25", "Tool", with("execution", json!({})), true),
        ("2026-07-28", "Tool", with("execution", json!({})), false),
        (
            "2025-03-26",
            "ClientCapabilities",
            capabilities("elicitation"),
            false,
        ),
        (
            "2025-06-18",
            "ClientCapabilities",
            capabilities("tasks"),
            false,
        ),
        (
            "2026-07-28",
            "ClientCapabilities",
            json!({"roots": {"listChanged": true}}),
            false,
        ),
        (
            "2024-11-05",
            "ServerCapabilities",
            capabilities("completions"),
            false,
        ),
        (
            "2025-06-18",
            "StringSchema",
            json!({"type": "string", "default": "a"}),
            false,
        ),
        (
            "2026-07-28",
            "ElicitRequestFormParams",
            json!({"message": "m", "requestedSchema": {"type": "object", "properties": {}}, "_meta": {}}),
            false,
        ),
    ] {
        let spec = Spec::read(&folder, version.parse().unwrap());
        assert_eq!(
            spec.closed_fits(name, &value),
            fits,
            "{version} {name} {value}"
        );
    }
}

#[test]
fn every_encoded_message_matches_its_schema() {
    let folder = folder();
    for version in ProtocolVersion::ALL {
        let mut checker = Checker {
            spec: Spec::read(&folder, version),
            side: Side::new(version),
            counts: BTreeMap::new(),
        };
        let mut runner = runner();
        checker.calls(&mut runner);
        checker.replies(&mut runner);
        checker.notes(&mut runner);
        checker.asks(&mut runner);
        checker.golden();
        let all: usize = checker.counts.values().sum();
        eprintln!(
            "{version}: {all} messages of {} definitions are valid: {:?}",
            checker.counts.len(),
            checker.counts
        );
    }
}
