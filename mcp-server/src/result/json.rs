//! Values as JSON.

/// A value that is returned as JSON: structured content of a tool, whose schema becomes the tool's
/// output schema, or a resource of type `application/json`.
// spec: TOOL-14, TOOL-15
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "users construct it")]
pub struct Json<T>(pub T);
