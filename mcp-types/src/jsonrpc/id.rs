//! Request ids.

use std::fmt;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::raw::RawJson;

/// A request id: an integer or a string, echoed with the same JSON type.
///
/// `1` and `"1"` are different ids. `null`, fractions and integers beyond 64 bits are not ids. `7.0` is
/// refused as well: its response would have the id `7`, which a client that compares texts does not
/// recognize, so that its call would hang instead of failing.
///
/// Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic#requests>
// spec: BASE-06
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum RequestId {
    /// An integer.
    Number(i64),
    /// A string.
    String(Box<str>),
}

impl RequestId {
    /// Returns the id in `raw`, or `None` if the value is not an id.
    // spec: BASE-02
    pub(super) fn from_raw(raw: RawJson<'_>) -> Option<Self> {
        if let Some(text) = raw.text() {
            return Some(Self::String(text.into()));
        }
        // Valid JSON has no leading `+`. `-0` is a fraction.
        let number = raw.as_str().parse().ok()?;
        (number != 0 || raw.as_str() == "0").then_some(Self::Number(number))
    }

    /// Returns the id of a response whose server writes integers with a fraction: `1.0`, `1e3`.
    pub(super) fn from_fraction(raw: RawJson<'_>) -> Option<Self> {
        const LARGEST: f64 = 9_007_199_254_740_991.0;
        let number: f64 = raw.as_str().parse().ok()?;
        let is_exact = number.fract() == 0.0 && number.abs() <= LARGEST;
        // The range is that of integers that a float has exactly.
        #[expect(clippy::cast_possible_truncation)]
        is_exact.then_some(Self::Number(number as i64))
    }
}

impl RequestId {
    /// Returns the number that a string id spells: `"7"` is 7. `None` for other ids.
    ///
    /// Some servers send the number of a request back as a string.
    #[doc(hidden)]
    pub fn spelled_number(&self) -> Option<Self> {
        let Self::String(text) = self else {
            return None;
        };
        let number: i64 = text.parse().ok()?;
        (number.to_string() == **text).then_some(Self::Number(number))
    }
}

impl From<i64> for RequestId {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for RequestId {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for RequestId {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl From<RequestId> for serde_json::Value {
    fn from(id: RequestId) -> Self {
        match id {
            RequestId::Number(number) => number.into(),
            RequestId::String(text) => text.into_string().into(),
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::String(text) => text.fmt(f),
        }
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IdVisitor)
    }
}

struct IdVisitor;

impl Visitor<'_> for IdVisitor {
    type Value = RequestId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a 64-bit integer")
    }

    fn visit_i64<E>(self, number: i64) -> Result<RequestId, E> {
        Ok(RequestId::Number(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<RequestId, E> {
        i64::try_from(number)
            .map(RequestId::Number)
            .map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }

    fn visit_str<E>(self, text: &str) -> Result<RequestId, E> {
        Ok(RequestId::String(text.into()))
    }
}
