//! Annotations: audience and importance of content.

use serde::{Deserialize, Serialize};

use crate::text_enum::text_enum;
use crate::{ExtraFields, de, number, time};

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
/// assert!(hints.check().is_ok());
/// assert!(Annotations::default().priority(8.0).check().is_err());
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

/// Error for annotations with an invalid value. They are hints, so a receiver can still use the
/// content.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidAnnotations {
    /// The priority is not between 0 and 1.
    #[error("`priority` must be from 0 to 1, got {0}")]
    Priority(f64),
    /// The time of the last change is not in ISO 8601.
    #[error("`lastModified` is {0:?}; write a time of ISO 8601 such as `2026-07-28T12:00:00Z`")]
    LastModified(String),
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

    /// Checks priority and time of the last change.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidAnnotations`] for the first invalid value.
    pub fn check(&self) -> Result<(), InvalidAnnotations> {
        if let Some(priority) = self.priority.filter(|value| !(0.0..=1.0).contains(value)) {
            return Err(InvalidAnnotations::Priority(priority));
        }
        match &self.last_modified {
            Some(time) if !time::is_iso_8601(time) => {
                Err(InvalidAnnotations::LastModified(time.clone()))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Annotations, InvalidAnnotations, Role};

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
    fn check_of_value_out_of_range_fails() {
        let dated = |time: &str| Annotations {
            last_modified: Some(time.to_owned()),
            ..Annotations::default()
        };
        let fine = dated("2025-05-03T14:30:00Z")
            .audience(Role::Assistant)
            .priority(1.0);
        assert_eq!(fine.check(), Ok(()));
        for priority in [-0.1, 1.1, f64::NAN] {
            let error = Annotations::default()
                .priority(priority)
                .check()
                .unwrap_err();
            assert!(matches!(error, InvalidAnnotations::Priority(_)), "{error}");
        }
        let error = dated("yesterday").check();
        assert!(matches!(error, Err(InvalidAnnotations::LastModified(_))));
        let plain = Annotations::default().audience(Role::User).priority(0.0);
        assert_eq!(
            serde_json::to_value(plain).unwrap(),
            json!({"audience": ["user"], "priority": Value::from(0)})
        );
    }
}
