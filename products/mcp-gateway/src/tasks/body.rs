//! The JSON of a task as it passes the gateway: members that the gateway does not read stay as they are.

use std::collections::BTreeMap;
use std::time::Duration;

use mcp_core::Fault;
use mcp_types::ext::tasks::TaskStatus;
use mcp_types::{CallToolResult, ElicitParams, InputRequest, InputRequests, RawObject};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};

use crate::calls::server_info;
use crate::limits::limiter::too_large;

const ID: &str = "taskId";

/// A JSON object whose members are raw.
#[derive(Debug, Clone)]
pub(crate) struct TaskBody(BTreeMap<String, Box<RawValue>>);

impl TaskBody {
    /// Reads an object.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::BadParams`] when it is none.
    pub(crate) fn parse(object: &RawObject) -> Result<Self, Fault> {
        let members = object.parse();
        members
            .map(Self)
            .map_err(|error| Fault::bad_params(error.to_string()))
    }

    /// Returns the task's id. Empty: it has none.
    pub(crate) fn id(&self) -> String {
        self.read(ID).unwrap_or_default()
    }

    /// Returns the task with another id.
    pub(super) fn with_id(mut self, id: &str) -> Self {
        self.set(ID, &id);
        self
    }

    /// Returns the task without members of its result or its notification.
    pub(super) fn without_envelope(mut self) -> Self {
        self.0.remove("resultType");
        self.0.remove("_meta");
        self
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.read::<TaskStatus>("status")
            .is_some_and(|status| status.is_terminal())
    }

    /// Returns the time that the server keeps the task. `None`: without a limit.
    pub(crate) fn ttl(&self) -> Option<Duration> {
        self.read::<u64>("ttlMs").map(Duration::from_millis)
    }

    /// Refuses questions with a URL that must not be opened.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::Internal`] for such a question, and for one that cannot be read.
    // spec: ELIC-14
    pub(super) fn check_questions(&self) -> Result<(), Fault> {
        let Some(raw) = self.0.get("inputRequests") else {
            return Ok(());
        };
        let requests: InputRequests = serde_json::from_str(raw.get())
            .map_err(|error| Fault::internal(format!("`inputRequests` of the task: {error}")))?;
        requests.values().try_for_each(check_question)
    }

    /// Returns the task without the identity of its server in its result.
    pub(super) fn without_server_info(mut self) -> Self {
        if let Some(result) = self.0.get_mut("result")
            && let Some(changed) = server_info::without_raw(result)
        {
            *result = changed;
        }
        self
    }

    /// Replaces a result that is larger than its tool's limit by an error for the language model.
    pub(super) fn limit_result(mut self, limit: Option<usize>) -> Self {
        let size = self.0.get("result").map_or(0, |raw| raw.get().len());
        if let Some(limit) = limit.filter(|limit| size > *limit) {
            self.set("result", &CallToolResult::error(too_large(limit)));
        }
        self
    }

    /// Returns the JSON.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::Internal`] when it cannot be written.
    pub(super) fn to_object(&self) -> Result<RawObject, Fault> {
        RawObject::from_value(&self.0).map_err(|error| Fault::internal(error.to_string()))
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_str(self.0.get(name)?.get()).ok()
    }

    fn set(&mut self, name: &str, value: &impl Serialize) {
        if let Ok(raw) = to_raw_value(value) {
            self.0.insert(name.to_owned(), raw);
        }
    }
}

/// Refuses a question with a URL that must not be opened.
///
/// # Errors
///
/// Returns [`Fault::Internal`] for it.
// spec: ELIC-14
pub(super) fn check_question(request: &InputRequest) -> Result<(), Fault> {
    if let InputRequest::Elicit(params) = request
        && let ElicitParams::Url(params) = &**params
    {
        let checked = params.checked_url();
        checked.map_err(|error| Fault::internal(error.to_string()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mcp_types::RawObject;

    use super::TaskBody;

    fn body(json: &str) -> TaskBody {
        TaskBody::parse(&RawObject::from_text(json).unwrap()).unwrap()
    }

    #[test]
    fn members_that_are_not_read_stay_as_they_are() {
        let task = body(r#"{"taskId":"a","x":1.0000000000000000000001,"ttlMs":1500}"#);
        assert_eq!((task.id().as_str(), task.has_ended()), ("a", false));
        assert_eq!(task.ttl(), Some(Duration::from_millis(1500)));
        let object = task.with_id("b").to_object().unwrap();
        assert!(object.as_str().contains("1.0000000000000000000001"));
        assert!(object.as_str().contains(r#""taskId":"b""#));
        assert_eq!(body(r#"{"ttlMs":null}"#).ttl(), None);
    }

    #[test]
    fn result_beyond_the_limit_becomes_an_error() {
        let task = body(r#"{"status":"completed","result":{"content":[]}}"#);
        assert!(task.has_ended());
        let within = task.clone().limit_result(Some(14)).to_object().unwrap();
        assert!(!within.as_str().contains("isError"), "{within:?}");
        let beyond = task.limit_result(Some(13)).to_object().unwrap();
        assert!(
            beyond.as_str().contains("larger than 13 bytes"),
            "{beyond:?}"
        );
    }

    #[test]
    fn questions_with_unsafe_urls_are_refused() {
        // spec: ELIC-14
        let question = |url: &str| {
            let params =
                format!(r#"{{"mode":"url","message":"?","url":"{url}","elicitationId":"1"}}"#);
            body(&format!(
                r#"{{"inputRequests":{{"q":{{"method":"elicitation/create","params":{params}}}}}}}"#
            ))
        };
        assert!(question("https://a.example/").check_questions().is_ok());
        assert!(question("javascript:alert(1)").check_questions().is_err());
    }
}
