//! Argument conversion into the types that a schema asks for, for language models that write `5.0` for
//! an integer, `"5"` for a number, `"true"` for a boolean, or an array as JSON in a string.
//!
//! A whole number is always converted, after decoding has failed; members that count as absent are removed
//! then: `null` for an optional property, and `""` where text is none of the types. Strings are converted only by servers
//! with `lenient_arguments`. A string is converted only where the schema accepts no string. A string that cannot be converted
//! stays as it is, and the checks that follow report it.

use mcp_schema::{Keywords as _, Node, Type, Walk};
use mcp_types::RawObject;
use serde_json::{Number, Value};

use super::input::InputSchema;
use crate::constraints::{is_blank, parts, step, types};

/// Names that are compared in one step.
const NAMES_PER_STEP: usize = 16;

/// Converts strings in the arguments. Returns `None` when nothing changes.
pub(crate) fn convert_strings(arguments: &RawObject, schema: &InputSchema) -> Option<RawObject> {
    convert(arguments, schema, true)
}

/// Converts numbers such as `5.0` where the schema asks for an integer, and removes members that count as
/// absent. Returns `None` when nothing changes.
pub(crate) fn repair(arguments: &RawObject, schema: &InputSchema) -> Option<RawObject> {
    convert(arguments, schema, false)
}

/// Repairs parsed arguments. Returns whether anything changed.
pub(crate) fn repair_value(arguments: &mut Value, schema: &InputSchema) -> bool {
    convert_value(arguments, schema, false)
}

fn convert(
    arguments: &RawObject,
    schema: &InputSchema,
    converts_strings: bool,
) -> Option<RawObject> {
    let mut value: Value = arguments.parse().ok()?;
    let is_changed = convert_value(&mut value, schema, converts_strings);
    is_changed.then(|| RawObject::from_value(&value).ok())?
}

fn convert_value(arguments: &mut Value, schema: &InputSchema, converts_strings: bool) -> bool {
    let converter = Converter {
        walk: Walk::of_value(),
        converts_strings,
    };
    let schema = schema.parsed();
    schema.is_ok_and(|schema| converter.inner_values(arguments, schema.root(), 0))
}

struct Converter {
    walk: Walk,
    converts_strings: bool,
}

impl Converter {
    /// Converts a value and the values inside it. Returns whether anything changed.
    fn value(&self, value: &mut Value, schema: Node<'_>) -> bool {
        let types = types(schema, &self.walk);
        let is_changed = convert_to(&types, value, self.converts_strings);
        self.inner_values(value, schema, 0) | is_changed
    }

    fn accepts_strings(&self, schema: Node<'_>) -> bool {
        let types = types(schema, &self.walk);
        types.is_empty() || types.contains(&Type::String)
    }

    /// Converts the members or elements of a value. Returns whether anything changed.
    fn inner_values(&self, value: &mut Value, schema: Node<'_>, hops: usize) -> bool {
        let mut is_changed = false;
        if !step(schema, &self.walk, hops) {
            return false;
        }
        match value {
            Value::Object(members) => {
                let others = schema.subschema("additionalProperties");
                let required = schema.required();
                let is_required = |name: &str| {
                    self.walk.spend(required.len() / NAMES_PER_STEP);
                    required.contains(&name)
                };
                if !self.converts_strings {
                    let before = members.len();
                    members.retain(|name, member| {
                        let own = schema.property(name);
                        !own.is_some_and(|own| is_blank(member, own, is_required(name), &self.walk))
                    });
                    is_changed |= members.len() < before;
                }
                for (name, member) in members {
                    let own = schema.property(name);
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
                    if let Some(schema) = schema.element(index) {
                        is_changed |= self.value(value, schema);
                    }
                }
            }
            _ => return false,
        }
        for part in parts(schema, &self.walk) {
            is_changed |= self.inner_values(value, part, hops + 1);
        }
        is_changed
    }
}

/// Converts a value to one of the accepted types. Returns whether it changed.
fn convert_to(types: &[Type], value: &mut Value, converts_strings: bool) -> bool {
    let accepts = |kind| types.contains(&kind);
    let converted = match value {
        Value::String(text) if converts_strings && !accepts(Type::String) => {
            parse(types, text.trim())
        }
        Value::Number(number) if accepts(Type::Integer) && !accepts(Type::Number) => whole(number),
        _ => None,
    };
    let is_changed = converted.is_some();
    if let Some(converted) = converted {
        *value = converted;
    }
    is_changed
}

fn parse(types: &[Type], string: &str) -> Option<Value> {
    let parsed: Value = serde_json::from_str(string).ok()?;
    match &parsed {
        Value::String(_) => None,
        Value::Number(number) if !types.contains(&Type::Number) && !is_integer(number) => {
            whole(number).filter(|_| types.contains(&Type::Integer))
        }
        value => (types.iter().any(|kind| kind.accepts(value))).then_some(parsed),
    }
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
    use mcp_schema::Walk;
    use mcp_types::RawObject;
    use serde_json::{Value, json};

    use super::{Converter, InputSchema, convert_strings};

    /// Converts the value of the one property `p`; `None` when nothing changes.
    fn property(schema: Value, value: Value) -> Option<Value> {
        let schema = json!({
            "properties": {"p": schema, "n": {"type": "integer"}},
            "$defs": {"number": {"type": "number"}, "loop": {"$ref": "#/$defs/loop"}},
        });
        let arguments = RawObject::from_value(&json!({"p": value})).unwrap();
        let schema = InputSchema::new(schema.as_object().unwrap().clone());
        let converted = convert_strings(&arguments, &schema)?;
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
            let schema = InputSchema::new(schema.as_object().unwrap().clone());
            let parsed = schema.parsed().unwrap();
            let converter = Converter {
                walk: Walk::of_value(),
                converts_strings: true,
            };
            let mut converted = value.clone();
            converter.inner_values(&mut converted, parsed.root(), 0);
            assert!(!converter.walk.step(0), "the steps are used up");
            // Nothing in it has a type.
            assert_eq!(converted, value);
            let arguments = RawObject::from_value(&value).unwrap();
            assert!(convert_strings(&arguments, &schema).is_none());
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
