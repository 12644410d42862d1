//! Hints on who content is for.

use crate::json::members;
use crate::text::text_enum;
use crate::{Settings, time};

text_enum! {
    /// Who speaks, or who is spoken to.
    pub enum Role {
        /// The person.
        User = "user",
        /// The language model.
        Assistant = "assistant",
    }
}

/// Hints on who content is for and how much it matters.
///
/// # Examples
///
/// ```
/// use mcp_types::{Annotations, Role};
///
/// let hints = Annotations::new().audience(Role::User).priority(0.8);
/// assert!(hints.check().is_ok());
/// assert!(Annotations::new().priority(8.0).check().is_err());
/// ```
// spec: RSRC-11
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Annotations {
    /// Who it is for.
    pub audience: Vec<Role>,
    /// From 0 (may be left out) to 1 (has to be there).
    pub priority: Option<f64>,
    /// When it last changed, ISO 8601.
    pub last_modified: Option<String>,
    /// Members that this library does not know.
    pub other: Settings,
}

members!(Annotations as "annotations" {
    "audience" => audience or nothing,
    "priority" => priority or nothing,
    "lastModified" => last_modified or nothing,
} and other);

/// Annotations are not as the specification wants them. They are hints: a receiver may use the
/// content all the same.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidAnnotations {
    /// The priority is not between 0 and 1.
    #[error("`priority` is {0}; it goes from 0 to 1")]
    Priority(f64),
    /// The time is none of ISO 8601.
    #[error("`lastModified` is {0:?}; write a time of ISO 8601 such as `2026-07-28T12:00:00Z`")]
    LastModified(String),
}

impl Annotations {
    /// No hints yet.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds somebody whom it is for.
    #[must_use]
    #[inline]
    pub fn audience(mut self, role: Role) -> Self {
        self.audience.push(role);
        self
    }

    /// Sets how much it matters: from 0 (may be left out) to 1 (has to be there).
    #[must_use]
    #[inline]
    pub fn priority(mut self, priority: f64) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Sets when it last changed: a time of ISO 8601 such as `2026-07-28T12:00:00Z`.
    #[must_use]
    #[inline]
    pub fn last_modified(mut self, time: impl Into<String>) -> Self {
        self.last_modified = Some(time.into());
        self
    }

    /// Checks the values.
    ///
    /// # Errors
    ///
    /// [`InvalidAnnotations`] that names the first value that is not as it should be.
    #[inline]
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
    fn unknown_values_and_members_survive() {
        let value = json!({"audience": ["user", "robot"], "priority": 1, "mood": {"x": [1]}});
        let hints: Annotations = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(
            hints.audience,
            [Role::User, Role::Other("robot".to_owned())]
        );
        assert_eq!(serde_json::to_value(&hints).unwrap(), value);
    }

    #[test]
    fn values_are_checked() {
        let fine = Annotations::new()
            .audience(Role::Assistant)
            .priority(1.0)
            .last_modified("2025-05-03T14:30:00Z");
        assert_eq!(fine.check(), Ok(()));
        for priority in [-0.1, 1.1, f64::NAN] {
            let error = Annotations::new().priority(priority).check().unwrap_err();
            assert!(matches!(error, InvalidAnnotations::Priority(_)), "{error}");
        }
        let error = Annotations::new().last_modified("yesterday").check();
        assert!(matches!(error, Err(InvalidAnnotations::LastModified(_))));
        let plain = Annotations::new().audience(Role::User).priority(0.0);
        assert_eq!(
            serde_json::to_value(plain).unwrap(),
            json!({"audience": ["user"], "priority": Value::from(0)})
        );
    }
}
