//! Fields with a selection from a list of values.

use serde::{Deserialize, Serialize};

use super::string_type::StringType;
use crate::setters::setters;

/// A value with a title.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Choice {
    /// The value.
    #[serde(rename = "const")]
    pub value: String,
    /// Title for the user.
    pub title: String,
}

impl Choice {
    /// Creates a choice from a value and its title.
    pub fn new(value: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            title: title.into(),
        }
    }
}

/// Values to select from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choices {
    /// Values without titles.
    Plain(Vec<String>),
    /// Values with titles (2025-11-25 and later).
    Titled(Vec<Choice>),
    /// Values with a separate list of titles: the only form of titles in 2025-06-18, deprecated since.
    Legacy {
        /// The values.
        values: Vec<String>,
        /// Titles, in the order of the values.
        titles: Vec<String>,
    },
}

impl Choices {
    /// Returns pairs of value and title. The value replaces a missing title.
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

    /// Returns `true` if `value` is one of the values.
    pub(super) fn contains(&self, value: &str) -> bool {
        self.iter().any(|(known, _)| known == value)
    }
}

impl<T: Into<String>, const N: usize> From<[T; N]> for Choices {
    fn from(values: [T; N]) -> Self {
        Self::Plain(values.into_iter().map(Into::into).collect())
    }
}

impl From<Vec<String>> for Choices {
    fn from(values: Vec<String>) -> Self {
        Self::Plain(values)
    }
}

impl From<Vec<Choice>> for Choices {
    fn from(choices: Vec<Choice>) -> Self {
        Self::Titled(choices)
    }
}

/// Field with a selection of one value.
///
/// # Examples
///
/// ```
/// use mcp::types::{Choice, EnumSchema};
///
/// let plain = EnumSchema::new(["red", "green"]).default_value("red");
/// let titled = EnumSchema::new(vec![Choice::new("#f00", "Red"), Choice::new("#0f0", "Green")]);
/// assert_eq!(titled.choices.iter().next(), Some(("#f00", "Red")));
/// assert_eq!(plain.choices.iter().next(), Some(("red", "red")));
/// ```
// spec: ELIC-05, ELIC-06
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(into = "EnumMembers", try_from = "EnumMembers")]
#[non_exhaustive]
pub struct EnumSchema {
    /// The field's display name.
    pub title: Option<String>,
    /// The field's description.
    pub description: Option<String>,
    /// Values to select from.
    pub choices: Choices,
    /// Default value (2025-11-25 and later).
    pub default: Option<String>,
}

impl EnumSchema {
    /// Creates a field from the values to select from.
    pub fn new(choices: impl Into<Choices>) -> Self {
        Self {
            title: None,
            description: None,
            choices: choices.into(),
            default: None,
        }
    }

    setters! { title, description }

    setters! {
        /// Sets the default value (2025-11-25 and later).
        default_value(value: impl Into<String>) => default;
    }
}

/// Field with a selection of several values (2025-11-25 and later).
// spec: ELIC-06
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(into = "MultiSelectMembers", try_from = "MultiSelectMembers")]
#[non_exhaustive]
pub struct MultiSelectSchema {
    /// The field's display name.
    pub title: Option<String>,
    /// The field's description.
    pub description: Option<String>,
    /// Values to select from, plain or titled.
    pub choices: Choices,
    /// Minimum number of selected values.
    pub min_items: Option<u64>,
    /// Maximum number of selected values.
    pub max_items: Option<u64>,
    /// Default values.
    pub default: Option<Vec<String>>,
}

impl MultiSelectSchema {
    /// Creates a field from the values to select from.
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

    setters! { title, description }

    setters! {
        /// Sets the minimum number of selected values.
        min_items(count: u64) => min_items;
        /// Sets the maximum number of selected values.
        max_items(count: u64) => max_items;
    }

    /// Sets the default values.
    #[must_use]
    pub fn default_value(mut self, values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.default = Some(values.into_iter().map(Into::into).collect());
        self
    }
}

/// The value `array` of `type`.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum ArrayType {
    Array,
}

/// [`EnumSchema`] in JSON.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(
    feature = "schemars",
    schemars(extend("anyOf" = [{"required": ["enum"]}, {"required": ["oneOf"]}]))
)]
struct EnumMembers {
    #[serde(rename = "type")]
    kind: StringType,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#enum: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enum_names: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    one_of: Option<Vec<Choice>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<String>,
}

impl From<EnumSchema> for EnumMembers {
    fn from(field: EnumSchema) -> Self {
        let (r#enum, enum_names, one_of) = match field.choices {
            Choices::Plain(values) => (Some(values), None, None),
            Choices::Titled(choices) => (None, None, Some(choices)),
            Choices::Legacy { values, titles } => (Some(values), Some(titles), None),
        };
        Self {
            kind: StringType::String,
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
    type Error = &'static str;

    fn try_from(members: EnumMembers) -> Result<Self, &'static str> {
        let choices = match (members.one_of, members.r#enum, members.enum_names) {
            (Some(choices), _, _) => Choices::Titled(choices),
            (None, Some(values), None) => Choices::Plain(values),
            (None, Some(values), Some(titles)) => Choices::Legacy { values, titles },
            (None, None, _) => return Err("a choice needs `enum` or `oneOf`"),
        };
        Ok(Self {
            title: members.title,
            description: members.description,
            choices,
            default: members.default,
        })
    }
}

/// [`MultiSelectSchema`] in JSON.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct MultiSelectMembers {
    #[serde(rename = "type")]
    kind: ArrayType,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_items: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_items: Option<u64>,
    items: Items,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<Vec<String>>,
}

/// The `items` member of [`MultiSelectMembers`].
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(
    feature = "schemars",
    schemars(extend("anyOf" = [{"required": ["enum"]}, {"required": ["anyOf"]}]))
)]
struct Items {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<StringType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#enum: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    any_of: Option<Vec<Choice>>,
}

impl From<MultiSelectSchema> for MultiSelectMembers {
    fn from(field: MultiSelectSchema) -> Self {
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
            kind: ArrayType::Array,
            title: field.title,
            description: field.description,
            min_items: field.min_items,
            max_items: field.max_items,
            items: Items {
                kind: r#enum.is_some().then_some(StringType::String),
                r#enum,
                any_of,
            },
            default: field.default,
        }
    }
}

impl TryFrom<MultiSelectMembers> for MultiSelectSchema {
    type Error = &'static str;

    fn try_from(members: MultiSelectMembers) -> Result<Self, &'static str> {
        let choices = match (members.items.any_of, members.items.r#enum) {
            (Some(choices), _) => Choices::Titled(choices),
            (None, Some(values)) => Choices::Plain(values),
            (None, None) => return Err("the items of a choice need `enum` or `anyOf`"),
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
