//! Arguments of clients that write everything as strings: `"5"` where a number is asked for, `"true"`
//! for a boolean, an array as JSON in a string.
//!
//! A string changes only where the schema takes none; one that cannot be read stays as it is, and is
//! told as what it is.
//!
//! `#[inline]`: only servers that are lenient compile this.

use mcp_types::{JsonObject, RawObject};
use serde_json::{Number, Value};

/// So many schemas are looked at for one value: those that it refers to and those beside it.
const MAX_HOPS: usize = 16;

/// The arguments as the schema asks for them; `None` when they are that already.
#[inline]
pub(crate) fn coerce(arguments: &RawObject, schema: &JsonObject) -> Option<RawObject> {
    let mut value: Value = arguments.parse().ok()?;
    let coercion = Coercion { root: schema };
    let changed = coercion.object(&mut value, schema, 0);
    changed.then(|| RawObject::from_value(&value).ok())?
}

struct Coercion<'a> {
    root: &'a JsonObject,
}

impl<'a> Coercion<'a> {
    /// Changes a value, and tells whether it did.
    #[inline]
    fn value(&self, value: &mut Value, schema: &'a Value, hops: usize) -> bool {
        let Some(schema) = schema.as_object().filter(|_| hops <= MAX_HOPS) else {
            return false;
        };
        let mut kinds = Kinds::default();
        self.kinds(schema, &mut kinds, hops);
        let changed = kinds.read(value);
        self.object(value, schema, hops) | changed
    }

    /// Changes what is inside of a value.
    #[inline]
    fn object(&self, value: &mut Value, schema: &'a JsonObject, hops: usize) -> bool {
        let mut changed = false;
        match value {
            Value::Object(members) => {
                let properties = schema.get("properties").and_then(Value::as_object);
                let others = schema.get("additionalProperties");
                for (name, member) in members {
                    let own = properties.and_then(|properties| properties.get(name));
                    if let Some(schema) = own.or(others) {
                        changed |= self.value(member, schema, 0);
                    }
                }
            }
            Value::Array(elements) => {
                let prefix = schema.get("prefixItems").and_then(Value::as_array);
                let others = schema.get("items");
                for (index, element) in elements.iter_mut().enumerate() {
                    let own = prefix.and_then(|prefix| prefix.get(index));
                    if let Some(schema) = own.or(others) {
                        changed |= self.value(element, schema, 0);
                    }
                }
            }
            _ => return false,
        }
        for part in self.parts(schema) {
            let Some(part) = part.as_object().filter(|_| hops < MAX_HOPS) else {
                continue;
            };
            changed |= self.object(value, part, hops + 1);
        }
        changed
    }

    /// The schemas of the same value.
    #[inline]
    fn parts(&self, schema: &'a JsonObject) -> impl Iterator<Item = &'a Value> {
        let lists = ["allOf", "anyOf", "oneOf"].into_iter();
        let lists = lists.filter_map(|keyword| schema.get(keyword)?.as_array());
        lists.flatten().chain(self.referred(schema))
    }

    #[inline]
    fn referred(&self, schema: &JsonObject) -> Option<&'a Value> {
        let reference = schema.get("$ref")?.as_str()?;
        let (first, rest) = reference.strip_prefix("#/")?.split_once('/')?;
        self.root.get(first)?.pointer(&format!("/{rest}"))
    }

    /// Gathers which kinds of values the schema takes.
    #[inline]
    fn kinds(&self, schema: &'a JsonObject, kinds: &mut Kinds, hops: usize) {
        match schema.get("type") {
            Some(Value::String(kind)) => kinds.add(kind),
            Some(Value::Array(all)) => all
                .iter()
                .filter_map(Value::as_str)
                .for_each(|kind| kinds.add(kind)),
            _ => {}
        }
        let listed = schema.get("enum").and_then(Value::as_array);
        let listed = listed.into_iter().flatten().chain(schema.get("const"));
        listed
            .filter(|value| value.is_string())
            .for_each(|_| kinds.add("string"));
        if hops < MAX_HOPS {
            for part in self.parts(schema).filter_map(Value::as_object) {
                self.kinds(part, kinds, hops + 1);
            }
        }
    }
}

/// Which kinds of values a schema takes; none when it does not say.
#[derive(Debug, Default)]
struct Kinds {
    string: bool,
    integer: bool,
    number: bool,
    boolean: bool,
    null: bool,
    array: bool,
    object: bool,
}

impl Kinds {
    #[inline]
    fn add(&mut self, kind: &str) {
        match kind {
            "string" => self.string = true,
            "integer" => self.integer = true,
            "number" => self.number = true,
            "boolean" => self.boolean = true,
            "null" => self.null = true,
            "array" => self.array = true,
            "object" => self.object = true,
            _ => {}
        }
    }

    #[inline]
    fn read(&self, value: &mut Value) -> bool {
        let read = match value {
            Value::String(text) if !self.string => self.read_text(text.trim()),
            Value::Number(number) if self.integer && !self.number => whole(number),
            _ => None,
        };
        match read {
            Some(read) => {
                *value = read;
                true
            }
            None => false,
        }
    }

    #[inline]
    fn read_text(&self, text: &str) -> Option<Value> {
        let read: Value = serde_json::from_str(text).ok()?;
        let fits = match &read {
            Value::Null => self.null,
            Value::Bool(_) => self.boolean,
            Value::Number(_) if self.number => true,
            Value::Number(number) if self.integer => match is_integer(number) {
                true => true,
                false => return whole(number),
            },
            Value::Number(_) => false,
            Value::Array(_) => self.array,
            Value::Object(_) => self.object,
            Value::String(_) => false,
        };
        fits.then_some(read)
    }
}

#[inline]
fn is_integer(number: &Number) -> bool {
    number.is_i64() || number.is_u64()
}

/// An integer that is written as a float, such as `5.0`.
#[inline]
fn whole(number: &Number) -> Option<Value> {
    const EXACT: f64 = 9_007_199_254_740_991.0;
    if is_integer(number) {
        return None;
    }
    let float = number.as_f64()?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it is whole and small enough"
    )]
    let whole = (float.fract() == 0.0 && float.abs() <= EXACT).then_some(float as i64);
    whole.map(Value::from)
}

#[cfg(test)]
mod tests;
