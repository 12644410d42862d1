//! What the user answered.

use serde::de::DeserializeOwned;

use crate::json::members;
use crate::text::text_enum;
use crate::{JsonObject, Meta};

text_enum! {
    /// What the user did.
    // spec: ELIC-09
    pub enum ElicitAction {
        /// Agreed. With a URL that means only that it is visited.
        Accept = "accept",
        /// Said no.
        Decline = "decline",
        /// Went away without an answer.
        Cancel = "cancel",
    }
}

/// The result of `elicitation/create`.
///
/// # Examples
///
/// ```
/// use mcp_types::{ElicitAction, ElicitResult};
/// use serde_json::json;
///
/// let answer = ElicitResult::accept(json!({"name": "Ada"}).as_object().unwrap().clone());
/// assert_eq!(answer.action, ElicitAction::Accept);
/// assert!(ElicitResult::decline().content.is_none());
/// ```
// spec: ELIC-09
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ElicitResult {
    /// What the user did.
    pub action: ElicitAction,
    /// What the form has, for accepted forms alone: texts, numbers, booleans and lists of texts.
    pub content: Option<JsonObject>,
    /// What the result carries beside (legacy era alone).
    pub meta: Option<Meta>,
}

members!(ElicitResult as "the answer of a user" {
    "action" => action,
    "content" => content or nothing,
    "_meta" => meta or nothing,
});

impl ElicitResult {
    #[inline]
    fn new(action: ElicitAction, content: Option<JsonObject>) -> Self {
        Self {
            action,
            content,
            meta: None,
        }
    }

    /// The user filled in the form.
    #[inline]
    pub fn accept(content: JsonObject) -> Self {
        Self::new(ElicitAction::Accept, Some(content))
    }

    /// The user agreed to visit the URL.
    #[inline]
    pub fn accept_url() -> Self {
        Self::new(ElicitAction::Accept, None)
    }

    /// The user said no.
    #[inline]
    pub fn decline() -> Self {
        Self::new(ElicitAction::Decline, None)
    }

    /// The user went away without an answer.
    #[inline]
    pub fn cancel() -> Self {
        Self::new(ElicitAction::Cancel, None)
    }

    /// The user agreed.
    #[inline]
    pub fn is_accepted(&self) -> bool {
        self.action == ElicitAction::Accept
    }

    /// Reads the content as `T`; a form without content is one without members.
    ///
    /// # Errors
    ///
    /// What `serde_json` says when the members do not fit `T`.
    #[inline]
    pub fn parse<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        let content = self.content.clone().unwrap_or_default();
        serde_json::from_value(content.into())
    }
}
