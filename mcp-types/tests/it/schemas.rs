//! Validates values of every type with the schema of each revision that defines the type.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use jsonschema::Validator;
use mcp_types::ProtocolVersion;
use serde_json::{Map, Value, json};

use crate::spec;
use crate::values::{self, Case, Shape};

/// Definitions of 2026-07-28 that no value is validated against: unions whose variants are validated, base
/// definitions that others repeat, and JSON itself.
const NOT_OURS: [&str; 21] = [
    "BaseMetadata",
    "CacheableResult",
    "ClientNotification",
    "ClientRequest",
    "ClientResult",
    "Icons",
    "InputResponseRequestParams",
    "JSONArray",
    "JSONObject",
    "JSONRPCMessage",
    "JSONRPCResponse",
    "JSONValue",
    "Notification",
    "PaginatedRequest",
    "PaginatedResult",
    "Request",
    "ResourceRequestParams",
    "Result",
    "ResultType",
    "ServerNotification",
    "ServerResult",
];

#[test]
fn value_is_valid_in_the_schema_for_each_revision() {
    let folder = spec::folder();
    let cases = values::all();
    let mut checked = 0;
    for version in ProtocolVersion::ALL {
        let document = spec::read_json(&folder.join(version.as_str()).join("schema.json"));
        let definitions = Definitions::new(version, &document);
        let mut seen = BTreeSet::new();
        for case in cases.iter().filter(|case| case.exists_in(version)) {
            checked += definitions.check(case, &mut seen);
        }
        // A definition that accepts any value would prove nothing.
        for name in &seen {
            let validator = definitions.validator(name);
            let broken = [json!([[]]), json!({"\u{0}": 0}), json!(0.5)];
            let refused = broken.iter().any(|value| !validator.is_valid(value));
            assert!(refused, "{name} of {version} accepts any value");
        }
        println!(
            "{version}: {} of {} definitions",
            seen.len(),
            definitions.all.len()
        );
        if version.is_modern() {
            let known: BTreeSet<_> = definitions.all.keys().cloned().collect();
            let named = seen.iter().cloned().chain(NOT_OURS.map(str::to_owned));
            let missing: Vec<_> = known.difference(&named.collect()).cloned().collect();
            assert!(missing.is_empty(), "no values for {missing:?}");
        }
    }
    println!("{checked} checks of {} values", cases.len());
    assert!(checked > 500, "only {checked} checks");
}

struct Definitions<'a> {
    version: ProtocolVersion,
    document: &'a Value,
    keyword: &'static str,
    all: &'a Map<String, Value>,
    validators: RefCell<BTreeMap<String, Rc<Validator>>>,
}

impl<'a> Definitions<'a> {
    fn new(version: ProtocolVersion, document: &'a Value) -> Self {
        let keyword = if document.get("$defs").is_some() {
            "$defs"
        } else {
            "definitions"
        };
        let all = document[keyword].as_object().unwrap();
        Self {
            version,
            document,
            keyword,
            all,
            validators: RefCell::default(),
        }
    }

    fn validator(&self, name: &str) -> Rc<Validator> {
        assert!(
            self.all.contains_key(name),
            "{} has no {name}",
            self.version
        );
        let mut validators = self.validators.borrow_mut();
        let made = validators.entry(name.to_owned()).or_insert_with(|| {
            let schema = json!({
                "$schema": self.document["$schema"],
                "allOf": [{"$ref": format!("#/{}/{name}", self.keyword)}],
                self.keyword: self.all,
            });
            Rc::new(jsonschema::validator_for(&schema).unwrap())
        });
        Rc::clone(made)
    }

    /// Validates a value in its message. Returns the number of validations.
    fn check(&self, case: &Case, seen: &mut BTreeSet<String>) -> usize {
        let message = message(case, self.version);
        let mut checked = 1;
        self.fits(case.name, &message, seen);
        let alone = match case.name {
            "DiscoverRequest" => "RequestParams".to_owned(),
            name if name.ends_with("ListChangedNotification") => "NotificationParams".to_owned(),
            name if name.starts_with("List") && matches!(case.shape, Shape::Request(_)) => {
                "PaginatedRequestParams".to_owned()
            }
            name => format!("{name}Params"),
        };
        if let Some(params) = message.get("params")
            && self.all.contains_key(&alone)
        {
            self.fits(&alone, params, seen);
            checked += 1;
        }
        let response = format!("{}Response", case.name);
        if self.all.contains_key(&response) {
            let response_value = json!({"jsonrpc": "2.0", "id": 1, "result": message});
            self.fits(&response, &response_value, seen);
            self.fits("JSONRPCResultResponse", &response_value, seen);
            checked += 2;
        }
        let frame = match case.shape {
            Shape::Request(_) => "JSONRPCRequest",
            Shape::Note(_) => "JSONRPCNotification",
            Shape::Error => "JSONRPCErrorResponse",
            Shape::Plain | Shape::Asked(_) | Shape::Result => return checked,
        };
        self.fits(frame, &message, seen);
        checked + 1
    }

    fn fits(&self, name: &str, value: &Value, seen: &mut BTreeSet<String>) {
        let validator = self.validator(name);
        let errors: Vec<_> = validator
            .iter_errors(value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(
            errors.is_empty(),
            "{name} of {}: {errors:#?}\n{value:#}",
            self.version
        );
        seen.insert(name.to_owned());
    }
}

/// Returns the message that the wire writes around a value.
fn message(case: &Case, version: ProtocolVersion) -> Value {
    let mut value = case.value.clone();
    let modern = version.is_modern();
    match case.shape {
        Shape::Plain => value,
        Shape::Request(method) => {
            if modern {
                value["_meta"] = spec::request_meta();
            }
            json!({"jsonrpc": "2.0", "id": "r", "method": method, "params": value})
        }
        Shape::Asked(method) => {
            let mut message = json!({"method": method, "params": value});
            if !modern {
                message["jsonrpc"] = "2.0".into();
                message["id"] = 7.into();
            }
            message
        }
        Shape::Note(method) => json!({"jsonrpc": "2.0", "method": method, "params": value}),
        Shape::Result => {
            if modern {
                value["resultType"] = "complete".into();
                value["ttlMs"] = 1000.into();
                value["cacheScope"] = "private".into();
            }
            value
        }
        Shape::Error => json!({"jsonrpc": "2.0", "id": 1, "error": value}),
    }
}
