//! Argument conversion into the types that a schema asks for, for language models that write `5.0` for
//! an integer, `"5"` for a number, `"true"` for a boolean, or an array as JSON in a string.
//!
//! A whole number is always converted, after decoding has failed; members that count as absent are removed
//! then: `null` for an optional property, and `""` where text is none of the types. Strings are converted only by servers
//! with `lenient_arguments`. A string is converted only where the schema accepts no string. A string that cannot be converted
//! stays as it is, and the checks that follow report it.

use mcp_types::{JsonObject, RawObject};
use serde_json::{Number, Value};

use crate::constraints::{PARTS, Walk, element, names};

/// Converts strings in the arguments. Returns `None` when nothing changes.
pub(crate) fn convert_strings(arguments: &RawObject, schema: &JsonObject) -> Option<RawObject> {
    convert(arguments, schema, true)
}

/// Converts numbers such as `5.0` where the schema asks for an integer, and removes members that count as
/// absent. Returns `None` when nothing changes.
pub(crate) fn repair(arguments: &RawObject, schema: &JsonObject) -> Option<RawObject> {
    convert(arguments, schema, false)
}

/// Repairs parsed arguments. Returns whether anything changed.
pub(crate) fn repair_value(arguments: &mut Value, schema: &JsonObject) -> bool {
    convert_value(arguments, schema, false)
}

fn convert(
    arguments: &RawObject,
    schema: &JsonObject,
    converts_strings: bool,
) -> Option<RawObject> {
    let mut value: Value = arguments.parse().ok()?;
    let is_changed = convert_value(&mut value, schema, converts_strings);
    is_changed.then(|| RawObject::from_value(&value).ok())?
}

fn convert_value(arguments: &mut Value, schema: &JsonObject, converts_strings: bool) -> bool {
    let converter = Converter {
        walk: Walk::new(schema),
        converts_strings,
    };
    converter.inner_values(arguments, schema, 0)
}

struct Converter<'a> {
    walk: Walk<'a>,
    converts_strings: bool,
}

impl<'a> Converter<'a> {
    /// Converts a value and the values inside it. Returns whether anything changed.
    fn value(&self, value: &mut Value, schema: &'a Value) -> bool {
        let types = self.walk.types(schema);
        let is_changed = convert_to(&types, value, self.converts_strings);
        let schema = schema.as_object();
        schema.is_some_and(|schema| self.inner_values(value, schema, 0)) | is_changed
    }

    fn accepts_strings(&self, schema: &'a Value) -> bool {
        let types = self.walk.types(schema);
        types.is_empty() || types.contains(&"string")
    }

    /// Converts the members or elements of a value. Returns whether anything changed.
    fn inner_values(&self, value: &mut Value, schema: &'a JsonObject, hops: usize) -> bool {
        let mut is_changed = false;
        if !self.walk.step(hops) {
            return false;
        }
        match value {
            Value::Object(members) => {
                let properties = schema.get("properties").and_then(Value::as_object);
                let others = schema.get("additionalProperties");
                let is_required =
                    |name: &str| names(schema, "required").any(|required| required == name);
                if !self.converts_strings {
                    let before = members.len();
                    members.retain(|name, member| {
                        let own = properties.and_then(|properties| properties.get(name));
                        let is_blank = |own| self.walk.is_blank(member, own, is_required(name));
                        !own.is_some_and(is_blank)
                    });
                    is_changed |= members.len() < before;
                }
                for (name, member) in members {
                    let own = properties.and_then(|properties| properties.get(name));
                    // An optional property may be `null`, although the schema does not say so.
                    if self.converts_strings
                        && own.is_some_and(|own| !self.accepts_strings(own))
                        && member.as_str().is_some_and(|text| text.trim() == "null")
                        && !is_required(name)
                    {
                        *member = Value::Null;
                        is_changed = true;
                    }
                    if let Some(schema) = own.or(others) {
                        is_changed |= self.value(member, schema);
                    }
                }
            }
            Value::Array(elements) => {
                for (index, value) in elements.iter_mut().enumerate() {
                    if let Some(schema) = element(schema, index) {
                        is_changed |= self.value(value, schema);
                    }
                }
            }
            _ => return false,
        }
        for part in self.walk.parts(schema, PARTS) {
            is_changed |= self.inner_values(value, part, hops + 1);
        }
        is_changed
    }
}

/// Converts a value to one of the accepted types. Returns whether it changed.
fn convert_to(types: &[&str], value: &mut Value, converts_strings: bool) -> bool {
    let accepts = |name| types.contains(&name);
    let converted = match value {
        Value::String(text) if converts_strings && !accepts("string") => parse(types, text.trim()),
        Value::Number(number) if accepts("integer") && !accepts("number") => whole(number),
        _ => None,
    };
    let is_changed = converted.is_some();
    if let Some(converted) = converted {
        *value = converted;
    }
    is_changed
}

fn parse(types: &[&str], string: &str) -> Option<Value> {
    let parsed: Value = serde_json::from_str(string).ok()?;
    let name = match &parsed {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if !types.contains(&"number") && !is_integer(number) => {
            return whole(number).filter(|_| types.contains(&"integer"));
        }
        Value::Number(_) if !types.contains(&"number") => "integer",
        Value::Number(_) => "number",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::String(_) => return None,
    };
    types.contains(&name).then_some(parsed)
}

fn is_integer(number: &Number) -> bool {
    number.is_i64() || number.is_u64()
}

/// Returns the integer that a float such as `5.0` stands for.
fn whole(number: &Number) -> Option<Value> {
    let float = number.as_f64().filter(|_| !is_integer(number))?;
    whole_float(float).map(Value::from)
}

/// Returns a float without a fraction as an integer, where floats represent all integers exactly.
pub(crate) fn whole_float(float: f64) -> Option<i64> {
    const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_991.0;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the float has no fraction and is in range"
    )]
    (float.fract() == 0.0 && float.abs() <= MAX_EXACT_INTEGER).then_some(float as i64)
}

#[cfg(test)]
mod tests {
    use mcp_types::RawObject;
    use serde_json::{Value, json};

    use super::{Converter, convert_strings};
    use crate::constraints::Walk;

    /// Converts the value of the one property `p`; `None` when nothing changes.
    fn property(schema: Value, value: Value) -> Option<Value> {
        let schema = json!({
            "properties": {"p": schema, "n": {"type": "integer"}},
            "$defs": {"number": {"type": "number"}, "loop": {"$ref": "#/$defs/loop"}},
        });
        let arguments = RawObject::from_value(&json!({"p": value})).unwrap();
        let converted = convert_strings(&arguments, schema.as_object().unwrap())?;
        Some(converted.parse::<Value>().unwrap()["p"].clone())
    }

    #[test]
    fn strings_are_converted_to_types_in_the_schema() {
        for (schema, value, converted) in [
            (json!({"type": "integer"}), json!("5"), json!(5)),
            (json!({"type": "integer"}), json!(" -5 "), json!(-5)),
            (json!({"type": "integer"}), json!("5.0"), json!(5)),
            (json!({"type": "integer"}), json!(5.0), json!(5)),
            (json!({"type": "number"}), json!("5.5"), json!(5.5)),
            (json!({"type": "boolean"}), json!("true"), json!(true)),
            (
                json!({"type": ["integer", "null"]}),
                json!("null"),
                json!(null),
            ),
            (
                json!({"type": "array"}),
                json!("[1, \"2\"]"),
                json!([1, "2"]),
            ),
            (
                json!({"type": "array", "items": {"type": "integer"}}),
                json!("[\"2\"]"),
                json!([2]),
            ),
            (
                json!({"type": "object"}),
                json!("{\"a\": 1}"),
                json!({"a": 1}),
            ),
            (
                json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
                json!("7"),
                json!(7),
            ),
            (json!({"$ref": "#/$defs/number"}), json!("7"), json!(7)),
            (json!({"$ref": "#"}), json!({"n": "7"}), json!({"n": 7})),
            (
                json!({"prefixItems": [{"type": "integer"}, {"type": "string"}]}),
                json!(["1", "2"]),
                json!([1, "2"]),
            ),
            (
                json!({"additionalProperties": {"type": "boolean"}}),
                json!({"a": "false"}),
                json!({"a": false}),
            ),
            (
                json!({"oneOf": [{"properties": {"n": {"type": "integer"}}}, {"type": "string"}]}),
                json!({"n": "1"}),
                json!({"n": 1}),
            ),
        ] {
            assert_eq!(
                property(schema.clone(), value.clone()),
                Some(converted),
                "{schema} {value}"
            );
        }
    }

    #[test]
    fn conversion_ends_within_the_steps_whatever_schema_and_value_are() {
        let chain: serde_json::Map<String, Value> = (0..2_000)
            .map(|level| {
                let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
                (format!("d{level}"), json!({"anyOf": [next, next]}))
            })
            .collect();
        let wide = json!({"allOf": vec![json!({"$ref": "#/$defs/wide"}); 100]});
        let first = json!({"$ref": "#/$defs/d0"});
        let schema = json!({
            "properties": {"chain": first, "wide": {"$ref": "#/$defs/wide"}, "list": {"items": {"$ref": "#/$defs/wide"}}},
            "additionalProperties": {"$ref": "#"},
            "$defs": {"wide": wide, "d0": chain["d0"], "d1": chain["d1"]},
        });
        let deep = (0..100).fold(json!("5"), |inner, _| json!({"chain": inner, "wide": "5"}));
        let values = vec![json!("5"); 20_000];
        for value in [deep, json!({"wide": {"wide": "5"}, "list": values})] {
            let walk = Walk::new(schema.as_object().unwrap());
            let converter = Converter {
                walk,
                converts_strings: true,
            };
            let mut converted = value.clone();
            converter.inner_values(&mut converted, schema.as_object().unwrap(), 0);
            assert!(!converter.walk.step(0), "the steps are used up");
            // Nothing in it has a type.
            assert_eq!(converted, value);
            let arguments = RawObject::from_value(&value).unwrap();
            assert!(convert_strings(&arguments, schema.as_object().unwrap()).is_none());
        }
    }

    #[test]
    fn other_values_stay_unchanged() {
        for (schema, value) in [
            (json!({"type": "string"}), json!("5")),
            (json!({"type": ["string", "integer"]}), json!("5")),
            (
                json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
                json!("5"),
            ),
            (json!({"enum": ["5", 5]}), json!("5")),
            (json!({"const": "true", "type": "boolean"}), json!("true")),
            (json!({}), json!("5")),
            (json!(true), json!("5")),
            (json!({"type": "integer"}), json!("five")),
            (json!({"type": "integer"}), json!("5.5")),
            (json!({"type": "integer"}), json!(5.5)),
            (json!({"type": "integer"}), json!(1e300)),
            (json!({"type": "integer"}), json!("+5")),
            (json!({"type": "number"}), json!(5)),
            (json!({"type": "boolean"}), json!("True")),
            (json!({"type": "boolean"}), json!("1")),
            (json!({"type": "array"}), json!("1, 2")),
            (json!({"type": "integer"}), json!(true)),
            (json!({"$ref": "#/$defs/loop"}), json!("5")),
            (json!({"$ref": "#/$defs/none"}), json!("5")),
        ] {
            assert_eq!(
                property(schema.clone(), value.clone()),
                None,
                "{schema} {value}"
            );
        }
    }
}
