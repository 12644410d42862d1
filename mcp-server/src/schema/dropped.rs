//! Arguments whose wrong values a type drops without an error: those of a `#[serde(flatten)] Option<Struct>`,
//! and those of an untagged enum with a variant that needs no member.
//!
//! A schema does not show these types, so the decoder is tried when a route is created: it drops a member if
//! a value that the schema excludes has the same outcome as no value. Calls check the types of such arguments
//! before decoding. Calls of other tools pay nothing.

use std::cell::Cell;

use mcp_core::schema::Violations;
use mcp_schema::{Keywords as _, Node, Schema, Type, Walk, change_subschemas};
use mcp_types::{JsonObject, RawObject, without_position};
use serde::de::DeserializeOwned;
use serde_json::{Number, Value, json};

use super::explain::{expected_by, mistakes};
use super::input::InputSchema;
use super::lenient::repair_value;
use crate::constraints::{ArgumentFormat, integer_range, parts};
use crate::rejection::ArgumentError;

/// Limit on the members of a type that are tried. Further ones count as decoded.
const MAX_TRIALS: usize = 256;

/// Limit on the nesting of values that are tried, and of samples.
const MAX_DEPTH: usize = 8;

/// Decodes JSON and drops the value. The error has no position.
pub(crate) type Decode = fn(&str) -> Result<(), String>;

pub(crate) fn decode<T: DeserializeOwned>(json: &str) -> Result<(), String> {
    let decoded = serde_json::from_str::<T>(json);
    decoded.map(drop).map_err(|error| without_position(&error))
}

/// The arguments of a tool whose wrong values its types drop.
#[derive(Debug)]
pub(crate) struct DroppedArguments {
    names: Vec<String>,
    /// The schema of all arguments. It lists `null` where a type accepts it, and the bounds of number types.
    schema: InputSchema,
}

impl DroppedArguments {
    /// Returns `None` if no argument is dropped. `schema` lists `null` where a type accepts it.
    pub(crate) fn new(schema: &JsonObject, names: Vec<String>) -> Option<Self> {
        if names.is_empty() {
            return None;
        }
        let mut schema = schema.clone();
        bound_numbers(&mut schema);
        let schema = InputSchema::new(schema);
        Some(Self { names, schema })
    }

    /// Returns the arguments of a type that are dropped.
    pub(crate) fn of_type(schema: &JsonObject, decode: Decode) -> Option<Self> {
        let mut found = Vec::new();
        let (trials, parsed) = (Trials::new(decode), Schema::parse(schema).ok()?);
        let none = JsonObject::new();
        trials.members(parsed.root(), &none, &|value| value, 0, &mut found);
        Self::new(schema, found)
    }

    fn contains(&self, name: &str) -> bool {
        self.names.iter().any(|known| *known == *name)
    }

    /// Checks the types of these arguments. Returns all arguments if these had to be repaired, such as `5.0`
    /// for an integer.
    ///
    /// # Errors
    ///
    /// Returns an [`ArgumentError`] with the mistakes in these arguments.
    pub(crate) fn check(&self, arguments: &RawObject) -> Result<Option<RawObject>, ArgumentError> {
        let mut members = arguments.as_raw().members();
        if !members.any(|(name, _)| self.contains(&name)) {
            return Ok(None);
        }
        // Decoding reports invalid JSON.
        let Ok(mut arguments) = arguments.parse::<JsonObject>() else {
            return Ok(None);
        };
        let own = arguments.iter().filter(|(name, _)| self.contains(name));
        let own = own.map(|(name, value)| (name.clone(), value.clone()));
        let mut own: Value = own.collect::<JsonObject>().into();
        let is_repaired = repair_value(&mut own, &self.schema);
        let mut found = mistakes("", &self.schema, &own, ArgumentFormat::Json);
        // Decoding reports names that are missing or unknown among all arguments.
        found.retain(|mistake| !mistake.path.is_empty());
        if let Some(violations) = Violations::gather(found) {
            return Err(violations.into());
        }
        if !is_repaired {
            return Ok(None);
        }
        arguments.retain(|name, value| match own.get(name) {
            Some(repaired) => {
                value.clone_from(repaired);
                true
            }
            None => !self.contains(name),
        });
        Ok(RawObject::from_value(&arguments).ok())
    }
}

/// Returns whether `decode` drops wrong values in a value of `schema`.
pub(crate) fn drops(schema: Node<'_>, decode: Decode) -> bool {
    Trials::new(decode).value(schema, &|value| value, 0)
}

/// Writes the range of number types as bounds: a number outside of it is dropped as well.
fn bound_numbers(schema: &mut JsonObject) {
    let format = schema.get("format").and_then(Value::as_str);
    if let Some((min, max)) = format.and_then(integer_range) {
        for (keyword, limit) in [("minimum", min), ("maximum", max)] {
            if let Some(limit) = Number::from_i128(limit) {
                schema.entry(keyword).or_insert(limit.into());
            }
        }
        schema.shift_remove("format");
    }
    change_subschemas(schema, bound_numbers);
}

/// A function that puts a value into its document.
type Frame<'f> = &'f dyn Fn(Value) -> Value;

/// Decodes documents with a wrong value.
struct Trials {
    walk: Walk,
    decode: Decode,
    remaining: Cell<usize>,
}

impl Trials {
    fn new(decode: Decode) -> Self {
        Self {
            walk: Walk::of_value(),
            decode,
            remaining: Cell::new(MAX_TRIALS),
        }
    }

    /// Returns whether a value of `schema` has members whose wrong values are dropped.
    fn value(&self, schema: Node<'_>, frame: Frame<'_>, depth: usize) -> bool {
        if depth > MAX_DEPTH {
            return false;
        }
        let mut found = Vec::new();
        self.members(schema, &JsonObject::new(), frame, depth, &mut found);
        let inside = |inner: Option<Node<'_>>, wrap: fn(Value) -> Value| {
            inner.is_some_and(|inner| self.value(inner, &|value| frame(wrap(value)), depth + 1))
        };
        !found.is_empty()
            || inside(schema.element(0), |value| json!([value]))
            || inside(
                schema.subschema("additionalProperties"),
                |value| json!({"x": value}),
            )
    }

    /// Adds the names of the members whose wrong values, or wrong values inside them, are dropped. `others` are
    /// members that the same object needs.
    fn members(
        &self,
        schema: Node<'_>,
        others: &JsonObject,
        frame: Frame<'_>,
        depth: usize,
        found: &mut Vec<String>,
    ) {
        if depth > MAX_DEPTH {
            return;
        }
        let mut samples = others.clone();
        samples.extend(self.required(schema, 0));
        for (name, property) in schema.properties() {
            // Types do not decode what only results have.
            if !property.flag("readOnly")
                && !found.iter().any(|found| found == name)
                && self.member(name, property, &samples, frame, depth)
            {
                found.push(name.to_owned());
            }
        }
        for part in parts(schema, &self.walk) {
            self.members(part, &samples, frame, depth + 1, found);
        }
    }

    fn member(
        &self,
        name: &str,
        property: Node<'_>,
        samples: &JsonObject,
        frame: Frame<'_>,
        depth: usize,
    ) -> bool {
        let mut without = samples.clone();
        without.shift_remove(name);
        // In front: an error of a sample behind it is not the error of this member.
        let with = |value: Value| {
            let mut members = JsonObject::from_iter([(name.to_owned(), value)]);
            members.extend(without.clone());
            frame(members.into())
        };
        if let Some(wrong) = self.excluded(property) {
            let Some(remaining) = self.remaining.get().checked_sub(1) else {
                return false;
            };
            self.remaining.set(remaining);
            let outcome = |document: Value| (self.decode)(&document.to_string());
            if outcome(with(wrong)) == outcome(frame(without.clone().into())) {
                return true;
            }
        }
        self.value(property, &with, depth + 1)
    }

    /// Returns a value that the schema excludes, and that no decoder takes for one of another type.
    fn excluded(&self, schema: Node<'_>) -> Option<Value> {
        let candidates = [json!([[]]), json!({"": []}), json!(true), json!("")];
        let mut candidates = candidates.into_iter();
        candidates.find(|candidate| expected_by(schema, candidate, &self.walk, 0).is_some())
    }

    /// Returns samples of the required members.
    fn required(&self, schema: Node<'_>, depth: usize) -> JsonObject {
        let required = schema.required().into_iter();
        let sample = |name| self.sample(schema.property(name), depth + 1);
        required
            .map(|name| (name.to_owned(), sample(name)))
            .collect()
    }

    /// Returns a value that most types with this schema accept.
    fn sample(&self, schema: Option<Node<'_>>, depth: usize) -> Value {
        let Some(schema) = schema.filter(|_| depth <= MAX_DEPTH && self.walk.step(0)) else {
            return Value::Null;
        };
        if let Some([first, ..]) = schema.listed() {
            return first.clone();
        }
        match schema.types().first() {
            Some(Type::String) => "".into(),
            Some(Type::Integer | Type::Number) => {
                schema.get("minimum").cloned().unwrap_or(1.into())
            }
            Some(Type::Boolean) => false.into(),
            Some(Type::Array) => {
                let length = schema.count("minItems").unwrap_or(0);
                let items = (0..MAX_DEPTH).take_while(|index| (*index as u64) < length);
                items
                    .map(|index| self.sample(schema.element(index), depth + 1))
                    .collect()
            }
            Some(Type::Object) => self.required(schema, depth).into(),
            Some(Type::Null) | None => {
                let first = parts(schema, &self.walk).first().copied();
                self.sample(first, depth + 1)
            }
        }
    }
}
