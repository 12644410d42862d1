//! What is asked: a form to fill in, or a URL to visit.

use serde_json::Value;

use super::FormSchema;
use crate::json::{members, read_and_written, read_via, written_as_content};
use crate::legacy_tasks::TaskMetadata;
use crate::text::fixed_text;
use crate::{JsonObject, Meta, reread};

const FORM: &str = "form";
const URL: &str = "url";

/// Parameters of `elicitation/create`.
///
/// # Examples
///
/// ```
/// use mcp_types::{ElicitParams, FormSchema, StringSchema};
///
/// let form = FormSchema::new().required("name", StringSchema::new().title("Your name"));
/// let asked = ElicitParams::form("Who are you?", form);
/// let text = serde_json::to_string(&asked)?;
/// assert!(text.starts_with(r#"{"message":"Who are you?","requestedSchema":{"type":"object""#));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ElicitParams {
    /// A form to fill in.
    Form(ElicitFormParams),
    /// A URL to visit (2025-11-25 and later).
    Url(ElicitUrlParams),
    /// A mode that this library does not know, with all members.
    Other(JsonObject),
}

/// Asks the user to fill in a form. Never for secrets.
// spec: ELIC-04, ELIC-11
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ElicitFormParams {
    // Absent means the same, and is all that 2025-06-18 knows.
    mode: Option<FormMode>,
    /// What the user reads.
    pub message: String,
    /// What the form has.
    pub requested_schema: FormSchema,
    /// Runs the request as an experimental task (2025-11-25 alone).
    pub task: Option<TaskMetadata>,
    /// What the request carries beside (legacy era alone).
    pub meta: Option<Meta>,
}

members!(ElicitFormParams as "a form to fill" {
    "mode" => mode or nothing,
    "message" => message,
    "requestedSchema" => requested_schema,
    "task" => task or nothing,
    "_meta" => meta or nothing,
});

/// Asks the user to visit a URL, where the rest happens: for secrets, payments, consents of others.
// spec: ELIC-08
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ElicitUrlParams {
    mode: UrlMode,
    /// What the user reads.
    pub message: String,
    /// Where to go. Has no data of the user in it.
    // spec: ELIC-15
    pub url: String,
    /// Names the elicitation (2025-11-25 alone, and required there).
    pub elicitation_id: Option<String>,
    /// Runs the request as an experimental task (2025-11-25 alone).
    pub task: Option<TaskMetadata>,
    /// What the request carries beside (legacy era alone).
    pub meta: Option<Meta>,
}

members!(ElicitUrlParams as "a URL to visit" {
    "mode" => mode,
    "message" => message,
    "url" => url,
    "elicitationId" => elicitation_id or nothing,
    "task" => task or nothing,
    "_meta" => meta or nothing,
});

fixed_text!(FormMode = "form");
fixed_text!(UrlMode = "url");

impl ElicitParams {
    /// Asks the user to fill in a form.
    #[inline]
    pub fn form(message: impl Into<String>, schema: FormSchema) -> Self {
        Self::Form(ElicitFormParams::new(message, schema))
    }

    /// Asks the user to visit a URL.
    #[inline]
    pub fn url(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self::Url(ElicitUrlParams::new(message, url))
    }

    /// What the user reads.
    #[inline]
    pub fn message(&self) -> &str {
        match self {
            Self::Form(asked) => &asked.message,
            Self::Url(asked) => &asked.message,
            Self::Other(members) => members
                .get("message")
                .and_then(Value::as_str)
                .unwrap_or_default(),
        }
    }

    /// The name of the mode.
    #[inline]
    pub fn mode(&self) -> &str {
        match self {
            Self::Form(_) => FORM,
            Self::Url(_) => URL,
            Self::Other(members) => members
                .get("mode")
                .and_then(Value::as_str)
                .unwrap_or_default(),
        }
    }
}

impl From<ElicitFormParams> for ElicitParams {
    #[inline]
    fn from(asked: ElicitFormParams) -> Self {
        Self::Form(asked)
    }
}

impl From<ElicitUrlParams> for ElicitParams {
    #[inline]
    fn from(asked: ElicitUrlParams) -> Self {
        Self::Url(asked)
    }
}

impl ElicitFormParams {
    /// Asks the user to fill in a form.
    #[inline]
    pub fn new(message: impl Into<String>, schema: FormSchema) -> Self {
        Self {
            mode: None,
            message: message.into(),
            requested_schema: schema,
            task: None,
            meta: None,
        }
    }

    /// Writes the mode, which 2025-06-18 does not have and later revisions assume.
    #[must_use]
    #[inline]
    pub fn with_mode(mut self) -> Self {
        self.mode = Some(FormMode);
        self
    }

    /// Leaves the mode out, which means the same.
    #[must_use]
    #[inline]
    pub fn without_mode(mut self) -> Self {
        self.mode = None;
        self
    }
}

impl ElicitUrlParams {
    /// Asks the user to visit a URL.
    #[inline]
    pub fn new(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            mode: UrlMode,
            message: message.into(),
            url: url.into(),
            elicitation_id: None,
            task: None,
            meta: None,
        }
    }

    /// Names the elicitation (2025-11-25 alone, and required there).
    #[must_use]
    #[inline]
    pub fn elicitation_id(mut self, id: impl Into<String>) -> Self {
        self.elicitation_id = Some(id.into());
        self
    }
}

/// Read by `mode`; without one it is a form.
// spec: ELIC-03
#[inline]
fn read_mode(members: JsonObject) -> Result<ElicitParams, String> {
    let mode = match members.get("mode") {
        None | Some(Value::Null) => FORM,
        Some(mode) => mode.as_str().unwrap_or_default(),
    };
    match mode {
        FORM => reread::members(&members).map(ElicitParams::Form),
        URL => reread::members(&members).map(ElicitParams::Url),
        _ => Ok(ElicitParams::Other(members)),
    }
}

read_via!(
    ElicitParams,
    Self::Other(JsonObject::new()),
    |members: JsonObject| read_mode(members)
);
written_as_content!(ElicitParams { Form, Url, Other });
read_and_written!(ElicitParams);

/// Parameters of `notifications/elicitation/complete` (2025-11-25 alone): the user has done what
/// there was to do at the URL.
// spec: ELIC-10
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElicitationComplete {
    /// Which elicitation.
    pub elicitation_id: String,
}

members!(ElicitationComplete as "the id of a visit" {
    "elicitationId" => elicitation_id,
});

impl ElicitationComplete {
    /// Names the elicitation.
    #[inline]
    pub fn new(elicitation_id: impl Into<String>) -> Self {
        Self {
            elicitation_id: elicitation_id.into(),
        }
    }
}
