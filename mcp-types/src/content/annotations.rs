//! Hints on who content is for.

use serde::{Deserialize, Serialize};

use crate::JsonObject;

/// Who speaks, or who is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    User,
    /// The language model.
    Assistant,
}

/// Hints on who content is for and how much it matters.
// spec: RSRC-11
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// Who it is for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audience: Vec<Role>,
    /// From 0 (may be left out) to 1 (has to be there).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<f64>,
    /// When it last changed, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
    /// Members that this library does not know.
    #[serde(flatten)]
    pub other: JsonObject,
}
