//! The schemas of the specification, as published and closed (without unknown fields).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use jsonschema::Validator;
use mcp_types::ProtocolVersion;
use serde_json::{Map, Value, json};

/// The schema of one revision.
pub(crate) struct Spec {
    pub(crate) version: ProtocolVersion,
    /// The published schema, and the closed one, which refuses unknown fields.
    documents: [Value; 2],
    compiled: RefCell<BTreeMap<(String, bool), Rc<Validator>>>,
}

impl Spec {
    /// Reads a schema.
    pub(crate) fn read(folder: &Path, version: ProtocolVersion) -> Self {
        let path = folder.join(version.as_str()).join("schema.json");
        let text = std::fs::read_to_string(&path).unwrap();
        let mut document: Value = serde_json::from_str(&text).unwrap();
        let key = ["$defs", "definitions"]
            .into_iter()
            .find(|key| document.get(key).is_some())
            .unwrap();
        let definitions = document[key].take();
        let published = json!({"$schema": document["$schema"], key: definitions});
        let mut closed = published.clone();
        for (name, definition) in closed[key].as_object_mut().unwrap() {
            close(definition, name);
        }
        Self {
            version,
            documents: [published, closed],
            compiled: RefCell::default(),
        }
    }

    fn key(&self) -> &'static str {
        if self.documents[0].get("$defs").is_some() {
            "$defs"
        } else {
            "definitions"
        }
    }

    /// Returns true if the revision has a definition of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.documents[0][self.key()].get(name).is_some()
    }

    /// Validates a value by a definition, published and closed.
    #[track_caller]
    pub(crate) fn check(&self, name: &str, value: &Value) {
        for closed in [false, true] {
            let validator = self.validator(name, closed);
            let errors: Vec<_> = validator
                .iter_errors(value)
                .map(|error| format!("{}: {error}", error.instance_path()))
                .collect();
            let word = if closed { "closed " } else { "" };
            assert!(
                errors.is_empty(),
                "{} is not a {word}{name} of {}:\n{}",
                value,
                self.version,
                errors.join("\n")
            );
        }
    }

    /// Returns true if the value has no unknown fields.
    pub(crate) fn closed_fits(&self, name: &str, value: &Value) -> bool {
        self.validator(name, true).is_valid(value)
    }

    fn validator(&self, name: &str, closed: bool) -> Rc<Validator> {
        let mut compiled = self.compiled.borrow_mut();
        let slot = compiled.entry((name.to_owned(), closed));
        let make = || {
            let mut document = self.documents[usize::from(closed)].clone();
            assert!(self.has(name), "{} has no {name}", self.version);
            document["$ref"] = format!("#/{}/{name}", self.key()).into();
            Rc::new(jsonschema::validator_for(&document).unwrap())
        };
        slot.or_insert_with(make).clone()
    }
}

/// Members with arbitrary content.
const OPEN: [&str; 8] = [
    "_meta",
    "inputSchema",
    "outputSchema",
    "experimental",
    "extensions",
    "metadata",
    "arguments",
    "structuredContent",
];

/// Refuses members that a definition does not name, except those of every revision:
/// envelopes, `_meta`, and extensions, which survive in every revision.
fn close(schema: &mut Value, name: &str) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    let is_open = object.contains_key("additionalProperties");
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        let is_message = properties.contains_key("method") || properties.contains_key("jsonrpc");
        let allowed: &[&str] = match name {
            "params" => &["_meta"],
            "ClientCapabilities" | "ServerCapabilities" => &["extensions"],
            // An empty object declares a capability.
            _ if is_message => &["jsonrpc", "id"],
            _ => &[],
        };
        let is_empty = properties.is_empty();
        for key in allowed {
            properties.entry(*key).or_insert(json!({}));
        }
        for (key, property) in properties.iter_mut() {
            if !OPEN.contains(&key.as_str()) {
                close(property, key);
            }
        }
        if !is_open && (!is_empty || name == "roots") && !is_base(name) {
            object.insert("additionalProperties".to_owned(), false.into());
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = object.get_mut(key) {
            close(inner, "");
        }
    }
    // Each part of `allOf` names some members.
    for key in ["anyOf", "oneOf"] {
        let inner = object.get_mut(key).and_then(Value::as_array_mut);
        inner
            .into_iter()
            .flatten()
            .for_each(|schema| close(schema, ""));
    }
}

/// Definitions that others extend, and `_meta`.
fn is_base(name: &str) -> bool {
    let bases = ["Result", "Request", "Notification", "Error", "JSONRPC"];
    bases.contains(&name) || name.starts_with("JSONRPC") || name.ends_with("MetaObject")
}

/// The members of an object.
pub(crate) fn members(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap()
}
