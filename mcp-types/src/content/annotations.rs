//! Annotations: audience and importance of content.

use serde::{Deserialize, Serialize};

use crate::{de, extra::ExtraFields, number, text_enum::text_enum};

text_enum! {
    /// Speaker or addressee of content.
    pub enum Role {
        /// The user.
        User = "user",
        /// The language model.
        Assistant = "assistant",
    }
}

/// Hints about the audience, the importance and the age of content.
///
/// Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/resources#annotations>
///
/// # Examples
///
/// ```
/// use mcp::types::{Annotations, Role};
///
/// let hints = Annotations::default().audience(Role::User).priority(0.8);
/// assert_eq!(hints.priority, Some(0.8));
/// ```
// spec: RSRC-11
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Annotations {
    /// Intended audience. Empty if it is not restricted.
    #[serde(
        default,
        deserialize_with = "de::null_to_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub audience: Vec<Role>,
    /// Importance from 0 (optional) to 1 (required).
    #[serde(
        serialize_with = "number::serialize_option",
        skip_serializing_if = "Option::is_none"
    )]
    pub priority: Option<f64>,
    /// Time of the last change, in ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
    /// Members that this crate does not define.
    #[serde(flatten)]
    pub extra: ExtraFields,
}

impl Annotations {
    /// Adds a role to the audience.
    #[must_use]
    pub fn audience(mut self, role: Role) -> Self {
        self.audience.push(role);
        self
    }

    /// Sets the importance, from 0 (optional) to 1 (required).
    #[must_use]
    pub fn priority(mut self, priority: f64) -> Self {
        self.priority = Some(priority);
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Annotations, Role};

    #[test]
    fn unknown_values_and_members_are_kept() {
        let value = json!({"audience": ["user", "robot"], "priority": 1, "mood": {"x": [1]}});
        let hints: Annotations = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(
            hints.audience,
            [Role::User, Role::Other("robot".to_owned())]
        );
        assert_eq!(serde_json::to_value(&hints).unwrap(), value);
    }

    #[test]
    fn integral_priority_is_written_without_fraction() {
        let plain = Annotations::default().audience(Role::User).priority(0.0);
        assert_eq!(
            serde_json::to_value(plain).unwrap(),
            json!({"audience": ["user"], "priority": Value::from(0)})
        );
    }
}
