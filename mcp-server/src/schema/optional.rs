//! Optional properties: a property that may be omitted does not list `null`.
//!
//! schemars describes `Option<T>` as `T` or `null`. Gemini models read only one of several types, and
//! other models send `null` for everything that lists it. Decoding still accepts `null`.

use mcp_schema::change_subschemas;
use mcp_types::JsonObject;
use serde_json::Value;

use super::flatten::required;

/// Removes `null` from the properties that are not required, at any depth.
pub(super) fn omit_null(schema: &mut JsonObject) {
    let required: Vec<String> = required(schema).map(str::to_owned).collect();
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let optional = properties.iter_mut();
        let optional = optional.filter(|(name, _)| !required.contains(name));
        let optional = optional.filter_map(|(_, property)| property.as_object_mut());
        optional.for_each(remove_null);
    }
    change_subschemas(schema, omit_null);
}

/// Removes `null` from the types, values and alternatives of a property.
pub(super) fn remove_null(property: &mut JsonObject) {
    if property.get("default").is_some_and(Value::is_null) {
        property.shift_remove("default");
    }
    if let Some(Value::Array(types)) = property.get_mut("type") {
        types.retain(|name| name != "null");
        if let [single] = types.as_slice() {
            let single = single.clone();
            property.insert("type".to_owned(), single);
        }
    }
    if let Some(Value::Array(values)) = property.get_mut("enum")
        && values.iter().any(|value| !value.is_null())
    {
        values.retain(|value| !value.is_null());
    }
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(alternatives)) = property.get_mut(keyword) else {
            continue;
        };
        alternatives
            .retain(|alternative| alternative.get("type").is_none_or(|name| name != "null"));
        if let [Value::Object(single)] = alternatives.as_slice() {
            let single = single.clone();
            property.shift_remove(keyword);
            for (keyword, value) in single {
                property.entry(keyword).or_insert(value);
            }
        }
    }
}
