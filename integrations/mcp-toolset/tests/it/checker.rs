//! The published rules of providers, written down a second time: what a request's `tools` must look like. It knows nothing of
//! the profiles of the library. Read in 2026-11. "Error" is the text of an API error, as callers have reported it.
//!
//! | provider | rule | source |
//! |---|---|---|
//! | all | valid by the metaschema of 2020-12 | Anthropic, error "JSON schema is invalid. It must match JSON Schema draft 2020-12"; OpenAI, error "is not valid under any of the given schemas" |
//! | all | names: 1 to 64 of `[a-zA-Z0-9_-]`, unique | docs.claude.com, "How to implement tool use"; platform.openai.com, API reference |
//! | all | the root is an object with properties, without `anyOf`, `oneOf`, `allOf`, `enum`, `not` | error "input_schema does not support oneOf, allOf, or anyOf at the top level"; error "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level" |
//! | all | property keys: 1 to 64 of `[a-zA-Z0-9_.-]` | Anthropic, error "Property keys should match pattern" |
//! | all | `required` names properties | Gemini, error `required[0]: property is not defined` |
//! | OpenAI | 128 tools; descriptions of 1,024 characters | API reference; error "string too long" |
//! | OpenAI | arrays have `items` | error "array schema missing items" |
//! | OpenAI, Gemini | patterns without look-around | error "regex lookaround is not supported" |
//! | OpenAI | values of `enum` have the type | error "enum value … does not validate against" |
//! | OpenAI strict | keywords, formats, `required`, `additionalProperties: false`, 10 levels, 5,000 properties, 1,000 values, 15,000 characters of more than 250 values, 120,000 characters | platform.openai.com, "Structured model outputs", "Supported schemas" |
//! | Gemini | fields of `Schema`; one type | ai.google.dev/api/caching#Schema; error "Proto field is not repeating" |
//! | Gemini | `anyOf` alone | error "When using any_of, it must be the only field set" |
//! | Gemini | `enum` of non-empty strings | error "only allowed for STRING type", error `enum[0]: cannot be empty` |
//! | Gemini | formats by type, objects with properties, arrays with items, 512 functions | error "only 'enum' and 'date-time' are supported for STRING type"; error "should be non-empty for OBJECT type"; error "items: missing field"; Vertex AI reference |

use std::collections::HashSet;

use mcp::toolset::Provider;
use serde_json::{Map, Value};

/// Returns the rules that definitions break.
pub(crate) fn problems(provider: Provider, tools: &Value) -> Vec<String> {
    let definitions = match provider {
        Provider::Gemini => &tools[0]["functionDeclarations"],
        _ => tools,
    };
    let definitions = definitions.as_array().unwrap();
    let mut problems = Vec::new();
    let max = match provider {
        Provider::Anthropic => usize::MAX,
        Provider::Gemini => 512,
        _ => 128,
    };
    if definitions.len() > max {
        problems.push(format!("more than {max} tools"));
    }
    let mut names = HashSet::new();
    for definition in definitions {
        let function = match provider {
            Provider::OpenAiChat => &definition["function"],
            _ => definition,
        };
        let name = function["name"].as_str().unwrap_or_default();
        let mut found = function_problems(provider, name, function);
        if !names.insert(name.to_owned()) {
            found.push("name: not unique".to_owned());
        }
        let found = found.into_iter();
        problems.extend(found.map(|problem| format!("{name}: {problem}")));
    }
    problems
}

fn function_problems(provider: Provider, name: &str, function: &Value) -> Vec<String> {
    let schema = match provider {
        Provider::Anthropic => &function["input_schema"],
        _ => &function["parameters"],
    };
    let mut checker = Checker {
        provider,
        found: Vec::new(),
        properties: 0,
        values: 0,
        chars: 0,
    };
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_allowed) {
        checker.report("name", "1 to 64 characters of [a-zA-Z0-9_-]");
    }
    let text = function["description"].as_str().unwrap_or_default();
    if text.trim().is_empty() {
        checker.report("description", "empty");
    }
    if checker.is_openai() && text.chars().count() > 1024 {
        checker.report("description", "more than 1024 characters");
    }
    // A function of Gemini without parameters has no schema.
    if !schema.is_null() || provider != Provider::Gemini {
        if let Err(error) = jsonschema::draft202012::meta::validate(schema) {
            checker.report(
                "metaschema",
                &format!("{error} at {}", error.instance_path()),
            );
        }
        checker.check_root(schema);
        checker.check(schema, 1, "");
    }
    checker.found
}

struct Checker {
    provider: Provider,
    found: Vec<String>,
    properties: usize,
    values: usize,
    chars: usize,
}

impl Checker {
    fn report(&mut self, at: &str, problem: &str) {
        self.found.push(format!("{at}: {problem}"));
    }

    fn is_openai(&self) -> bool {
        !matches!(self.provider, Provider::Anthropic | Provider::Gemini)
    }

    fn check_root(&mut self, schema: &Value) {
        if schema["type"] != "object" || !schema["properties"].is_object() {
            self.report("root", "not an object with properties");
        }
        for keyword in ["anyOf", "oneOf", "allOf", "enum", "not"] {
            if schema.get(keyword).is_some() {
                self.report("root", keyword);
            }
        }
    }

    fn check(&mut self, schema: &Value, depth: usize, at: &str) {
        let Some(schema) = schema.as_object() else {
            return;
        };
        if schema.contains_key("$ref") {
            self.report(at, "a reference");
        }
        if self.is_openai() {
            self.check_openai(schema, at);
        }
        match self.provider {
            Provider::OpenAiResponsesStrict => self.check_strict(schema, depth, at),
            Provider::Gemini => self.check_gemini(schema, at),
            _ => {}
        }
        let pattern = schema.get("pattern").and_then(Value::as_str);
        let has_look_around = |text: &str| {
            ["(?=", "(?!", "(?<=", "(?<!"]
                .iter()
                .any(|part| text.contains(part))
        };
        if self.provider != Provider::Anthropic && pattern.is_some_and(has_look_around) {
            self.report(at, "pattern: look-around");
        }
        self.check_properties(schema, depth, at);
        for keyword in ["items", "additionalProperties"] {
            if let Some(inner) = schema.get(keyword) {
                self.check(inner, depth + 1, &format!("{at}/{keyword}"));
            }
        }
        for variant in list(schema, "anyOf") {
            self.check(variant, depth, &format!("{at}/anyOf"));
        }
    }

    fn check_properties(&mut self, schema: &Map<String, Value>, depth: usize, at: &str) {
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object);
        let properties = properties.unwrap_or(&empty);
        for (key, property) in properties {
            let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
            if key.is_empty() || key.len() > 64 || !key.chars().all(is_allowed) {
                self.report(at, &format!("property key {key:?}"));
            }
            self.properties += 1;
            self.chars += key.len();
            self.check(property, depth + 1, &format!("{at}/{key}"));
        }
        for name in list(schema, "required") {
            if !name
                .as_str()
                .is_some_and(|name| properties.contains_key(name))
            {
                self.report(at, "required: property is not defined");
            }
        }
    }

    fn check_openai(&mut self, schema: &Map<String, Value>, at: &str) {
        if types(schema).contains(&"array") && !schema.contains_key("items") {
            self.report(at, "array schema missing items");
        }
        let of_type = schema
            .get("type")
            .map(|kind| serde_json::json!({ "type": kind }));
        if let Some(of_type) = of_type
            && jsonschema::draft202012::meta::is_valid(&of_type)
        {
            let validator = jsonschema::draft202012::new(&of_type).unwrap();
            if list(schema, "enum").any(|value| !validator.is_valid(value)) {
                self.report(at, "enum value does not validate against the type");
            }
        }
    }

    fn check_strict(&mut self, schema: &Map<String, Value>, depth: usize, at: &str) {
        const COMMON: [&str; 5] = ["type", "anyOf", "enum", "description", "title"];
        const BY_TYPE: [(&str, &[&str]); 5] = [
            (
                "object",
                &["properties", "required", "additionalProperties"],
            ),
            ("array", &["items", "minItems", "maxItems"]),
            ("string", &["pattern", "format"]),
            ("number", NUMBERS),
            ("integer", NUMBERS),
        ];
        const NUMBERS: &[&str] = &[
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
        ];
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
        let kinds = types(schema);
        for keyword in schema.keys() {
            let mut tables = BY_TYPE.iter();
            let is_of_type = tables
                .any(|(kind, keywords)| kinds.contains(kind) && keywords.contains(&&**keyword));
            if !COMMON.contains(&&**keyword) && !is_of_type {
                self.report(at, &format!("{keyword} is not permitted"));
            }
        }
        if !schema.contains_key("type") && !schema.contains_key("anyOf") {
            self.report(at, "schema must have a type key");
        }
        if depth > 10 {
            self.report(at, "more than 10 levels");
        }
        if kinds.contains(&"object") {
            if schema.get("additionalProperties") != Some(&Value::Bool(false)) {
                self.report(at, "additionalProperties must be false");
            }
            let required: HashSet<_> = list(schema, "required").filter_map(Value::as_str).collect();
            let mut keys = schema
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten();
            if keys.any(|(key, _)| !required.contains(&**key)) {
                self.report(at, "required must have every key in properties");
            }
        }
        let texts = list(schema, "enum").filter_map(Value::as_str);
        let (count, chars) = (
            list(schema, "enum").count(),
            texts.map(str::len).sum::<usize>(),
        );
        if schema.contains_key("enum") && count == 0 {
            self.report(at, "enum: should be non-empty");
        }
        if count > 251 && chars > 15_000 {
            self.report(at, "more than 15,000 characters in more than 250 values");
        }
        // The value `null` of an optional property is not counted.
        self.values += list(schema, "enum")
            .filter(|value| !value.is_null())
            .count();
        self.chars += chars;
        if self.values > 1000 || self.properties > 5000 || self.chars > 120_000 {
            self.report(
                at,
                "more than 1000 values, 5000 properties or 120,000 characters",
            );
        }
        if let Some(format) = schema.get("format").and_then(Value::as_str)
            && !FORMATS.contains(&format)
        {
            self.report(at, &format!("format {format}"));
        }
    }

    fn check_gemini(&mut self, schema: &Map<String, Value>, at: &str) {
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
                self.report(at, &format!("unknown name {field:?}: cannot find field"));
            }
        }
        if schema.contains_key("anyOf") {
            if schema.len() > 1 {
                self.report(at, "when using any_of, it must be the only field set");
            }
            return;
        }
        let kind = schema
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if !["object", "array", "string", "integer", "number", "boolean"].contains(&kind) {
            self.report(at, "type must be specified, once");
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        if kind == "object" && properties.is_none_or(Map::is_empty) {
            self.report(at, "properties: should be non-empty for OBJECT type");
        }
        if schema.contains_key("enum") && kind != "string" {
            self.report(at, "enum: only allowed for STRING type");
        }
        if list(schema, "enum").any(|value| value.as_str().is_none_or(str::is_empty)) {
            self.report(at, "enum: cannot be empty");
        }
        if kind == "array" && !schema.contains_key("items") {
            self.report(at, "items: missing field");
        }
        let formats: &[&str] = match kind {
            "string" => &["enum", "date-time"],
            "integer" => &["int32", "int64"],
            "number" => &["float", "double"],
            _ => &[],
        };
        if let Some(format) = schema.get("format")
            && !formats.iter().any(|known| format == known)
        {
            self.report(at, &format!("format {format} is not supported for {kind}"));
        }
    }
}

fn list<'a>(schema: &'a Map<String, Value>, keyword: &str) -> impl Iterator<Item = &'a Value> {
    let list = schema.get(keyword).and_then(Value::as_array);
    list.into_iter().flatten()
}

fn types(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}
