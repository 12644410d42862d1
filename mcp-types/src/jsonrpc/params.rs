//! Parameters of requests and notifications.

use std::borrow::Cow;

use serde::Deserialize;

use crate::raw::{RawJson, RawObject, RawObjectError};

/// The members of a `params` object, each as raw JSON.
///
/// [`Message::parse`](crate::Message::parse) finds the members while it validates the message. The
/// members of `_meta` are found as well. Each of the two has at most 64 members.
#[derive(Debug, Clone, Default)]
pub struct Params<'a> {
    /// The members of `_meta`, then those of `params`. One vector, because an allocation costs 130
    /// instructions. Each name occurs once in an object.
    members: Vec<(Cow<'a, str>, RawJson<'a>)>,
    /// Number of members of `_meta`.
    meta: usize,
}

/// Maximum number of members in one object.
const MAX_MEMBERS: usize = 64;

/// Number of members that most `params` and their `_meta` do not exceed together.
const USUAL: usize = 8;

/// Reason to refuse a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    Repeated,
    TooMany,
}

/// Error for a missing or invalid member of `params`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamError {
    /// A required member is missing.
    #[error("missing `params.{0}`")]
    Missing(&'static str),
    /// A member has the wrong type or an invalid value.
    #[error("`params.{key}`: {reason}")]
    Invalid {
        /// The member's name.
        key: &'static str,
        /// The error's description.
        reason: String,
    },
}

impl<'a> Params<'a> {
    pub(super) fn with_usual_capacity() -> Self {
        Self {
            members: Vec::with_capacity(USUAL),
            meta: 0,
        }
    }

    /// Returns why the object whose members begin at the index `start` cannot have the member `name`.
    pub(super) fn refusal(&self, start: usize, name: &str) -> Option<Refusal> {
        let others = self.members.get(start..).unwrap_or_default();
        if find(others, name).is_some() {
            return Some(Refusal::Repeated);
        }
        (others.len() >= MAX_MEMBERS).then_some(Refusal::TooMany)
    }

    /// Adds a member, which is not refused.
    pub(super) fn push(&mut self, name: Cow<'a, str>, value: RawJson<'a>) {
        self.members.push((name, value));
    }

    /// Makes the members from the index `start` on those of `_meta`.
    pub(super) fn set_meta(&mut self, start: usize) {
        self.meta = self.members.len() - start;
        self.members.rotate_left(start);
    }

    /// Returns how many members both objects have.
    pub(super) fn total(&self) -> usize {
        self.members.len()
    }

    /// Returns how many members `_meta` has: the index of the first member of `params`.
    pub(super) fn meta_count(&self) -> usize {
        self.meta
    }

    fn members_of_meta(&self) -> &[(Cow<'a, str>, RawJson<'a>)] {
        self.members.get(..self.meta).unwrap_or_default()
    }

    fn own_members(&self) -> &[(Cow<'a, str>, RawJson<'a>)] {
        self.members.get(self.meta..).unwrap_or_default()
    }

    /// Returns the member `key` of `_meta`.
    pub fn meta(&self, key: &str) -> Option<RawJson<'a>> {
        find(self.members_of_meta(), key)
    }

    /// Returns the members of `_meta` in their order. There are none if `_meta` is not an object.
    pub fn meta_members(&self) -> impl ExactSizeIterator<Item = (&str, RawJson<'a>)> {
        pairs(self.members_of_meta())
    }

    /// Returns the member `key`.
    pub fn get(&self, key: &str) -> Option<RawJson<'a>> {
        find(self.own_members(), key)
    }

    /// Returns the members in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, RawJson<'a>)> {
        pairs(self.own_members())
    }

    /// Reads the required member `key` as `T`.
    ///
    /// # Errors
    ///
    /// Returns [`ParamError`] if the member is missing or not a valid `T`.
    pub fn required<T: Deserialize<'a>>(&self, key: &'static str) -> Result<T, ParamError> {
        read(key, self.get(key).ok_or(ParamError::Missing(key))?)
    }

    /// Reads the optional member `key` as `T`. Returns `None` if it is missing or `null`.
    ///
    /// # Errors
    ///
    /// Returns [`ParamError::Invalid`] if the member is not a valid `T`.
    pub fn optional<T: Deserialize<'a>>(&self, key: &'static str) -> Result<Option<T>, ParamError> {
        self.non_null(key).map(|raw| read(key, raw)).transpose()
    }

    /// Returns the string in the optional member `key`, borrowed unless it contains escapes.
    ///
    /// # Errors
    ///
    /// Returns [`ParamError::Invalid`] if the member is not a string.
    pub fn text(&self, key: &'static str) -> Result<Option<Cow<'a, str>>, ParamError> {
        let raw = self.non_null(key);
        raw.map(|raw| read_text(key, raw)).transpose()
    }

    /// Returns the string in the required member `key`, borrowed unless it contains escapes.
    ///
    /// # Errors
    ///
    /// Returns [`ParamError`] if the member is missing or not a string.
    pub fn required_text(&self, key: &'static str) -> Result<Cow<'a, str>, ParamError> {
        read_text(key, self.get(key).ok_or(ParamError::Missing(key))?)
    }

    /// Copies the object in the optional member `key`.
    ///
    /// # Errors
    ///
    /// Returns [`ParamError::Invalid`] if the member is not an object.
    pub fn object(&self, key: &'static str) -> Result<Option<RawObject>, ParamError> {
        let invalid = |error: RawObjectError| ParamError::Invalid {
            key,
            reason: error.to_string(),
        };
        let raw = self.non_null(key);
        raw.map(|raw| RawObject::from_raw(raw).map_err(invalid))
            .transpose()
    }

    /// Returns all members as one object.
    pub fn to_object(&self) -> RawObject {
        Self::join(self.iter())
    }

    /// Returns all members except `_meta` as one object.
    pub fn without_meta(&self) -> RawObject {
        Self::join(self.iter().filter(|(key, _)| *key != "_meta"))
    }

    fn non_null(&self, key: &str) -> Option<RawJson<'a>> {
        self.get(key).filter(|raw| !raw.is_null())
    }

    fn join<'b>(members: impl Iterator<Item = (&'b str, RawJson<'a>)>) -> RawObject
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
        // Valid members make a valid object.
        RawObject::from_text(text).unwrap_or_default()
    }
}

fn find<'a>(members: &[(Cow<'a, str>, RawJson<'a>)], key: &str) -> Option<RawJson<'a>> {
    let mut members = members.iter();
    members
        .find(|(name, _)| name == key)
        .map(|(_, value)| *value)
}

fn pairs<'b, 'a>(
    members: &'b [(Cow<'a, str>, RawJson<'a>)],
) -> impl ExactSizeIterator<Item = (&'b str, RawJson<'a>)> {
    members.iter().map(|(name, value)| (name.as_ref(), *value))
}

fn read_text<'a>(key: &'static str, raw: RawJson<'a>) -> Result<Cow<'a, str>, ParamError> {
    match raw.text() {
        Some(text) => Ok(text),
        None => read::<String>(key, raw).map(Cow::Owned),
    }
}

fn read<'a, T: Deserialize<'a>>(key: &'static str, raw: RawJson<'a>) -> Result<T, ParamError> {
    raw.read().map_err(|error| ParamError::Invalid {
        key,
        reason: error.to_string(),
    })
}
