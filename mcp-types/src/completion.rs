//! Argument completion.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion>

use serde::de::{Deserialize, Deserializer, Error, MapAccess};

use crate::tagged::{self, Tagged};
use crate::{de, extra::JsonObject, meta::Meta};

/// Parameters of `completion/complete`.
// spec: COMP-02
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CompleteParams {
    /// Prompt or resource template that has the argument.
    #[serde(rename = "ref")]
    pub reference: CompletionReference,
    /// The argument to complete.
    pub argument: CompletionArgument,
    /// Arguments that already have a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<CompletionContext>,
}

impl CompleteParams {
    /// Creates a request to complete `value`, the text typed so far for the argument `name`.
    pub fn new(
        reference: CompletionReference,
        name: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        let argument = CompletionArgument {
            name: name.into(),
            value: value.into(),
        };
        Self {
            reference,
            argument,
            context: None,
        }
    }

    /// Sets the arguments that already have a value.
    #[must_use]
    pub fn context(mut self, arguments: JsonObject) -> Self {
        self.context = Some(CompletionContext { arguments });
        self
    }
}

/// The prompt or resource template whose argument is completed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum CompletionReference {
    /// A prompt.
    #[serde(rename = "ref/prompt")]
    Prompt {
        /// The prompt's name.
        name: String,
    },
    /// A resource template.
    #[serde(rename = "ref/resource")]
    Resource {
        /// URI template.
        uri: String,
    },
}

impl CompletionReference {
    /// References a prompt by its name.
    pub fn prompt(name: impl Into<String>) -> Self {
        Self::Prompt { name: name.into() }
    }

    /// References a resource template by its URI template.
    pub fn template(uri_template: impl Into<String>) -> Self {
        Self::Resource {
            uri: uri_template.into(),
        }
    }
}

impl<'de> Deserialize<'de> for CompletionReference {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged::deserialize(deserializer)
    }
}

impl Tagged for CompletionReference {
    const EXPECTING: &'static str = "a reference to a prompt or a resource template";

    fn from_members<'de, A: MapAccess<'de>>(kind: &str, members: A) -> Result<Self, A::Error> {
        #[derive(serde::Deserialize)]
        struct Prompt {
            name: String,
        }

        #[derive(serde::Deserialize)]
        struct Resource {
            uri: String,
        }

        match kind {
            "ref/prompt" => {
                let Prompt { name } = tagged::read(members)?;
                Ok(Self::Prompt { name })
            }
            "ref/resource" => {
                let Resource { uri } = tagged::read(members)?;
                Ok(Self::Resource { uri })
            }
            _ => Err(A::Error::unknown_variant(
                kind,
                &["ref/prompt", "ref/resource"],
            )),
        }
    }
}

/// Argument to complete.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CompletionArgument {
    /// The argument's name.
    pub name: String,
    /// Value typed so far.
    pub value: String,
}

/// Arguments that already have a value.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CompletionContext {
    /// Values by argument name.
    #[serde(
        default,
        deserialize_with = "de::null_to_default",
        skip_serializing_if = "JsonObject::is_empty"
    )]
    pub arguments: JsonObject,
}

/// Result of `completion/complete`.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CompleteResult {
    /// The suggestions.
    pub completion: Completion,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl<T: Into<Completion>> From<T> for CompleteResult {
    fn from(completion: T) -> Self {
        Self {
            completion: completion.into(),
            meta: None,
        }
    }
}

/// Suggestions for an argument's value, best first.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Completion {
    /// Suggested values, at most [`MAX_VALUES`](Self::MAX_VALUES).
    pub values: Vec<String>,
    /// Total number of matching values, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// `true` if there are more matching values than `values` has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_more: Option<bool>,
}

impl Completion {
    /// Maximum number of suggestions in one result: 100.
    pub const MAX_VALUES: usize = 100;

    /// Creates a completion from suggested values, best first.
    ///
    /// Keeps the first [`MAX_VALUES`](Self::MAX_VALUES). If there are more, counts them all, and sets `total`
    /// and `has_more`.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::types::Completion;
    ///
    /// let few = Completion::new(["python", "perl"]);
    /// assert_eq!((few.total, few.has_more), (None, None));
    /// let many = Completion::new((0..300).map(|n| n.to_string()));
    /// assert_eq!((many.values.len(), many.total, many.has_more), (100, Some(300), Some(true)));
    /// ```
    // spec: COMP-03
    pub fn new(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut rest = values.into_iter();
        let mut found = Self {
            values: rest
                .by_ref()
                .take(Self::MAX_VALUES)
                .map(Into::into)
                .collect(),
            ..Self::default()
        };
        let more = rest.count();
        if more > 0 {
            found.total = Some((Self::MAX_VALUES + more) as u64);
            found.has_more = Some(true);
        }
        found
    }

    /// Sets the total number of matching values. `has_more` becomes true if it exceeds the number of `values`,
    /// otherwise false.
    #[must_use]
    pub fn total(mut self, total: u64) -> Self {
        self.total = Some(total);
        self.has_more = Some(total > self.values.len() as u64);
        self
    }
}

impl<T: Into<String>> From<Vec<T>> for Completion {
    fn from(values: Vec<T>) -> Self {
        Self::new(values)
    }
}
