//! Removes a server's identity from the metadata of its results. A client knows the gateway
//! only, and a client of an older revision shows the metadata to its language model. The wire of 2026-07-28 adds the
//! gateway's identity.

use std::borrow::Cow;

use mcp_core::ResultBody;
use mcp_types::meta::keys;
use mcp_types::{Meta, RawJson, RawObject};
use serde_json::value::RawValue;

/// Removes the server's identity from a result.
pub(crate) fn remove(body: &mut ResultBody) {
    match body {
        ResultBody::Raw(result) => remove_from(&mut result.meta),
        ResultBody::CallTool(result) => remove_from(&mut result.meta),
        ResultBody::GetPrompt(result) => remove_from(&mut result.meta),
        ResultBody::ReadResource(result) => remove_from(&mut result.meta),
        _ => {}
    }
}

/// Removes the identity of the server from metadata.
pub(crate) fn remove_from(meta: &mut Option<Meta>) {
    if let Some(members) = meta
        && members.remove(keys::SERVER_INFO).is_some()
        && members.is_empty()
    {
        *meta = None;
    }
}

/// Returns the JSON of a result without the server's identity.
pub(crate) fn without(result: RawObject) -> RawObject {
    let removed = removed(result.as_raw());
    let removed = removed.and_then(|json| RawObject::from_text(json).ok());
    removed.unwrap_or(result)
}

/// Returns the JSON of a result without the server's identity. `None`: the JSON has none.
pub(crate) fn without_raw(result: &RawValue) -> Option<Box<RawValue>> {
    let result = RawObject::from_text(result.get()).ok()?;
    RawValue::from_string(removed(result.as_raw())?).ok()
}

/// Writes all members again, in their order and spelling, but for the metadata.
fn removed(result: RawJson<'_>) -> Option<String> {
    if !result.as_str().contains(keys::SERVER_INFO) {
        return None;
    }
    let mut json = "{".to_owned();
    for (name, value) in result.members() {
        let mut value = Cow::Borrowed(value.as_str());
        if name == "_meta" {
            let mut meta: Option<Meta> = serde_json::from_str(&value).ok()?;
            remove_from(&mut meta);
            let Some(meta) = meta else { continue };
            value = serde_json::to_string(&meta).ok()?.into();
        }
        if json.len() > 1 {
            json.push(',');
        }
        json.push_str(&serde_json::to_string(&name).ok()?);
        json.push(':');
        json.push_str(&value);
    }
    json.push('}');
    Some(json)
}

#[cfg(test)]
mod tests {
    use mcp_types::RawObject;

    use super::without;

    #[test]
    fn other_members_and_metadata_stay_as_they_are() {
        let result = |json: &str| without(RawObject::from_text(json).unwrap());
        let info = r#""io.modelcontextprotocol/serverInfo":{"name":"shop","version":"1"}"#;
        let both = result(&format!(
            r#"{{"_meta":{{{info},"a/b":1}},"x":1.50,"a":[ 1 ]}}"#
        ));
        assert_eq!(both.as_str(), r#"{"_meta":{"a/b":1},"x":1.50,"a":[ 1 ]}"#);
        let only = result(&format!(r#"{{"_meta":{{{info}}},"x":1.50}}"#));
        assert_eq!(only.as_str(), r#"{"x":1.50}"#);
        // The same key elsewhere is data.
        let data = format!(r#"{{"x":{{{info}}}}}"#);
        assert_eq!(result(&data).as_str(), data);
    }
}
