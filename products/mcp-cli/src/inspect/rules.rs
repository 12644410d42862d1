//! Specification rules that a server message violates.

use mcp::types::ext::tasks::Task;
use mcp::types::{Method, MethodKind, ProtocolVersion};
use parking_lot::Mutex;
use serde::Deserialize as _;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::pending::{Pending, PendingRequests};
use super::schemas::RevisionSchema;
use super::tool_rules::ToolRules;
use super::violations::Violations;

/// Largest message that is checked, in bytes: 1 MiB.
const MAX_CHECKED: usize = 1 << 20;
/// Largest number of checked messages in a batch.
const MAX_BATCH: usize = 64;

/// Checks the messages on one connection.
#[derive(Debug, Default)]
pub(super) struct Rules {
    state: Mutex<MessageRules>,
}

#[derive(Debug, Default)]
struct MessageRules {
    version: Option<ProtocolVersion>,
    /// The client's requests.
    sent: PendingRequests,
    /// The server's requests.
    received: PendingRequests,
    tools: ToolRules,
}

impl Rules {
    /// Notes a client message, and checks it against its revision's schema.
    pub(super) fn sent(&self, body: &[u8], version: ProtocolVersion) -> Violations {
        let mut violations = Violations::default();
        let mut state = self.state.lock();
        state.version = Some(version);
        let Ok(message) = serde_json::from_slice::<Value>(body) else {
            violations.set_unchecked();
            state.sent.add_unread();
            return violations;
        };
        state.sent.add(&message);
        if body.len() > MAX_CHECKED {
            violations.set_unchecked()
        } else {
            state.check_sent(&message, &mut violations)
        }
        violations
    }

    /// Returns what is wrong with a server message.
    pub(super) fn check(&self, body: &[u8]) -> Violations {
        let mut violations = Violations::default();
        if body.len() > MAX_CHECKED {
            violations.set_unchecked();
            return violations;
        }
        match serde_json::from_slice::<Value>(body) {
            Ok(message) => self.state.lock().check_body(&message, &mut violations),
            // JSON with a number beyond the range of `f64`, such as 1e400.
            Err(_) if serde_json::from_slice::<&RawValue>(body).is_ok() => {
                violations.set_unchecked();
            }
            Err(error) => violations.add("BASE-01", format!("no JSON: {error}")),
        }
        violations
    }
}

impl MessageRules {
    fn schema(&self) -> Option<&'static RevisionSchema> {
        self.version.and_then(RevisionSchema::get)
    }

    fn is_modern(&self) -> bool {
        self.version.is_some_and(ProtocolVersion::is_modern)
    }

    /// Checks a client message. It may be one that the user has written.
    fn check_sent(&mut self, message: &Value, violations: &mut Violations) {
        if let Some(method) = message["method"].as_str() {
            // The first message names the revision that it is written in.
            let own = named_version(&message["params"]);
            let schema = own.map_or_else(|| self.schema(), RevisionSchema::get);
            if let Some(schema) = schema {
                schema.check_params(method, message, violations);
            }
            return;
        }
        let pending = message.get("id").and_then(|id| self.received.remove(id));
        if let (Some(pending), Some(_)) = (pending, message.get("result")) {
            self.check_result_schema(&pending, message, violations);
        }
    }

    fn check_body(&mut self, body: &Value, violations: &mut Violations) {
        match body {
            Value::Object(_) => self.check_message(body, violations),
            Value::Array(batch) => {
                if !self.version.is_some_and(ProtocolVersion::allows_batch) {
                    violations.add("BASE-16", "this revision has no batches");
                }
                if batch.len() > MAX_BATCH {
                    violations.set_unchecked();
                }
                let messages = batch.iter().take(MAX_BATCH);
                for message in messages.filter(|message| message.is_object()) {
                    self.check_message(message, violations);
                }
            }
            _ => violations.add("BASE-01", "a message is a JSON object"),
        }
    }

    fn check_message(&mut self, message: &Value, violations: &mut Violations) {
        if message.get("jsonrpc") != Some(&json!("2.0")) {
            violations.add("BASE-01", "`jsonrpc` is not \"2.0\"");
        }
        match message.get("method") {
            Some(Value::String(method)) => {
                self.received.add(message);
                self.check_call(method, message, violations);
            }
            Some(_) => violations.add("BASE-01", "`method` is not a string"),
            None => self.check_response(message, violations),
        }
    }

    fn check_call(&self, method: &str, message: &Value, violations: &mut Violations) {
        match message.get("id") {
            Some(Value::Null) => violations.add("BASE-03", "the id of a request is null"),
            Some(id) if !is_id(id) => {
                violations.add("BASE-02", "an id is a string or an integer");
            }
            Some(_) if self.is_modern() => {
                violations.add("BASE-17", "servers send no requests in this revision");
            }
            _ => {}
        }
        let known = Method::from_name(method);
        let is_notification =
            known.is_some_and(|method| method.spec().kind == MethodKind::Notification);
        if is_notification && message.get("id").is_some() {
            violations.add("BASE-12", "a notification has no id");
        }
        let params = message.get("params");
        if params.is_some_and(|params| !params.is_object()) {
            violations.add("BASE-13", "`params` is not an object");
            return;
        }
        if let Some(schema) = self.schema() {
            schema.check_params(method, message, violations);
        }
        if known == Some(Method::TaskChanged) {
            check_task("params", params.unwrap_or(&Value::Null), violations);
        }
    }

    fn check_response(&mut self, message: &Value, violations: &mut Violations) {
        let (result, error) = (message.get("result"), message.get("error"));
        match (result, error) {
            (Some(_), Some(_)) => violations.add("BASE-08", "both `result` and `error`"),
            (None, None) => violations.add("BASE-07", "neither `method`, `result` nor `error`"),
            (None, Some(error)) => {
                check_error(error, violations);
                if let Some(schema) = self.schema() {
                    schema.check_error(message, violations);
                }
            }
            (Some(_), None) => {}
        }
        let id = message.get("id").filter(|id| !id.is_null());
        let Some(id) = id else {
            if result.is_some() {
                violations.add("BASE-07", "the result has no id");
            }
            return;
        };
        let Some(pending) = self.sent.remove(id) else {
            if !self.sent.has_forgotten() {
                violations.add("BASE-10", format!("no open request has the id {id}"));
            }
            return;
        };
        if let Some(result) = result.filter(|_| error.is_none()) {
            self.check_result(&pending, message, result, violations);
        }
    }

    fn check_result(
        &mut self,
        pending: &Pending,
        body: &Value,
        result: &Value,
        violations: &mut Violations,
    ) {
        if !result.is_object() {
            violations.add("schema", "`result` is not an object");
            return;
        }
        let method = Method::from_name(&pending.method);
        if let (Some(Method::Initialize), Some(version)) = (method, named_version(result)) {
            self.version = Some(version);
        }
        // Session results have no type: a member with this name has no meaning there.
        let kind = result.get("resultType").filter(|_| self.is_modern());
        if self.is_modern() && !kind.is_some_and(Value::is_string) {
            violations.add("BASE-21", "`resultType` is missing");
        }
        match kind.and_then(Value::as_str).unwrap_or("complete") {
            "input_required" => {
                if let Some(schema) = self.schema() {
                    schema.check_definition("InputRequiredResult", body, violations);
                }
            }
            "task" => check_task("result", result, violations),
            "complete" => {
                let is_task = self.check_result_schema(pending, body, violations);
                if let Some(method) = method
                    && !is_task
                {
                    let tool = pending.tool.as_deref();
                    self.tools.check(method, tool, result, violations);
                }
            }
            other => violations.add("BASE-24", format!("unknown `resultType` {other:?}")),
        }
    }

    /// Checks a final result. Returns true if it is a task of revision 2025-11-25.
    fn check_result_schema(
        &self,
        pending: &Pending,
        body: &Value,
        violations: &mut Violations,
    ) -> bool {
        let Some(schema) = self.schema() else {
            return false;
        };
        let is_task =
            pending.allows_task && body["result"]["task"].is_object() && schema.has_created_tasks();
        if is_task {
            schema.check_definition("CreateTaskResult", body, violations)
        } else {
            schema.check_result(&pending.method, body, violations)
        }
        is_task
    }
}

/// Returns the revision that the parameters or the result of `initialize` name.
fn named_version(value: &Value) -> Option<ProtocolVersion> {
    value["protocolVersion"].as_str()?.parse().ok()
}

/// Checks a task: the published schemas do not define extensions, so it is read as a type of this library.
fn check_task(member: &str, task: &Value, violations: &mut Violations) {
    if let Err(reason) = Task::deserialize(task) {
        violations.add("schema", format!("`{member}`: {reason}"));
    }
}

fn check_error(error: &Value, violations: &mut Violations) {
    if !error["code"].is_i64() {
        violations.add("BASE-09", "`error.code` is not an integer");
    }
    if !error["message"].is_string() {
        violations.add("BASE-09", "`error.message` is not a string");
    }
}

fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_i64() || id.is_u64()
}

#[cfg(test)]
mod tests;
