//! Lints: properties of a tool that make clients drop or misread it.
//!
//! Tools with lints conform to the specification. Clients and the language models behind them are known to
//! refuse them, and one such tool can cost all tools of its server.

mod recursion;
mod rules;

use std::fmt;

use mcp_schema::{Keywords as _, Node, Schema};
use mcp_types::{JsonObject, Tool, is_tool_name};
use memchr::memmem;
use serde_json::Value;

use super::param_headers::ParamHeaders;
use recursion::is_recursive;
use rules::Rule;
pub use rules::{LintProfile, Severity};

/// A property of a tool that clients are known to refuse.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lint {
    /// The tool name.
    pub tool: String,
    /// The location in the tool: `name`, or a JSON Pointer that starts with the schema's field.
    pub location: String,
    /// The severity.
    pub severity: Severity,
    /// The clients that refuse it.
    pub clients: &'static str,
    /// The reaction of these clients, and its cause.
    pub reason: &'static str,
    /// The remedy.
    pub fix: &'static str,
    /// The clients of `clients` that have a profile; none if the lint is about every client.
    profiles: &'static [LintProfile],
}

impl fmt::Display for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            tool,
            location,
            clients,
            reason,
            fix,
            ..
        } = self;
        write!(
            f,
            "the tool `{tool}`, {location}: {clients} {reason}; {fix}"
        )
    }
}

/// Returns the lints of a tool: each kind once, at its first location.
// spec: TOOL-07, TOOL-08, XHDR-21
pub fn lint(tool: &Tool) -> Vec<Lint> {
    let mut linter = Linter {
        tool,
        field: "inputSchema",
        found: Vec::new(),
    };
    linter.name();
    let input = linter.parse(&tool.input_schema);
    linter.root(input.as_ref());
    if let Some(input) = &input {
        linter.schema(input.root(), true);
    }
    linter.headers();
    linter.field = "outputSchema";
    let output = tool.output_schema.as_ref();
    if let Some(output) = output.and_then(|schema| linter.parse(schema)) {
        linter.schema(output.root(), false);
    }
    linter.found
}

impl Lint {
    /// The lint of a tool whose arguments are not validated against its schema.
    pub fn unchecked(tool: &Tool) -> Self {
        Self::new(tool, rules::UNCHECKED, "inputSchema")
    }

    /// The lint of a pattern that is not validated.
    pub fn unchecked_pattern(tool: &Tool, location: &str) -> Self {
        Self::new(tool, rules::PATTERN, location)
    }

    /// The lint of a tool that asks its client, and that has effects when it runs again.
    pub fn rerun(tool: &Tool) -> Self {
        Self::new(tool, rules::RERUN, "name")
    }

    /// Returns whether the lint concerns a client. Lints about every client concern all of them.
    pub fn concerns(&self, profile: LintProfile) -> bool {
        self.profiles.is_empty() || self.profiles.contains(&profile)
    }

    fn new(tool: &Tool, rule: &Rule, location: impl Into<String>) -> Self {
        Self {
            tool: tool.name.clone(),
            location: location.into(),
            severity: rule.severity,
            clients: rule.clients,
            reason: rule.reason,
            fix: rule.fix,
            profiles: rule.profiles,
        }
    }
}

/// The formats that JSON Schema defines.
const FORMATS: [&str; 19] = [
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uuid",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
    "regex",
];

/// Substrings in the names of secrets.
const SECRETS: [&str; 8] = [
    "password",
    "passwd",
    "secret",
    "token",
    "apikey",
    "credential",
    "authorization",
    "privatekey",
];

const DIALECT_2020_12: &str = "https://json-schema.org/draft/2020-12/schema";
const MAX_PORTABLE_NAME: usize = 64;

struct Linter<'a> {
    tool: &'a Tool,
    /// The field with the schema.
    field: &'static str,
    found: Vec<Lint>,
}

impl Linter<'_> {
    fn report(&mut self, rule: &Rule, location: impl FnOnce() -> String) {
        if !self.found.iter().any(|lint| lint.reason == rule.reason) {
            self.found.push(Lint::new(self.tool, rule, location()));
        }
    }

    /// Reports a schema in the field.
    fn report_at(&mut self, rule: &Rule, node: Node<'_>) {
        let field = self.field;
        self.report(rule, || format!("{field}{}", node.pointer()));
    }

    /// Parses the schema of the field, or reports that it exceeds a limit.
    fn parse<'s>(&mut self, schema: &'s JsonObject) -> Option<Schema<'s>> {
        let field = self.field;
        let parsed = Schema::parse(schema);
        if let Err(error) = &parsed {
            self.report(rules::TOO_LARGE, || format!("{field}{}", error.location));
        }
        parsed.ok()
    }

    // spec: TOOL-08
    fn name(&mut self) {
        let name = &self.tool.name;
        if !is_tool_name(name) {
            self.report(rules::NAME, || "name".to_owned());
        } else if name.as_bytes().contains(&b'.') {
            self.report(rules::DOTTED, || "name".to_owned());
        }
        if name.len() > MAX_PORTABLE_NAME {
            self.report(rules::LONG, || "name".to_owned());
        }
    }

    // spec: TOOL-07
    fn root(&mut self, parsed: Option<&Schema<'_>>) {
        let location = || "inputSchema".to_owned();
        let schema = &self.tool.input_schema;
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            self.report(rules::ROOT_TYPE, location);
        }
        if !schema.contains_key("properties") {
            self.report(rules::NO_PROPERTIES, location);
        }
        if parsed.is_some_and(is_recursive) {
            self.report(rules::RECURSIVE, location);
        }
        let combinators = ["anyOf", "oneOf", "allOf"];
        if combinators
            .iter()
            .any(|keyword| schema.contains_key(*keyword))
        {
            self.report(rules::ROOT_COMBINATOR, location);
        }
    }

    /// Checks a schema and its subschemas. References matter in the input schema, which models read.
    fn schema(&mut self, node: Node<'_>, is_input: bool) {
        let Some(schema) = node.object() else { return };
        if is_malformed(schema) {
            self.report_at(rules::MALFORMED, node);
        }
        if node
            .get("$schema")
            .is_some_and(|dialect| dialect != DIALECT_2020_12)
        {
            self.report_at(rules::DIALECT, node);
        }
        if is_input && node.has_references() {
            self.report_at(rules::REFERENCE, node);
        }
        let format = node.text("format");
        if format.is_some_and(|format| !FORMATS.contains(&format)) {
            self.report_at(rules::FORMAT, node);
        }
        if is_input && node.get("type").is_some_and(Value::is_array) {
            self.report_at(rules::TYPES, node);
        }
        if is_input {
            self.input(node, schema);
        }
        for sub in node.subschemas() {
            self.schema(sub.node, is_input);
        }
    }

    /// Checks the keywords of an input schema that single clients refuse.
    fn input(&mut self, node: Node<'_>, schema: &JsonObject) {
        let is_array = schema.get("type").is_some_and(|name| name == "array");
        if is_array && !schema.contains_key("items") {
            self.report_at(rules::NO_ITEMS, node);
        }
        let listed = schema.get("enum").and_then(Value::as_array);
        let is_text = |value: &Value| value.is_string() || value.is_null();
        if listed.is_some_and(|values| !values.iter().all(is_text)) {
            self.report_at(rules::ENUM_TYPE, node);
        }
        let is_root = node.depth() == 0;
        if !is_root && schema.contains_key("type") && schema.contains_key("anyOf") {
            self.report_at(rules::TYPE_BESIDE_ANY, node);
        }
        let conditions = ["if", "then", "else"];
        if conditions
            .iter()
            .any(|keyword| schema.contains_key(*keyword))
        {
            self.report_at(rules::CONDITIONAL, node);
        }
        let properties = node.properties();
        let mut untyped = properties.iter().filter(|(_, own)| is_untyped(*own));
        if is_root && let Some((_, own)) = untyped.next() {
            self.report_at(rules::UNTYPED, *own);
        }
        let is_refused = |name: &str| name.len() > MAX_PORTABLE_NAME || !is_tool_name(name);
        if let Some((_, own)) = properties.iter().find(|(name, _)| is_refused(name)) {
            self.report_at(rules::PROPERTY_NAME, *own);
        }
    }

    // spec: XHDR-21
    fn headers(&mut self) {
        let plan = ParamHeaders::from_schema(&self.tool.input_schema);
        let Ok(Some(plan)) = plan else { return };
        let is_secret = |name: &str| {
            let letters = name.chars().filter(char::is_ascii_alphanumeric);
            let plain: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
            let found = |secret: &str| memmem::find(plain.as_bytes(), secret.as_bytes()).is_some();
            SECRETS.iter().any(|secret| found(secret))
        };
        for (header, argument) in plan.names().zip(plan.arguments()) {
            if is_secret(header) || is_secret(argument) {
                let pointer = argument.replace('.', "/properties/");
                self.report(rules::SECRET, || {
                    format!("inputSchema/properties/{pointer}")
                });
            }
        }
    }
}

/// Returns true if a schema accepts values of each type, such as that of `serde_json::Value`.
fn is_untyped(node: Node<'_>) -> bool {
    const TYPED: [&str; 8] = [
        "type", "enum", "const", "anyOf", "oneOf", "allOf", "not", "if",
    ];
    let is_typed = |schema: &JsonObject| TYPED.iter().any(|keyword| schema.contains_key(*keyword));
    match node.object() {
        Some(schema) => !is_typed(schema) && !node.has_references(),
        None => node.is_true(),
    }
}

/// Returns true if a keyword has a value of a wrong type.
fn is_malformed(schema: &JsonObject) -> bool {
    let strings = |value: &Value| {
        let list = value.as_array();
        list.is_some_and(|list| list.iter().all(Value::is_string))
    };
    let schema_like = |value: &Value| value.is_object() || value.is_boolean();
    schema.iter().any(|(keyword, value)| match &**keyword {
        "required" => !strings(value),
        "type" => !value.is_string() && !strings(value),
        "enum" | "examples" | "allOf" | "anyOf" | "oneOf" | "prefixItems" => !value.is_array(),
        "properties" | "patternProperties" | "$defs" => !value.is_object(),
        "description" | "title" | "format" | "pattern" | "$ref" | "$schema" => !value.is_string(),
        "additionalProperties" | "not" => !schema_like(value),
        "items" => !schema_like(value) && !value.is_array(),
        "minimum" | "maximum" | "exclusiveMaximum" | "exclusiveMinimum" | "multipleOf" => {
            !value.is_number() && !value.is_boolean()
        }
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            let whole = |number: f64| number >= 0.0 && number.fract() == 0.0;
            !value.as_f64().is_some_and(whole)
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    //! Lints of tools.

    use mcp_types::{JsonObject, Tool};
    use serde_json::{Value, json};

    use super::{LintProfile, Severity, lint};

    /// Returns the location, severity and first clients of each lint.
    fn lints_of(tool: &Tool) -> Vec<(String, Severity, &'static str)> {
        let lints = lint(tool).into_iter();
        lints
            .map(|lint| {
                let first = lint.clients.split([' ', ',']).next().unwrap_or_default();
                (lint.location, lint.severity, first)
            })
            .collect()
    }

    fn with_schema(schema: Value) -> Tool {
        Tool::new("t").input_schema(serde_json::from_value::<JsonObject>(schema).unwrap())
    }

    fn with_property(schema: Value) -> Tool {
        with_schema(json!({"type": "object", "properties": {"p": schema}}))
    }

    // spec: TOOL-08
    #[test]
    fn tool_name_that_clients_refuse_is_a_lint() {
        let long = "n".repeat(65);
        let longest = "n".repeat(129);
        for (name, clients) in [
            ("get_weather-2", vec![]),
            ("weather.get", vec!["Claude"]),
            ("get weather", vec!["many"]),
            ("get/weather", vec!["many"]),
            ("h\u{f6}he", vec!["many"]),
            ("", vec!["many"]),
            (&*long, vec!["Claude"]),
            (&*longest, vec!["many", "Claude"]),
        ] {
            let told = lints_of(&Tool::new(name));
            let concerned: Vec<_> = told.iter().map(|(_, _, first)| *first).collect();
            assert_eq!(concerned, clients, "{name}");
            assert!(
                told.iter()
                    .all(|lint| lint.0 == "name" && lint.1 == Severity::Warning)
            );
        }
    }

    #[test]
    fn schema_that_clients_refuse_is_a_lint() {
        use Severity::{Note, Warning};
        let root = || "inputSchema".to_owned();
        for (tool, expected) in [
            (
                with_schema(json!({"type": "object", "properties": {}})),
                vec![],
            ),
            (
                with_schema(json!({"type": "object"})),
                vec![(root(), Note, "OpenAI")],
            ),
            (
                with_schema(json!({"properties": {}})),
                vec![(root(), Warning, "clients")],
            ),
            (
                with_schema(
                    json!({"type": "object", "properties": {}, "anyOf": [{"required": []}]}),
                ),
                vec![(root(), Warning, "Claude")],
            ),
            (
                with_schema(
                    json!({"type": "object", "properties": {}, "$schema": "http://json-schema.org/draft-07/schema#"}),
                ),
                vec![(root(), Warning, "Claude")],
            ),
            (
                with_schema(json!({"type": "object", "properties": {}, "required": null})),
                vec![(root(), Warning, "Claude")],
            ),
            (
                with_schema(json!({"type": "object", "properties": {"a b": {"type": "string"}}})),
                vec![(format!("{}/properties/a b", root()), Warning, "Claude")],
            ),
            (
                Tool::new("t").output_schema(
                    serde_json::from_value::<JsonObject>(json!({"type": "array"})).unwrap(),
                ),
                vec![],
            ),
        ] {
            assert_eq!(lints_of(&tool), expected, "{:?}", tool.input_schema);
        }
    }

    #[test]
    fn property_that_clients_refuse_is_a_lint() {
        use Severity::{Note, Warning};
        let property = || "inputSchema/properties/p".to_owned();
        for (schema, expected) in [
            (
                json!({"$ref": "#/$defs/x"}),
                vec![(property(), Warning, "LM")],
            ),
            (
                json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
                vec![],
            ),
            (
                json!({"type": ["string", "null"]}),
                vec![(property(), Note, "Gemini")],
            ),
            (
                json!({"type": "integer", "format": "uint32"}),
                vec![(property(), Note, "clients")],
            ),
            (json!({"type": "string", "format": "date-time"}), vec![]),
            (
                json!({"type": "array"}),
                vec![(property(), Warning, "Copilot")],
            ),
            (
                json!({"type": "array", "prefixItems": [{"type": "string"}]}),
                vec![(property(), Warning, "Copilot")],
            ),
            (
                json!({"type": "integer", "enum": [1, 2]}),
                vec![(property(), Note, "Gemini")],
            ),
            (
                json!({"type": "object", "anyOf": [{"required": ["a"]}]}),
                vec![(property(), Warning, "Kimi")],
            ),
            (
                json!({"if": {}, "then": {}}),
                vec![(property(), Warning, "Zed")],
            ),
            (
                json!({"type": "array", "items": {"enum": null}}),
                vec![(format!("{}/items", property()), Warning, "Claude")],
            ),
            (
                json!({"type": "string", "minLength": 3.5}),
                vec![(property(), Warning, "Claude")],
            ),
            (json!({"type": "string", "minLength": 3.0}), vec![]),
            (
                json!({"type": "string", "x-mcp-header": "Api-Key"}),
                vec![(property(), Warning, "proxies")],
            ),
            (json!({"type": "string", "x-mcp-header": "Region"}), vec![]),
            // The schema of `serde_json::Value`.
            (
                json!({"description": "The body"}),
                vec![(property(), Warning, "language")],
            ),
            (json!(true), vec![(property(), Warning, "language")]),
            (json!({"const": 1}), vec![]),
            (json!({"type": "object", "properties": {"any": {}}}), vec![]),
        ] {
            let tool = with_property(schema);
            assert_eq!(lints_of(&tool), expected, "{:?}", tool.input_schema);
        }
    }

    #[test]
    fn lint_concerns_its_clients_or_every_client() {
        let lints = lint(&with_property(json!({"type": ["string", "null"]})));
        assert!(lints[0].concerns(LintProfile::Gemini));
        assert!(!lints[0].concerns(LintProfile::Claude));
        let lints = lint(&Tool::new("a b"));
        assert!(lints[0].concerns(LintProfile::Zed));
    }

    #[test]
    fn repeated_lint_is_reported_once_with_its_fix() {
        let reference = json!({"$ref": "#/$defs/x"});
        let schema = json!({"type": "object", "properties": {"p": reference, "q": reference}});
        let lints = lint(&with_schema(schema));
        let [only] = &lints[..] else {
            panic!("{lints:?}")
        };
        assert_eq!(
            only.to_string(),
            "the tool `t`, inputSchema/properties/p: LM Studio, Copilot in Visual Studio Code and Zed lose tools \
         whose schema has a `$ref`, or what it refers to; write the schema in place"
        );
    }

    #[test]
    fn schema_beyond_the_limits_is_a_lint_at_the_place() {
        let deep = (0..200).fold(
            json!({"type": "string"}),
            |inner, _| json!({"items": inner}),
        );
        let links = (0..100).map(|link| {
            (
                format!("d{link}"),
                json!({"$ref": format!("#/$defs/d{}", link + 1)}),
            )
        });
        let with = |keyword: &str, value: Value| json!({"type": "object", "properties": {}, keyword: value});
        let names: JsonObject = (0..5_000)
            .map(|name| (format!("p{name}"), json!({"type": "string"})))
            .collect();
        for (schema, place) in [
            (
                with("description", "d".repeat(300 << 10).into()),
                "".to_owned(),
            ),
            (
                with("properties", names.into()),
                "/properties/p4095".to_owned(),
            ),
            (
                with("additionalProperties", deep),
                format!("/additionalProperties{}", "/items".repeat(128)),
            ),
            (
                with("$defs", Value::from_iter(links)),
                "/$defs/d0".to_owned(),
            ),
        ] {
            let schema: JsonObject = serde_json::from_value(schema).unwrap();
            let output = Tool::new("t").output_schema(schema.clone());
            for (tool, field) in [
                (Tool::new("t").input_schema(schema), "input"),
                (output, "output"),
            ] {
                let lints = lints_of(&tool);
                let expected = (
                    format!("{field}Schema{place}"),
                    Severity::Warning,
                    "clients",
                );
                assert_eq!(lints, [expected]);
            }
        }
    }

    #[test]
    fn schema_below_a_long_name_is_checked() {
        let name = "n".repeat(5_000);
        let schema = json!({"type": "object", "properties": {name: {"type": ["string", "null"]}}});
        let lints = lints_of(&with_schema(schema));
        let locations = lints
            .iter()
            .map(|(location, _, first)| (*first, location.len()));
        assert_eq!(
            Vec::from_iter(locations),
            [("Claude", 1_038), ("Gemini", 1_038)]
        );
    }

    #[test]
    fn reference_that_leads_back_is_a_lint_of_its_own() {
        let recursive = |schema: Value| {
            let lints = lint(&with_schema(schema));
            let concerned = |profile| lints.iter().any(|lint| lint.concerns(profile));
            assert!(!concerned(LintProfile::Claude) && !concerned(LintProfile::OpenAi));
            assert_eq!(
                concerned(LintProfile::LlamaIndex),
                concerned(LintProfile::Smolagents)
            );
            concerned(LintProfile::LlamaIndex)
        };
        let with = |property: Value, defs: Value| json!({"type": "object", "properties": {"p": property}, "$defs": defs});
        let a = json!({"$ref": "#/$defs/a"});
        let b = json!({"$ref": "#/$defs/b"});
        assert!(recursive(with(json!({"$ref": "#"}), json!({}))));
        assert!(recursive(with(a.clone(), json!({"a": {"items": a}}))));
        assert!(recursive(with(
            a.clone(),
            json!({"a": {"properties": {"b": b}}, "b": {"anyOf": [a]}})
        )));
        assert!(recursive(with(
            json!({"$ref": "#/$defs/a%62"}),
            json!({"ab": {"items": {"$ref": "#node"}, "$anchor": "node"}})
        )));
        let row = |length: usize, last: Value| {
            let next = |level: usize| json!({"items": {"$ref": format!("#/$defs/d{level}")}});
            let mut row: Vec<_> = (1..length).map(next).collect();
            row.push(last);
            let named = row.into_iter().enumerate();
            Value::from_iter(named.map(|(level, schema)| (format!("d{level}"), schema)))
        };
        let first = || json!({"$ref": "#/$defs/d0"});
        assert!(recursive(with(
            first(),
            row(200, json!({"items": first()}))
        )));
        assert!(!recursive(with(
            first(),
            row(200, json!({"type": "string"}))
        )));
        let shared = json!({"a": {"allOf": [b, b]}, "b": {"type": "string"}});
        assert!(!recursive(with(json!({"anyOf": [a, a]}), shared)));
        assert!(!recursive(with(json!({"$ref": "#/nowhere"}), json!({}))));
        let chain: serde_json::Map<_, _> = (0..500)
            .map(|level| {
                let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
                (format!("d{level}"), json!({"anyOf": [next, next]}))
            })
            .collect();
        assert!(!recursive(with(
            json!({"$ref": "#/$defs/d0"}),
            Value::Object(chain)
        )));
    }
}
