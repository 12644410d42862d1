//! Arguments that break a schema, or that handlers stumble over.

use serde_json::{Map, Value, json};

use super::samples::Samples;
use crate::values;

type Object = Map<String, Value>;

/// Properties of a tool that are broken, for each kind.
const MAX_PROPERTIES: usize = 6;
/// Number of characters in the huge text.
const HUGE: usize = 1 << 20;
/// Number of levels in the nested value. JSON parsers stop at 128 and more.
const DEEP: usize = 100;
/// An argument that no tool has.
const EXTRA: &str = "no_such_argument";

/// A kind of broken arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Missing,
    WrongType,
    NotInEnum,
    Extra,
    Huge,
    Deep,
}

/// Arguments with one mistake.
pub(super) struct Broken {
    pub(super) kind: Kind,
    pub(super) argument: String,
    pub(super) args: Object,
    /// The schema forbids them.
    pub(super) is_forbidden: bool,
}

impl Broken {
    /// Describes the mistake.
    pub(super) fn describe(&self) -> String {
        let name = &self.argument;
        match self.kind {
            Kind::Missing => format!("without `{name}`, which is required"),
            Kind::WrongType => {
                let value = self
                    .args
                    .get(name)
                    .map(Value::to_string)
                    .unwrap_or_default();
                format!("with {value} for `{name}`")
            }
            Kind::NotInEnum => format!("with a value for `{name}` that its `enum` does not have"),
            Kind::Extra => format!("with `{name}`, which the tool does not have"),
            Kind::Huge => format!("with {HUGE} characters for `{name}`"),
            Kind::Deep => format!("with {DEEP} levels of lists for `{name}`"),
        }
    }
}

/// Returns broken forms of the first sample.
pub(super) fn broken(schema: &Object, samples: &Samples) -> Vec<Broken> {
    let base = samples.valid.first().cloned().unwrap_or_default();
    let mut all = Vec::new();
    let mut add = |kind: Kind, argument: &str, args: Object| {
        let value = Value::Object(args);
        let is_forbidden = match &samples.check {
            Some(check) => check.check(&value).is_err(),
            None => !matches!(kind, Kind::Extra | Kind::Huge | Kind::Deep),
        };
        // What the schema allows is not a mistake of the kinds that it describes.
        let is_interesting = is_forbidden || matches!(kind, Kind::Extra | Kind::Huge | Kind::Deep);
        if let (Value::Object(args), true) = (value, is_interesting) {
            all.push(Broken {
                kind,
                argument: argument.to_owned(),
                args,
                is_forbidden,
            });
        }
    };
    for name in values::missing(&Object::new(), schema)
        .iter()
        .take(MAX_PROPERTIES)
    {
        let mut args = base.clone();
        args.remove(name);
        add(Kind::Missing, name, args);
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut huge = None;
    for (name, property) in properties.into_iter().flatten().take(MAX_PROPERTIES) {
        let is_text = base.get(name).is_some_and(Value::is_string);
        let wrong = if is_text {
            json!({"unexpected": [1]})
        } else {
            json!("not a value of this type")
        };
        add(Kind::WrongType, name, with(&base, name, wrong));
        if property.get("enum").is_some() && is_text {
            let value = json!("not-one-of-the-values");
            add(Kind::NotInEnum, name, with(&base, name, value));
        } else if is_text {
            huge = huge.or(Some(name));
        }
    }
    add(Kind::Extra, EXTRA, with(&base, EXTRA, json!(1)));
    let name = huge.map_or(EXTRA, String::as_str);
    add(Kind::Huge, name, with(&base, name, json!("a".repeat(HUGE))));
    let deep = (0..DEEP).fold(json!(1), |inner, _| json!([inner]));
    add(Kind::Deep, name, with(&base, name, deep));
    all
}

fn with(base: &Object, name: &str, value: Value) -> Object {
    let mut args = base.clone();
    args.insert(name.to_owned(), value);
    args
}
