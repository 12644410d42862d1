//! An operation of a document, and its tool's arguments.

use std::collections::HashSet;
use std::sync::Arc;

use http::Method;
use mcp_types::{JsonObject, Tool, ToolAnnotations};
use oas3::Spec;
use oas3::spec::{ObjectOrReference, Operation, Parameter, ParameterIn, ParameterStyle, Schema};
use serde_json::Value;

use super::path::check_template;
use super::reference::resolve;
use super::schema::{Properties, accepts, of_output};
use super::target::Target;

/// Longest schema in bytes: the longest that the validator accepts.
const MAX_SCHEMA: usize = 256 << 10;
/// The name of the argument with the request body.
const BODY: &str = "body";
/// The media type of a form.
pub(super) const FORM: &str = "application/x-www-form-urlencoded";

/// An operation whose tool can be called.
#[derive(Debug, Clone)]
pub(super) struct ApiOperation {
    pub(super) method: Method,
    /// The path with its variables: `/pets/{id}`.
    pub(super) path: String,
    pub(super) arguments: Vec<Argument>,
    pub(super) body: Option<BodyArgument>,
    /// The tool has an output schema.
    pub(super) has_output: bool,
}

/// An argument that is a request parameter.
#[derive(Debug, Clone)]
pub(super) struct Argument {
    /// The argument's name.
    pub(super) name: String,
    /// The parameter's name.
    pub(super) parameter: String,
    pub(super) location: ParameterIn,
    pub(super) format: ParameterFormat,
    /// The parameter's schema has the type `object`.
    pub(super) accepts_objects: bool,
    /// The parameter's schema has the type `array`.
    pub(super) accepts_arrays: bool,
}

/// The argument that is the request's body.
#[derive(Debug, Clone)]
pub(super) struct BodyArgument {
    pub(super) name: String,
    pub(super) is_required: bool,
    pub(super) format: BodyFormat,
}

/// The format of a request's body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BodyFormat {
    Json,
    /// `application/x-www-form-urlencoded`. The members with these names have the style `deepObject`.
    Form(HashSet<String>),
}

/// The form of a value in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParameterFormat {
    /// Each item or member is a parameter.
    Exploded,
    /// Each member is a parameter `name[member]`.
    Deep,
    /// Items and members have this text between them.
    Delimited(&'static str),
    /// JSON.
    Json,
}

impl ParameterFormat {
    /// Returns the parameter format.
    ///
    /// # Errors
    ///
    /// Returns the reason when the parameter has a style that is not supported.
    fn new(parameter: &Parameter) -> Result<Self, String> {
        if parameter.schema.is_none() && json_schema(parameter).is_some() {
            return Ok(Self::Json);
        }
        let is_query = parameter.location == ParameterIn::Query;
        let is_form = matches!(parameter.style, None | Some(ParameterStyle::Form));
        let is_exploded = is_query && parameter.explode.unwrap_or(is_form);
        match parameter.style {
            Some(ParameterStyle::DeepObject) => Ok(Self::Deep),
            Some(style @ (ParameterStyle::Label | ParameterStyle::Matrix)) => Err(format!(
                "the parameter {:?} has the style {style:?}",
                parameter.name
            )),
            _ if is_exploded => Ok(Self::Exploded),
            Some(ParameterStyle::SpaceDelimited) => Ok(Self::Delimited(" ")),
            Some(ParameterStyle::PipeDelimited) => Ok(Self::Delimited("|")),
            _ => Ok(Self::Delimited(",")),
        }
    }

    /// Returns a value as text.
    pub(super) fn text(self, value: &Value) -> String {
        let delimiter = match self {
            Self::Json => return value.to_string(),
            Self::Delimited(delimiter) => delimiter,
            Self::Exploded | Self::Deep => ",",
        };
        let inner = |value| self.text(value);
        match value {
            Value::String(text) => text.clone(),
            Value::Array(items) => items.iter().map(inner).collect::<Vec<_>>().join(delimiter),
            Value::Object(members) => {
                let members = members.iter();
                let members =
                    members.map(|(key, value)| format!("{key}{delimiter}{}", inner(value)));
                members.collect::<Vec<_>>().join(delimiter)
            }
            value => value.to_string(),
        }
    }
}

/// Returns the schema of a parameter whose value is JSON.
fn json_schema(parameter: &Parameter) -> Option<&Schema> {
    let content = parameter.content.as_ref()?;
    let (_, json) = content.iter().find(|(kind, _)| is_json(kind))?;
    json.schema.as_ref()
}

impl ApiOperation {
    /// Creates the operation and its tool.
    ///
    /// # Errors
    ///
    /// Returns the reason why the operation cannot be called.
    pub(super) fn new(
        spec: &Spec,
        path: &str,
        method: &Method,
        operation: &Operation,
        target: &Target,
    ) -> Result<(Self, Tool), String> {
        check_template(path)?;
        let mut properties = Properties::default();
        let mut arguments = Vec::new();
        for parameter in parameters(spec, path, operation)? {
            match parameter.location {
                ParameterIn::Cookie if parameter.required == Some(true) => {
                    return Err(format!("the cookie {:?} is required", parameter.name));
                }
                ParameterIn::Cookie => continue,
                ParameterIn::Header if target.sets_header(&parameter.name) => continue,
                ParameterIn::Query if target.sets_query(&parameter.name) => continue,
                _ => {}
            }
            let mut name = parameter.name.clone();
            while properties.contains(&name) {
                name = format!("{}_{name}", location(parameter.location));
            }
            let is_required = parameter.required == Some(true);
            let is_required = is_required || parameter.location == ParameterIn::Path;
            let description = parameter.description.as_deref();
            let schema = parameter.schema.as_ref();
            let schema = schema.or_else(|| json_schema(&parameter));
            properties.add(&name, schema, description, is_required);
            arguments.push(Argument {
                name,
                format: ParameterFormat::new(&parameter)?,
                parameter: parameter.name,
                location: parameter.location,
                accepts_objects: false,
                accepts_arrays: false,
            });
        }
        let body = add_body(spec, operation, &mut properties)?;
        let schema = properties.into_schema(spec);
        let length = Value::Object(schema.clone()).to_string().len();
        if length > MAX_SCHEMA {
            return Err(format!(
                "the schema of its arguments has {length} bytes, and at most {MAX_SCHEMA} are taken"
            ));
        }
        for argument in &mut arguments {
            let property = schema
                .get("properties")
                .and_then(|properties| properties.get(&argument.name));
            let accepts = |kind| property.is_some_and(|property| accepts(property, &schema, kind));
            argument.accepts_objects = accepts("object");
            argument.accepts_arrays = accepts("array");
        }
        let name = name(path, method, operation);
        let mut tool = Tool::new(name).input_schema(schema);
        tool.output_schema = output_schema(spec, operation).map(Arc::new);
        let description = operation
            .description
            .as_ref()
            .or(operation.summary.as_ref());
        tool.description = description.cloned();
        tool.title.clone_from(&operation.summary);
        let mut hints = ToolAnnotations::default();
        hints.read_only_hint = Some(matches!(*method, Method::GET | Method::HEAD));
        hints.destructive_hint = Some(!matches!(
            *method,
            Method::GET | Method::HEAD | Method::POST
        ));
        hints.idempotent_hint = Some(!matches!(*method, Method::POST | Method::PATCH));
        hints.open_world_hint = Some(true);
        tool.annotations = Some(hints);
        let operation = Self {
            method: method.clone(),
            path: path.to_owned(),
            arguments,
            body,
            has_output: tool.output_schema.is_some(),
        };
        Ok((operation, tool))
    }
}

/// Returns the parameters of an operation, and those of its path unless the operation replaces them.
fn parameters(spec: &Spec, path: &str, operation: &Operation) -> Result<Vec<Parameter>, String> {
    let resolve = |parameter: &ObjectOrReference<Parameter>| {
        resolve(spec, parameter, "parameters", |all| &all.parameters)
    };
    let own = operation.parameters.iter().map(resolve);
    let mut all = own.collect::<Result<Vec<_>, _>>()?;
    let item = spec.paths.as_ref().and_then(|paths| paths.get(path));
    for shared in item.iter().flat_map(|item| &item.parameters) {
        let shared = resolve(shared)?;
        let is_same = |own: &Parameter| own.name == shared.name && own.location == shared.location;
        if !all.iter().any(is_same) {
            all.push(shared);
        }
    }
    Ok(all)
}

fn add_body(
    spec: &Spec,
    operation: &Operation,
    properties: &mut Properties,
) -> Result<Option<BodyArgument>, String> {
    let Some(body) = &operation.request_body else {
        return Ok(None);
    };
    let body = resolve(spec, body, "requestBodies", |all| &all.request_bodies)?;
    let is_required = body.required == Some(true);
    let json = body.content.iter().find(|(kind, _)| is_json(kind));
    let form = || body.content.iter().find(|(kind, _)| is_form(kind));
    let Some((kind, media)) = json.or_else(form) else {
        return if is_required {
            Err("its body is neither JSON nor a form".to_owned())
        } else {
            Ok(None)
        };
    };
    let format = if is_json(kind) {
        BodyFormat::Json
    } else {
        let members = media.encoding.iter();
        let deep = members.filter(|(_, encoding)| encoding.style.as_deref() == Some("deepObject"));
        BodyFormat::Form(deep.map(|(name, _)| name.clone()).collect())
    };
    let mut name = BODY.to_owned();
    while properties.contains(&name) {
        name = format!("request_{name}");
    }
    properties.add(
        &name,
        media.schema.as_ref(),
        body.description.as_deref(),
        is_required,
    );
    Ok(Some(BodyArgument {
        name,
        is_required,
        format,
    }))
}

/// Returns the structured content's schema: the schema of the first 2xx response with JSON.
fn output_schema(spec: &Spec, operation: &Operation) -> Option<JsonObject> {
    let responses = operation
        .responses
        .iter()
        .flat_map(|responses| responses.iter());
    let mut successes: Vec<_> = responses
        .filter(|(status, _)| status.starts_with('2'))
        .collect();
    successes.sort_by_key(|(status, _)| *status);
    let schema = successes.into_iter().find_map(|(_, response)| {
        let response = resolve(spec, response, "responses", |all| &all.responses);
        let mut content = response.ok()?.content.into_iter();
        content.find(|(kind, _)| is_json(kind))?.1.schema
    })?;
    let output = of_output(spec, &schema)?;
    let length = Value::Object(output.clone()).to_string().len();
    (length <= MAX_SCHEMA).then_some(output)
}

/// Returns whether a media type is JSON.
pub(super) fn is_json(media_type: &str) -> bool {
    let essence = essence(media_type);
    essence == "application/json" || essence.ends_with("+json")
}

fn is_form(media_type: &str) -> bool {
    essence(media_type) == FORM
}

/// Returns a media type without its parameters, in lower case.
fn essence(media_type: &str) -> String {
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

fn location(location: ParameterIn) -> &'static str {
    match location {
        ParameterIn::Path => "path",
        ParameterIn::Query => "query",
        ParameterIn::Header => "header",
        ParameterIn::Cookie => "cookie",
    }
}

/// Returns the operation's id, or method and path, without braces. The document's tools get portable names together.
fn name(path: &str, method: &Method, operation: &Operation) -> String {
    let id = operation.operation_id.clone();
    let id = id.filter(|id| !id.is_empty());
    let id = id.unwrap_or_else(|| format!("{}{path}", method.as_str().to_ascii_lowercase()));
    id.replace(['{', '}'], "")
}
