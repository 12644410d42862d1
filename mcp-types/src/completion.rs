//! Completion of arguments.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion>

use serde::Deserialize;
use serde_json::Value;

use crate::json::{members, read_and_written, read_via, unknown_text, written_via};
use crate::{JsonObject, Meta};

/// Parameters of `completion/complete`.
// spec: COMP-02
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CompleteParams {
    /// What has the argument.
    pub reference: CompletionReference,
    /// The argument and what was typed so far.
    pub argument: CompletionArgument,
    /// What is known beside.
    pub context: Option<CompletionContext>,
}

members!(CompleteParams as "what to complete" {
    "ref" => reference,
    "argument" => argument,
    "context" => context or nothing,
});

impl CompleteParams {
    /// Completes the argument `name`, of which `value` was typed so far.
    #[inline]
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
    #[inline]
    pub fn context(mut self, arguments: JsonObject) -> Self {
        self.context = Some(CompletionContext { arguments });
        self
    }
}

/// What has the argument that is completed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompletionReference {
    /// A prompt, by its name.
    Prompt {
        /// Its name.
        name: String,
    },
    /// A resource template, by its URI template.
    Resource {
        /// Its URI template.
        uri: String,
    },
}

/// Read as it came, without the buffer of a tagged enum.
const PROMPT: &str = "ref/prompt";
const RESOURCE: &str = "ref/resource";

/// A reference of either kind.
struct Reference {
    kind: String,
    name: Option<Value>,
    uri: Option<Value>,
}

members!(Reference as "a reference" {
    "type" => kind,
    "name" => name or nothing,
    "uri" => uri or nothing,
});

impl Reference {
    #[inline]
    fn decided(self) -> Result<CompletionReference, String> {
        #[inline]
        fn text(key: &str, value: Option<Value>) -> Result<String, String> {
            let value = value.ok_or_else(|| format!("missing field `{key}`"))?;
            String::deserialize(value).map_err(|error| error.to_string())
        }

        match &*self.kind {
            PROMPT => text("name", self.name).map(|name| CompletionReference::Prompt { name }),
            RESOURCE => text("uri", self.uri).map(|uri| CompletionReference::Resource { uri }),
            kind => Err(unknown_text(kind, &[PROMPT, RESOURCE])),
        }
    }
}

impl From<&CompletionReference> for Reference {
    #[inline]
    fn from(reference: &CompletionReference) -> Self {
        let (kind, name, uri) = match reference {
            CompletionReference::Prompt { name } => (PROMPT, Some(name), None),
            CompletionReference::Resource { uri } => (RESOURCE, None, Some(uri)),
        };
        Self {
            kind: kind.to_owned(),
            name: name.cloned().map(Value::from),
            uri: uri.cloned().map(Value::from),
        }
    }
}

read_via!(CompletionReference, Self::prompt(""), |found: Reference| {
    found.decided()
});
written_via!(CompletionReference, Reference);
read_and_written!(CompletionReference);

impl CompletionReference {
    /// A prompt, by its name.
    #[inline]
    pub fn prompt(name: impl Into<String>) -> Self {
        Self::Prompt { name: name.into() }
    }

    /// A resource template, by its URI template.
    #[inline]
    pub fn resource(uri_template: impl Into<String>) -> Self {
        Self::Resource {
            uri: uri_template.into(),
        }
    }
}

/// The argument that is completed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompletionArgument {
    /// Its name.
    pub name: String,
    /// What was typed so far.
    pub value: String,
}

members!(CompletionArgument as "an argument" {
    "name" => name,
    "value" => value,
});

/// What is known beside the argument.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CompletionContext {
    /// The arguments that have their values already.
    pub arguments: JsonObject,
}

members!(CompletionContext as "arguments that are known" {
    "arguments" => arguments or nothing,
});

/// The result of `completion/complete`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CompleteResult {
    /// The suggestions.
    pub completion: Completion,
    /// What the result carries beside.
    pub meta: Option<Meta>,
}

members!(CompleteResult as "a completion" {
    "completion" => completion,
    "_meta" => meta or nothing,
});

impl CompleteResult {
    /// Some suggestions.
    #[inline]
    pub fn new(completion: impl Into<Completion>) -> Self {
        Self {
            completion: completion.into(),
            meta: None,
        }
    }
}

/// Suggestions, best first.
// spec: COMP-03
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completion {
    /// At most 100 of them.
    pub values: Vec<String>,
    /// How many there are in all.
    pub total: Option<u64>,
    /// There are more than `values`.
    pub has_more: Option<bool>,
}

members!(Completion as "values of a completion" {
    "values" => values,
    "total" => total or nothing,
    "hasMore" => has_more or nothing,
});

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
    #[inline]
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
    #[inline]
    pub fn total(mut self, total: u64) -> Self {
        self.total = Some(total);
        self.has_more = Some(total > self.values.len() as u64);
        self
    }
}

impl<T: Into<String>> From<Vec<T>> for Completion {
    #[inline]
    fn from(values: Vec<T>) -> Self {
        Self::new(values)
    }
}
