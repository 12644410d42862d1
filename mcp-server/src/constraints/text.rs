//! Lengths and patterns of parameters, such as `#[arg(length = 1..=40)]` and `#[arg(pattern = "^[a-z]+$")]`.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet, VecDeque};

use mcp_types::JsonObject;

/// The minimum and maximum length of a string or a list.
#[derive(Debug, Clone, Copy)]
pub struct Length {
    is_list: bool,
    min: Option<u64>,
    max: Option<u64>,
}

impl Length {
    /// The length of a value with the type `T`.
    pub fn of<T: Measured>(min: Option<u64>, max: Option<u64>) -> Self {
        let is_list = T::IS_LIST;
        Self { is_list, min, max }
    }

    /// Writes the length into the schema of a string or a list.
    pub(crate) fn publish(self, schema: &mut JsonObject) {
        let (min, max) = if self.is_list {
            ("minItems", "maxItems")
        } else {
            ("minLength", "maxLength")
        };
        for (keyword, limit) in [(min, self.min), (max, self.max)] {
            if let Some(limit) = limit {
                schema.insert(keyword.to_owned(), limit.into());
            }
        }
    }
}

/// Strings and lists, and `Option`s of them: the types that `#[arg(length = …)]` accepts.
#[diagnostic::on_unimplemented(
    message = "`#[arg(length = …)]` needs a string or a list, and `{Self}` is neither",
    label = "no string, no list",
    note = "`String`, `Vec<T>`, sets and `Option`s of them have a length"
)]
pub trait Measured {
    /// The length counts elements, not characters.
    const IS_LIST: bool;
}

/// Strings, and `Option`s of them: the types that `#[arg(pattern = …)]` accepts.
#[diagnostic::on_unimplemented(
    message = "`#[arg(pattern = …)]` needs a string, and `{Self}` is none",
    label = "no string",
    note = "`String` and `Option<String>` have a pattern"
)]
pub trait Patterned {}

impl<T: Measured> Measured for Option<T> {
    const IS_LIST: bool = T::IS_LIST;
}

impl<T: Patterned> Patterned for Option<T> {}

macro_rules! strings {
    ($($string:ty),*) => {
        $(
            impl Measured for $string {
                const IS_LIST: bool = false;
            }

            impl Patterned for $string {}
        )*
    };
}

macro_rules! lists {
    ($($list:ident<$element:ident $(, $other:ident)?>),*) => {
        $(
            impl<$element $(, $other)?> Measured for $list<$element $(, $other)?> {
                const IS_LIST: bool = true;
            }
        )*
    };
}

strings!(String, Box<str>, Cow<'_, str>);
lists!(Vec<T>, VecDeque<T>, BTreeSet<T>, HashSet<T, S>);
