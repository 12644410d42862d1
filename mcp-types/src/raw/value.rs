//! A JSON value borrowed from its message.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

/// A JSON value that is borrowed from a message. Its syntax was checked when the message was parsed.
///
/// [`read`](Self::read) deserializes the value on demand.
///
/// # Examples
///
/// ```
/// use mcp::types::Message;
///
/// let text = br#"{"jsonrpc":"2.0","id":1,"result":{"tools": [], "ttlMs": 5}}"#;
/// let Message::Response(response) = Message::parse(text)? else { unreachable!() };
/// let result = response.outcome.unwrap();
/// assert_eq!(result.as_str(), r#"{"tools": [], "ttlMs": 5}"#);
///
/// let names: Vec<_> = result.members().map(|(name, _)| name).collect();
/// assert_eq!(names, ["tools", "ttlMs"]);
/// # Ok::<(), mcp::types::ParseError>(())
/// ```
#[derive(Clone, Copy)]
pub struct RawJson<'a>(&'a str);

impl<'a> RawJson<'a> {
    pub(crate) fn new(raw: &'a RawValue) -> Self {
        Self(raw.get())
    }

    /// The value in `json`, which the caller has validated. It has no blanks around it.
    pub(crate) fn from_valid(json: &'a str) -> Self {
        Self(json)
    }

    /// Returns the JSON as a string.
    pub fn as_str(self) -> &'a str {
        self.0
    }

    /// Returns `true` if the value is `null`.
    pub fn is_null(self) -> bool {
        self.as_str() == "null"
    }

    /// Returns `true` if the value is an object.
    pub fn is_object(self) -> bool {
        self.as_str().starts_with('{')
    }

    /// Reads the value as `T`.
    ///
    /// # Errors
    ///
    /// Returns the error of `serde_json` if the value is not a valid `T`.
    pub fn read<T: Deserialize<'a>>(self) -> serde_json::Result<T> {
        serde_json::from_str(self.as_str())
    }

    /// Returns the content of a JSON string, borrowed unless it contains escapes.
    ///
    /// Returns `None` for other values and for a string with an invalid escape.
    pub fn text(self) -> Option<Cow<'a, str>> {
        let inner = self.as_str().strip_prefix('"')?.strip_suffix('"')?;
        if inner.as_bytes().contains(&b'\\') {
            return self.read().ok().map(Cow::Owned);
        }
        Some(Cow::Borrowed(inner))
    }

    /// Returns the members of an object in message order.
    ///
    /// Duplicate names are returned as often as they occur. Values other than objects have no members. A
    /// name with an invalid escape is returned undecoded.
    pub fn members(self) -> impl Iterator<Item = (Cow<'a, str>, RawJson<'a>)> + Clone {
        let members = self.read::<ObjectMembers<'a>>();
        members
            .map_or_else(|_| Vec::new(), |object| object.0)
            .into_iter()
    }
}

impl fmt::Debug for RawJson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for RawJson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Compares the JSON byte by byte, so whitespace and the order of members matter.
impl PartialEq for RawJson<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for RawJson<'_> {}

struct ObjectMembers<'a>(Vec<(Cow<'a, str>, RawJson<'a>)>);

impl<'de> Deserialize<'de> for ObjectMembers<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectMembersVisitor)
    }
}

struct ObjectMembersVisitor;

impl<'de> Visitor<'de> for ObjectMembersVisitor {
    type Value = ObjectMembers<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ObjectMembers<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some((name, value)) = map.next_entry::<&RawValue, &RawValue>()? {
            let decoded = RawJson::new(name).text();
            let name = decoded.unwrap_or_else(|| name.get().trim_matches('"').into());
            members.push((name, RawJson::new(value)));
        }
        Ok(ObjectMembers(members))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::RawJson;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn members_in_an_object_keep_order_and_text() {
        let value = raw(r#"{ "a" : [1, {"b": "}"}] ,"\u0062":"\"","c":{},"a":null, "\ud800":1 }"#);
        let members: Vec<_> = RawJson::new(&value).members().collect();
        let members: Vec<_> = members
            .iter()
            .map(|(name, value)| (name.as_ref(), value.as_str()))
            .collect();
        assert_eq!(
            members,
            [
                ("a", r#"[1, {"b": "}"}]"#),
                ("b", r#""\"""#),
                ("c", "{}"),
                ("a", "null"),
                (r"\ud800", "1"),
            ]
        );
    }

    #[test]
    fn other_values_have_no_members() {
        for text in ["[1]", "null", "1", r#""{""#, "{}", r#"["a",1]"#] {
            let value = raw(text);
            assert_eq!(RawJson::new(&value).members().count(), 0, "{text}");
        }
    }

    #[test]
    fn text_in_a_string_is_decoded() {
        for (json, text) in [
            (r#""a""#, Some("a")),
            (r#""\u0061\n""#, Some("a\n")),
            (r#""""#, Some("")),
            (r#""\ud800""#, None),
            ("1", None),
            ("null", None),
        ] {
            let value = raw(json);
            assert_eq!(RawJson::new(&value).text().as_deref(), text, "{json}");
        }
    }
}
