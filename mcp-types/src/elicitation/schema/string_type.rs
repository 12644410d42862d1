//! The `type` of string schemas.

use serde::{Deserialize, Serialize};

/// The value `string` of `type`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(super) enum StringType {
    #[default]
    String,
}
