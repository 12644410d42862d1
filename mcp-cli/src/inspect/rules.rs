//! Rules of the specification that a message of the server violates.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mcp::types::{Method, MethodKind, ProtocolVersion};
use serde_json::{Map, Value, json};

use super::shapes;
use super::tool_rules::ToolRules;
use super::violations::Violations;

/// Largest message that is checked, in bytes: 1 MiB.
const MAX_CHECKED: usize = 1 << 20;
/// Largest number of messages of one batch that are checked.
const MAX_BATCH: usize = 64;
/// Largest number of requests that wait for their response. The oldest are forgotten.
const MAX_PENDING: usize = 1024;

/// The checks of the messages of one connection.
#[derive(Debug, Default)]
pub(super) struct Rules {
    state: Mutex<MessageRules>,
}

#[derive(Debug, Default)]
struct MessageRules {
    version: Option<ProtocolVersion>,
    /// Requests without a response, by id as JSON.
    pending: HashMap<String, Pending>,
    order: VecDeque<String>,
    /// True after requests were forgotten: then a response may be one of theirs.
    has_forgotten: bool,
    tools: ToolRules,
}

#[derive(Debug)]
struct Pending {
    method: String,
    /// The tool of a call.
    tool: Option<String>,
}

impl Rules {
    /// Notes a message of the client.
    pub(super) fn sent(&self, body: &[u8], version: ProtocolVersion) {
        let mut state = self.lock();
        state.version = Some(version);
        let Ok(message) = serde_json::from_slice::<Value>(body) else {
            return;
        };
        let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) else {
            return;
        };
        let tool = message["params"]["name"].as_str().map(str::to_owned);
        let pending = Pending {
            method: method.to_owned(),
            tool,
        };
        let id = id.to_string();
        if state.pending.insert(id.clone(), pending).is_none() {
            state.order.push_back(id);
        }
        // Ids of answered requests are in the order, too.
        while state.order.len() > MAX_PENDING {
            if let Some(oldest) = state.order.pop_front() {
                state.has_forgotten |= state.pending.remove(&oldest).is_some();
            }
        }
    }

    /// Returns what is wrong with a message of the server, as JSON for the page.
    pub(super) fn check(&self, body: &[u8]) -> Value {
        if body.len() > MAX_CHECKED {
            return Value::Null;
        }
        let mut violations = Violations::default();
        match serde_json::from_slice::<Value>(body) {
            Ok(message) => self.lock().check_body(&message, &mut violations),
            Err(error) => violations.add("BASE-01", format!("no JSON: {error}")),
        }
        violations.into_json()
    }

    fn lock(&self) -> MutexGuard<'_, MessageRules> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MessageRules {
    fn check_body(&mut self, body: &Value, violations: &mut Violations) {
        match body {
            Value::Object(message) => self.check_message(message, violations),
            Value::Array(batch) => {
                if !self.version.is_some_and(ProtocolVersion::allows_batch) {
                    violations.add("BASE-16", "this revision has no batches");
                }
                for message in batch.iter().filter_map(Value::as_object).take(MAX_BATCH) {
                    self.check_message(message, violations);
                }
            }
            _ => violations.add("BASE-01", "a message is a JSON object"),
        }
    }

    fn check_message(&mut self, message: &Map<String, Value>, violations: &mut Violations) {
        if message.get("jsonrpc") != Some(&json!("2.0")) {
            violations.add("BASE-01", "`jsonrpc` is not \"2.0\"");
        }
        match message.get("method") {
            Some(Value::String(method)) => self.check_call(method, message, violations),
            Some(_) => violations.add("BASE-01", "`method` is no string"),
            None => self.check_response(message, violations),
        }
    }

    fn check_call(&self, method: &str, message: &Map<String, Value>, violations: &mut Violations) {
        match message.get("id") {
            Some(Value::Null) => violations.add("BASE-03", "the id of a request is null"),
            Some(id) if !is_id(id) => {
                violations.add("BASE-02", "an id is a string or an integer");
            }
            Some(_) if self.version.is_some_and(ProtocolVersion::is_modern) => {
                violations.add("BASE-17", "servers send no requests in this revision");
            }
            _ => {}
        }
        let known = Method::from_name(method);
        let is_notification = known.is_some_and(|it| it.spec().kind == MethodKind::Notification);
        if is_notification && message.contains_key("id") {
            violations.add("BASE-12", "a notification has no id");
        }
        let params = message.get("params");
        if params.is_some_and(|it| !it.is_object()) {
            violations.add("BASE-13", "`params` is no object");
            return;
        }
        let no_params = json!({});
        if let Some(known) = known
            && let Err(reason) = shapes::params(known, params.unwrap_or(&no_params))
        {
            violations.add("schema", format!("`params`: {reason}"));
        }
    }

    fn check_response(&mut self, message: &Map<String, Value>, violations: &mut Violations) {
        let (result, error) = (message.get("result"), message.get("error"));
        match (result, error) {
            (Some(_), Some(_)) => violations.add("BASE-08", "both `result` and `error`"),
            (None, None) => violations.add("BASE-07", "neither `method`, `result` nor `error`"),
            (None, Some(error)) => check_error(error, violations),
            (Some(_), None) => {}
        }
        let id = message.get("id").filter(|id| !id.is_null());
        let Some(id) = id else {
            if result.is_some() {
                violations.add("BASE-07", "the result has no id");
            }
            return;
        };
        let Some(pending) = self.pending.remove(&id.to_string()) else {
            if !self.has_forgotten {
                violations.add("BASE-10", format!("no open request has the id {id}"));
            }
            return;
        };
        if let Some(result) = result.filter(|_| error.is_none()) {
            self.check_result(&pending, result, violations);
        }
    }

    fn check_result(&mut self, pending: &Pending, result: &Value, violations: &mut Violations) {
        if !result.is_object() {
            violations.add("schema", "`result` is no object");
            return;
        }
        let kind = result.get("resultType");
        if self.version.is_some_and(ProtocolVersion::is_modern)
            && !kind.is_some_and(Value::is_string)
        {
            violations.add("BASE-21", "`resultType` is missing");
        }
        let kind = kind.and_then(Value::as_str).unwrap_or("complete");
        let method = Method::from_name(&pending.method);
        match (method, kind) {
            (_, "input_required") => report(shapes::input_required(result), violations),
            (_, "task") => report(shapes::task(result), violations),
            (Some(method), "complete") => {
                report(shapes::result(method, result), violations);
                let tool = pending.tool.as_deref();
                self.tools.check(method, tool, result, violations);
            }
            (_, "complete") => {}
            (_, other) => violations.add("BASE-24", format!("unknown `resultType` {other:?}")),
        }
    }
}

fn check_error(error: &Value, violations: &mut Violations) {
    if !error["code"].is_i64() {
        violations.add("BASE-09", "`error.code` is no integer");
    }
    if !error["message"].is_string() {
        violations.add("BASE-09", "`error.message` is no string");
    }
}

fn report(shape: Result<(), String>, violations: &mut Violations) {
    if let Err(reason) = shape {
        violations.add("schema", format!("`result`: {reason}"));
    }
}

fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_i64() || id.is_u64()
}

#[cfg(test)]
mod tests {
    use mcp::types::ProtocolVersion;
    use serde_json::{Value, json};

    use super::{MAX_PENDING, Rules};
    use crate::inspect::violations::MAX_VIOLATIONS;

    const MODERN: ProtocolVersion = ProtocolVersion::LATEST;
    const LEGACY: ProtocolVersion = ProtocolVersion::LATEST_LEGACY;

    fn rules(version: ProtocolVersion, message: &Value) -> Vec<String> {
        let rules = Rules::default();
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        rules.sent(list.to_string().as_bytes(), version);
        found(&rules, message)
    }

    fn found(rules: &Rules, message: &Value) -> Vec<String> {
        let found = rules.check(message.to_string().as_bytes());
        let found = found.as_array().cloned().unwrap_or_default();
        let names = found.iter().map(|it| it["rule"].as_str().unwrap());
        names.map(str::to_owned).collect()
    }

    #[test]
    fn message_with_a_violation_names_its_rule() {
        let tools = json!([{"name": "a", "inputSchema": {"type": "object"}}]);
        for (version, message, expected) in [
            (
                LEGACY,
                json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}),
                vec![],
            ),
            (
                MODERN,
                json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}),
                vec!["BASE-21"],
            ),
            (
                LEGACY,
                json!({"id": 1, "result": {"tools": []}}),
                vec!["BASE-01"],
            ),
            (
                LEGACY,
                json!({"jsonrpc": "2.0", "id": 2, "result": {}}),
                vec!["BASE-10"],
            ),
            (
                LEGACY,
                json!({"jsonrpc": "2.0", "id": "1", "result": {}}),
                vec!["BASE-10"],
            ),
            (
                LEGACY,
                json!({"jsonrpc": "2.0", "result": {}}),
                vec!["BASE-07"],
            ),
            (LEGACY, json!({"jsonrpc": "2.0", "id": 1}), vec!["BASE-07"]),
            (
                LEGACY,
                json!({"jsonrpc": "2.0", "id": 1, "result": {}, "error": {}}),
                vec!["BASE-08"],
            ),
            (
                LEGACY,
                json!({"jsonrpc": "2.0", "id": 1, "error": {"code": "x"}}),
                vec!["BASE-09", "BASE-09"],
            ),
            (
                LEGACY,
                json!({"jsonrpc": "2.0", "error": {"code": 1, "message": ""}}),
                vec![],
            ),
            (
                LEGACY,
                json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
                vec!["schema"],
            ),
            (
                LEGACY,
                json!({"jsonrpc": "2.0", "id": 1, "result": []}),
                vec!["schema"],
            ),
            (LEGACY, json!([]), vec!["BASE-16"]),
            (LEGACY, json!(1), vec!["BASE-01"]),
            (
                LEGACY,
                json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
                vec![],
            ),
            (
                MODERN,
                json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
                vec!["BASE-17"],
            ),
            (
                LEGACY,
                json!({"jsonrpc": "2.0", "id": null, "method": "ping"}),
                vec!["BASE-03"],
            ),
            (
                LEGACY,
                json!({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}),
                vec!["BASE-02"],
            ),
            (
                LEGACY,
                json!({"jsonrpc": "2.0", "method": "x", "params": []}),
                vec!["BASE-13"],
            ),
            (
                LEGACY,
                json!({"jsonrpc": "2.0", "method": "notifications/progress"}),
                vec!["schema"],
            ),
            (
                LEGACY,
                json!({"jsonrpc": "2.0", "id": 4, "method": "notifications/tools/list_changed"}),
                vec!["BASE-12"],
            ),
            (
                MODERN,
                json!({"jsonrpc": "2.0", "id": 1, "result": {"resultType": "other"}}),
                vec!["BASE-24"],
            ),
        ] {
            assert_eq!(rules(version, &message), expected, "{message}");
        }
    }

    #[test]
    fn response_is_known_once() {
        let rules = Rules::default();
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
        rules.sent(ping.to_string().as_bytes(), LEGACY);
        let response = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
        assert!(found(&rules, &response).is_empty());
        assert_eq!(found(&rules, &response), ["BASE-10"]);
    }

    #[test]
    fn requests_and_violations_are_bounded() {
        let rules = Rules::default();
        for id in 0..=MAX_PENDING {
            let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
            rules.sent(ping.to_string().as_bytes(), ProtocolVersion::V2025_03_26);
        }
        assert_eq!(rules.lock().pending.len(), MAX_PENDING);
        // The request may be one that was forgotten.
        let response = json!({"jsonrpc": "2.0", "id": 0, "result": {}});
        assert!(found(&rules, &response).is_empty());
        let batch = Value::from(vec![json!({}); 100]);
        assert_eq!(found(&rules, &batch).len(), MAX_VIOLATIONS);
    }
}
