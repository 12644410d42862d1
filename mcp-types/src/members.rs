//! Objects that are read member by member, so that unknown members survive and nothing is buffered.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::Settings;
use crate::text::Str;

/// Writes `Deserialize` for a struct: first the members that have to be there, then those that may
/// be; `or default` is for the ones that are no `Option`. With `and other`, the member of that name
/// takes what the lists do not name. Where a struct has no default, `from` says what to begin with.
///
/// An optional member that is `null` counts as absent; a known member that comes twice is refused.
/// This is half of the code that `derive` writes, which reads each type from an array as well and
/// repeats how a member is read wherever it occurs.
macro_rules! read_members {
    (
        $name:ident as $what:literal $(from $begin:expr,)?
        { $($required:literal => $required_field:ident,)* }
        { $($key:literal => $field:ident $(or $default:ident)?,)* }
        $(and $other:ident)?
    ) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                struct Members;

                impl<'de> serde::de::Visitor<'de> for Members {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($what)
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        mut map: A,
                    ) -> Result<$name, A::Error> {
                        let mut found = $crate::members::read_members!(@begin $name $($begin)?);
                        $(let mut $required_field = false;)*
                        $(let mut $field = false;)*
                        while let Some(key) = $crate::members::key(&mut map)? {
                            match key.as_ref() {
                                $($required => {
                                    let place = &mut found.$required_field;
                                    $crate::members::fill(&mut map, $required, &mut $required_field, place)?;
                                })*
                                $($key => {
                                    let place = &mut found.$field;
                                    $crate::members::read_members!(@fill map $key $field place $($default)?);
                                })*
                                _ => $crate::members::read_members!(@rest found map key $($other)?),
                            }
                        }
                        $(if !$required_field {
                            return Err($crate::members::missing($required));
                        })*
                        Ok(found)
                    }
                }

                deserializer.deserialize_map(Members)
            }
        }
    };
    (@begin $name:ident) => { $name::default() };
    (@begin $name:ident $begin:expr) => { $begin };
    (@fill $map:ident $key:literal $field:ident $place:ident) => {
        $crate::members::fill(&mut $map, $key, &mut $field, $place)?
    };
    (@fill $map:ident $key:literal $field:ident $place:ident default) => {
        $crate::members::fill_or_default(&mut $map, $key, &mut $field, $place)?
    };
    (@rest $found:ident $map:ident $key:ident) => {{
        $map.next_value::<serde::de::IgnoredAny>()?;
    }};
    (@rest $found:ident $map:ident $key:ident $other:ident) => {
        $crate::members::keep(&mut $map, $key, &mut $found.$other)?
    };
}

/// Writes the same for a struct whose members are all of type `Option<Settings>`. They share one
/// reader.
macro_rules! read_settings {
    ($name:ident as $what:literal { $($key:literal => $field:ident,)* }) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                let mut found = Self::default();
                let slots = &mut [$($crate::members::Slot::new($key, &mut found.$field),)*];
                found.other = $crate::members::read_slots($what, slots, deserializer)?;
                Ok(found)
            }
        }
    };
}

/// The next name. One function for all types that are read from the same source.
#[inline(never)]
pub(crate) fn key<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<Cow<'de, str>>, A::Error> {
    Ok(map.next_key()?.map(|Str(key)| key))
}

/// Reads the value of a member that may come once. One function for all members of a type.
#[inline(never)]
pub(crate) fn fill<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    map: &mut A,
    key: &'static str,
    found: &mut bool,
    place: &mut T,
) -> Result<(), A::Error> {
    once(key, found)?;
    *place = map.next_value()?;
    Ok(())
}

/// The same for a member that may be `null`.
#[inline(never)]
pub(crate) fn fill_or_default<'de, T: Deserialize<'de> + Default, A: MapAccess<'de>>(
    map: &mut A,
    key: &'static str,
    found: &mut bool,
    place: &mut T,
) -> Result<(), A::Error> {
    once(key, found)?;
    *place = map.next_value::<Option<T>>()?.unwrap_or_default();
    Ok(())
}

/// Reads the value of a member that the library does not know.
#[inline(never)]
pub(crate) fn keep<'de, A: MapAccess<'de>>(
    map: &mut A,
    key: Cow<'de, str>,
    other: &mut Settings,
) -> Result<(), A::Error> {
    other.add(key.into_owned(), map.next_value()?);
    Ok(())
}

fn once<E: Error>(key: &'static str, found: &mut bool) -> Result<(), E> {
    match std::mem::replace(found, true) {
        true => Err(E::duplicate_field(key)),
        false => Ok(()),
    }
}

/// A member that has to be there.
#[cold]
#[inline(never)]
pub(crate) fn missing<E: Error>(key: &'static str) -> E {
    E::missing_field(key)
}

/// Where a member that has settings goes.
pub(crate) struct Slot<'a> {
    key: &'static str,
    place: &'a mut Option<Settings>,
    is_taken: bool,
}

impl<'a> Slot<'a> {
    pub(crate) fn new(key: &'static str, place: &'a mut Option<Settings>) -> Self {
        let is_taken = false;
        Self {
            key,
            place,
            is_taken,
        }
    }
}

/// Reads the members that have slots; gives the others.
pub(crate) fn read_slots<'de, D: Deserializer<'de>>(
    what: &'static str,
    slots: &mut [Slot<'_>],
    deserializer: D,
) -> Result<Settings, D::Error> {
    struct Slots<'a, 'b> {
        what: &'static str,
        slots: &'a mut [Slot<'b>],
    }

    impl<'de> Visitor<'de> for Slots<'_, '_> {
        type Value = Settings;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.what)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Settings, A::Error> {
            let mut other = Settings::default();
            while let Some(key) = key(&mut map)? {
                match self.slots.iter_mut().find(|slot| slot.key == key) {
                    Some(slot) => fill(&mut map, slot.key, &mut slot.is_taken, slot.place)?,
                    None => keep(&mut map, key, &mut other)?,
                }
            }
            Ok(other)
        }
    }

    deserializer.deserialize_map(Slots { what, slots })
}

pub(crate) use {read_members, read_settings};
