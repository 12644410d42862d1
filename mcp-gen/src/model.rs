//! The catalog as methods and types.

use mcp_client::catalog::Snapshot;
use mcp_types::uri_template;
use serde_json::Value;

use crate::cycles;
use crate::docs;
use crate::error::GenerateError;
use crate::names::{Names, type_name, value_name};
use crate::report::{Note, Report, ToolReport};
use crate::schema;
use crate::types::{Field, Shape, Table, Type};

/// Most tools, prompts, resources and templates of one catalog.
const MAX_ITEMS: usize = 20_000;
/// Names of methods that the generated types have anyway.
const RESERVED_METHODS: [&str; 4] = ["new", "client", "clone", "fmt"];

/// The kind of a method's call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Tool,
    Prompt,
    Template,
    Resource,
}

/// A method of the generated struct or trait.
#[derive(Debug)]
pub(crate) struct Method {
    pub(crate) kind: Kind,
    /// The name, URI or URI template in the protocol.
    pub(crate) key: String,
    /// The name in Rust.
    pub(crate) name: String,
    pub(crate) docs: Vec<String>,
    pub(crate) arguments: Option<Type>,
    /// The type of structured results. Only for tools.
    pub(crate) output: Option<Type>,
}

/// All that the generated code has.
pub(crate) struct Model {
    pub(crate) name: String,
    pub(crate) types: Table,
    pub(crate) methods: Vec<Method>,
    pub(crate) report: Report,
}

impl Model {
    pub(crate) fn new(name: &str, snapshot: &Snapshot) -> Result<Self, GenerateError> {
        let value = snapshot.as_value();
        let lists = ["tools", "prompts", "resourceTemplates", "resources"];
        let list = |name: &str| value.get(name).and_then(Value::as_array);
        let count = lists.iter().filter_map(|it| list(it)).map(Vec::len).sum();
        if count > MAX_ITEMS {
            return Err(GenerateError::TooMany {
                count,
                limit: MAX_ITEMS,
            });
        }
        let mut types = Table::new();
        let name = type_name(name, "Server");
        let slot = types.reserve(&name);
        let mut builder = Builder {
            types,
            methods: Vec::new(),
            names: Names::with_reserved(&RESERVED_METHODS),
            report: Report::default(),
        };
        for item in list("tools").into_iter().flatten() {
            builder.tool(item);
        }
        for item in list("prompts").into_iter().flatten() {
            builder.prompt(item);
        }
        for item in list("resourceTemplates").into_iter().flatten() {
            builder.template(item);
        }
        for item in list("resources").into_iter().flatten() {
            builder.resource(item);
        }
        cycles::resolve(&mut builder.types);
        Ok(Self {
            name: builder.types.name(slot).to_owned(),
            types: builder.types,
            methods: builder.methods,
            report: builder.report,
        })
    }
}

struct Builder {
    types: Table,
    methods: Vec<Method>,
    names: Names,
    report: Report,
}

impl Builder {
    fn tool(&mut self, item: &Value) {
        let key = text(item, "name");
        let base = type_name(key, "Tool");
        let mut notes: Vec<Note> = Vec::new();
        let mut convert = |schema: &Value, suffix: &str, path: &str| {
            let name = format!("{base}{suffix}");
            let (ty, found) = schema::lower(schema, &name, path, &mut self.types);
            notes.extend(found);
            ty
        };
        let input = item.get("inputSchema");
        let input = input.filter(|schema| !schema::is_empty_object(schema));
        let arguments = input.map(|schema| convert(schema, "Input", "/inputSchema"));
        let schema = item.get("outputSchema");
        let output = schema.map(|schema| convert(schema, "Output", "/outputSchema"));
        self.report.0.push(ToolReport {
            name: key.to_owned(),
            has_output: output.is_some(),
            notes,
        });
        let method = self.method(Kind::Tool, item, key, &value_name(key, "tool"));
        self.methods.push(Method {
            arguments,
            output,
            ..method
        });
    }

    fn prompt(&mut self, item: &Value) {
        let key = text(item, "name");
        let list = item.get("arguments").and_then(Value::as_array);
        let fields: Vec<(&str, &Value)> = list
            .into_iter()
            .flatten()
            .map(|it| (text(it, "name"), it))
            .collect();
        let fields = fields.into_iter().map(|(name, it)| {
            let required = it.get("required") == Some(&Value::Bool(true));
            (name, docs_of(it), required)
        });
        let name = format!("{}Prompt", type_name(key, ""));
        let arguments = self.strings(&name, fields.collect());
        let method = self.method(
            Kind::Prompt,
            item,
            key,
            &value_name(&format!("{key} prompt"), "prompt"),
        );
        self.methods.push(Method {
            arguments,
            ..method
        });
    }

    fn template(&mut self, item: &Value) {
        let key = text(item, "uriTemplate");
        let mut fields: Vec<(&str, Vec<String>, bool)> = Vec::new();
        for (name, operator) in uri_template::variables(key) {
            if !name.is_empty() && fields.iter().all(|(known, ..)| *known != name) {
                let is_optional = matches!(operator, Some('/' | ';' | '?' | '&'));
                fields.push((name, Vec::new(), !is_optional));
            }
        }
        let title = text(item, "name");
        let name = format!("{}Template", type_name(title, ""));
        let arguments = self.strings(&name, fields);
        let method = self.method(
            Kind::Template,
            item,
            key,
            &value_name(&format!("read {title}"), "read"),
        );
        self.methods.push(Method {
            arguments,
            ..method
        });
    }

    fn resource(&mut self, item: &Value) {
        let key = text(item, "uri");
        let name = value_name(&format!("read {}", text(item, "name")), "read");
        let method = self.method(Kind::Resource, item, key, &name);
        self.methods.push(method);
    }

    fn method(&mut self, kind: Kind, item: &Value, key: &str, name: &str) -> Method {
        let name = match RESERVED_METHODS.contains(&name) {
            true => format!("{name}_tool"),
            false => name.to_owned(),
        };
        Method {
            kind,
            key: key.to_owned(),
            name: self.names.take(&name),
            docs: docs_of(item),
            arguments: None,
            output: None,
        }
    }

    /// Defines a struct of strings: name, documentation, required.
    fn strings(&mut self, name: &str, fields: Vec<(&str, Vec<String>, bool)>) -> Option<Type> {
        if fields.is_empty() {
            return None;
        }
        let mut names = Names::with_reserved(&["new", "uri"]);
        let fields = fields.into_iter().map(|(key, docs, required)| Field {
            key: key.to_owned(),
            name: names.take(&value_name(key, "field")),
            docs,
            ty: Type::Text,
            required,
            constant: false,
        });
        let shape = Shape::Struct {
            fields: fields.collect(),
            rest: None,
        };
        let slot = self.types.reserve(name);
        self.types.define(slot, Vec::new(), shape);
        Some(Type::Named(slot))
    }
}

fn text<'a>(item: &'a Value, key: &str) -> &'a str {
    item.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn docs_of(item: &Value) -> Vec<String> {
    let lines = docs::lines(text(item, "description"));
    match lines.is_empty() {
        true => docs::lines(text(item, "title")),
        false => lines,
    }
}
