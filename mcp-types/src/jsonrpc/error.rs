//! Error objects.

use std::fmt;

use crate::RawObject;
use crate::json::{Write, members};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The `error` member of a response.
///
/// Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic#errors>
// spec: BASE-09
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ErrorObject {
    /// What kind of error; see [`codes`](crate::codes).
    pub code: i64,
    /// One concise sentence.
    pub message: String,
    /// More about the error, any JSON value.
    pub data: Option<Box<RawValue>>,
}

members!(ErrorObject as "an error object" {
    "code" => code,
    "message" => message,
    "data" => data or nothing,
});

impl ErrorObject {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// Adds data. A value that cannot be serialized is left out.
    #[must_use]
    pub fn with_data(mut self, data: &impl Serialize) -> Self {
        self.data = serde_json::value::to_raw_value(data).ok();
        self
    }

    /// [`with_data`](Self::with_data) without another copy of the writer in the crate that asks.
    #[doc(hidden)]
    #[must_use]
    pub fn with_object(mut self, data: &dyn Write) -> Self {
        let text = RawObject::of(data).ok().map(RawObject::into_text);
        self.data = text.and_then(|text| RawValue::from_string(text.into()).ok());
        self
    }

    /// The same error under another code.
    #[must_use]
    pub fn with_code(mut self, code: i64) -> Self {
        self.code = code;
        self
    }

    /// The data as `T`, when it is there and fits.
    pub fn data_as<'a, T: Deserialize<'a>>(&'a self) -> Option<T> {
        serde_json::from_str(self.data.as_deref()?.get()).ok()
    }
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for ErrorObject {}

/// Compares the data by its text.
impl PartialEq for ErrorObject {
    fn eq(&self, other: &Self) -> bool {
        let text = |error: &Self| error.data.as_ref().map(|raw| raw.get().to_owned());
        self.code == other.code && self.message == other.message && text(self) == text(other)
    }
}
