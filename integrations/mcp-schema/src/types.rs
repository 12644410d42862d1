//! The types of JSON values.

use serde_json::Value;

use crate::limits;

/// A type of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "JSON Schema has these types")]
pub enum Type {
    /// `array`
    Array,
    /// `boolean`
    Boolean,
    /// `integer`: a number without a fraction.
    Integer,
    /// `null`
    Null,
    /// `number`
    Number,
    /// `object`
    Object,
    /// `string`
    String,
}

/// The names of types: first that of JSON Schema, then those that servers send as well.
const NAMES: [(Type, &[&str]); 7] = [
    (Type::Array, &["array", "list"]),
    (Type::Boolean, &["boolean", "bool"]),
    (Type::Integer, &["integer", "int"]),
    (Type::Null, &["null", "none"]),
    (Type::Number, &["number", "float", "double"]),
    (Type::Object, &["object", "dict"]),
    (Type::String, &["string", "str"]),
];

impl Type {
    /// Returns the type with a name. Servers also send the names of Python types, in any case.
    pub fn named(name: &str) -> Option<Self> {
        let is = |names: &[&str]| names.iter().any(|known| name.eq_ignore_ascii_case(known));
        let named = NAMES.iter().find(|(_, names)| is(names));
        named.map(|(kind, _)| *kind)
    }

    /// Returns the type of a value: an integer for numbers that JSON writes without a fraction.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) if number.is_f64() => Self::Number,
            Value::Number(_) => Self::Integer,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    /// Returns true if a value has this type. `5.0` is an integer, and each integer is a number.
    pub fn accepts(self, value: &Value) -> bool {
        match (self, Self::of(value)) {
            (Self::Integer, Self::Number) => {
                value.as_f64().is_some_and(|float| float.fract() == 0.0)
            }
            (Self::Number, Self::Integer) => true,
            (own, kind) => own == kind,
        }
    }

    /// Returns the name in JSON Schema.
    pub fn as_str(self) -> &'static str {
        NAMES[self as usize].1[0]
    }
}

/// Returns the types that the value of `type` names, each once: a string or a list of strings, of which the first
/// [`limits::TYPES`] count. Empty: any type.
pub(crate) fn types(names: &Value) -> Vec<Type> {
    let names = match names {
        Value::Array(names) => names.as_slice(),
        name => std::slice::from_ref(name),
    };
    let mut types = Vec::new();
    for name in names.iter().take(limits::TYPES).filter_map(Value::as_str) {
        if name.eq_ignore_ascii_case("any") {
            return Vec::new();
        }
        types.extend(Type::named(name).filter(|kind| !types.contains(kind)));
    }
    types
}
