//! A server's revisions, and its tools' schemas as clients of each revision see them.

use mcp::schema::{JsonSchema, Validator as _};
use mcp::types::{ProtocolVersion, Tool};

/// The revisions with sessions that are examined beside `connected`. None if the user has chosen the revision.
pub(crate) fn others(
    protocol: &str,
    connected: ProtocolVersion,
) -> impl Iterator<Item = ProtocolVersion> {
    let is_examined = protocol == "auto";
    ProtocolVersion::ALL
        .into_iter()
        .filter(move |version| is_examined && *version != connected && !version.is_modern())
}

/// Returns why clients of `version` refuse a tool's schemas: the schema's name, and the problem.
// spec: TOOL-16
pub(crate) fn schema_problems(
    tool: &Tool,
    version: ProtocolVersion,
) -> Vec<(&'static str, String)> {
    let schemas = [
        ("inputSchema", Some(&tool.input_schema), true),
        (
            "outputSchema",
            tool.output_schema.as_ref(),
            !version.has_free_structure(),
        ),
    ];
    let problem = |schema: &mcp::types::JsonObject, is_object: bool| {
        if let Err(error) = JsonSchema.compile(schema) {
            return Some(error.to_string());
        }
        let has_type = schema.get("type").is_some_and(|kind| kind == "object");
        (is_object && !has_type).then(|| {
            format!("its root has no `\"type\": \"object\"`; clients of {version} refuse the whole list of tools")
        })
    };
    let found = schemas
        .into_iter()
        .filter_map(|(name, schema, is_object)| Some((name, problem(schema?, is_object)?)));
    found.collect()
}
