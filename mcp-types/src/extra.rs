//! JSON objects without defined members, and unknown members of other objects.

use std::fmt;
use std::ops::Deref;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

/// A JSON object that keeps the order of its members: a schema, arguments, metadata.
pub type JsonObject = serde_json::Map<String, Value>;

/// Members of a JSON object that this crate does not define.
///
/// Fields named `extra` keep a definition's unknown members, so that a proxy passes them on.
/// Capabilities that are objects without defined members (`"completions": {}`) have this type
/// themselves.
///
/// The type takes the space of one pointer, and an empty value does not allocate. Every modern request
/// carries client capabilities with up to ten such objects.
///
/// # Examples
///
/// ```
/// use mcp::Tool;
///
/// let text = r#"{"name":"add","inputSchema":{"type":"object"},"com.example/price":3}"#;
/// let tool: Tool = serde_json::from_str(text)?;
/// assert_eq!(tool.extra["com.example/price"], 3);
/// assert_eq!(serde_json::to_string(&tool)?, text);
/// # Ok::<(), serde_json::Error>(())
/// ```
// An empty `serde_json::Map` takes 72 bytes and creates a hasher. With plain maps, `ClientCapabilities` has 736
// bytes instead of 128, and a `tools/call` takes 3 % more instructions (`cargo xtask bench --instructions`).
// spec: VER-19
#[derive(Clone, Default, Deserialize)]
#[serde(from = "JsonObject")]
pub struct ExtraFields(Option<Box<JsonObject>>);

static EMPTY: LazyLock<JsonObject> = LazyLock::new(JsonObject::new);

impl ExtraFields {
    /// Adds a member, or replaces the member with the same name.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) {
        self.as_object_mut().insert(key.into(), value.into());
    }

    pub(crate) fn as_object_mut(&mut self) -> &mut JsonObject {
        self.0.get_or_insert_default()
    }
}

impl Deref for ExtraFields {
    type Target = JsonObject;

    fn deref(&self) -> &JsonObject {
        self.0.as_deref().unwrap_or(&EMPTY)
    }
}

impl PartialEq for ExtraFields {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl From<JsonObject> for ExtraFields {
    fn from(members: JsonObject) -> Self {
        Self((!members.is_empty()).then(|| Box::new(members)))
    }
}

impl Serialize for ExtraFields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl fmt::Debug for ExtraFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
