//! Lints: properties of a tool that make clients drop or misread it.
//!
//! Tools with lints conform to the specification. Clients and the language models behind them are known to
//! refuse them, and one such tool can cost all tools of its server.

use std::collections::HashSet;
use std::fmt;

use mcp_types::{JsonObject, Tool};
use memchr::memmem;
use serde_json::Value;

use super::param_headers::ParamHeaders;
use super::walk::subschemas;

/// A property of a tool that clients are known to refuse.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lint {
    /// The name of the tool.
    pub tool: String,
    /// The location in the tool: `name`, or a JSON Pointer that starts with the field of the schema.
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

/// A client, or the model behind it, whose lints are of interest.
///
/// The lints are known reactions of these clients at the time of the release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LintProfile {
    /// Claude models, Claude Desktop and Claude Code.
    Claude,
    /// OpenAI models and Codex.
    OpenAi,
    /// Gemini models and their command line.
    Gemini,
    /// Kimi models.
    Kimi,
    /// GitHub Copilot in Visual Studio Code.
    Copilot,
    /// The editor Zed.
    Zed,
    /// The Python framework LlamaIndex.
    LlamaIndex,
    /// The Python framework smolagents.
    Smolagents,
}

/// The severity of a [`Lint`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Severity {
    /// Some clients use the tool with restrictions.
    Note,
    /// Some clients drop the tool, or all tools of its server.
    Warning,
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

/// A kind of lint.
struct Rule {
    severity: Severity,
    profiles: &'static [LintProfile],
    clients: &'static str,
    reason: &'static str,
    fix: &'static str,
}

/// Declares rules: severity, profiles, clients, reason and fix.
macro_rules! rules {
    ($(
        $name:ident = $severity:ident [$($profile:ident),*]:
            $clients:literal, $reason:literal, $fix:literal;
    )*) => {
        $(const $name: &Rule = &Rule {
            severity: Severity::$severity,
            profiles: &[$(LintProfile::$profile),*],
            clients: $clients,
            reason: $reason,
            fix: $fix,
        };)*
    };
}

rules! {
    NAME = Warning []: "many clients",
        "drop a tool whose name is not 1 to 128 letters, digits, `_`, `-` or `.`", "rename it";
    DOTTED = Warning [Claude, OpenAi, Copilot]: "Claude Desktop, Copilot, Cursor and Codex",
        "drop a tool whose name has a `.`", "use `_` or `-`";
    LONG = Warning [Claude, OpenAi, Copilot]: "Claude and OpenAI models",
        "take names of at most 64 characters, those that the client puts in front included",
        "shorten it";
    ROOT_TYPE = Warning []: "clients of the TypeScript SDK",
        "refuse the whole list when an input schema is no `\"type\": \"object\"`",
        "make the arguments an object";
    ROOT_COMBINATOR = Warning [Claude, OpenAi]: "Claude and OpenAI models",
        "refuse the whole list when `anyOf`, `oneOf` or `allOf` is at the root of a schema",
        "move it into a property, or say it in the description";
    NO_PROPERTIES = Note [OpenAi]: "OpenAI models",
        "refuse an object without `properties`", "add `\"properties\": {}`";
    DIALECT = Warning [Claude]: "Claude models",
        "refuse every dialect but 2020-12", "leave `$schema` out";
    REFERENCE = Warning [Copilot, Gemini, Zed]: "LM Studio, Copilot in Visual Studio Code and Zed",
        "lose tools whose schema has a `$ref`, or what it refers to", "write the schema in place";
    RECURSIVE = Warning [LlamaIndex, Smolagents]: "LlamaIndex and smolagents",
        "lose all tools of a server when a `$ref` leads back to a schema around it",
        "write the schema in place, to a fixed depth";
    MALFORMED = Warning [Claude]: "Claude Code",
        "loses all tools when a keyword has a value of the wrong type, such as `null`",
        "leave the keyword out";
    FORMAT = Note [Gemini]: "clients with a strict validator",
        "refuse a `format` that JSON Schema does not know", "leave it out, or use `pattern`";
    TYPES = Note [Gemini]: "Gemini models",
        "read only one of several types", "leave the property out of `required` instead of `null`";
    SECRET = Warning []: "proxies",
        "see and log what headers repeat, and by its name this is a secret",
        "do not repeat it in a header";
    UNCHECKED = Warning []: "every client",
        "may send arguments that break the schema: it was given by hand, so that no type checks it",
        "give the server a validator, such as `.validate_with(mcp::schema::JsonSchema)`";
    PATTERN = Warning []: "every client",
        "may send text that breaks the pattern, which uses what the checker does not know",
        "simplify it";
    PROPERTY_NAME = Warning [Claude]: "Claude models",
        "refuse the whole list when a property is not 1 to 64 letters, digits, `_`, `-` or `.`",
        "rename it";
    NO_ITEMS = Warning [Copilot, OpenAi, Gemini]: "Copilot, OpenAI and Gemini models",
        "refuse an array without `items`", "say what the elements are";
    ENUM_TYPE = Note [Gemini]: "Gemini models",
        "accept only strings in an `enum`", "list the values in the description";
    TYPE_BESIDE_ANY = Warning [Kimi]: "Kimi models",
        "refuse `type` beside `anyOf`", "move `type` into the alternatives";
    CONDITIONAL = Warning [Zed]: "Zed",
        "drops a tool whose schema has `if`, `then` or `else`", "say it in the description";
    RERUN = Note []: "clients since 2026-07-28",
        "run a tool that asks again from its beginning with each answer",
        "put side effects before a question into `Ask::once`, or mark the tool `read_only` or `idempotent`";
}

/// Returns the lints of a tool: each kind once, at its first location.
// spec: TOOL-06, TOOL-07, TOOL-08, XHDR-21
pub fn lint(tool: &Tool) -> Vec<Lint> {
    let mut linter = Linter::new(tool);
    linter.name();
    linter.root();
    linter.schema("inputSchema", &tool.input_schema, true);
    linter.headers();
    if let Some(schema) = &tool.output_schema {
        linter.schema("outputSchema", schema, false);
    }
    linter.found
}

impl Lint {
    /// The lint of a tool whose arguments are not validated against its schema.
    pub fn unchecked(tool: &Tool) -> Self {
        Self::new(tool, UNCHECKED, "inputSchema")
    }

    /// The lint of a pattern that is not validated.
    pub fn unchecked_pattern(tool: &Tool, location: &str) -> Self {
        Self::new(tool, PATTERN, location)
    }

    /// The lint of a tool that asks its client, and that has effects when it runs again.
    pub fn rerun(tool: &Tool) -> Self {
        Self::new(tool, RERUN, "name")
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

/// Substrings of the names of secrets.
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
const MAX_NAME: usize = 128;
const MAX_PORTABLE_NAME: usize = 64;

struct Linter<'a> {
    tool: &'a Tool,
    found: Vec<Lint>,
}

impl<'a> Linter<'a> {
    fn new(tool: &'a Tool) -> Self {
        Self {
            tool,
            found: Vec::new(),
        }
    }

    fn report(&mut self, rule: &Rule, location: &str) {
        if !self.found.iter().any(|lint| lint.reason == rule.reason) {
            self.found.push(Lint::new(self.tool, rule, location));
        }
    }

    // spec: TOOL-08
    fn name(&mut self) {
        let name = &self.tool.name;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(is_plain) {
            self.report(NAME, "name");
        } else if name.as_bytes().contains(&b'.') {
            self.report(DOTTED, "name");
        }
        if name.len() > MAX_PORTABLE_NAME {
            self.report(LONG, "name");
        }
    }

    // spec: TOOL-06, TOOL-07
    fn root(&mut self) {
        let location = "inputSchema";
        let schema = &self.tool.input_schema;
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            self.report(ROOT_TYPE, location);
        }
        if !schema.contains_key("properties") {
            self.report(NO_PROPERTIES, location);
        }
        let mut references = References {
            root: schema,
            open: Vec::new(),
            closed: HashSet::new(),
            left: MAX_REFERENCED,
        };
        if references.lead_back("", schema) {
            self.report(RECURSIVE, location);
        }
        let combinators = ["anyOf", "oneOf", "allOf"];
        if combinators
            .iter()
            .any(|keyword| schema.contains_key(*keyword))
        {
            self.report(ROOT_COMBINATOR, location);
        }
    }

    /// Checks a schema and its subschemas. References matter in the input schema, which models read.
    fn schema(&mut self, location: &str, schema: &JsonObject, is_input: bool) {
        if is_malformed(schema) {
            self.report(MALFORMED, location);
        }
        if schema
            .get("$schema")
            .is_some_and(|dialect| dialect != DIALECT_2020_12)
        {
            self.report(DIALECT, location);
        }
        if is_input && (schema.contains_key("$ref") || schema.contains_key("$dynamicRef")) {
            self.report(REFERENCE, location);
        }
        let format = schema.get("format").and_then(Value::as_str);
        if format.is_some_and(|format| !FORMATS.contains(&format)) {
            self.report(FORMAT, location);
        }
        if is_input && schema.get("type").is_some_and(Value::is_array) {
            self.report(TYPES, location);
        }
        if is_input {
            self.input(location, schema);
        }
        for sub in subschemas(schema) {
            if let Value::Object(inner) = sub.schema {
                self.schema(&sub.pointer(location), inner, is_input);
            }
        }
    }

    /// Checks the keywords of an input schema that single clients refuse.
    fn input(&mut self, location: &str, schema: &JsonObject) {
        let is_array = schema.get("type").is_some_and(|name| name == "array");
        if is_array && !schema.contains_key("items") {
            self.report(NO_ITEMS, location);
        }
        let listed = schema.get("enum").and_then(Value::as_array);
        let is_text = |value: &Value| value.is_string() || value.is_null();
        if listed.is_some_and(|values| !values.iter().all(is_text)) {
            self.report(ENUM_TYPE, location);
        }
        let is_root = location == "inputSchema";
        if !is_root && schema.contains_key("type") && schema.contains_key("anyOf") {
            self.report(TYPE_BESIDE_ANY, location);
        }
        let conditions = ["if", "then", "else"];
        if conditions
            .iter()
            .any(|keyword| schema.contains_key(*keyword))
        {
            self.report(CONDITIONAL, location);
        }
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        let is_refused = |name: &str| {
            !(1..=MAX_PORTABLE_NAME).contains(&name.len()) || !name.bytes().all(is_plain)
        };
        let properties = schema.get("properties").and_then(Value::as_object);
        let mut names = properties.into_iter().flatten().map(|(name, _)| name);
        if let Some(name) = names.find(|name| is_refused(name)) {
            self.report(PROPERTY_NAME, &format!("{location}/properties/{name}"));
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
                self.report(SECRET, &format!("inputSchema/properties/{pointer}"));
            }
        }
    }
}

/// Subschemas that the search for recursive references visits at most.
const MAX_REFERENCED: usize = 20_000;
/// References in a row that the search follows at most.
const MAX_OPEN: usize = 64;

/// A search for references that lead back to a schema around them.
struct References<'a> {
    root: &'a JsonObject,
    /// The JSON Pointers of the targets on the current path.
    open: Vec<String>,
    closed: HashSet<String>,
    left: usize,
}

impl<'a> References<'a> {
    /// Returns true if a reference inside the schema at `pointer` leads back to a schema on the path.
    fn lead_back(&mut self, pointer: &str, schema: &'a JsonObject) -> bool {
        self.open.push(pointer.to_owned());
        let found = self.inside(schema);
        self.open.pop();
        self.closed.insert(pointer.to_owned());
        found
    }

    fn inside(&mut self, schema: &'a JsonObject) -> bool {
        let Some(left) = self.left.checked_sub(1) else {
            return false;
        };
        self.left = left;
        let reference = schema.get("$ref").and_then(Value::as_str);
        if let Some(target) = reference.and_then(|reference| reference.strip_prefix('#')) {
            if self.open.iter().any(|open| open == target) {
                return true;
            }
            let value = match target {
                "" => Some(self.root),
                target => self.definition(target),
            };
            if let Some(value) = value
                && !self.closed.contains(target)
                && self.open.len() < MAX_OPEN
                && self.lead_back(target, value)
            {
                return true;
            }
        }
        subschemas(schema)
            .filter_map(|sub| sub.schema.as_object())
            .any(|inner| self.inside(inner))
    }

    /// Returns the schema at a JSON Pointer below the root.
    fn definition(&self, pointer: &str) -> Option<&'a JsonObject> {
        let (first, rest) = pointer.strip_prefix('/')?.split_once('/')?;
        let value = self.root.get(first)?.pointer(&format!("/{rest}"))?;
        value.as_object()
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
            !value.is_u64()
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    //! Lints of tools.

    use mcp_types::Tool;
    use serde_json::{Value, json};

    use super::{LintProfile, Severity, lint};

    /// Returns the location, the severity and the start of the clients of each lint.
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
        Tool::raw("t", serde_json::from_value(schema).unwrap())
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
                    .all(|it| it.0 == "name" && it.1 == Severity::Warning)
            );
        }
    }

    #[test]
    fn schema_that_clients_refuse_is_a_lint() {
        use Severity::{Note, Warning};
        let root = || "inputSchema".to_owned();
        let property = || "inputSchema/properties/p".to_owned();
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
                with_property(json!({"$ref": "#/$defs/x"})),
                vec![(property(), Warning, "LM")],
            ),
            (
                with_property(json!({"anyOf": [{"type": "string"}, {"type": "null"}]})),
                vec![],
            ),
            (
                with_property(json!({"type": ["string", "null"]})),
                vec![(property(), Note, "Gemini")],
            ),
            (
                with_property(json!({"type": "integer", "format": "uint32"})),
                vec![(property(), Note, "clients")],
            ),
            (
                with_property(json!({"type": "string", "format": "date-time"})),
                vec![],
            ),
            (
                with_property(json!({"type": "array"})),
                vec![(property(), Warning, "Copilot")],
            ),
            (
                with_property(json!({"type": "array", "prefixItems": [{"type": "string"}]})),
                vec![(property(), Warning, "Copilot")],
            ),
            (
                with_property(json!({"type": "integer", "enum": [1, 2]})),
                vec![(property(), Note, "Gemini")],
            ),
            (
                with_property(json!({"type": "object", "anyOf": [{"required": ["a"]}]})),
                vec![(property(), Warning, "Kimi")],
            ),
            (
                with_property(json!({"if": {}, "then": {}})),
                vec![(property(), Warning, "Zed")],
            ),
            (
                with_schema(json!({"type": "object", "properties": {"a b": {"type": "string"}}})),
                vec![(format!("{}/properties/a b", root()), Warning, "Claude")],
            ),
            (
                with_property(json!({"type": "array", "items": {"enum": null}})),
                vec![(format!("{}/items", property()), Warning, "Claude")],
            ),
            (
                with_property(json!({"type": "string", "x-mcp-header": "Api-Key"})),
                vec![(property(), Warning, "proxies")],
            ),
            (
                with_property(json!({"type": "string", "x-mcp-header": "Region"})),
                vec![],
            ),
            (
                Tool::new("t").output_schema(
                    serde_json::from_value::<mcp_types::JsonObject>(json!({"type": "array"}))
                        .unwrap(),
                ),
                vec![],
            ),
        ] {
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
