//! Text that may share the message in which it came.

use std::borrow::{Borrow, Cow};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::RawObject;
use crate::text::as_text;

/// Below this many bytes, copying costs less than sharing.
const LEAST_SHARED: usize = 4 * 1024;

/// Text: a `str` that is owned, or a part of the arguments of a call.
///
/// As an argument of a tool, alone or inside of your types, it takes a large text without a copy
/// (from 4 KiB, where the JSON string has no escapes), and as content of a result it is copied once,
/// into the answer. Everything else is as with a `String`. What is shared keeps all arguments of
/// its call in memory, and is cloned for nothing; turn it [into a `String`](Self::into_string) to
/// keep a part of them for long.
///
/// # Examples
///
/// ```
/// use mcp_types::{ContentBlock, Text};
///
/// let text = Text::from("hello");
/// assert_eq!(text.len(), 5);
/// assert_eq!(ContentBlock::text(text).as_text(), Some("hello"));
/// ```
#[derive(Clone)]
pub struct Text(Kind);

#[derive(Clone)]
enum Kind {
    Own(String),
    Part {
        whole: Arc<RawObject>,
        range: Range<usize>,
    },
}

thread_local! {
    /// The object that is being read, for texts to share.
    static WHOLE: RefCell<Option<Arc<RawObject>>> = const { RefCell::new(None) };
}

impl RawObject {
    /// Reads with `read`: a large [`Text`] that comes from it holds on to the object instead of being
    /// copied.
    pub fn share<R>(self, read: impl FnOnce(&Self) -> R) -> R {
        if self.as_str().len() < LEAST_SHARED {
            return read(&self);
        }
        let whole = Arc::new(self);
        let _before = Before(WHOLE.replace(Some(whole.clone())));
        read(&whole)
    }
}

/// Puts back what was read before, even when reading panics.
struct Before(Option<Arc<RawObject>>);

impl Drop for Before {
    fn drop(&mut self) {
        WHOLE.set(self.0.take());
    }
}

impl Text {
    /// The text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Kind::Own(text) => text,
            Kind::Part { whole, range } => whole.as_str().get(range.clone()).unwrap_or_default(),
        }
    }

    /// The text as a value of its own; copied when it is shared.
    pub fn into_string(self) -> String {
        match self.0 {
            Kind::Own(text) => text,
            Kind::Part { .. } => self.as_str().to_owned(),
        }
    }

    /// Finds the text, which was borrowed, in the object that is being read.
    fn part(text: &str) -> Option<Self> {
        if text.len() < LEAST_SHARED {
            return None;
        }
        let whole = WHOLE.with_borrow(Clone::clone)?;
        let all = whole.as_str();
        // Only what lies inside of the object has an address between its ends.
        let start = text.as_ptr().addr().checked_sub(all.as_ptr().addr())?;
        let range = start..start.checked_add(text.len())?;
        all.get(range.clone())?;
        Some(Self(Kind::Part { whole, range }))
    }
}

impl Default for Text {
    fn default() -> Self {
        String::new().into()
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Text {}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other)
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

macro_rules! equals {
    ($($other:ty),*) => {
        $(impl PartialEq<$other> for Text {
            fn eq(&self, other: &$other) -> bool {
                self.as_str() == &other[..]
            }
        })*
    };
}

equals!(str, &str, String);

macro_rules! from {
    ($($other:ty),*) => {
        $(impl From<$other> for Text {
            fn from(text: $other) -> Self {
                Self(Kind::Own(text.into()))
            }
        })*
    };
}

from!(String, &String, &str, Box<str>, Cow<'_, str>, char);

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.into_string()
    }
}

as_text!(Text, Self::default(), Self::as_str, |text| {
    Ok(match text {
        Cow::Borrowed(text) => Self::part(text).unwrap_or_else(|| text.into()),
        Cow::Owned(text) => text.into(),
    })
});

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Text {
    fn inline_schema() -> bool {
        <String as schemars::JsonSchema>::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        <String as schemars::JsonSchema>::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        <String as schemars::JsonSchema>::schema_id()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        <String as schemars::JsonSchema>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests;
