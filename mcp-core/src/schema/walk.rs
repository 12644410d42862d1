//! Targets of references.

use mcp_types::JsonObject;

/// Returns the schema that a `$ref` into the same schema names: `#`, or `#` with a JSON Pointer. References to other
/// documents, to anchors and to nothing return `None`.
///
/// A target can refer to itself: limit the steps of a walk.
///
/// # Examples
///
/// ```
/// use mcp::schema::target;
/// use mcp::types::JsonObject;
/// use serde_json::json;
///
/// let schema = json!({"$ref": "#/$defs/city", "$defs": {"city": {"type": "string"}}});
/// let schema: JsonObject = serde_json::from_value(schema)?;
/// assert_eq!(target(&schema, "#/$defs/city").unwrap()["type"], "string");
/// assert_eq!(target(&schema, "https://example.com/city"), None);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn target<'a>(root: &'a JsonObject, reference: &str) -> Option<&'a JsonObject> {
    let pointer = reference.strip_prefix('#')?;
    let Some(pointer) = pointer.strip_prefix('/') else {
        return pointer.is_empty().then_some(root);
    };
    let (first, rest) = pointer.split_at(pointer.find('/').unwrap_or(pointer.len()));
    root.get(first)?.pointer(rest)?.as_object()
}
