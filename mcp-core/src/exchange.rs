//! A call with everything that is known about it.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;

use mcp_types::meta::{Baggage, TraceContext};
use mcp_types::{InputRequest, InputResponse, Meta, RawObject};
use serde_json::value::RawValue;

use crate::{Call, ClientFacts, Fault, Outlet, Principal};

/// One call and its context, as a service gets it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Exchange {
    /// What is asked.
    pub call: Call,
    /// Who asks: version, capabilities, identity.
    pub facts: Arc<ClientFacts>,
    /// What the client sends along when it asks again.
    pub input: InputState,
    /// The request's `_meta` as it arrived.
    pub meta: Option<RawObject>,
    /// Where progress and log messages of this call go.
    pub outlet: Outlet,
    /// What the transport and its layers know: the HTTP request's parts, the [`Principal`],
    /// anything a layer inserted.
    pub extensions: http::Extensions,
}

impl Exchange {
    /// A call from a client, with nothing else known.
    pub fn new(call: Call, facts: Arc<ClientFacts>) -> Self {
        Self {
            call,
            facts,
            input: InputState::default(),
            meta: None,
            outlet: Outlet::none(),
            extensions: http::Extensions::new(),
        }
    }

    /// The trace that the request belongs to, when it says so. Read when asked for.
    // spec: META-14
    pub fn trace(&self) -> Option<TraceContext> {
        self.parsed_meta()?.trace()
    }

    /// What the application of the client sends along the trace.
    // spec: META-14
    pub fn baggage(&self) -> Option<Baggage> {
        self.parsed_meta()?.baggage()
    }

    fn parsed_meta(&self) -> Option<Meta> {
        self.meta.as_ref()?.parse().ok()
    }

    /// Who is behind the call, when a layer has verified it.
    pub fn principal(&self) -> Option<&Principal> {
        self.extensions.get()
    }
}

/// What a client sends along when it asks again after an input-required answer.
// spec: MRTR-11
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct InputState {
    /// Its answers, by key.
    pub responses: Option<RawObject>,
    /// The state that the server gave it. Controlled by the client until its seal was checked.
    // spec: MRTR-07
    pub state: Option<Box<str>>,
}

impl InputState {
    /// The answer under `key`, read by the kind of what was `asked`; `None` when there is none.
    /// Answers that nobody asked for are never looked at.
    ///
    /// # Errors
    ///
    /// [`Fault::BadParams`] when the answer is none that the request can have.
    // spec: MRTR-14, MRTR-15, MRTR-17
    pub fn answer(&self, key: &str, asked: &InputRequest) -> Result<Option<InputResponse>, Fault> {
        let malformed = |reason: &dyn Display| {
            Fault::bad_params(format!("`params.inputResponses.{key}`: {reason}"))
        };
        let Some(responses) = &self.responses else {
            return Ok(None);
        };
        let members: BTreeMap<String, Box<RawValue>> =
            responses.parse().map_err(|error| malformed(&error))?;
        let Some(answer) = members.get(key) else {
            return Ok(None);
        };
        let answer = RawObject::from_raw(answer).map_err(|error| malformed(&error))?;
        let read = asked.read(&answer).map_err(|error| malformed(&error))?;
        Ok(Some(read))
    }
}

#[cfg(test)]
mod tests {
    use mcp_types::{ElicitParams, ElicitResult, FormSchema, InputRequest, RawObject};

    use super::InputState;
    use crate::Fault;

    #[test]
    fn answers_are_read_by_what_was_asked() {
        let mut input = InputState::default();
        let form = InputRequest::from(ElicitParams::form("Sure?", FormSchema::new()));
        assert_eq!(input.answer("sure", &form), Ok(None));
        let text = r#"{"sure": {"action": "decline"}, "odd": 7, "roots": {"roots": []}}"#;
        input.responses = Some(RawObject::from_text(text).unwrap());
        let declined = Some(ElicitResult::decline().into());
        assert_eq!(input.answer("sure", &form), Ok(declined));
        assert_eq!(input.answer("other", &form), Ok(None));
        for (key, asked) in [
            ("odd", &form),
            ("roots", &form),
            ("sure", &InputRequest::ListRoots),
        ] {
            let Err(Fault::BadParams { message, .. }) = input.answer(key, asked) else {
                panic!("{key}")
            };
            assert!(
                message.contains(&format!("inputResponses.{key}")),
                "{message}"
            );
        }
    }
}
