//! Results of elicitation requests.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{extra::JsonObject, meta::Meta, text_enum::text_enum};

text_enum! {
    /// The user's action.
    // spec: ELIC-09
    pub enum ElicitAction {
        /// The user agreed. For a URL this means agreement to visit it.
        Accept = "accept",
        /// The user declined.
        Decline = "decline",
        /// The user dismissed the request without a choice.
        Cancel = "cancel",
    }
}

/// Result of `elicitation/create`.
///
/// # Examples
///
/// ```
/// use mcp::ElicitResult;
/// use mcp::types::ElicitAction;
/// use serde_json::json;
///
/// let answer = ElicitResult::accept(json!({"name": "Ada"}).as_object().unwrap().clone());
/// assert_eq!(answer.action, ElicitAction::Accept);
/// assert!(ElicitResult::decline().content.is_none());
/// ```
// spec: ELIC-09
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ElicitResult {
    /// The user's action.
    pub action: ElicitAction,
    /// Answers of an accepted form: strings, numbers, booleans and lists of strings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<JsonObject>,
    /// Protocol-level metadata (`_meta`), only in legacy revisions.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ElicitResult {
    fn new(action: ElicitAction, content: Option<JsonObject>) -> Self {
        Self {
            action,
            content,
            meta: None,
        }
    }

    /// Creates the result of an accepted form.
    pub fn accept(content: JsonObject) -> Self {
        Self::new(ElicitAction::Accept, Some(content))
    }

    /// Creates the result of an accepted URL.
    pub fn accept_url() -> Self {
        Self::new(ElicitAction::Accept, None)
    }

    /// Creates the result of a declined request.
    pub fn decline() -> Self {
        Self::new(ElicitAction::Decline, None)
    }

    /// Creates the result of a dismissed request.
    pub fn cancel() -> Self {
        Self::new(ElicitAction::Cancel, None)
    }

    /// Returns `true` if the user agreed.
    pub fn is_accepted(&self) -> bool {
        self.action == ElicitAction::Accept
    }

    /// Reads the answers as `T`. Missing content is read as an object without members.
    ///
    /// # Errors
    ///
    /// Returns the error of `serde_json` if the answers are not a valid `T`.
    pub fn parse<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        let content = self.content.clone().unwrap_or_default();
        serde_json::from_value(content.into())
    }
}
