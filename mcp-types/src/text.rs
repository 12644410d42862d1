//! Text from JSON, and enums that are text on the wire.

use std::borrow::Cow;
use std::fmt;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer};

/// A JSON string, borrowed unless it has escapes or comes from a reader.
pub(crate) struct Str<'de>(pub(crate) Cow<'de, str>);

impl<'de> Deserialize<'de> for Str<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StrVisitor;

        impl<'de> Visitor<'de> for StrVisitor {
            type Value = Str<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Owned(text.to_owned())))
            }

            fn visit_string<E>(self, text: String) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Owned(text)))
            }
        }

        deserializer.deserialize_str(StrVisitor)
    }
}

/// Texts with something between them. `join` of the standard library is a hundred times as much code.
#[doc(hidden)]
pub fn joined(texts: &[&str], between: &str) -> String {
    let mut joined = String::new();
    for (index, text) in texts.iter().enumerate() {
        if index > 0 {
            joined.push_str(between);
        }
        joined.push_str(text);
    }
    joined
}

/// Writes `Serialize` and `Deserialize` for a type that is text on the wire, by what reading begins
/// with, its text, and a function that makes it of a text or says what is wrong with that.
macro_rules! as_text {
    ($name:ident, $blank:expr, $text:expr, |$found:ident| $from:expr) => {
        impl $crate::json::Write for $name {
            #[inline]
            fn piece(&self) -> $crate::json::Piece<'_> {
                let text: fn(&Self) -> &str = $text;
                $crate::json::Piece::Text(text(self))
            }
        }

        impl $crate::json::Read for $name {
            #[inline]
            fn blank() -> Self {
                $blank
            }

            #[inline]
            fn slot(&mut self) -> $crate::json::Slot<'_> {
                $crate::json::Slot::Text(self)
            }
        }

        impl $crate::json::FromText for $name {
            #[inline]
            fn set(&mut self, $found: std::borrow::Cow<'_, str>) -> Result<(), String> {
                let read: Result<Self, String> = $from;
                *self = read?;
                Ok(())
            }
        }

        $crate::json::read_and_written!($name);
    };
}

/// Writes an enum whose values are text on the wire. Values that this library does not know
/// survive in `Other`.
macro_rules! text_enum {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $value:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $value,)*
            /// A value that this library does not know.
            Other(String),
        }

        impl $name {
            /// The text on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$value => $text,)*
                    Self::Other(text) => text,
                }
            }

            fn known(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Self::$value),)*
                    _ => None,
                }
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::known(text).unwrap_or_else(|| Self::Other(text.to_owned()))
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self::known(&text).unwrap_or(Self::Other(text))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        $crate::text::as_text!($name, Self::Other(String::new()), Self::as_str, |text| {
            Ok(Self::known(&text).unwrap_or_else(|| Self::Other(text.into_owned())))
        });
    };
}

/// Writes `Serialize` and `Deserialize` for an enum of a few texts. Others are refused.
macro_rules! plain_enum {
    ($name:ident { $($value:ident = $text:literal,)* } first $first:ident) => {
        $crate::text::as_text!(
            $name,
            Self::$first,
            |value| match value {
                $(Self::$value => $text,)*
            },
            |text| match &*text {
                $($text => Ok(Self::$value),)*
                other => Err($crate::json::unknown_text(other, &[$($text),*])),
            }
        );
    };
}

/// Writes a private type without values that is one fixed text on the wire.
macro_rules! fixed_text {
    ($(#[$meta:meta])* $name:ident = $text:literal) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub(crate) struct $name;

        $crate::text::as_text!($name, Self, |_| $text, |text| {
            let known = text == $text;
            known.then_some(Self).ok_or_else(|| {
                format!("invalid value: string {text:?}, expected `{}`", $text)
            })
        });
    };
}

pub(crate) use as_text;
pub(crate) use fixed_text;
pub(crate) use plain_enum;
pub(crate) use text_enum;
