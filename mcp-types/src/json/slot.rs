//! Reading.

use std::borrow::Cow;
use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{ReadMembers, Rule, Shape, tagged};
use crate::text::{Str, joined};
use crate::{JsonObject, RequestId, Settings};

/// Where a value goes that is read, by what it has to be.
pub enum Slot<'a> {
    Flag(&'a mut bool),
    Whole(&'a mut i64),
    Natural(&'a mut u64),
    Fraction(&'a mut f64),
    Text(&'a mut dyn FromText),
    Id(&'a mut RequestId),
    Raw(&'a mut Box<RawValue>),
    Value(&'a mut Value),
    Object(&'a mut JsonObject),
    List(&'a mut dyn ReadList),
    Entries(&'a mut dyn ReadEntries),
    Members(&'a mut dyn ReadMembers),
    Tagged(&'a mut dyn Tagged),
    OneOrMany(&'a mut dyn OneOrMany),
    Via(&'a mut dyn Via),
}

/// A value that can be read.
pub trait Read {
    /// What reading begins with.
    fn blank() -> Self
    where
        Self: Sized;

    fn slot(&mut self) -> Slot<'_>;
}

/// A value that is text on the wire; else it says what is wrong with the text.
pub trait FromText {
    fn set(&mut self, text: Cow<'_, str>) -> Result<(), String>;
}

/// An array.
pub trait ReadList {
    /// The place of one more element.
    fn grow(&mut self) -> Slot<'_>;
}

/// An object whose names are data.
pub trait ReadEntries {
    fn what(&self) -> &'static str;

    /// The place of the value of this name; else what is wrong with one more.
    fn at(&mut self, key: String) -> Result<Slot<'_>, &'static str>;
}

/// An object of the kind that its member `type` says.
pub trait Tagged {
    fn what(&self) -> &'static str;

    /// The place of the other members: [`Slot::Members`], perhaps by [`Slot::Via`], or, with the tag in
    /// it, [`Slot::Object`].
    fn choose(&mut self, kind: &str) -> Slot<'_>;
}

/// An object, or an array of such.
pub trait OneOrMany {
    fn what(&self) -> &'static str;

    /// The place of the one: [`Slot::Tagged`].
    fn one(&mut self) -> Slot<'_>;

    /// The place of many: [`Slot::List`].
    fn many(&mut self) -> Slot<'_>;
}

/// A value that is read as another, which it is made of then.
pub trait Via {
    /// Calls `read` once; makes itself of what was read if that succeeded; else it says what is wrong.
    fn read(&mut self, read: &mut dyn FnMut(Slot<'_>) -> bool) -> Result<(), String>;
}

/// Reads a value, for `Deserialize`.
pub fn read<'de, T: Read, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let mut found = T::blank();
    found.slot().deserialize(deserializer)?;
    Ok(found)
}

/// Reads JSON as `T`, without another copy of the reader in the crate that asks for it.
///
/// # Errors
///
/// What `serde_json` says when it does not fit `T`.
pub fn from_str<T: Read>(text: &str) -> serde_json::Result<T> {
    let mut found = T::blank();
    read_text(text, found.slot())?;
    Ok(found)
}

/// Reads a text into its place. It is one function for all types.
#[inline(never)]
pub(crate) fn read_text(text: &str, slot: Slot<'_>) -> serde_json::Result<()> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    slot.deserialize(&mut deserializer)?;
    deserializer.end()
}

/// What is wrong with a text that is none of those that are known.
#[cold]
pub(crate) fn unknown_text(text: &str, known: &[&str]) -> String {
    let known = joined(known, "`, `");
    format!("unknown variant `{text}`, expected one of `{known}`")
}

impl<'de> DeserializeSeed<'de> for Slot<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self {
            Slot::Flag(place) => *place = bool::deserialize(deserializer)?,
            Slot::Whole(place) => *place = i64::deserialize(deserializer)?,
            Slot::Natural(place) => *place = u64::deserialize(deserializer)?,
            Slot::Fraction(place) => *place = f64::deserialize(deserializer)?,
            Slot::Text(place) => {
                let Str(text) = Str::deserialize(deserializer)?;
                place.set(text).map_err(D::Error::custom)?;
            }
            Slot::Id(place) => *place = RequestId::deserialize(deserializer)?,
            Slot::Raw(place) => *place = Box::deserialize(deserializer)?,
            Slot::Value(place) => *place = Value::deserialize(deserializer)?,
            Slot::Object(place) => *place = JsonObject::deserialize(deserializer)?,
            Slot::Via(place) => return read_via(place, deserializer),
            Slot::List(_) => deserializer.deserialize_seq(self)?,
            Slot::OneOrMany(_) => deserializer.deserialize_any(self)?,
            Slot::Entries(_) | Slot::Members(_) | Slot::Tagged(_) => {
                deserializer.deserialize_map(self)?;
            }
        }
        Ok(())
    }
}

fn read_via<'de, D: Deserializer<'de>>(
    place: &mut dyn Via,
    deserializer: D,
) -> Result<(), D::Error> {
    let mut deserializer = Some(deserializer);
    let mut done = Ok(());
    let made = place.read(&mut |slot| {
        if let Some(deserializer) = deserializer.take() {
            done = slot.deserialize(deserializer);
        }
        done.is_ok()
    });
    done?;
    made.map_err(D::Error::custom)
}

/// One visitor for all that consists of others.
impl<'de> Visitor<'de> for Slot<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Slot::Entries(place) => place.what(),
            Slot::Members(place) => place.shape().what,
            Slot::Tagged(place) => place.what(),
            Slot::OneOrMany(place) => place.what(),
            _ => "a sequence",
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        match self {
            Slot::List(place) => {
                // An element is there only when it was read: what is left by an error is not used.
                let mut grown = Grown(place);
                while seq.next_element_seed(&mut grown)?.is_some() {}
                Ok(())
            }
            Slot::OneOrMany(place) => place.many().visit_seq(seq),
            _ => Err(A::Error::invalid_type(serde::de::Unexpected::Seq, &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        match self {
            Slot::Members(place) => read_members(place, &mut map),
            Slot::Tagged(place) => tagged::read(place, map),
            Slot::OneOrMany(place) => place.one().visit_map(map),
            Slot::Entries(place) => {
                while let Some(Str(key)) = map.next_key()? {
                    let slot = place.at(key.into_owned()).map_err(A::Error::custom)?;
                    map.next_value_seed(slot)?;
                }
                Ok(())
            }
            _ => Err(A::Error::invalid_type(serde::de::Unexpected::Map, &self)),
        }
    }
}

/// Makes a place for an element when there is one.
struct Grown<'a>(&'a mut dyn ReadList);

impl<'de> DeserializeSeed<'de> for &mut Grown<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0.grow().deserialize(deserializer)
    }
}

/// A member that counts as absent when it is `null`.
struct OrNull<'a>(&'a mut dyn Read);

impl<'de> DeserializeSeed<'de> for OrNull<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for OrNull<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("option")
    }

    fn visit_none<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0.slot().deserialize(deserializer)
    }
}

pub(super) fn read_members<'de, A: MapAccess<'de>>(
    place: &mut dyn ReadMembers,
    map: &mut A,
) -> Result<(), A::Error> {
    let shape = place.shape();
    let mut done = Ok(());
    place.fields(&mut |fields, other| done = read_each(shape, fields, other, map));
    done
}

/// A known member that comes twice is refused; what is not known is kept where there is a place.
fn read_each<'de, A: MapAccess<'de>>(
    shape: &'static Shape,
    fields: &mut [&mut dyn Read],
    mut other: Option<&mut Settings>,
    map: &mut A,
) -> Result<(), A::Error> {
    let mut seen = 0_u32;
    while let Some(Str(key)) = map.next_key()? {
        let found = shape.find(&key);
        let Some((index, field)) = found.and_then(|at| Some((at, fields.get_mut(at)?))) else {
            match &mut other {
                Some(other) => other.add(key.into_owned(), map.next_value()?),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
            continue;
        };
        let member = &shape.members[index];
        if seen & 1 << index != 0 {
            return Err(A::Error::duplicate_field(member.key));
        }
        seen |= 1 << index;
        match member.rule {
            Rule::Needed | Rule::EvenNull => map.next_value_seed(field.slot())?,
            Rule::OrNothing | Rule::OrDefault => map.next_value_seed(OrNull(*field))?,
        }
    }
    match shape.missing(seen) {
        Some(key) => Err(A::Error::missing_field(key)),
        None => Ok(()),
    }
}
