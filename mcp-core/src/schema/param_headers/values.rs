//! The values of mirrored arguments, found in one pass over the JSON.

use std::borrow::Cow;

use mcp_types::{RawJson, RawObject};

use super::decimal::Decimal;
use super::{ParamHeaders, Property};
use crate::message::Fault;

/// A mirrored argument with its value in a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MirroredArgument<'p> {
    /// The header name, without the common prefix.
    pub(super) header: &'p str,
    /// The argument path, such as `options.limit`.
    pub(super) argument: &'p str,
    /// The value. `None` when it is missing or `null`.
    pub(super) value: Option<ParamValue>,
}

/// The value of a mirrored argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ParamValue {
    /// A string.
    Text(String),
    /// A number, as it is written in the body.
    Number(String),
    /// A boolean.
    Bool(bool),
    /// An object or an array, which cannot be mirrored. No valid argument has such a value.
    Compound,
}

/// The arguments name the same member twice, so that readers may disagree on its value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the argument {0:?} is given twice; give it once")]
pub(super) struct DuplicateArgument(Box<str>);

impl ParamValue {
    fn from_json(raw: RawJson<'_>) -> Option<Self> {
        let text = raw.as_str();
        match text.as_bytes().first() {
            Some(b'n') => None,
            Some(b't') => Some(Self::Bool(true)),
            Some(b'f') => Some(Self::Bool(false)),
            Some(b'"') => raw.text().map(Cow::into_owned).map(Self::Text),
            Some(b'{' | b'[') => Some(Self::Compound),
            _ => Some(Self::Number(text.to_owned())),
        }
    }

    /// Returns the value as a client sends it, before it is encoded: a string unchanged, an integer in
    /// decimal. `None` for a value that cannot be mirrored.
    // spec: XHDR-11
    pub(super) fn text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Bool(value) => Some(Cow::Borrowed(if *value { "true" } else { "false" })),
            Self::Number(text) => {
                let integer = Decimal::parse(text).and_then(|number| number.as_safe_integer());
                Some(match integer {
                    Some(integer) => Cow::Owned(integer.to_string()),
                    None => Cow::Borrowed(text),
                })
            }
            Self::Compound => None,
        }
    }

    /// Returns true if a decoded header has the same value. Numbers are compared as numbers.
    // spec: XHDR-17, XHDR-18
    pub(super) fn matches_header(&self, header: &str) -> bool {
        match self {
            Self::Number(text) => {
                let number = Decimal::parse(text);
                number.is_some() && number == Decimal::parse(header)
            }
            Self::Text(_) | Self::Bool(_) => self.text().as_deref() == Some(header),
            Self::Compound => false,
        }
    }

    /// Returns true for an integer beyond ±(2⁵³−1), which a header must not carry.
    // spec: XHDR-06
    pub(super) fn is_unsafe_integer(&self) -> bool {
        match self {
            Self::Number(text) => {
                Decimal::parse(text).is_none_or(|number| number.is_unsafe_integer())
            }
            _ => false,
        }
    }
}

impl MirroredArgument<'_> {
    /// Compares the argument with its header, which has the name `name`.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::HeaderMismatch`] with the header, the argument and both values.
    // spec: XHDR-17
    fn verify(&self, name: &str, header: Option<&str>) -> Result<(), Fault> {
        let path = self.argument;
        let expected = self.value.as_ref().and_then(ParamValue::text);
        match (&self.value, header) {
            (None, None) => Ok(()),
            // A proxy that routes by the header would see an argument that the tool does not see.
            (None, Some(header)) => Err(mismatch(format!(
                "the header {name} says {header:?}, but the argument `{path}` is not given; leave \
                 the header out"
            ))),
            (Some(value), _) if value.is_unsafe_integer() => Err(mismatch(format!(
                "the argument `{path}` is repeated by the header {name} and must be within \
                 ±(2^53-1)"
            ))),
            (Some(value), Some(header)) if value.matches_header(header) => Ok(()),
            // An argument of the wrong type is reported when the arguments are decoded.
            (Some(_), None) if expected.is_none() => Ok(()),
            (Some(_), None) => Err(mismatch(format!(
                "the header {name} is missing; it repeats the argument `{path}`"
            ))),
            (Some(_), Some(header)) => Err(mismatch(match expected {
                Some(expected) => format!(
                    "the header {name} says {header:?}, but the argument `{path}` says {expected:?}"
                ),
                None => format!(
                    "the header {name} says {header:?}, but the argument `{path}` is not a single \
                     value"
                ),
            })),
        }
    }
}

fn mismatch(message: String) -> Fault {
    Fault::HeaderMismatch(message.into())
}

impl ParamHeaders {
    /// Returns the headers of a call, as [`MirroredHeaders::params`](crate::MirroredHeaders::params) has them:
    /// each name without the common prefix, and the value. `None` when the arguments contain one of
    /// them twice.
    // spec: XHDR-02, XHDR-12
    pub fn values(&self, arguments: Option<&RawObject>) -> Option<Vec<(Box<str>, Box<str>)>> {
        let arguments = self.arguments_of(arguments).ok()?;
        let values = arguments
            .into_iter()
            .filter_map(|found| Some((found.header.into(), found.value?.text()?.into())));
        Some(values.collect())
    }

    /// Compares the headers of a call with its arguments. `header` returns the decoded value of the
    /// header with a name, which begins with `prefix`.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::HeaderMismatch`] with the header, the argument and both values, and the fault
    /// of `header`.
    // spec: XHDR-17
    pub fn verify<'h>(
        &self,
        arguments: Option<&RawObject>,
        prefix: &str,
        header: impl Fn(&str) -> Result<Option<Cow<'h, str>>, Fault>,
    ) -> Result<(), Fault> {
        let arguments = self.arguments_of(arguments);
        let arguments = arguments.map_err(|error| mismatch(error.to_string()))?;
        arguments.iter().try_for_each(|argument| {
            let name = format!("{prefix}{}", argument.header.to_ascii_lowercase());
            argument.verify(&name, header(&name)?.as_deref())
        })
    }

    /// Returns all mirrored arguments with their values in a call.
    ///
    /// # Errors
    ///
    /// Returns [`DuplicateArgument`] when the arguments contain one of them twice.
    pub(super) fn arguments_of(
        &self,
        arguments: Option<&RawObject>,
    ) -> Result<Vec<MirroredArgument<'_>>, DuplicateArgument> {
        let headers = self.headers.iter();
        let mut values: Vec<_> = headers
            .map(|header| MirroredArgument {
                header: &header.name,
                argument: &header.argument,
                value: None,
            })
            .collect();
        if let Some(arguments) = arguments {
            let members = Members {
                properties: &self.properties,
                values: &mut values,
            };
            members.read(arguments.as_raw())?;
        }
        Ok(values)
    }
}

/// A reader of annotated properties in a JSON object.
struct Members<'p, 'v> {
    properties: &'p [Property],
    values: &'v mut [MirroredArgument<'p>],
}

impl Members<'_, '_> {
    /// Reads the members of an object. Does nothing for other values.
    fn read(self, raw: RawJson<'_>) -> Result<(), DuplicateArgument> {
        let mut seen = vec![false; self.properties.len()];
        for (name, value) in raw.members() {
            let mut properties = self.properties.iter().zip(&mut seen);
            let Some((property, seen)) = properties.find(|(it, _)| *it.name == *name) else {
                continue;
            };
            if std::mem::replace(seen, true) {
                return Err(DuplicateArgument(property.name.clone()));
            }
            let slot = property.header.and_then(|index| self.values.get_mut(index));
            if let Some(slot) = slot {
                slot.value = ParamValue::from_json(value);
            }
            if !property.below.is_empty() {
                let below = Members {
                    properties: &property.below,
                    values: &mut *self.values,
                };
                below.read(value)?;
            }
        }
        Ok(())
    }
}
