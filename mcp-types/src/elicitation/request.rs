//! Parameters of elicitation requests.

use serde::de::{Deserialize, Deserializer};
use serde_json::Value;

use super::FormSchema;
use crate::{extra::JsonObject, legacy_tasks::TaskMetadata, meta::Meta, raw::RawObject, tagged};

const FORM: &str = "form";
const URL: &str = "url";

/// Parameters of `elicitation/create`.
///
/// In JSON the member `mode` names the variant. A missing `mode` means a form.
///
/// # Examples
///
/// ```
/// use mcp::types::{ElicitFormParams, ElicitParams, FormSchema, StringSchema};
///
/// let form = FormSchema::new().required("name", StringSchema::new().title("Your name"));
/// let asked = ElicitParams::from(ElicitFormParams::new("Who are you?", form));
/// let text = serde_json::to_string(&asked)?;
/// assert!(text.starts_with(r#"{"message":"Who are you?","requestedSchema":{"type":"object""#));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum ElicitParams {
    /// A form to fill in.
    Form(ElicitFormParams),
    /// A URL to visit (2025-11-25 and later).
    Url(ElicitUrlParams),
    /// Another mode: all members, including `mode`.
    #[cfg_attr(
        feature = "schemars",
        schemars(extend(
            "required" = ["mode"],
            "properties" = {"mode": {"not": {"enum": ["form", "url", null]}}},
        ))
    )]
    Other(JsonObject),
}

/// Request to fill in a form. Forms must not ask for secrets.
///
/// Spec: <https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#form-mode-elicitation-requests>
// spec: ELIC-04
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitFormParams {
    // Revision 2025-06-18 does not define the member.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<FormMode>,
    /// Message for the user.
    pub message: String,
    /// The form's fields.
    pub requested_schema: FormSchema,
    /// Request to run the request as an experimental task (only 2025-11-25).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskMetadata>,
    /// Protocol-level metadata (`_meta`), only in legacy revisions.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Request to visit a URL, for secrets, payments and third-party authorization.
///
/// Spec: <https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#url-mode-elicitation-requests>
// spec: ELIC-08
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitUrlParams {
    mode: UrlMode,
    /// Message for the user.
    pub message: String,
    /// URL to visit. It must not contain the user's data. To read a URL that a peer sent, use
    /// `checked_url` (feature `url`).
    pub url: String,
    /// Id of the elicitation (only 2025-11-25, where it is required).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elicitation_id: Option<String>,
    /// Request to run the request as an experimental task (only 2025-11-25).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskMetadata>,
    /// Protocol-level metadata (`_meta`), only in legacy revisions.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// The value `form` of `mode`.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum FormMode {
    Form,
}

/// The value `url` of `mode`.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum UrlMode {
    Url,
}

impl ElicitParams {
    /// Returns the message for the user.
    pub fn message(&self) -> &str {
        match self {
            Self::Form(params) => &params.message,
            Self::Url(params) => &params.message,
            Self::Other(members) => string_member(members, "message"),
        }
    }

    /// Returns the mode's name.
    pub fn mode(&self) -> &str {
        match self {
            Self::Form(_) => FORM,
            Self::Url(_) => URL,
            Self::Other(members) => string_member(members, "mode"),
        }
    }
}

fn string_member<'a>(members: &'a JsonObject, key: &str) -> &'a str {
    let value = members.get(key).and_then(Value::as_str);
    value.unwrap_or_default()
}

impl From<ElicitFormParams> for ElicitParams {
    fn from(params: ElicitFormParams) -> Self {
        Self::Form(params)
    }
}

impl From<ElicitUrlParams> for ElicitParams {
    fn from(params: ElicitUrlParams) -> Self {
        Self::Url(params)
    }
}

/// Reads `mode` first and then the variant, because an optional tag may be missing.
// spec: ELIC-03
impl<'de> Deserialize<'de> for ElicitParams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        struct Tag {
            mode: Option<Value>,
        }

        let object = RawObject::deserialize(deserializer)?;
        let Tag { mode } = tagged::from_object(&object)?;
        match mode.as_ref().map(Value::as_str) {
            None | Some(Some(FORM)) => tagged::from_object(&object).map(Self::Form),
            Some(Some(URL)) => tagged::from_object(&object).map(Self::Url),
            _ => tagged::from_object(&object).map(Self::Other),
        }
    }
}

impl ElicitFormParams {
    /// Creates a request to fill in a form. `mode` is not written.
    pub fn new(message: impl Into<String>, schema: FormSchema) -> Self {
        Self {
            mode: None,
            message: message.into(),
            requested_schema: schema,
            task: None,
            meta: None,
        }
    }

    /// Writes `mode`, which 2025-06-18 does not define and which is optional in later revisions.
    #[must_use]
    pub fn with_mode(mut self) -> Self {
        self.mode = Some(FormMode::Form);
        self
    }

    /// Omits `mode`.
    #[must_use]
    pub fn without_mode(mut self) -> Self {
        self.mode = None;
        self
    }
}

impl ElicitUrlParams {
    /// Creates a request to visit a URL.
    pub fn new(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            mode: UrlMode::Url,
            message: message.into(),
            url: url.into(),
            elicitation_id: None,
            task: None,
            meta: None,
        }
    }

    /// Sets the id of the elicitation (only 2025-11-25, where it is required).
    #[must_use]
    pub fn elicitation_id(mut self, id: impl Into<String>) -> Self {
        self.elicitation_id = Some(id.into());
        self
    }
}

/// Parameters of `notifications/elicitation/complete` (only 2025-11-25), sent when the user has finished
/// the interaction at the URL.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitationComplete {
    /// The elicitation's id.
    pub elicitation_id: String,
}

impl<T: Into<String>> From<T> for ElicitationComplete {
    fn from(elicitation_id: T) -> Self {
        Self {
            elicitation_id: elicitation_id.into(),
        }
    }
}
