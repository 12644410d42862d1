//! What a tool's parameters need, written down when its route is made.

use schemars::generate::SchemaGenerator;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use mcp_core::PARAM_HEADER;
use mcp_types::JsonObject;

use super::plan::{Known, Plan};
use super::{absent, doc};
use crate::constraints::range::Range;
use crate::extract::FromCall;
use crate::schema::{self, Described};
use crate::spec::RouteSpec;

/// What the source says about a parameter.
#[derive(Debug, Default)]
pub struct About {
    name: &'static str,
    title: Option<String>,
    description: Option<String>,
    default: Option<Result<Value, String>>,
    range: Option<Range>,
    header: Option<&'static str>,
}

impl About {
    /// Its name; empty for a parameter without one.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            ..Self::default()
        }
    }

    /// Its name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// What it is for.
    #[must_use]
    pub fn doc(mut self, pieces: &[&str]) -> Self {
        self.description = Some(doc(pieces)).filter(|text| !text.is_empty());
        self
    }

    /// Its value when it is left out.
    #[must_use]
    pub fn default_value(mut self, value: &impl Serialize) -> Self {
        let value = serde_json::to_value(value).map_err(|error| error.to_string());
        self.default = Some(value);
        self
    }

    /// From where to where it may go.
    #[must_use]
    pub fn range(mut self, range: Range) -> Self {
        self.range = Some(range);
        self
    }

    /// The header that repeats it.
    #[must_use]
    pub fn header(mut self, name: &'static str) -> Self {
        self.header = Some(name);
        self
    }
}

/// The parameters of a tool, while its route is made.
#[derive(Debug)]
pub struct Params {
    spec: RouteSpec,
    generator: SchemaGenerator,
    properties: JsonObject,
    required: Vec<Value>,
    plan: Plan,
}

impl Params {
    /// No parameters.
    #[expect(clippy::new_without_default, reason = "only macros make it")]
    pub fn new() -> Self {
        Self {
            spec: RouteSpec::default(),
            generator: schema::generator(),
            properties: JsonObject::new(),
            required: Vec::new(),
            plan: Plan::default(),
        }
    }

    pub(super) fn extractor<T: FromCall>(&mut self) {
        T::describe(&mut self.spec);
        self.plan.push(None);
    }

    pub(super) fn argument<T: DeserializeOwned + JsonSchema>(&mut self, about: About) {
        let schema = self.generator.subschema_for::<T>();
        let optional = about.default.is_some() || absent::value::<T>().is_some();
        self.property(schema, about, optional);
    }

    fn property(&mut self, schema: Schema, about: About, optional: bool) {
        let name = about.name;
        let schema = self.publish(schema, &about);
        if self
            .properties
            .insert(name.to_owned(), schema.into())
            .is_some()
        {
            self.problem(name, "there is another one of this name");
        }
        if !optional {
            self.required.push(name.into());
        }
        self.plan.push(Some(Known {
            name,
            required: !optional,
        }));
    }

    fn publish(&mut self, schema: Schema, about: &About) -> JsonObject {
        let mut schema = schema::object(schema);
        if let Some(text) = &about.title {
            schema.insert("title".to_owned(), text.as_str().into());
        }
        if let Some(text) = &about.description {
            schema.insert("description".to_owned(), text.as_str().into());
        }
        if let Some(range) = &about.range {
            range.publish(&mut schema);
        }
        match &about.default {
            Some(Ok(value)) => {
                if let Some(Err(reason)) = about.range.map(|range| range.check_json(value)) {
                    self.problem(about.name, &format!("its default: {reason}"));
                }
                schema.insert("default".to_owned(), value.clone());
            }
            Some(Err(reason)) => self.problem(about.name, &format!("its default: {reason}")),
            None => {}
        }
        if let Some(header) = about.header {
            // spec: XHDR-01
            schema.insert(PARAM_HEADER.to_owned(), header.into());
        }
        schema
    }

    fn problem(&mut self, name: &str, reason: &str) {
        self.spec
            .problem(format!("the argument `{name}`: {reason}"));
    }

    pub(super) fn finish(mut self) -> (RouteSpec, Plan) {
        if self.plan.has_arguments() {
            let schema = self.schema();
            self.spec.described(schema);
        }
        (self.spec, self.plan)
    }

    // spec: TOOL-06, JSCH-04, JSCH-09
    fn schema(&mut self) -> Described {
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
        schema::describe(root)
    }
}
