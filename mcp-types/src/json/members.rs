//! Objects, member by member.

use super::{Read, Write};
use crate::Settings;

/// An object with members that are known.
pub trait WriteMembers {
    /// Gives the values in the order of the shape, and the members that are not known.
    fn give(&self, take: &mut Take<'_>);
}

/// Takes the members of an object.
pub type Take<'a> = dyn FnMut(&'static Shape, &[&dyn Write], Option<&Settings>) + 'a;

/// The same, to be read.
pub trait ReadMembers {
    fn shape(&self) -> &'static Shape;

    /// Gives the places in the order of the shape, and that of the members that are not known.
    fn fields(&mut self, take: &mut TakeFields<'_>);
}

/// Takes the places of the members of an object.
pub type TakeFields<'a> = dyn FnMut(&mut [&mut dyn Read], Option<&mut Settings>) + 'a;

/// What is known of an object.
pub struct Shape {
    /// What it is, for messages.
    pub what: &'static str,
    /// Its members in the order in which they are written.
    pub members: &'static [Member],
}

pub struct Member {
    pub key: &'static str,
    pub rule: Rule,
}

/// What a member may be beside its value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// It has to be there.
    Needed,
    /// It may be absent or `null`, and is left out when it says nothing.
    OrNothing,
    /// It may be absent or `null`, and is always written.
    OrDefault,
    /// It may be absent, and is left out when it is; `null` is a value.
    EvenNull,
}

impl Rule {
    pub(super) fn may_be_left_out(self) -> bool {
        matches!(self, Self::OrNothing | Self::EvenNull)
    }
}

impl Shape {
    pub(super) fn find(&self, key: &str) -> Option<usize> {
        self.members.iter().position(|member| member.key == key)
    }

    /// The first member that has to be there and was not seen.
    pub(super) fn missing(&self, seen: u32) -> Option<&'static str> {
        let mut members = self.members.iter().enumerate();
        members.find_map(|(index, member)| {
            let is_missing = member.rule == Rule::Needed && seen & 1 << index == 0;
            is_missing.then_some(member.key)
        })
    }
}

/// Writes `Serialize` and `Deserialize` for a struct by the list of its members, in the order in which
/// they are written. A member has to be there unless it is marked:
///
/// - `or nothing`: it may be absent or `null`, and is left out when it says nothing;
/// - `or default`: it may be absent or `null`, and is always written;
/// - `even null`: it may be absent, and `null` is a value of it.
///
/// A known member that comes twice is refused. With `and other`, the member of that name has what the
/// list does not name.
#[doc(hidden)]
#[macro_export]
macro_rules! members {
    ($name:ident as $what:literal {
        $($key:literal => $field:ident $($how:ident $less:ident)?,)*
    } $(and $other:ident)?) => {
        const _: () = {
            const KEYS: &[&str] = &[$($key),*];
            // What was seen is a bit for each.
            assert!(KEYS.len() <= u32::BITS as usize);

            static SHAPE: $crate::json::Shape = $crate::json::Shape {
                what: $what,
                members: &[$($crate::json::Member {
                    key: $key,
                    rule: $crate::members!(@rule $($how $less)?),
                },)*],
            };

            impl $crate::json::WriteMembers for $name {
                #[inline]
                fn give(&self, take: &mut $crate::json::Take<'_>) {
                    let other = $crate::members!(@other (&self) $($other)?);
                    take(&SHAPE, &[$(&self.$field),*], other);
                }
            }

            impl $crate::json::ReadMembers for $name {
                #[inline]
                fn shape(&self) -> &'static $crate::json::Shape {
                    &SHAPE
                }

                #[inline]
                fn fields(&mut self, take: &mut $crate::json::TakeFields<'_>) {
                    let other = $crate::members!(@other (&mut self) $($other)?);
                    take(&mut [$(&mut self.$field),*], other);
                }
            }

            impl $crate::json::Write for $name {
                #[inline]
                fn piece(&self) -> $crate::json::Piece<'_> {
                    $crate::json::Piece::Members(self)
                }
            }

            impl $crate::json::Read for $name {
                #[inline]
                fn blank() -> Self {
                    Self {
                        $($field: $crate::json::Read::blank(),)*
                        $($other: $crate::Settings::default(),)?
                    }
                }

                #[inline]
                fn slot(&mut self) -> $crate::json::Slot<'_> {
                    $crate::json::Slot::Members(self)
                }
            }

            $crate::read_and_written!($name);
        };
    };
    (@rule) => { $crate::json::Rule::Needed };
    (@rule or nothing) => { $crate::json::Rule::OrNothing };
    (@rule or default) => { $crate::json::Rule::OrDefault };
    (@rule even null) => { $crate::json::Rule::EvenNull };
    (@other ($($this:tt)*)) => { None };
    (@other ($($this:tt)*) $other:ident) => { Some($($this)*.$other) };
}

/// Writes `Serialize` and `Deserialize` for types that say what they consist of.
#[doc(hidden)]
#[macro_export]
macro_rules! read_and_written {
    ($($name:ident),*) => {
        $(
            impl $crate::json::serde::Serialize for $name {
                fn serialize<S: $crate::json::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                    $crate::json::serde::Serialize::serialize(&$crate::json::Write::piece(self), to)
                }
            }

            impl<'de> $crate::json::serde::Deserialize<'de> for $name {
                fn deserialize<D: $crate::json::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                    $crate::json::read(from)
                }
            }
        )*
    };
}

/// Writes how a type is read that is made of another, by what reading begins with, the other type and
/// a function that says what is wrong with it.
#[doc(hidden)]
#[macro_export]
macro_rules! read_via {
    ($name:ident, $blank:expr, |$found:ident: $via:ty| $make:expr) => {
        impl $crate::json::Read for $name {
            #[inline]
            fn blank() -> Self {
                $blank
            }

            #[inline]
            fn slot(&mut self) -> $crate::json::Slot<'_> {
                $crate::json::Slot::Via(self)
            }
        }

        impl $crate::json::Via for $name {
            #[inline]
            fn read(
                &mut self,
                read: &mut dyn FnMut($crate::json::Slot<'_>) -> bool,
            ) -> Result<(), String> {
                let mut $found = <$via as $crate::json::Read>::blank();
                if read($crate::json::Read::slot(&mut $found)) {
                    let made: Result<Self, String> = $make;
                    *self = made?;
                }
                Ok(())
            }
        }
    };
}

/// Writes how a type is written that is made another first.
#[doc(hidden)]
#[macro_export]
macro_rules! written_via {
    ($name:ident, $via:ty) => {
        impl $crate::json::Write for $name {
            #[inline]
            fn piece(&self) -> $crate::json::Piece<'_> {
                $crate::json::Piece::Members(self)
            }
        }

        impl $crate::json::WriteMembers for $name {
            #[inline]
            fn give(&self, take: &mut $crate::json::Take<'_>) {
                $crate::json::WriteMembers::give(&<$via>::from(self), take);
            }
        }
    };
}

/// Writes how an enum is written that is on the wire what is in it.
#[doc(hidden)]
#[macro_export]
macro_rules! written_as_content {
    ($name:ident { $($kind:ident),* }) => {
        impl $crate::json::Write for $name {
            #[inline]
            fn piece(&self) -> $crate::json::Piece<'_> {
                match self {
                    $(Self::$kind(content) => $crate::json::Write::piece(content),)*
                }
            }
        }
    };
}
