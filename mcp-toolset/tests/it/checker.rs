//! The published rules of providers, written down a second time: what a request's `tools` must look like. It knows nothing of
//! the profiles of the library.

use std::collections::HashSet;

use mcp_toolset::Provider;
use serde_json::{Map, Value};

/// Returns the rules that definitions break.
pub(crate) fn problems(provider: Provider, tools: &Value) -> Vec<String> {
    let definitions = match provider {
        Provider::Gemini => &tools[0]["functionDeclarations"],
        _ => tools,
    };
    let mut problems = Vec::new();
    let mut names = HashSet::new();
    for definition in definitions.as_array().unwrap() {
        let function = match provider {
            Provider::OpenAiChat => &definition["function"],
            _ => definition,
        };
        let schema = match provider {
            Provider::Anthropic => &function["input_schema"],
            _ => &function["parameters"],
        };
        let name = function["name"].as_str().unwrap_or_default();
        let mut found = Vec::new();
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if name.is_empty() || name.len() > 64 || !name.chars().all(is_allowed) {
            found.push("name: 1 to 64 characters of [a-zA-Z0-9_-]".to_owned());
        }
        if !names.insert(name.to_owned()) {
            found.push("name: not unique".to_owned());
        }
        let text = function["description"].as_str().unwrap_or_default();
        let is_openai = !matches!(provider, Provider::Anthropic | Provider::Gemini);
        if is_openai && text.chars().count() > 1024 {
            found.push("description: more than 1024 characters".to_owned());
        }
        // A function of Gemini without parameters has no schema.
        if !schema.is_null() || provider != Provider::Gemini {
            check_root(schema, &mut found);
            Checker {
                provider,
                properties: 0,
            }
            .check(schema, 1, "", &mut found);
        }
        problems.extend(
            found
                .into_iter()
                .map(|problem| format!("{name}: {problem}")),
        );
    }
    problems
}

fn check_root(schema: &Value, found: &mut Vec<String>) {
    if schema["type"] != "object" || !schema["properties"].is_object() {
        found.push("root: not an object with properties".to_owned());
    }
    for keyword in ["anyOf", "oneOf", "allOf", "enum", "not"] {
        if schema.get(keyword).is_some() {
            found.push(format!("root: {keyword}"));
        }
    }
}

struct Checker {
    provider: Provider,
    properties: usize,
}

impl Checker {
    fn check(&mut self, schema: &Value, depth: usize, at: &str, found: &mut Vec<String>) {
        let Some(schema) = schema.as_object() else {
            return;
        };
        if schema.contains_key("$ref") {
            found.push(format!("{at}: a reference"));
        }
        match self.provider {
            Provider::OpenAiResponsesStrict => self.check_strict(schema, depth, at, found),
            Provider::Gemini => check_gemini(schema, at, found),
            Provider::OpenAiChat | Provider::OpenAiResponses
                if schema.get("type") == Some(&Value::from("array"))
                    && !schema.contains_key("items") =>
            {
                found.push(format!("{at}: array schema missing items"));
            }
            _ => {}
        }
        for (key, property) in schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
            if key.is_empty() || key.len() > 64 || !key.chars().all(is_allowed) {
                found.push(format!("{at}: property key {key:?}"));
            }
            self.properties += 1;
            self.check(property, depth + 1, &format!("{at}/{key}"), found);
        }
        for keyword in ["items", "additionalProperties"] {
            if let Some(inner) = schema.get(keyword) {
                self.check(inner, depth + 1, &format!("{at}/{keyword}"), found);
            }
        }
        for variant in schema
            .get("anyOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            self.check(variant, depth, &format!("{at}/anyOf"), found);
        }
        if self.properties > 5000 {
            found.push("more than 5000 properties".to_owned());
        }
    }

    fn check_strict(
        &self,
        schema: &Map<String, Value>,
        depth: usize,
        at: &str,
        found: &mut Vec<String>,
    ) {
        const KEYWORDS: [&str; 17] = [
            "type",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "anyOf",
            "enum",
            "description",
            "title",
            "pattern",
            "format",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "minItems",
        ];
        for keyword in schema.keys() {
            if !KEYWORDS.contains(&&**keyword) && keyword != "maxItems" {
                found.push(format!("{at}: {keyword} is not permitted"));
            }
        }
        if !schema.contains_key("type") && !schema.contains_key("anyOf") {
            found.push(format!("{at}: schema must have a type key"));
        }
        if depth > 10 {
            found.push(format!("{at}: more than 10 levels"));
        }
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            if schema.get("additionalProperties") != Some(&Value::Bool(false)) {
                found.push(format!("{at}: additionalProperties must be false"));
            }
            let required = schema.get("required").and_then(Value::as_array);
            let required: Vec<_> = required
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            if properties.keys().any(|key| !required.contains(&&**key)) {
                found.push(format!("{at}: required must have every key in properties"));
            }
        }
        if schema
            .get("enum")
            .and_then(Value::as_array)
            .is_some_and(|values| values.len() > 1000)
        {
            found.push(format!("{at}: more than 1000 values"));
        }
        const FORMATS: [&str; 9] = [
            "date-time",
            "time",
            "date",
            "duration",
            "email",
            "hostname",
            "ipv4",
            "ipv6",
            "uuid",
        ];
        if let Some(format) = schema.get("format").and_then(Value::as_str)
            && !FORMATS.contains(&format)
        {
            found.push(format!("{at}: format {format}"));
        }
    }
}

fn check_gemini(schema: &Map<String, Value>, at: &str, found: &mut Vec<String>) {
    const FIELDS: [&str; 20] = [
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "enum",
        "maxItems",
        "minItems",
        "properties",
        "required",
        "minProperties",
        "maxProperties",
        "minLength",
        "maxLength",
        "pattern",
        "anyOf",
        "items",
        "minimum",
        "maximum",
        "propertyOrdering",
    ];
    for field in schema.keys() {
        if !FIELDS.contains(&&**field) {
            found.push(format!("{at}: unknown name {field:?}: cannot find field"));
        }
    }
    let kind = schema.get("type");
    let properties = schema.get("properties").and_then(Value::as_object);
    if kind == Some(&Value::from("object")) && properties.is_none_or(Map::is_empty) {
        found.push(format!(
            "{at}: properties: should be non-empty for OBJECT type"
        ));
    }
    if !kind.is_some_and(Value::is_string) && !schema.contains_key("anyOf") {
        found.push(format!("{at}: type must be specified"));
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array)
        && (kind != Some(&Value::from("string")) || !values.iter().all(Value::is_string))
    {
        found.push(format!("{at}: enum: only allowed for STRING type"));
    }
    if kind == Some(&Value::from("array")) && !schema.contains_key("items") {
        found.push(format!("{at}: items: missing field"));
    }
    if kind == Some(&Value::from("string"))
        && let Some(format) = schema.get("format").and_then(Value::as_str)
        && !["enum", "date-time"].contains(&format)
    {
        found.push(format!(
            "{at}: format: only 'enum' and 'date-time' are supported"
        ));
    }
}
