//! The identity of a server in the metadata of its results. The gateway does not pass it on: a client knows the gateway
//! only, and a client of an older revision shows the metadata to its language model. The wire of 2026-07-28 adds the
//! identity of the gateway.

use std::collections::BTreeMap;

use mcp_core::ResultBody;
use mcp_types::meta::keys;
use mcp_types::{Meta, RawObject};
use serde_json::value::{RawValue, to_raw_value};

/// Removes the identity of the server from a result.
pub(super) fn remove(body: &mut ResultBody) {
    match body {
        ResultBody::Raw(result) => remove_from(result.meta_mut()),
        ResultBody::CallTool(result) => remove_from(&mut result.meta),
        ResultBody::GetPrompt(result) => remove_from(&mut result.meta),
        ResultBody::ReadResource(result) => remove_from(&mut result.meta),
        _ => {}
    }
}

/// Removes the identity of the server from metadata.
pub(super) fn remove_from(meta: &mut Option<Meta>) {
    if let Some(members) = meta
        && members.remove(keys::SERVER_INFO).is_some()
        && members.is_empty()
    {
        *meta = None;
    }
}

/// Returns the JSON of a result without the identity of the server.
pub(super) fn without(result: RawObject) -> RawObject {
    removed(result.as_str())
        .and_then(|members| RawObject::from_value(&members).ok())
        .unwrap_or(result)
}

/// Returns the JSON of a result without the identity of the server. `None`: the JSON has none.
pub(super) fn without_raw(result: &RawValue) -> Option<Box<RawValue>> {
    to_raw_value(&removed(result.get())?).ok()
}

fn removed(json: &str) -> Option<BTreeMap<Box<str>, Box<RawValue>>> {
    if !json.contains(keys::SERVER_INFO) {
        return None;
    }
    let mut members: BTreeMap<Box<str>, Box<RawValue>> = serde_json::from_str(json).ok()?;
    let mut meta: Option<Meta> = serde_json::from_str(members.get("_meta")?.get()).ok()?;
    remove_from(&mut meta);
    match meta {
        Some(meta) => members.insert("_meta".into(), to_raw_value(&meta).ok()?),
        None => members.remove("_meta"),
    };
    Some(members)
}

#[cfg(test)]
mod tests {
    use mcp_types::RawObject;

    use super::without;

    #[test]
    fn other_members_and_metadata_stay_as_they_are() {
        let result = |json: &str| without(RawObject::from_text(json).unwrap());
        let info = r#""io.modelcontextprotocol/serverInfo":{"name":"shop","version":"1"}"#;
        let both = result(&format!(r#"{{"_meta":{{{info},"a/b":1}},"x":1.50}}"#));
        assert_eq!(both.as_str(), r#"{"_meta":{"a/b":1},"x":1.50}"#);
        let only = result(&format!(r#"{{"_meta":{{{info}}},"x":1.50}}"#));
        assert_eq!(only.as_str(), r#"{"x":1.50}"#);
        // The same key elsewhere is data.
        let data = format!(r#"{{"x":{{{info}}}}}"#);
        assert_eq!(result(&data).as_str(), data);
    }
}
