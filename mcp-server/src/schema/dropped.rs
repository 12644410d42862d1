//! Arguments whose wrong values a type drops without an error: those of a `#[serde(flatten)] Option<Struct>`,
//! and those of an untagged enum with a variant that needs no member.
//!
//! A schema does not show these types, so the decoder is tried when a route is created: it drops a member if
//! a value that the schema excludes has the same outcome as no value. Calls check the types of such arguments
//! before decoding. Calls of other tools pay nothing.

use std::cell::Cell;

use mcp_core::schema::Violation;
use mcp_types::{JsonObject, RawObject, without_position};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::explain::mistakes_in;
use super::lenient::repair_value;
use super::optional::for_each_subschema;
use crate::constraints::{
    ArgumentFormat, Constraints, PARTS, Walk, element, integer_range, listed_values, names,
};
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
    schema: JsonObject,
    bounds: Option<Constraints>,
}

impl DroppedArguments {
    /// Returns `None` if no argument is dropped. `schema` lists `null` where a type accepts it.
    pub(crate) fn new(schema: &JsonObject, names: Vec<String>) -> Option<Self> {
        if names.is_empty() {
            return None;
        }
        let mut schema = schema.clone();
        bound_numbers(&mut schema);
        Some(Self {
            names,
            bounds: Constraints::from_schema(&schema),
            schema,
        })
    }

    /// Returns the arguments of a type that are dropped.
    pub(crate) fn of_type(schema: &JsonObject, decode: Decode) -> Option<Self> {
        let mut found = Vec::new();
        let trials = Trials::new(schema, decode);
        trials.members(schema, &JsonObject::new(), &|value| value, 0, &mut found);
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
        let bounds = self.bounds.as_ref();
        let format = ArgumentFormat::Json;
        let mut found = mistakes_in("", &self.schema, &own, format, bounds);
        // Decoding reports names that are missing or unknown among all arguments.
        found.retain(|mistake: &Violation| !mistake.path.is_empty());
        if let Some(violations) = mcp_core::schema::Violations::gather(found) {
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

/// Returns whether `decode` drops wrong values in a value of `schema`. `root` is the schema that references
/// are resolved in.
pub(crate) fn drops(root: &JsonObject, schema: &JsonObject, decode: Decode) -> bool {
    let trials = Trials::new(root, decode);
    trials.value(schema, &|value| value, 0)
}

/// Writes the range of number types as bounds: a number outside of it is dropped as well.
fn bound_numbers(schema: &mut JsonObject) {
    let format = schema.get("format").and_then(Value::as_str);
    if let Some((min, max)) = format.and_then(integer_range) {
        let number = |limit| match i64::try_from(limit) {
            Ok(limit) => Some(Value::from(limit)),
            Err(_) => u64::try_from(limit).ok().map(Value::from),
        };
        for (keyword, limit) in [("minimum", min), ("maximum", max)] {
            if let Some(limit) = number(limit) {
                schema.entry(keyword).or_insert(limit);
            }
        }
        schema.shift_remove("format");
    }
    for_each_subschema(schema, bound_numbers);
}

/// A function that puts a value into its document.
type Frame<'f> = &'f dyn Fn(Value) -> Value;

/// Decodes documents with a wrong value.
struct Trials<'a> {
    walk: Walk<'a>,
    decode: Decode,
    remaining: Cell<usize>,
}

impl<'a> Trials<'a> {
    fn new(root: &'a JsonObject, decode: Decode) -> Self {
        Self {
            walk: Walk::new(root),
            decode,
            remaining: Cell::new(MAX_TRIALS),
        }
    }

    /// Returns whether a value of `schema` has members whose wrong values are dropped.
    fn value(&self, schema: &'a JsonObject, frame: Frame<'_>, depth: usize) -> bool {
        if depth > MAX_DEPTH {
            return false;
        }
        let mut found = Vec::new();
        self.members(schema, &JsonObject::new(), frame, depth, &mut found);
        let inside = |inner: Option<&'a Value>, wrap: fn(Value) -> Value| {
            let inner = inner.and_then(Value::as_object);
            inner.is_some_and(|inner| self.value(inner, &|value| frame(wrap(value)), depth + 1))
        };
        !found.is_empty()
            || inside(element(schema, 0), |value| json!([value]))
            || inside(
                schema.get("additionalProperties"),
                |value| json!({"x": value}),
            )
    }

    /// Adds the names of the members whose wrong values, or wrong values inside them, are dropped. `others` are
    /// members that the same object needs.
    fn members(
        &self,
        schema: &'a JsonObject,
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
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            let Some(property) = property.as_object() else {
                continue;
            };
            // Types do not decode what only results have.
            let is_tried = property.get("readOnly") != Some(&Value::Bool(true));
            if is_tried
                && !found.contains(name)
                && self.member(name, property, &samples, frame, depth)
            {
                found.push(name.clone());
            }
        }
        for part in self.walk.parts(schema, PARTS) {
            self.members(part, &samples, frame, depth + 1, found);
        }
    }

    fn member(
        &self,
        name: &str,
        property: &'a JsonObject,
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
    fn excluded(&self, schema: &'a JsonObject) -> Option<Value> {
        let candidates = [json!([[]]), json!({"": []}), json!(true), json!("")];
        let mut candidates = candidates.into_iter();
        candidates.find(|candidate| self.walk.expected_by(schema, candidate, 0).is_some())
    }

    /// Returns samples of the required members.
    fn required(&self, schema: &'a JsonObject, depth: usize) -> JsonObject {
        let properties = schema.get("properties").and_then(Value::as_object);
        let sample = |name: &str| {
            let own = properties.and_then(|properties| properties.get(name));
            let sample = own.and_then(Value::as_object);
            sample.map_or(Value::Null, |own| self.sample(own, depth + 1))
        };
        let required = names(schema, "required");
        required
            .map(|name| (name.to_owned(), sample(name)))
            .collect()
    }

    /// Returns a value that most types with this schema accept.
    fn sample(&self, schema: &'a JsonObject, depth: usize) -> Value {
        if depth > MAX_DEPTH || !self.walk.step(0) {
            return Value::Null;
        }
        if let Some([first, ..]) = listed_values(schema) {
            return first.clone();
        }
        match names(schema, "type").next() {
            Some("string") => "".into(),
            Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(1.into()),
            Some("boolean") => false.into(),
            Some("array") => {
                let length = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
                let items = (0..MAX_DEPTH).take_while(|index| (*index as u64) < length);
                let items = items.map(|index| element(schema, index).and_then(Value::as_object));
                items
                    .map(|item| item.map_or(Value::Null, |item| self.sample(item, depth + 1)))
                    .collect()
            }
            Some("object") => self.required(schema, depth).into(),
            _ => {
                let first = self.walk.parts(schema, PARTS).next();
                first.map_or(Value::Null, |part| self.sample(part, depth + 1))
            }
        }
    }
}
