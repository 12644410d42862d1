//! Fields where the user picks from a list.

use crate::json::{members, read_and_written, read_via, written_via};
use crate::setters::setters;
use crate::text::fixed_text;

/// One of the texts to pick from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// The value.
    pub value: String,
    /// What the user reads.
    pub title: String,
}

members!(Choice as "a choice" {
    "const" => value,
    "title" => title,
});

impl Choice {
    /// A value and what the user reads.
    #[inline]
    pub fn new(value: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            title: title.into(),
        }
    }
}

/// The texts to pick from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choices {
    /// The user reads the values themselves.
    Plain(Vec<String>),
    /// Every value has a title (2025-11-25 and later).
    Titled(Vec<Choice>),
    /// Values, and titles in a list of their own: all that 2025-06-18 knows, legacy since.
    Legacy {
        /// The values.
        values: Vec<String>,
        /// What the user reads, in the order of the values.
        titles: Vec<String>,
    },
}

impl Choices {
    /// Values and what the user reads.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let (plain, titled, titles) = match self {
            Self::Plain(values) => (values.as_slice(), [].as_slice(), [].as_slice()),
            Self::Titled(choices) => ([].as_slice(), choices.as_slice(), [].as_slice()),
            Self::Legacy { values, titles } => {
                (values.as_slice(), [].as_slice(), titles.as_slice())
            }
        };
        let plain = plain.iter().enumerate().map(|(index, value)| {
            let title = titles.get(index).unwrap_or(value);
            (&**value, &**title)
        });
        plain.chain(titled.iter().map(|choice| (&*choice.value, &*choice.title)))
    }

    /// The value is among them.
    #[inline]
    pub fn contains(&self, value: &str) -> bool {
        self.iter().any(|(known, _)| known == value)
    }

    /// The same choices in the form of 2025-06-18, which later revisions still read.
    #[must_use]
    #[inline]
    pub fn to_legacy(&self) -> Self {
        match self {
            Self::Titled(choices) => Self::Legacy {
                values: choices.iter().map(|choice| choice.value.clone()).collect(),
                titles: choices.iter().map(|choice| choice.title.clone()).collect(),
            },
            Self::Plain(_) | Self::Legacy { .. } => self.clone(),
        }
    }
}

impl<T: Into<String>, const N: usize> From<[T; N]> for Choices {
    #[inline]
    fn from(values: [T; N]) -> Self {
        Self::Plain(values.into_iter().map(Into::into).collect())
    }
}

impl From<Vec<String>> for Choices {
    #[inline]
    fn from(values: Vec<String>) -> Self {
        Self::Plain(values)
    }
}

impl From<Vec<Choice>> for Choices {
    #[inline]
    fn from(choices: Vec<Choice>) -> Self {
        Self::Titled(choices)
    }
}

/// A field where the user picks one text.
///
/// # Examples
///
/// ```
/// use mcp_types::{Choice, EnumSchema};
///
/// let plain = EnumSchema::new(["red", "green"]).default_value("red");
/// let titled = EnumSchema::new(vec![Choice::new("#f00", "Red"), Choice::new("#0f0", "Green")]);
/// assert!(titled.choices.contains("#f00") && !plain.choices.contains("#f00"));
/// ```
// spec: ELIC-05, ELIC-06
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EnumSchema {
    /// What the field is called.
    pub title: Option<String>,
    /// What the field is for.
    pub description: Option<String>,
    /// The texts to pick from.
    pub choices: Choices,
    /// What the field begins with (2025-11-25 and later).
    pub default: Option<String>,
}

impl EnumSchema {
    /// Some texts to pick one from.
    #[inline]
    pub fn new(choices: impl Into<Choices>) -> Self {
        Self {
            title: None,
            description: None,
            choices: choices.into(),
            default: None,
        }
    }

    setters! { title, describe }

    /// Sets what the field begins with (2025-11-25 and later).
    #[must_use]
    #[inline]
    pub fn default_value(mut self, value: impl Into<String>) -> Self {
        self.default = Some(value.into());
        self
    }
}

/// A field where the user picks some texts (2025-11-25 and later).
// spec: ELIC-06
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MultiSelectSchema {
    /// What the field is called.
    pub title: Option<String>,
    /// What the field is for.
    pub description: Option<String>,
    /// The texts to pick from, plain or titled.
    pub choices: Choices,
    /// The fewest texts to pick.
    pub min_items: Option<u64>,
    /// The most texts to pick.
    pub max_items: Option<u64>,
    /// What the field begins with.
    pub default: Option<Vec<String>>,
}

impl MultiSelectSchema {
    /// Some texts to pick some from.
    #[inline]
    pub fn new(choices: impl Into<Choices>) -> Self {
        Self {
            title: None,
            description: None,
            choices: choices.into(),
            min_items: None,
            max_items: None,
            default: None,
        }
    }

    setters! { title, describe }

    /// Sets the fewest texts to pick.
    #[must_use]
    #[inline]
    pub fn min_items(mut self, count: u64) -> Self {
        self.min_items = Some(count);
        self
    }

    /// Sets the most texts to pick.
    #[must_use]
    #[inline]
    pub fn max_items(mut self, count: u64) -> Self {
        self.max_items = Some(count);
        self
    }

    /// Sets what the field begins with.
    #[must_use]
    #[inline]
    pub fn default_value(mut self, values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.default = Some(values.into_iter().map(Into::into).collect());
        self
    }
}

fixed_text!(StringType = "string");
fixed_text!(ArrayType = "array");

/// The members of [`EnumSchema`] on the wire.
struct EnumMembers {
    kind: StringType,
    title: Option<String>,
    description: Option<String>,
    r#enum: Option<Vec<String>>,
    enum_names: Option<Vec<String>>,
    one_of: Option<Vec<Choice>>,
    default: Option<String>,
}

members!(EnumMembers as "a choice of one" {
    "type" => kind,
    "title" => title or nothing,
    "description" => description or nothing,
    "enum" => r#enum or nothing,
    "enumNames" => enum_names or nothing,
    "oneOf" => one_of or nothing,
    "default" => default or nothing,
});

impl From<&EnumSchema> for EnumMembers {
    #[inline]
    fn from(field: &EnumSchema) -> Self {
        let field = field.clone();
        let (r#enum, enum_names, one_of) = match field.choices {
            Choices::Plain(values) => (Some(values), None, None),
            Choices::Titled(choices) => (None, None, Some(choices)),
            Choices::Legacy { values, titles } => (Some(values), Some(titles), None),
        };
        Self {
            kind: StringType,
            title: field.title,
            description: field.description,
            r#enum,
            enum_names,
            one_of,
            default: field.default,
        }
    }
}

impl TryFrom<EnumMembers> for EnumSchema {
    type Error = String;

    #[inline]
    fn try_from(members: EnumMembers) -> Result<Self, String> {
        let choices = match (members.one_of, members.r#enum, members.enum_names) {
            (Some(choices), _, _) => Choices::Titled(choices),
            (None, Some(values), None) => Choices::Plain(values),
            (None, Some(values), Some(titles)) => Choices::Legacy { values, titles },
            (None, None, _) => return Err("a choice needs `enum` or `oneOf`".to_owned()),
        };
        Ok(Self {
            title: members.title,
            description: members.description,
            choices,
            default: members.default,
        })
    }
}

/// The members of [`MultiSelectSchema`] on the wire.
struct MultiMembers {
    kind: ArrayType,
    title: Option<String>,
    description: Option<String>,
    min_items: Option<u64>,
    max_items: Option<u64>,
    items: Items,
    default: Option<Vec<String>>,
}

members!(MultiMembers as "a choice of many" {
    "type" => kind,
    "title" => title or nothing,
    "description" => description or nothing,
    "minItems" => min_items or nothing,
    "maxItems" => max_items or nothing,
    "items" => items,
    "default" => default or nothing,
});

struct Items {
    kind: Option<StringType>,
    r#enum: Option<Vec<String>>,
    any_of: Option<Vec<Choice>>,
}

members!(Items as "the items of a choice" {
    "type" => kind or nothing,
    "enum" => r#enum or nothing,
    "anyOf" => any_of or nothing,
});

impl From<&MultiSelectSchema> for MultiMembers {
    #[inline]
    fn from(field: &MultiSelectSchema) -> Self {
        let field = field.clone();
        let (r#enum, any_of) = match field.choices {
            Choices::Plain(values) => (Some(values), None),
            Choices::Titled(choices) => (None, Some(choices)),
            Choices::Legacy { values, titles } => {
                let choices = values.into_iter().zip(titles);
                let choices = choices.map(|(value, title)| Choice { value, title });
                (None, Some(choices.collect()))
            }
        };
        Self {
            kind: ArrayType,
            title: field.title,
            description: field.description,
            min_items: field.min_items,
            max_items: field.max_items,
            items: Items {
                kind: r#enum.is_some().then_some(StringType),
                r#enum,
                any_of,
            },
            default: field.default,
        }
    }
}

impl TryFrom<MultiMembers> for MultiSelectSchema {
    type Error = String;

    #[inline]
    fn try_from(members: MultiMembers) -> Result<Self, String> {
        let choices = match (members.items.any_of, members.items.r#enum) {
            (Some(choices), _) => Choices::Titled(choices),
            (None, Some(values)) => Choices::Plain(values),
            (None, None) => return Err("the items of a choice need `enum` or `anyOf`".to_owned()),
        };
        Ok(Self {
            title: members.title,
            description: members.description,
            choices,
            min_items: members.min_items,
            max_items: members.max_items,
            default: members.default,
        })
    }
}

read_via!(
    EnumSchema,
    Self::new(Vec::<String>::new()),
    |found: EnumMembers| found.try_into()
);
written_via!(EnumSchema, EnumMembers);

read_via!(
    MultiSelectSchema,
    Self::new(Vec::<String>::new()),
    |found: MultiMembers| found.try_into()
);
written_via!(MultiSelectSchema, MultiMembers);

read_and_written!(EnumSchema, MultiSelectSchema);
