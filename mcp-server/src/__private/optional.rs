//! Arguments that may be absent: those whose type is an `Option`.

use serde::de::value::Error;
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};

/// Returns the value of an absent argument: `None` for an `Option`, also behind a type alias. Returns
/// nothing for other types. Code from `#[derive(Deserialize)]` finds the value of a missing field in
/// the same way.
pub(super) fn absent_value<T: DeserializeOwned>() -> Option<T> {
    T::deserialize(Absent).ok()
}

/// A deserializer that accepts only `Option`s.
struct Absent;

impl<'de> Deserializer<'de> for Absent {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("absent"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_none()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
