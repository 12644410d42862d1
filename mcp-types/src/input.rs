//! Results that ask for input first, what they ask, and the answers.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::json::{
    self, Piece, Read, ReadMembers, Take, Write, WriteMembers, members, read_and_written, read_via,
    written_as_content,
};
use crate::{
    CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, JsonObject,
    ListRootsResult, Meta, Method, RawObject, RawObjectError, reread,
};

/// The answer that asks the client for input and to send the request again with it.
// spec: MRTR-03
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct InputRequired {
    /// What is asked, by key: raw, so that what a proxy passes on stays as it is. Read it with
    /// [`requests`](Self::requests).
    pub input_requests: Option<RawObject>,
    /// What the client has to send back unchanged.
    pub request_state: Option<String>,
    /// What the result carries beside.
    pub meta: Option<Meta>,
}

members!(InputRequired as "a request for more input" {
    "inputRequests" => input_requests or nothing,
    "requestState" => request_state or nothing,
    "_meta" => meta or nothing,
});

impl InputRequired {
    /// Asks for input.
    ///
    /// # Errors
    ///
    /// [`RawObjectError`] when a request holds something that JSON cannot have.
    #[inline]
    pub fn new(requests: &InputRequests) -> Result<Self, RawObjectError> {
        Ok(Self {
            input_requests: Some(RawObject::of(requests)?),
            ..Self::default()
        })
    }

    /// Asks for nothing but to be called again with `state`.
    #[inline]
    pub fn again(state: impl Into<String>) -> Self {
        Self {
            request_state: Some(state.into()),
            ..Self::default()
        }
    }

    /// Sets what the client has to send back unchanged.
    #[must_use]
    #[inline]
    pub fn request_state(mut self, state: impl Into<String>) -> Self {
        self.request_state = Some(state.into());
        self
    }

    /// What is asked, by key.
    ///
    /// # Errors
    ///
    /// What `serde_json` says when a request is malformed.
    // Inline, so that a server, which never asks for it, does not compile the types in it.
    #[inline]
    pub fn requests(&self) -> serde_json::Result<InputRequests> {
        match &self.input_requests {
            Some(raw) => raw.parse(),
            None => Ok(InputRequests::new()),
        }
    }
}

/// What is asked, by key.
// spec: MRTR-04
pub type InputRequests = BTreeMap<String, InputRequest>;

/// The answers by the key of what was asked: raw, because only the question tells what kind of
/// answer it is. Read them with [`InputRequest::read`] or [`RawObject::parse`].
// spec: MRTR-11, MRTR-17
pub type InputResponses = BTreeMap<String, RawObject>;

/// Something that a server asks of a client: a request without envelope.
///
/// # Examples
///
/// ```
/// use mcp_types::{ElicitParams, InputRequest};
///
/// let asked = InputRequest::from(ElicitParams::url("Sign in", "https://example.com/login"));
/// let text = serde_json::to_string(&asked)?;
/// assert!(text.starts_with(r#"{"method":"elicitation/create","params":{"mode":"url""#));
/// assert_eq!(serde_json::from_str::<InputRequest>(&text)?, asked);
/// # Ok::<(), serde_json::Error>(())
/// ```
// spec: MRTR-04, META-17
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum InputRequest {
    /// Ask the user.
    Elicit(Box<ElicitParams>),
    /// Ask the language model.
    CreateMessage(Box<CreateMessageParams>),
    /// Tell the roots.
    ListRoots,
    /// Something that this library does not know.
    Other {
        /// The method.
        method: String,
        /// Its parameters.
        params: Option<JsonObject>,
    },
}

impl InputRequest {
    /// The name of the method.
    #[inline]
    pub fn method(&self) -> &str {
        match self {
            Self::Elicit(_) => Method::Elicit.as_str(),
            Self::CreateMessage(_) => Method::CreateMessage.as_str(),
            Self::ListRoots => Method::ListRoots.as_str(),
            Self::Other { method, .. } => method,
        }
    }

    /// Reads the answer to this request, by the kind of the request.
    ///
    /// # Errors
    ///
    /// What `serde_json` says when the answer is none that this request can have.
    // spec: MRTR-14, MRTR-17
    #[inline]
    pub fn read(&self, answer: &RawObject) -> serde_json::Result<InputResponse> {
        self.read_text(answer.as_str())
    }

    /// Reads the text of the answer to this request. What an answer can be is compiled here, once;
    /// who reads one as a type of its own compiles that again.
    ///
    /// # Errors
    ///
    /// What `serde_json` says when the answer is none that this request can have.
    #[inline]
    pub fn read_text(&self, answer: &str) -> serde_json::Result<InputResponse> {
        match self {
            Self::Elicit(_) => json::from_str(answer).map(InputResponse::Elicit),
            Self::CreateMessage(_) => json::from_str(answer).map(InputResponse::CreateMessage),
            Self::ListRoots => json::from_str(answer).map(InputResponse::ListRoots),
            Self::Other { .. } => json::from_str(answer).map(InputResponse::Other),
        }
    }

    /// The parameters as they travel: without any where the request has none.
    ///
    /// # Errors
    ///
    /// [`RawObjectError`] when they hold something that JSON cannot have.
    #[inline]
    pub fn params_to_raw(&self) -> Result<RawObject, RawObjectError> {
        match self {
            Self::Elicit(params) => RawObject::of(&**params),
            Self::CreateMessage(params) => RawObject::of(&**params),
            Self::ListRoots | Self::Other { params: None, .. } => Ok(RawObject::empty()),
            Self::Other { params, .. } => RawObject::of(params),
        }
    }
}

impl From<ElicitParams> for InputRequest {
    #[inline]
    fn from(params: ElicitParams) -> Self {
        Self::Elicit(Box::new(params))
    }
}

impl From<CreateMessageParams> for InputRequest {
    #[inline]
    fn from(params: CreateMessageParams) -> Self {
        Self::CreateMessage(Box::new(params))
    }
}

impl Write for InputRequest {
    #[inline]
    fn piece(&self) -> Piece<'_> {
        Piece::Members(self)
    }
}

impl WriteMembers for InputRequest {
    #[inline]
    fn give(&self, take: &mut Take<'_>) {
        let params: &dyn Write = match self {
            Self::Elicit(params) => params,
            Self::CreateMessage(params) => params,
            Self::ListRoots => &None::<JsonObject>,
            Self::Other { params, .. } => params,
        };
        take(Asked::blank().shape(), &[&self.method(), params], None);
    }
}

/// A request of any method.
struct Asked {
    method: String,
    params: Option<JsonObject>,
}

members!(Asked as "a request for input" {
    "method" => method,
    "params" => params or nothing,
});

read_via!(InputRequest, Self::ListRoots, |asked: Asked| read_request(
    asked.method,
    asked.params
));
read_and_written!(InputRequest);

#[inline]
fn read_request(method: String, params: Option<JsonObject>) -> Result<InputRequest, String> {
    match Method::from_name(&method) {
        Some(Method::Elicit) => {
            let params = reread::members(&params.unwrap_or_default())?;
            Ok(InputRequest::Elicit(Box::new(params)))
        }
        Some(Method::CreateMessage) => {
            let params = reread::members(&params.unwrap_or_default())?;
            Ok(InputRequest::CreateMessage(Box::new(params)))
        }
        Some(Method::ListRoots) => Ok(InputRequest::ListRoots),
        _ => Ok(InputRequest::Other { method, params }),
    }
}

/// The answer to an [`InputRequest`]. There is no error among them: to refuse, elicitation has its
/// own words, and for the others the client does not ask again.
// spec: MRTR-17
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum InputResponse {
    /// What the user answered.
    Elicit(ElicitResult),
    /// What the language model answered.
    CreateMessage(Box<CreateMessageResult>),
    /// The roots.
    ListRoots(ListRootsResult),
    /// The answer to a request that this library does not know.
    Other(JsonObject),
}

written_as_content!(InputResponse {
    Elicit,
    CreateMessage,
    ListRoots,
    Other
});

impl Serialize for InputResponse {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.piece().serialize(serializer)
    }
}

impl InputResponse {
    /// The answer as it travels in [`InputResponses`]: without `_meta`.
    ///
    /// # Errors
    ///
    /// [`RawObjectError`] when it holds something that JSON cannot have.
    // spec: META-17
    #[inline]
    pub fn to_raw(&self) -> Result<RawObject, RawObjectError> {
        let mut answer = self.clone();
        match &mut answer {
            Self::Elicit(result) => result.meta = None,
            Self::CreateMessage(result) => result.meta = None,
            Self::ListRoots(result) => result.meta = None,
            Self::Other(_) => {}
        }
        RawObject::of(&answer)
    }
}

impl From<ElicitResult> for InputResponse {
    #[inline]
    fn from(result: ElicitResult) -> Self {
        Self::Elicit(result)
    }
}

impl From<CreateMessageResult> for InputResponse {
    #[inline]
    fn from(result: CreateMessageResult) -> Self {
        Self::CreateMessage(Box::new(result))
    }
}

impl From<ListRootsResult> for InputResponse {
    #[inline]
    fn from(result: ListRootsResult) -> Self {
        Self::ListRoots(result)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{InputRequest, InputRequests, InputRequired, InputResponse, InputResponses};
    use crate::{
        CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, FormSchema,
        ListRootsResult, RawObject, Root, SamplingMessage,
    };

    fn requests() -> InputRequests {
        let form = ElicitParams::form("Sure?", FormSchema::new());
        let message = CreateMessageParams::new([SamplingMessage::user("hi")], 5);
        InputRequests::from([
            ("form".to_owned(), form.into()),
            ("model".to_owned(), message.into()),
            ("roots".to_owned(), InputRequest::ListRoots),
        ])
    }

    #[test]
    fn requests_read_back_in_any_order_of_members() {
        let asked = InputRequired::new(&requests()).unwrap().request_state("s");
        let text = serde_json::to_string(&asked).unwrap();
        let read: InputRequired = serde_json::from_str(&text).unwrap();
        assert_eq!(read.requests().unwrap(), requests());
        assert!(InputRequired::again("s").requests().unwrap().is_empty());

        let text = r#"{"params":{"messages":[],"maxTokens":1},"method":"sampling/createMessage"}"#;
        let read: InputRequest = serde_json::from_str(text).unwrap();
        assert_eq!(read, CreateMessageParams::new([], 1).into());
    }

    #[test]
    fn what_is_not_known_survives_and_what_is_broken_is_refused() {
        for value in [
            json!({"method": "dreams/tell", "params": {"a": [1]}}),
            json!({"method": "tools/call"}),
        ] {
            let read: InputRequest = serde_json::from_value(value.clone()).unwrap();
            assert!(matches!(read, InputRequest::Other { .. }));
            assert_eq!(serde_json::to_value(&read).unwrap(), value);
        }
        for text in [
            "[]",
            "{}",
            r#"{"method":7}"#,
            r#"{"method":"elicitation/create"}"#,
            r#"{"method":"sampling/createMessage","params":{"message":"m"}}"#,
            r#"{"method":"roots/list","method":"dreams/tell"}"#,
            r#"{"method":"roots/list","params":{},"params":{}}"#,
            r#"{"method":"dreams/tell","params":[]}"#,
        ] {
            assert!(
                serde_json::from_str::<InputRequest>(text).is_err(),
                "{text}"
            );
        }
    }

    #[test]
    fn answers_are_read_by_what_was_asked() {
        let mut elicited = ElicitResult::decline();
        elicited.meta = Some(crate::Meta::default().with("com.example/x", 1));
        let answers: InputResponses = [
            ("form", InputResponse::from(elicited)),
            ("model", CreateMessageResult::new("m", "hello").into()),
            (
                "roots",
                ListRootsResult::new([Root::new("file:///a")]).into(),
            ),
        ]
        .map(|(key, answer)| (key.to_owned(), answer.to_raw().unwrap()))
        .into();
        assert_eq!(answers["form"].as_str(), r#"{"action":"decline"}"#);
        let read = |key: &str| requests()[key].read(&answers[key]).unwrap();
        assert_eq!(read("form"), ElicitResult::decline().into());
        assert_eq!(read("model"), CreateMessageResult::new("m", "hello").into());
        assert!(matches!(read("roots"), InputResponse::ListRoots(list) if list.roots.len() == 1));
        // The answer to something else is none.
        assert!(requests()["form"].read(&answers["model"]).is_err());
        assert!(requests()["roots"].read(&RawObject::empty()).is_err());
    }
}
