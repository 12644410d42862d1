//! Deserialization of unions whose members determine the variant.
//!
//! `#[serde(tag = "type")]` does not serve here. It buffers the whole object in a form that cannot
//! hold [`RawValue`], and it discards an unknown variant's members. This module streams the
//! members to the variant when the tag comes first. Members that precede the tag are kept as
//! [`RawValue`] until the tag is known; then the object is read again with its tag first.
//!
//! Unions with an optional tag, or whose variant depends on several members, are read in two steps from a
//! [`RawObject`]: first a struct with the members in question, then the variant ([`from_object`]).
//!
//! A tag that occurs twice is an error in either case. The derived `Deserialize` of the variant refuses
//! other known members that occur twice.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{
    Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, Error, IntoDeserializer,
    MapAccess, Visitor,
};
use serde_json::value::RawValue;

use crate::de::{Str, without_position};
use crate::raw::RawObject;

const TAG: &str = "type";

/// A union whose member `type` names the variant.
pub(crate) trait Tagged: Sized {
    /// The union's description for error messages.
    const EXPECTING: &'static str;

    /// Reads the variant `kind` from the members other than `type`.
    fn from_members<'de, A: MapAccess<'de>>(kind: &str, members: A) -> Result<Self, A::Error>;
}

/// Deserializes a tagged union.
pub(crate) fn deserialize<'de, T: Tagged, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    deserializer.deserialize_map(TaggedVisitor(PhantomData))
}

/// Reads a variant from its members.
pub(crate) fn read<'de, T: Deserialize<'de>, A: MapAccess<'de>>(members: A) -> Result<T, A::Error> {
    T::deserialize(MapAccessDeserializer::new(members))
}

/// Reads `object` as `T`.
///
/// # Errors
///
/// Returns the error of `serde_json` without its position, which refers to a part of the input.
pub(crate) fn from_object<T: DeserializeOwned, E: Error>(object: &RawObject) -> Result<T, E> {
    object
        .parse()
        .map_err(|error| E::custom(without_position(&error)))
}

struct TaggedVisitor<T>(PhantomData<T>);

impl<'de, T: Tagged> Visitor<'de> for TaggedVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTING)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut kind = None;
        let mut members: Vec<(Str<'de>, Box<RawValue>)> = Vec::new();
        while let Some(Str(key)) = map.next_key()? {
            if key != TAG {
                members.push((Str(key), map.next_value()?));
                continue;
            }
            let Str(found) = map.next_value()?;
            if members.is_empty() {
                return T::from_members(&found, AfterTag(map));
            }
            if kind.replace(found).is_some() {
                return Err(A::Error::duplicate_field(TAG));
            }
        }
        let kind = kind.ok_or_else(|| A::Error::missing_field(TAG))?;
        let reordered = tag_first(&kind, &members).map_err(A::Error::custom)?;
        deserialize(&mut serde_json::Deserializer::from_str(&reordered))
            .map_err(|error| A::Error::custom(without_position(&error)))
    }
}

/// Writes an object again with its tag first, so that variants are compiled for streamed members only.
fn tag_first(kind: &str, members: &[(Str<'_>, Box<RawValue>)]) -> serde_json::Result<String> {
    let mut text = format!("{{\"{TAG}\":{}", serde_json::to_string(kind)?);
    for (Str(key), value) in members {
        text.push(',');
        text.push_str(&serde_json::to_string(key)?);
        text.push(':');
        text.push_str(value.get());
    }
    text.push('}');
    Ok(text)
}

/// The members that follow the tag. A second tag is an error.
struct AfterTag<A>(A);

impl<'de, A: MapAccess<'de>> MapAccess<'de> for AfterTag<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        match self.0.next_key()? {
            Some(Str(key)) if key == TAG => Err(A::Error::duplicate_field(TAG)),
            Some(Str(key)) => seed.deserialize(key.into_deserializer()).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.0.next_value_seed(seed)
    }
}
