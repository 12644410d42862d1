//! A typed JSON object that keeps what its type does not know.

use std::ops::{Deref, DerefMut};

use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::patch::patch;
use crate::{extra::JsonObject, meta::Meta, raw::RawObject};

/// A JSON object read as `T`, which is written with everything that arrived: unknown members, their
/// order, `null`, and the digits of numbers.
///
/// It dereferences to `T`, so programs edit the fields in place. An object that was not edited is written as it
/// arrived. In an edited one, only the changes are applied:
///
/// * An object keeps the members that `T` does not know. Replace the whole value
///   (`*params = Lossless::from(value)`) to drop them.
/// * A list keeps the elements that did not change. A changed or added element is written as its type writes it,
///   so that redacted text does not come back in an unknown member.
///
/// A message whose parameters, `_meta` or arguments have a member twice is refused when it is parsed, because its receiver
/// could read the other one. Elsewhere, such as in results, the last of two unknown members counts for `T`, and both are
/// written.
///
/// `_meta` is read by [`meta`](Self::meta), and by `T` if it has such a field. The edits of both are written; those
/// of [`meta_mut`](Self::meta_mut) win if both change a key.
///
/// # Examples
///
/// ```
/// use mcp::types::{Lossless, Tool};
///
/// let text = r#"{"name":"add","inputSchema":{"maximum":1.50},"icons":[{"src":"a.png","x":1}]}"#;
/// let mut tool: Lossless<Tool> = serde_json::from_str(text)?;
/// tool.name = "sum".to_owned();
/// tool.meta_mut().insert("com.example/region", "eu");
/// assert_eq!(
///     serde_json::to_string(&tool)?,
///     r#"{"name":"sum","inputSchema":{"maximum":1.50},"icons":[{"src":"a.png","x":1}],"_meta":{"com.example/region":"eu"}}"#,
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
// For an edited object, `T` is read from the JSON again and written (before), the edited value is written (after), and the
// difference of the two is applied to the JSON. An `extra` field in every type would keep unknown members only, and
// enlarge each content block of servers and clients, which drop them. `serde_json`'s arbitrary precision would change the
// numbers of all programs that link this crate.
#[derive(Debug, Clone)]
pub struct Lossless<T> {
    value: T,
    meta: Meta,
    /// The object as it arrived, or as this program made it. `None` for a value that cannot be written.
    source: Option<RawObject>,
    is_own: bool,
    is_edited: bool,
    is_meta_edited: bool,
}

impl<T> Lossless<T> {
    /// Returns `_meta`, which is empty if the object has none.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Returns `_meta` to edit it.
    pub fn meta_mut(&mut self) -> &mut Meta {
        self.is_meta_edited = true;
        &mut self.meta
    }

    /// Returns the typed value. Everything that `T` does not know is lost.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T: Serialize + DeserializeOwned> Lossless<T> {
    /// Reads an object.
    pub(super) fn read(source: RawObject) -> serde_json::Result<Self> {
        Ok(Self {
            value: source.parse()?,
            meta: meta_of(&source),
            source: Some(source),
            is_own: false,
            is_edited: false,
            is_meta_edited: false,
        })
    }

    /// Returns `true` if the value is one of this program.
    pub(super) fn is_own(&self) -> bool {
        self.is_own
    }

    /// Returns the object with its edits.
    pub(super) fn to_raw(&self) -> serde_json::Result<RawObject> {
        let raw = match &self.source {
            None => to_object(&self.value)?,
            Some(source) if self.is_edited => {
                let before = to_object(&source.parse::<T>()?)?;
                patched(source, &before, &to_object(&self.value)?)?
            }
            Some(source) => source.clone(),
        };
        if !self.is_meta_edited {
            return Ok(raw);
        }
        let before = self.source.as_ref().map(meta_of).unwrap_or_default();
        patched(&raw, &meta_member(&before)?, &meta_member(&self.meta)?)
    }
}

impl Lossless<JsonObject> {
    /// Reads the object as `R`: a result by the type that its request's method determines.
    ///
    /// A modern result has another type if its `resultType` is not `complete`.
    ///
    /// # Errors
    ///
    /// Returns the error of `serde_json` if the object is not a valid `R`.
    pub fn read_as<R: DeserializeOwned>(&self) -> serde_json::Result<R> {
        self.to_raw()?.parse()
    }

    /// Edits the object as `R`, and returns the closure's output.
    ///
    /// # Errors
    ///
    /// Returns the error of `serde_json` if the object is not a valid `R`. The object is then unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::types::{ListToolsResult, ServerMessage};
    ///
    /// let text = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"add","inputSchema":{}}],"x":1}}"#;
    /// let mut message = ServerMessage::parse(text.as_bytes())?;
    /// // The program knows that message 1 asked for the tools.
    /// if let ServerMessage::Response { result, .. } = &mut message {
    ///     result.edit(|list: &mut ListToolsResult| list.tools[0].name.insert_str(0, "math_"))?;
    /// }
    /// assert!(serde_json::to_string(&message)?.contains(r#""math_add""#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn edit<R, O>(&mut self, change: impl FnOnce(&mut R) -> O) -> serde_json::Result<O>
    where
        R: Serialize + DeserializeOwned,
    {
        let mut typed = Lossless::<R>::read(self.to_raw()?)?;
        let output = change(&mut typed);
        *self = Self::read(typed.to_raw()?)?;
        Ok(output)
    }
}

fn patched(
    raw: &RawObject,
    before: &RawObject,
    after: &RawObject,
) -> serde_json::Result<RawObject> {
    let mut out = String::with_capacity(raw.as_str().len());
    let [raw, before, after] = [raw, before, after].map(RawObject::as_raw);
    patch(raw, before, after, 0, &mut out);
    RawObject::from_text(out).map_err(serde::de::Error::custom)
}

fn to_object(value: &impl Serialize) -> serde_json::Result<RawObject> {
    RawObject::from_value(value).map_err(serde::de::Error::custom)
}

/// An object without any member but `_meta`.
#[derive(Serialize, Deserialize)]
struct OnlyMeta<M> {
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<M>,
}

fn meta_of(object: &RawObject) -> Meta {
    let found = object.parse::<OnlyMeta<Meta>>();
    found.ok().and_then(|found| found.meta).unwrap_or_default()
}

fn meta_member(meta: &Meta) -> serde_json::Result<RawObject> {
    to_object(&OnlyMeta {
        meta: (!meta.is_empty()).then_some(meta),
    })
}

impl<T> Deref for Lossless<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Lossless<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.is_edited = true;
        &mut self.value
    }
}

/// A value of this program.
impl<T: Serialize> From<T> for Lossless<T> {
    fn from(value: T) -> Self {
        let source = RawObject::from_value(&value).ok();
        Self {
            value,
            meta: source.as_ref().map(meta_of).unwrap_or_default(),
            source,
            is_own: true,
            is_edited: false,
            is_meta_edited: false,
        }
    }
}

#[cfg(feature = "schemars")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Lossless<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(generator)
    }
}

impl<T: Serialize + DeserializeOwned> Serialize for Lossless<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = self.to_raw().map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de, T: Serialize + DeserializeOwned> Deserialize<'de> for Lossless<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let source = RawObject::deserialize(deserializer)?;
        Self::read(source).map_err(D::Error::custom)
    }
}
