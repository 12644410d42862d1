//! The members of `params`, found in the one pass over the message and left raw.

use std::borrow::Cow;

use serde::Deserialize;

use crate::json::{self, Read};
use crate::raw::{Malformed, Scanner};
use crate::{RawJson, RawObject, RawObjectError};

/// The members of a `params` object, each still raw JSON.
///
/// Large members (`arguments`) are therefore walked twice in all: once to find their end, once
/// by the type that reads them.
#[derive(Debug, Clone, Default)]
pub struct Params<'a> {
    members: Members<'a>,
    meta: Members<'a>,
}

type Members<'a> = Vec<(Cow<'a, str>, RawJson<'a>)>;

/// A member of `params` is missing or does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamError {
    /// A required member is not there.
    #[error("missing `params.{0}`")]
    Missing(&'static str),
    /// A member is there, but of another shape.
    #[error("`params.{key}`: {reason}")]
    Invalid {
        /// The member.
        key: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

impl<'a> Params<'a> {
    /// Members that `params` may have, and their `_meta`: more than any method or extension uses.
    pub const MAX_MEMBERS: usize = 64;

    /// Reads `params` that are an object. What is wrong with the members goes to `problem`, so that
    /// the rest of the message is still read.
    pub(crate) fn find(
        scanner: &mut Scanner<'a>,
        mut problem: impl FnMut(Cow<'static, str>),
    ) -> Result<Self, Malformed> {
        /// Most have no more.
        const ROOM: usize = 4;
        let mut members = Members::with_capacity(ROOM);
        let mut meta = Members::new();
        scanner.object(|scanner, key| {
            let value = match &*key {
                "_meta" if scanner.peek() == b'{' => {
                    meta.reserve(ROOM);
                    scanner.object(|scanner, key| {
                        let value = scanner.value()?;
                        add(&mut meta, key, value, "params._meta", &mut problem);
                        Ok(())
                    })?
                }
                _ => scanner.value()?,
            };
            add(&mut members, key, value, "params", &mut problem);
            Ok(())
        })?;
        Ok(Self { members, meta })
    }

    /// The raw member `key` of `_meta`.
    pub fn meta(&self, key: &str) -> Option<RawJson<'a>> {
        get(&self.meta, key)
    }

    /// The members of `_meta` in the order in which they came; none when it is no object.
    pub fn meta_members(&self) -> impl ExactSizeIterator<Item = (&str, RawJson<'a>)> {
        self.meta.iter().map(|(key, value)| (key.as_ref(), *value))
    }

    /// The raw member `key`.
    pub fn get(&self, key: &str) -> Option<RawJson<'a>> {
        get(&self.members, key)
    }

    /// The members in the order in which they came.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, RawJson<'a>)> {
        self.members
            .iter()
            .map(|(key, value)| (key.as_ref(), *value))
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Reads the required member `key`.
    ///
    /// # Errors
    ///
    /// [`ParamError`] when it is missing or no `T`.
    pub fn required<T: Deserialize<'a>>(&self, key: &'static str) -> Result<T, ParamError> {
        let raw = self.get(key).ok_or(ParamError::Missing(key))?;
        read(key, raw)
    }

    /// Reads the member `key` if it is there and not `null`.
    ///
    /// # Errors
    ///
    /// [`ParamError::Invalid`] when it is there and no `T`.
    pub fn optional<T: Deserialize<'a>>(&self, key: &'static str) -> Result<Option<T>, ParamError> {
        match self.get(key) {
            Some(raw) if !raw.is_null() => read(key, raw).map(Some),
            _ => Ok(None),
        }
    }

    /// [`required`](Self::required) without another copy of the reader in the crate that asks.
    #[doc(hidden)]
    pub fn required_value<T: Read>(&self, key: &'static str) -> Result<T, ParamError> {
        read_value(key, self.get(key).ok_or(ParamError::Missing(key))?)
    }

    /// [`optional`](Self::optional) without another copy of the reader in the crate that asks.
    #[doc(hidden)]
    pub fn optional_value<T: Read>(&self, key: &'static str) -> Result<Option<T>, ParamError> {
        match self.get(key) {
            Some(raw) if !raw.is_null() => read_value(key, raw).map(Some),
            _ => Ok(None),
        }
    }

    /// The member `key` as a string, borrowed unless it has escapes, if it is there and not `null`.
    ///
    /// # Errors
    ///
    /// [`ParamError::Invalid`] when it is another kind of value.
    pub fn text(&self, key: &'static str) -> Result<Option<Cow<'a, str>>, ParamError> {
        match self.get(key) {
            Some(raw) if !raw.is_null() => read_text(key, raw).map(Some),
            _ => Ok(None),
        }
    }

    /// The required member `key` as a string, borrowed unless it has escapes.
    ///
    /// # Errors
    ///
    /// [`ParamError`] when it is missing or another kind of value.
    pub fn required_text(&self, key: &'static str) -> Result<Cow<'a, str>, ParamError> {
        read_text(key, self.get(key).ok_or(ParamError::Missing(key))?)
    }

    /// The member `key` as raw text of an object, if it is there and not `null`.
    ///
    /// # Errors
    ///
    /// [`ParamError::Invalid`] when it is another kind of value.
    pub fn object(&self, key: &'static str) -> Result<Option<RawObject>, ParamError> {
        let invalid = |error: RawObjectError| ParamError::Invalid {
            key,
            reason: error.to_string(),
        };
        match self.get(key) {
            Some(raw) if !raw.is_null() => RawObject::from_raw(raw).map(Some).map_err(invalid),
            _ => Ok(None),
        }
    }

    /// All members again as one object.
    pub fn to_object(&self) -> RawObject {
        Self::joined(self.iter())
    }

    /// All members but `_meta` as one object.
    pub fn without_meta(&self) -> RawObject {
        Self::joined(self.iter().filter(|(key, _)| *key != "_meta"))
    }

    fn joined<'b>(members: impl Iterator<Item = (&'b str, RawJson<'a>)>) -> RawObject
    where
        'a: 'b,
    {
        let mut text = String::from("{");
        for (key, value) in members {
            if text.len() > 1 {
                text.push(',');
            }
            text.push_str(&serde_json::Value::from(key).to_string());
            text.push(':');
            text.push_str(value.as_str());
        }
        text.push('}');
        RawObject::from_text(text).unwrap_or_else(|_| RawObject::empty())
    }
}

/// Adds a member once.
fn add<'a>(
    members: &mut Members<'a>,
    key: Cow<'a, str>,
    value: RawJson<'a>,
    place: &'static str,
    problem: &mut impl FnMut(Cow<'static, str>),
) {
    if members.len() == Params::MAX_MEMBERS {
        problem(Cow::Owned(format!("`{place}` has too many members")));
    } else if get(members, &key).is_some() {
        problem(Cow::Owned(format!("`{place}.{key}` comes twice")));
    } else {
        members.push((key, value));
    }
}

fn get<'a>(members: &Members<'a>, key: &str) -> Option<RawJson<'a>> {
    let mut members = members.iter();
    members
        .find(|(name, _)| name == key)
        .map(|(_, value)| *value)
}

fn read_text<'a>(key: &'static str, raw: RawJson<'a>) -> Result<Cow<'a, str>, ParamError> {
    match raw.text() {
        Some(text) => Ok(text),
        None => read::<String>(key, raw).map(Cow::Owned),
    }
}

fn read<'a, T: Deserialize<'a>>(key: &'static str, raw: RawJson<'a>) -> Result<T, ParamError> {
    raw.read().map_err(|error| invalid(key, &error))
}

fn read_value<T: Read>(key: &'static str, raw: RawJson<'_>) -> Result<T, ParamError> {
    json::from_str(raw.as_str()).map_err(|error| invalid(key, &error))
}

#[cold]
fn invalid(key: &'static str, error: &serde_json::Error) -> ParamError {
    let reason = error.to_string();
    ParamError::Invalid { key, reason }
}
