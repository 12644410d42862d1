//! Results that request input of the client, the requested inputs, and the responses.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>

use std::collections::BTreeMap;

use serde::de::{Deserialize, Deserializer, Error};
use serde::{Serialize, Serializer};

use crate::elicitation::{ElicitParams, ElicitResult};
use crate::raw::{RawObject, RawObjectError};
use crate::sampling::{CreateMessageParams, CreateMessageResult};
use crate::{extra::JsonObject, meta::Meta, method::Method, roots::ListRootsResult, tagged};

/// Result that requests input. The client sends the request again with the responses.
#[derive(Debug, Clone, Default, PartialEq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InputRequired {
    /// Requested inputs by key, as raw JSON, so that a proxy passes them on unchanged. Read them with
    /// [`requests`](Self::requests).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_requests: Option<RawObject>,
    /// State that the client returns unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl InputRequired {
    /// Requests inputs.
    ///
    /// # Errors
    ///
    /// Returns [`RawObjectError`] if a request cannot be serialized.
    pub fn new(requests: &InputRequests) -> Result<Self, RawObjectError> {
        Ok(Self {
            input_requests: Some(RawObject::from_value(requests)?),
            ..Self::default()
        })
    }

    /// Requests a repetition of the request with `state` and without inputs.
    pub fn again(state: impl Into<String>) -> Self {
        Self {
            request_state: Some(state.into()),
            ..Self::default()
        }
    }

    /// Reads the requested inputs.
    ///
    /// # Errors
    ///
    /// Returns the error of `serde_json` if a request is malformed.
    #[inline]
    pub fn requests(&self) -> serde_json::Result<InputRequests> {
        match &self.input_requests {
            Some(raw) => raw.parse(),
            None => Ok(InputRequests::new()),
        }
    }
}

/// Requested inputs by key.
pub type InputRequests = BTreeMap<String, InputRequest>;

/// Responses by the requested input's key, as raw JSON, because the request determines the type of
/// the response. Read them with [`InputRequest::read`] or [`RawObject::parse`].
// spec: MRTR-17
pub type InputResponses = BTreeMap<String, RawObject>;

/// Requested input: a server request to its client without a JSON-RPC envelope.
///
/// # Examples
///
/// ```
/// use mcp::types::{ElicitParams, ElicitUrlParams, InputRequest};
///
/// let visit = ElicitUrlParams::new("Sign in", "https://example.com/login");
/// let asked = InputRequest::from(ElicitParams::from(visit));
/// let text = serde_json::to_string(&asked)?;
/// assert!(text.starts_with(r#"{"method":"elicitation/create","params":{"mode":"url""#));
/// assert_eq!(serde_json::from_str::<InputRequest>(&text)?, asked);
/// # Ok::<(), serde_json::Error>(())
/// ```
// spec: META-17
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum InputRequest {
    /// Elicitation: a request to the user.
    Elicit(Box<ElicitParams>),
    /// Sampling: a request to the language model.
    CreateMessage(Box<CreateMessageParams>),
    /// A request for the client's roots.
    ListRoots,
    /// A request that this crate does not define.
    Other {
        /// The method's name.
        method: String,
        /// The request's parameters.
        params: Option<JsonObject>,
    },
}

impl InputRequest {
    /// Reads a request from its method and its parameters.
    ///
    /// # Errors
    ///
    /// Returns the error of `serde_json` if the parameters are not valid for the method.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::types::InputRequest;
    ///
    /// let request = InputRequest::from_parts("roots/list", None)?;
    /// assert_eq!(request, InputRequest::ListRoots);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[inline]
    pub fn from_parts(method: &str, params: Option<&RawObject>) -> serde_json::Result<Self> {
        Self::from_members(method.to_owned(), params)
    }

    fn from_members<E: Error>(method: String, params: Option<&RawObject>) -> Result<Self, E> {
        let empty = RawObject::default();
        let required = params.unwrap_or(&empty);
        match Method::from_name(&method) {
            Some(Method::Elicit) => tagged::from_object(required).map(Self::Elicit),
            Some(Method::CreateMessage) => tagged::from_object(required).map(Self::CreateMessage),
            Some(Method::ListRoots) => Ok(Self::ListRoots),
            _ => {
                let params = params.map(tagged::from_object).transpose()?;
                Ok(Self::Other { method, params })
            }
        }
    }

    /// Returns the method's name.
    pub fn method(&self) -> &str {
        match self {
            Self::Elicit(_) => Method::Elicit.as_str(),
            Self::CreateMessage(_) => Method::CreateMessage.as_str(),
            Self::ListRoots => Method::ListRoots.as_str(),
            Self::Other { method, .. } => method,
        }
    }

    /// Reads the response to this request.
    ///
    /// # Errors
    ///
    /// Returns the error of `serde_json` if the response is not valid for this kind of request.
    // spec: MRTR-14, MRTR-17
    pub fn read(&self, response: &RawObject) -> serde_json::Result<InputResponse> {
        let response = response.as_str();
        match self {
            Self::Elicit(_) => serde_json::from_str(response).map(InputResponse::Elicit),
            Self::CreateMessage(_) => {
                serde_json::from_str(response).map(InputResponse::CreateMessage)
            }
            Self::ListRoots => serde_json::from_str(response).map(InputResponse::ListRoots),
            Self::Other { .. } => serde_json::from_str(response).map(InputResponse::Other),
        }
    }

    /// Serializes the parameters. A request without parameters gives an empty object.
    ///
    /// # Errors
    ///
    /// Returns [`RawObjectError`] if the parameters cannot be serialized.
    #[inline]
    pub fn params_to_raw(&self) -> Result<RawObject, RawObjectError> {
        match self.params() {
            Some(params) => RawObject::from_value(&params),
            None => Ok(RawObject::default()),
        }
    }

    fn params(&self) -> Option<ParamsRef<'_>> {
        match self {
            Self::Elicit(params) => Some(ParamsRef::Elicit(params)),
            Self::CreateMessage(params) => Some(ParamsRef::CreateMessage(params)),
            Self::ListRoots => None,
            Self::Other { params, .. } => params.as_ref().map(ParamsRef::Other),
        }
    }
}

impl From<ElicitParams> for InputRequest {
    fn from(params: ElicitParams) -> Self {
        Self::Elicit(Box::new(params))
    }
}

impl From<CreateMessageParams> for InputRequest {
    fn from(params: CreateMessageParams) -> Self {
        Self::CreateMessage(Box::new(params))
    }
}

/// Parameters of any request.
#[derive(Serialize)]
#[serde(untagged)]
enum ParamsRef<'a> {
    Elicit(&'a ElicitParams),
    CreateMessage(&'a CreateMessageParams),
    Other(&'a JsonObject),
}

impl Serialize for InputRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Members<'a> {
            method: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            params: Option<ParamsRef<'a>>,
        }

        let members = Members {
            method: self.method(),
            params: self.params(),
        };
        members.serialize(serializer)
    }
}

/// Keeps the parameters as raw JSON until the method is known.
impl<'de> Deserialize<'de> for InputRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        struct Members {
            method: String,
            params: Option<RawObject>,
        }

        let Members { method, params } = Members::deserialize(deserializer)?;
        Self::from_members(method, params.as_ref())
    }
}

/// Response to an [`InputRequest`]. There is no error response: elicitation has actions for refusal, and
/// for the other kinds the client does not send the request again.
// spec: MRTR-17
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum InputResponse {
    /// The result of an elicitation.
    Elicit(ElicitResult),
    /// The result of a sampling request.
    CreateMessage(Box<CreateMessageResult>),
    /// The client's roots.
    ListRoots(ListRootsResult),
    /// Response to a request that this crate does not define.
    Other(JsonObject),
}

impl InputResponse {
    /// Serializes the response for [`InputResponses`], without `_meta`.
    ///
    /// # Errors
    ///
    /// Returns [`RawObjectError`] if the response cannot be serialized.
    // spec: META-17
    #[inline]
    pub fn to_raw(&self) -> Result<RawObject, RawObjectError> {
        let mut response = self.clone();
        match &mut response {
            Self::Elicit(result) => result.meta = None,
            Self::CreateMessage(result) => result.meta = None,
            Self::ListRoots(result) => result.meta = None,
            Self::Other(_) => {}
        }
        RawObject::from_value(&response)
    }
}

impl From<ElicitResult> for InputResponse {
    fn from(result: ElicitResult) -> Self {
        Self::Elicit(result)
    }
}

impl From<CreateMessageResult> for InputResponse {
    fn from(result: CreateMessageResult) -> Self {
        Self::CreateMessage(Box::new(result))
    }
}

impl From<ListRootsResult> for InputResponse {
    fn from(result: ListRootsResult) -> Self {
        Self::ListRoots(result)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{InputRequest, InputRequests, InputRequired, InputResponse, InputResponses};
    use crate::elicitation::{ElicitFormParams, ElicitParams, ElicitResult, FormSchema};
    use crate::raw::RawObject;
    use crate::roots::{ListRootsResult, Root};
    use crate::sampling::{CreateMessageParams, CreateMessageResult, SamplingMessage};

    fn requests() -> InputRequests {
        let form = ElicitParams::from(ElicitFormParams::new("Sure?", FormSchema::new()));
        let message = CreateMessageParams::new([SamplingMessage::user("hi")], 5);
        InputRequests::from([
            ("form".to_owned(), form.into()),
            ("model".to_owned(), message.into()),
            ("roots".to_owned(), InputRequest::ListRoots),
        ])
    }

    #[test]
    fn input_requests_round_trip_in_any_member_order() {
        let mut asked = InputRequired::new(&requests()).unwrap();
        asked.request_state = Some("s".to_owned());
        let text = serde_json::to_string(&asked).unwrap();
        let read: InputRequired = serde_json::from_str(&text).unwrap();
        assert_eq!(read.requests().unwrap(), requests());
        assert!(InputRequired::again("s").requests().unwrap().is_empty());

        let text = r#"{"params":{"messages":[],"maxTokens":1},"method":"sampling/createMessage"}"#;
        let read: InputRequest = serde_json::from_str(text).unwrap();
        assert_eq!(read, CreateMessageParams::new([], 1).into());
    }

    #[test]
    fn unknown_request_is_kept_and_malformed_request_refused() {
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
    fn response_is_read_by_the_request_kind() {
        let mut elicited = ElicitResult::decline();
        elicited.meta = Some(crate::meta::Meta::default().with("com.example/x", 1));
        let answers: InputResponses = [
            ("form", InputResponse::from(elicited)),
            ("model", CreateMessageResult::new("m", "hello").into()),
            (
                "roots",
                ListRootsResult::from(vec![Root::from("file:///a")]).into(),
            ),
        ]
        .map(|(key, answer)| (key.to_owned(), answer.to_raw().unwrap()))
        .into();
        assert_eq!(answers["form"].as_str(), r#"{"action":"decline"}"#);
        let read = |key: &str| requests()[key].read(&answers[key]).unwrap();
        assert_eq!(read("form"), ElicitResult::decline().into());
        assert_eq!(read("model"), CreateMessageResult::new("m", "hello").into());
        assert!(matches!(read("roots"), InputResponse::ListRoots(list) if list.roots.len() == 1));
        // The response to another kind of request is an error.
        assert!(requests()["form"].read(&answers["model"]).is_err());
        assert!(requests()["roots"].read(&RawObject::default()).is_err());
    }
}
