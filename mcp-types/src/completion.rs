//! Completion of arguments.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion>

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::members::read_members;
use crate::{JsonObject, Meta};

/// Parameters of `completion/complete`.
// spec: COMP-02
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CompleteParams {
    /// What has the argument.
    #[serde(rename = "ref")]
    pub reference: CompletionReference,
    /// The argument and what was typed so far.
    pub argument: CompletionArgument,
    /// What is known beside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<CompletionContext>,
}

read_members!(CompleteParams as "what to complete" from CompleteParams::new(CompletionReference::prompt(""), "", ""), {
    "ref" => reference,
    "argument" => argument,
} {
    "context" => context,
});

impl CompleteParams {
    /// Completes the argument `name`, of which `value` was typed so far.
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

    /// Tells the arguments that have their values already.
    #[must_use]
    pub fn context(mut self, arguments: JsonObject) -> Self {
        self.context = Some(CompletionContext { arguments });
        self
    }
}

/// What has the argument that is completed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
#[serde(tag = "type")]
pub enum CompletionReference {
    /// A prompt, by its name.
    #[serde(rename = "ref/prompt")]
    Prompt {
        /// Its name.
        name: String,
    },
    /// A resource template, by its URI template.
    #[serde(rename = "ref/resource")]
    Resource {
        /// Its URI template.
        uri: String,
    },
}

/// Read as it came, without the buffer of a tagged enum.
impl<'de> Deserialize<'de> for CompletionReference {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default)]
        struct Reference {
            kind: String,
            name: Option<Value>,
            uri: Option<Value>,
        }

        read_members!(Reference as "a reference" { "type" => kind, } {
            "name" => name,
            "uri" => uri,
        });

        fn text<E: Error>(key: &'static str, value: Option<Value>) -> Result<String, E> {
            value.map_or_else(
                || Err(E::missing_field(key)),
                |value| String::deserialize(value).map_err(E::custom),
            )
        }

        let found = Reference::deserialize(deserializer)?;
        match &*found.kind {
            "ref/prompt" => text("name", found.name).map(|name| Self::Prompt { name }),
            "ref/resource" => text("uri", found.uri).map(|uri| Self::Resource { uri }),
            kind => Err(D::Error::unknown_variant(
                kind,
                &["ref/prompt", "ref/resource"],
            )),
        }
    }
}

impl CompletionReference {
    /// A prompt, by its name.
    pub fn prompt(name: impl Into<String>) -> Self {
        Self::Prompt { name: name.into() }
    }

    /// A resource template, by its URI template.
    pub fn resource(uri_template: impl Into<String>) -> Self {
        Self::Resource {
            uri: uri_template.into(),
        }
    }
}

/// The argument that is completed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CompletionArgument {
    /// Its name.
    pub name: String,
    /// What was typed so far.
    pub value: String,
}

read_members!(CompletionArgument as "an argument" from CompletionArgument { name: String::new(), value: String::new() }, {
    "name" => name,
    "value" => value,
} {});

/// What is known beside the argument.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CompletionContext {
    /// The arguments that have their values already.
    #[serde(skip_serializing_if = "JsonObject::is_empty")]
    pub arguments: JsonObject,
}

read_members!(CompletionContext as "arguments that are known" {} {
    "arguments" => arguments or default,
});

/// The result of `completion/complete`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompleteResult {
    /// The suggestions.
    pub completion: Completion,
    /// What the result carries beside.
    #[serde(default, rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl CompleteResult {
    /// Some suggestions.
    pub fn new(completion: impl Into<Completion>) -> Self {
        Self {
            completion: completion.into(),
            meta: None,
        }
    }
}

/// Suggestions, best first.
// spec: COMP-03
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct Completion {
    /// At most 100 of them.
    pub values: Vec<String>,
    /// How many there are in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// There are more than `values`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_more: Option<bool>,
}

impl Completion {
    /// Suggestions that one answer may have.
    pub const MAX_VALUES: usize = 100;

    /// Suggestions, best first. Of more than [`MAX_VALUES`](Self::MAX_VALUES) the first ones are
    /// kept, and the answer says how many there are.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp_types::Completion;
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

    /// Says how many there are in all.
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
