//! Objects that are read member by member, so that unknown members survive and nothing is buffered.

use std::fmt;

use serde::Deserializer;
use serde::de::{Error, MapAccess, Visitor};

use crate::Settings;
use crate::text::Str;

/// Writes `Deserialize` for a struct with a member `other` that takes what the list does not name.
///
/// A member that is `null` counts as absent; a known member that comes twice is refused.
macro_rules! read_members {
    (
        $name:ident as $what:literal
        $(requires { $($required:literal => $required_field:ident,)* } and)?
        { $($key:literal => $field:ident,)* }
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
                        let mut found = $name::default();
                        $($(let mut $required_field = false;)*)?
                        $(let mut $field = false;)*
                        while let Some($crate::text::Str(key)) = map.next_key()? {
                            match key.as_ref() {
                                $($($required if $required_field => {
                                    return Err(serde::de::Error::duplicate_field($required));
                                })*)?
                                $($key if $field => {
                                    return Err(serde::de::Error::duplicate_field($key));
                                })*
                                $($($required => {
                                    $required_field = true;
                                    found.$required_field = map.next_value()?;
                                })*)?
                                $($key => {
                                    $field = true;
                                    found.$field = map.next_value::<Option<_>>()?.unwrap_or_default();
                                })*
                                _ => found.other.add(key.into_owned(), map.next_value()?),
                            }
                        }
                        $($(if !$required_field {
                            return Err(serde::de::Error::missing_field($required));
                        })*)?
                        Ok(found)
                    }
                }

                deserializer.deserialize_map(Members)
            }
        }
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
            while let Some(Str(key)) = map.next_key()? {
                match self.slots.iter_mut().find(|slot| slot.key == key) {
                    Some(slot) if slot.is_taken => {
                        return Err(A::Error::duplicate_field(slot.key));
                    }
                    Some(slot) => {
                        slot.is_taken = true;
                        *slot.place = map.next_value()?;
                    }
                    None => other.add(key.into_owned(), map.next_value()?),
                }
            }
            Ok(other)
        }
    }

    deserializer.deserialize_map(Slots { what, slots })
}

pub(crate) use {read_members, read_settings};
