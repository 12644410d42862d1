//! The parameters of a function while its route is created.

use mcp_core::PARAM_HEADER;
use mcp_schema::{Keywords as _, Node, Schema as ParsedSchema};
use mcp_types::JsonObject;
use schemars::generate::SchemaGenerator;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::doc::doc;
use super::optional::absent_value;
use super::plan::{NamedArgument, ParameterPlan};
use crate::call::RouteSpec;
use crate::constraints::range::Range;
use crate::constraints::text::Length;
use crate::constraints::{ArgumentFormat, Constraints};
use crate::extract::FromCall;
use crate::schema::{self, ArgumentSchema, Decode, DroppedArguments};

/// The name, doc comment and options of a parameter.
#[derive(Debug, Default)]
pub struct ParameterInfo {
    pub(super) name: &'static str,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) default: Option<Result<Value, String>>,
    pub(super) range: Option<Range>,
    pub(super) length: Option<Length>,
    pub(super) pattern: Option<String>,
    pub(super) header: Option<&'static str>,
}

impl ParameterInfo {
    /// Creates the info of a parameter; the name is empty for a parameter with a pattern.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            ..Self::default()
        }
    }

    /// Sets the title.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the description from the parts of a doc comment.
    #[must_use]
    pub fn doc(mut self, parts: &[&str]) -> Self {
        self.description = Some(doc(parts)).filter(|text| !text.is_empty());
        self
    }

    /// Sets the HTTP header that mirrors the argument.
    #[must_use]
    pub fn header(mut self, name: &'static str) -> Self {
        self.header = Some(name);
        self
    }
}

/// The parameters of a function while its route is created.
#[derive(Debug)]
pub struct Parameters {
    spec: RouteSpec,
    generator: SchemaGenerator,
    properties: JsonObject,
    required: Vec<Value>,
    /// The decoder of each argument.
    decoders: Vec<(&'static str, Decode)>,
    plan: ParameterPlan,
}

impl Parameters {
    /// An empty list of parameters.
    #[expect(clippy::new_without_default, reason = "only generated code calls it")]
    pub fn new() -> Self {
        Self {
            spec: RouteSpec::default(),
            generator: schema::generator(),
            properties: JsonObject::new(),
            required: Vec::new(),
            decoders: Vec::new(),
            plan: ParameterPlan::default(),
        }
    }

    pub(super) fn add_extractor<T: FromCall>(&mut self) {
        T::describe(&mut self.spec);
        self.plan.push(None);
    }

    pub(super) fn add_argument<T: DeserializeOwned + JsonSchema>(&mut self, info: ParameterInfo) {
        let schema = self.generator.subschema_for::<T>();
        let is_required = info.default.is_none() && absent_value::<T>().is_none();
        let name = info.name;
        let schema = self.publish(schema, &info);
        let previous = self.properties.insert(name.to_owned(), schema.into());
        if previous.is_some() {
            self.problem(name, "there is another one of this name");
        }
        if is_required {
            self.required.push(name.into());
        }
        self.decoders.push((name, schema::decode::<T>));
        self.plan.push(Some(NamedArgument { name, is_required }));
    }

    /// Returns the schema of the argument with its options.
    fn publish(&mut self, schema: Schema, info: &ParameterInfo) -> JsonObject {
        let mut schema = schema::into_object(schema);
        if let Some(text) = &info.title {
            schema.insert("title".to_owned(), text.as_str().into());
        }
        if let Some(text) = &info.description {
            schema.insert("description".to_owned(), text.as_str().into());
        }
        if let Some(range) = &info.range {
            range.publish(&mut schema);
        }
        if let Some(length) = info.length {
            length.publish(&mut schema);
        }
        if let Some(pattern) = &info.pattern {
            schema.insert("pattern".to_owned(), pattern.as_str().into());
        }
        match &info.default {
            Some(Ok(value)) => {
                // One that is too large is a problem of the whole schema.
                let constraints = Constraints::from_schema(&schema).unwrap_or_default();
                let violations = constraints
                    .map(|constraints| constraints.find_violations(value, ArgumentFormat::Json));
                for violation in violations.unwrap_or_default() {
                    self.problem(info.name, &format!("its default: {violation}"));
                }
                schema.insert("default".to_owned(), value.clone());
            }
            Some(Err(reason)) => self.problem(info.name, &format!("its default: {reason}")),
            None => {}
        }
        if let Some(header) = info.header {
            // spec: XHDR-01
            schema.insert(PARAM_HEADER.to_owned(), header.into());
        }
        schema
    }

    fn problem(&mut self, name: &str, reason: &str) {
        self.spec
            .problem(format!("the argument `{name}`: {reason}"));
    }

    pub(super) fn finish(mut self) -> (RouteSpec, ParameterPlan) {
        if self.plan.has_arguments() {
            let schema = self.schema();
            self.spec.set_arguments(schema);
        }
        (self.spec, self.plan)
    }

    // spec: TOOL-06, JSCH-09
    fn schema(&mut self) -> ArgumentSchema {
        let mut root = JsonObject::new();
        root.insert("type".to_owned(), "object".into());
        let properties = std::mem::take(&mut self.properties);
        root.insert("properties".to_owned(), properties.into());
        if !self.required.is_empty() {
            let required = std::mem::take(&mut self.required);
            root.insert("required".to_owned(), required.into());
        }
        root.insert("additionalProperties".to_owned(), false.into());
        let definitions = self.generator.take_definitions(true);
        if !definitions.is_empty() {
            root.insert("$defs".to_owned(), definitions.into());
        }
        let parsed = ParsedSchema::parse(&root);
        let constraints = parsed.as_ref().map(Constraints::of).map_err(Clone::clone);
        let names = parsed.map(|parsed| self.dropped(parsed.root()));
        let dropped = DroppedArguments::new(&root, names.unwrap_or_default());
        ArgumentSchema::new(root, constraints, dropped)
    }

    /// Returns the arguments whose types drop wrong values.
    fn dropped(&self, root: Node<'_>) -> Vec<String> {
        let decoders = self.decoders.iter().filter(|(name, decode)| {
            let schema = root.property(name);
            schema.is_some_and(|schema| schema::drops(schema, *decode))
        });
        decoders.map(|(name, _)| (*name).to_owned()).collect()
    }
}
