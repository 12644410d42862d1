//! The catalog as methods and types.

use mcp_client::catalog::Snapshot;
use mcp_types::uri_template;
use serde_json::Value;

use crate::cycles;
use crate::docs;
use crate::equal;
use crate::error::GenerateError;
use crate::names::{Names, type_name, value_name};
use crate::report::{Note, Report, ToolReport};
use crate::schema;
use crate::types::{Field, Shape, Table, Type};

/// Most tools, prompts, resources and templates of one catalog.
const MAX_ITEMS: usize = 20_000;
/// Names of methods that the generated types have anyway.
const RESERVED_METHODS: [&str; 4] = ["new", "client", "clone", "fmt"];

/// Adds one item of a list to the model.
type AddItem = fn(&mut Builder, &Value);

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
        let lists: [(&str, AddItem); 4] = [
            ("tools", Builder::tool),
            ("prompts", Builder::prompt),
            ("resourceTemplates", Builder::template),
            ("resources", Builder::resource),
        ];
        let list = |name: &str| value.get(name).and_then(Value::as_array);
        let known = lists.iter().filter_map(|(name, _)| list(name));
        let count = known.map(Vec::len).sum();
        if count > MAX_ITEMS {
            return Err(GenerateError::TooMany {
                count,
                limit: MAX_ITEMS,
            });
        }
        let mut types = Table::new();
        let name = type_name(name, "Server");
        let slot = types.reserve(&name, None);
        let mut builder = Builder {
            types,
            methods: Vec::new(),
            names: Names::with_reserved(&RESERVED_METHODS),
            report: Report::default(),
        };
        for (name, add) in lists {
            for item in list(name).into_iter().flatten() {
                add(&mut builder, item);
            }
        }
        let methods = builder.methods.iter_mut();
        let uses = methods.flat_map(|method| method.arguments.iter_mut().chain(&mut method.output));
        equal::merge(&mut builder.types, uses);
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
        let types = (arguments, output);
        self.add(Kind::Tool, item, key, &value_name(key, "tool"), types);
    }

    fn prompt(&mut self, item: &Value) {
        let key = text(item, "name");
        let name = format!("{}Prompt", type_name(key, ""));
        let list = item.get("arguments").and_then(Value::as_array);
        let mut fields = Vec::new();
        for argument in list.into_iter().flatten() {
            let key = text(argument, "name");
            let description = text(argument, "description");
            let (description, schema) = match described_schema(description) {
                Some((description, schema)) => (description, Some(schema)),
                None => (description, None),
            };
            let ty = schema.map_or(Type::Text, |schema| {
                let name = format!("{name}{}", type_name(key, "Argument"));
                schema::lower(&schema, &name, "/arguments", &mut self.types).0
            });
            fields.push(Field {
                is_json_text: ty != Type::Text,
                docs: docs_of(description, argument),
                required: (argument.get("required") == Some(&Value::Bool(true)))
                    .then_some(fields.len()),
                ..text_field(key, ty)
            });
        }
        let arguments = self.define(&name, fields);
        let name = value_name(&format!("{key} prompt"), "prompt");
        self.add(Kind::Prompt, item, key, &name, (arguments, None));
    }

    fn template(&mut self, item: &Value) {
        let key = text(item, "uriTemplate");
        let mut fields: Vec<Field> = Vec::new();
        for (name, operator) in uri_template::variables(key) {
            if !name.is_empty() && fields.iter().all(|field| field.key != name) {
                fields.push(Field {
                    required: (!matches!(operator, Some('/' | ';' | '?' | '&')))
                        .then_some(fields.len()),
                    ..text_field(name, Type::Text)
                });
            }
        }
        let title = text(item, "name");
        let arguments = self.define(&format!("{}Template", type_name(title, "")), fields);
        let name = value_name(&format!("read {title}"), "read");
        self.add(Kind::Template, item, key, &name, (arguments, None));
    }

    fn resource(&mut self, item: &Value) {
        let key = text(item, "uri");
        let name = value_name(&format!("read {}", text(item, "name")), "read");
        self.add(Kind::Resource, item, key, &name, (None, None));
    }

    /// Adds a method with its arguments and its output.
    fn add(
        &mut self,
        kind: Kind,
        item: &Value,
        key: &str,
        name: &str,
        (arguments, output): (Option<Type>, Option<Type>),
    ) {
        let name = if RESERVED_METHODS.contains(&name) {
            format!("{name}_tool")
        } else {
            name.to_owned()
        };
        self.methods.push(Method {
            kind,
            key: key.to_owned(),
            name: self.names.take(&name),
            docs: docs_of(text(item, "description"), item),
            arguments,
            output,
        });
    }

    /// Defines a struct, and names its fields. Returns `None` without fields.
    fn define(&mut self, name: &str, mut fields: Vec<Field>) -> Option<Type> {
        if fields.is_empty() {
            return None;
        }
        let mut names = Names::with_reserved(&["new", "uri"]);
        for field in &mut fields {
            field.name = names.take(&value_name(&field.key, "field"));
        }
        let slot = self.types.reserve(name, None);
        let shape = Shape::Struct { fields, rest: None };
        self.types.define(slot, Vec::new(), shape);
        Some(Type::Named(slot))
    }
}

/// Returns an optional field without a description.
fn text_field(key: &str, ty: Type) -> Field {
    Field {
        key: key.to_owned(),
        name: String::new(),
        docs: Vec::new(),
        ty,
        required: None,
        constant: false,
        is_json_text: false,
    }
}

/// Splits the description of a prompt argument that FastMCP wrote: prompt arguments are strings, so it
/// describes each other type with its schema.
fn described_schema(description: &str) -> Option<(&str, Value)> {
    const NOTE: &str = "Provide as a JSON string matching the following schema:";
    let (description, schema) = description.split_once(NOTE)?;
    Some((description, serde_json::from_str(schema).ok()?))
}

fn text<'a>(item: &'a Value, key: &str) -> &'a str {
    item.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the description as documentation, or else the title.
fn docs_of(description: &str, item: &Value) -> Vec<String> {
    let lines = docs::lines(description);
    if lines.is_empty() {
        docs::lines(text(item, "title"))
    } else {
        lines
    }
}
