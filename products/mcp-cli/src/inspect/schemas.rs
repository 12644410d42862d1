//! The published schema of each revision. Checks a message part against its definition.
//!
//! The files in `schemas` are those of `docs/spec/schema` without descriptions.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use mcp::schema::{Check, JsonSchema, Validator as _, Violation};
use mcp::types::ProtocolVersion;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::violations::Violations;

/// The part of a message that a definition describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Params,
    Result,
    Error,
}

/// A schema that is parsed at its first use, with its revision and its JSON.
type LazySchema = (&'static str, &'static str, OnceLock<Option<RevisionSchema>>);

macro_rules! schemas {
    ($($revision:literal,)*) => {
        static SCHEMAS: [LazySchema; ProtocolVersion::ALL.len()] = [
            $(($revision, include_str!(concat!("schemas/", $revision, ".json")), OnceLock::new()),)*
        ];
    };
}

schemas! {
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
}

/// Compiled parts of definitions. `None` where nothing is defined.
type Validators = HashMap<(String, Part), Option<Arc<dyn Check>>>;

/// The definitions of one revision. Validators are compiled at their first use.
#[derive(Debug)]
pub(super) struct RevisionSchema {
    version: ProtocolVersion,
    document: Map<String, Value>,
    /// The member of the document with the definitions: `$defs` or `definitions`.
    section: &'static str,
    /// Definitions of requests and notifications, by method.
    methods: HashMap<String, String>,
    /// Error definitions, by code.
    errors: HashMap<i64, String>,
    compiled: Mutex<Validators>,
}

impl RevisionSchema {
    /// Returns the schema of a revision. `None` for a revision whose schema is not in this program.
    pub(super) fn get(version: ProtocolVersion) -> Option<&'static Self> {
        let (_, text, schema) = SCHEMAS.iter().find(|entry| entry.0 == version.as_str())?;
        schema.get_or_init(|| Self::read(version, text)).as_ref()
    }

    fn read(version: ProtocolVersion, text: &str) -> Option<Self> {
        let document: Map<String, Value> = serde_json::from_str(text).ok()?;
        let section = if document.contains_key("$defs") {
            "$defs"
        } else {
            "definitions"
        };
        let mut schema = Self {
            version,
            document,
            section,
            methods: HashMap::new(),
            errors: HashMap::new(),
            compiled: Mutex::default(),
        };
        schema.index();
        Some(schema)
    }

    /// Finds the definitions that name a method or an error code.
    fn index(&mut self) {
        let definitions = self.document[self.section].as_object();
        for (name, definition) in definitions.into_iter().flatten() {
            let is_message = name.ends_with("Request") || name.ends_with("Notification");
            let properties = &definition["properties"];
            // A union of one notification has its method, too.
            let is_union = name.starts_with("Client") || name.starts_with("Server");
            if let Some(method) = properties["method"]["const"].as_str()
                && is_message
                && !is_union
            {
                self.methods.insert(method.to_owned(), name.clone());
            }
            let parts = properties["error"]["allOf"]
                .as_array()
                .into_iter()
                .flatten();
            let mut codes = parts.filter_map(|part| part["properties"]["code"]["const"].as_i64());
            if let Some(code) = codes.next() {
                self.errors.insert(code, name.clone());
            }
        }
    }

    /// Checks the parameters of a request or notification. Extension methods have no definition.
    pub(super) fn check_params(&self, method: &str, message: &Value, found: &mut Violations) {
        if let Some(definition) = self.methods.get(method) {
            self.check(definition, Part::Params, message, found);
        }
    }

    /// Checks the result of a request.
    pub(super) fn check_result(&self, method: &str, message: &Value, found: &mut Violations) {
        if let Some(definition) = self.result_definition(method) {
            self.check_definition(&definition, message, found);
        }
    }

    /// Checks a result against a result definition.
    pub(super) fn check_definition(&self, name: &str, message: &Value, found: &mut Violations) {
        self.check(name, Part::Result, message, found);
    }

    /// Checks an error whose code has a definition.
    pub(super) fn check_error(&self, message: &Value, found: &mut Violations) {
        let code = message["error"]["code"].as_i64();
        if let Some(definition) = code.and_then(|code| self.errors.get(&code)) {
            self.check(definition, Part::Error, message, found);
        }
    }

    /// Returns true if this revision defines tasks as results.
    pub(super) fn has_created_tasks(&self) -> bool {
        self.definition("CreateTaskResult").is_some()
    }

    /// Returns the definition that a method's result must match: its own, or `EmptyResult`.
    fn result_definition(&self, method: &str) -> Option<String> {
        let request = self.methods.get(method)?.strip_suffix("Request")?;
        let own = format!("{request}Result");
        Some(match self.definition(&own) {
            Some(_) => own,
            None => "EmptyResult".to_owned(),
        })
    }

    fn definition(&self, name: &str) -> Option<&Value> {
        self.document[self.section].get(name)
    }

    fn check(&self, definition: &str, part: Part, message: &Value, found: &mut Violations) {
        let Some(check) = self.compiled(definition, part) else {
            return;
        };
        let Err(violations) = check.check(message) else {
            return;
        };
        if violations.is_unchecked() {
            found.set_unchecked();
            return;
        }
        // A result without a type violates another rule: BASE-21.
        let is_own = |violation: &&Violation| {
            violation.path != "result" || violation.reason != "missing `resultType`"
        };
        for violation in violations.iter().filter(is_own) {
            let version = self.version;
            found.add("schema", format!("{definition} of {version}: {violation}"));
        }
    }

    /// Returns the validator for a part. `None` if nothing is defined.
    fn compiled(&self, definition: &str, part: Part) -> Option<Arc<dyn Check>> {
        let mut compiled = self.compiled.lock();
        let key = (definition.to_owned(), part);
        let entry = compiled.entry(key);
        entry
            .or_insert_with(|| self.compile(definition, part))
            .clone()
    }

    fn compile(&self, definition: &str, part: Part) -> Option<Arc<dyn Check>> {
        let described = self.definition(definition)?;
        let (member, schema, is_required) = match part {
            Part::Result => {
                let reference = format!("#/{}/{definition}", self.section);
                ("result", json!({"$ref": reference}), true)
            }
            Part::Error => ("error", described["properties"]["error"].clone(), true),
            Part::Params => {
                let schema = described["properties"].get("params")?.clone();
                let required = described["required"].as_array();
                let is_required = required.is_some_and(|names| names.contains(&json!("params")));
                ("params", schema, is_required)
            }
        };
        let mut root = Map::new();
        root.insert("$schema".to_owned(), self.document["$schema"].clone());
        let definitions = self.reachable(&schema);
        root.insert("properties".to_owned(), json!({member: schema}));
        if is_required {
            root.insert("required".to_owned(), json!([member]));
        }
        root.insert(self.section.to_owned(), Value::Object(definitions));
        JsonSchema.compile(&root).ok()
    }

    /// Returns the definitions that a schema refers to.
    fn reachable(&self, schema: &Value) -> Map<String, Value> {
        let mut definitions = Map::new();
        let mut names = HashSet::new();
        references(schema, &mut names);
        while let Some(name) = names.iter().next().cloned() {
            names.remove(&name);
            if let Some(definition) = self.definition(&name)
                && !definitions.contains_key(&name)
            {
                references(definition, &mut names);
                definitions.insert(name, definition.clone());
            }
        }
        definitions
    }
}

/// Collects the definition names in references.
fn references(schema: &Value, names: &mut HashSet<String>) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get("$ref") {
                let name = reference.rsplit('/').next().unwrap_or_default();
                names.insert(name.to_owned());
            }
            members
                .values()
                .for_each(|member| references(member, names));
        }
        Value::Array(elements) => elements
            .iter()
            .for_each(|element| references(element, names)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::{env, fs};

    use mcp::types::ProtocolVersion;
    use serde_json::Value;

    use super::{Part, RevisionSchema};

    fn without_descriptions(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|name, value| name != "description" || !value.is_string());
                members.values_mut().for_each(without_descriptions);
            }
            Value::Array(elements) => elements.iter_mut().for_each(without_descriptions),
            _ => {}
        }
    }

    /// One definition per line.
    fn written(schema: &Value) -> String {
        let (section, definitions) = schema.as_object().unwrap().iter().nth(1).unwrap();
        let lines = definitions.as_object().unwrap().iter();
        let lines = lines.map(|(name, it)| format!("{}:{it}", Value::from(&**name)));
        let lines: Vec<_> = lines.collect();
        let dialect = &schema["$schema"];
        format!(
            "{{\"$schema\":{dialect},\"{section}\":{{\n{}\n}}}}\n",
            lines.join(",\n")
        )
    }

    #[test]
    fn files_are_the_published_schemas() {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        for version in ProtocolVersion::ALL {
            let published = format!("../../docs/spec/schema/{version}/schema.json");
            let published = fs::read_to_string(root.join(published)).unwrap();
            let mut schema: Value = serde_json::from_str(&published).unwrap();
            without_descriptions(&mut schema);
            let file = root.join(format!("src/inspect/schemas/{version}.json"));
            let expected = written(&schema);
            if env::var_os("UPDATE_EXPECT").is_some() {
                fs::write(&file, &expected).unwrap();
            }
            let found = fs::read_to_string(&file).unwrap();
            assert!(
                found == expected,
                "{version}: run this test with UPDATE_EXPECT=1"
            );
        }
    }

    #[test]
    fn all_definitions_compile() {
        for version in ProtocolVersion::ALL {
            let schema = RevisionSchema::get(version).unwrap();
            assert!(schema.methods.len() > 20, "{version}");
            for (method, definition) in &schema.methods {
                let has_params = schema.definition(definition).unwrap()["properties"]
                    .get("params")
                    .is_some();
                let params = schema.compiled(definition, Part::Params);
                assert_eq!(params.is_some(), has_params, "{version} {method}");
                if let Some(result) = schema.result_definition(method) {
                    let result = schema.compiled(&result, Part::Result);
                    assert!(result.is_some(), "{version} {method}");
                }
            }
            for definition in schema.errors.values() {
                let error = schema.compiled(definition, Part::Error);
                assert!(error.is_some(), "{version} {definition}");
            }
        }
        let modern = RevisionSchema::get(ProtocolVersion::V2026_07_28).unwrap();
        assert!(modern.errors.len() >= 3, "{:?}", modern.errors);
        let found = modern.result_definition("tools/list");
        assert_eq!(found.as_deref(), Some("ListToolsResult"));
    }
}
