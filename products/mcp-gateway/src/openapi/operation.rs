//! An operation of a document, and its tool's arguments.

use std::collections::HashSet;
use std::sync::Arc;

use http::Method;
use mcp_schema::{Keywords as _, Schema, Type, Walk, limits};
use mcp_types::{JsonObject, Tool, ToolAnnotations, shorten};
use serde::Deserialize as _;
use serde_json::Value;

use super::document::{Document, Parameter, ParameterIn, ParameterStyle, Route};
use super::path::check_template;
use super::schema::{MAX_LEVELS, Properties, accepts, levels_of, of_output};
use super::target::Target;

/// The name of the argument with the request body.
const BODY: &str = "body";
/// Most characters of a tool's title and of its description. A text as long as the document would take the list of tools with it.
pub(super) const MAX_TEXT: usize = 1 << 16;
/// Most times that a parameter's name gets that of its place, because another argument has it.
const MAX_PREFIXES: usize = 8;
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
    fn new(parameter: &Parameter<'_>) -> Result<Self, String> {
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

/// Returns the content of a part with a media type that `is_kind` accepts.
fn content(part: &Value, is_kind: fn(&str) -> bool) -> Option<(&String, &Value)> {
    let mut content = part.get("content")?.as_object()?.iter();
    content.find(|(kind, _)| is_kind(kind))
}

/// Returns the JSON schema in the content of a part.
fn json_schema(part: &Value) -> Option<&Value> {
    content(part, is_json)?.1.get("schema")
}

impl ApiOperation {
    /// Creates the operation and its tool.
    ///
    /// # Errors
    ///
    /// Returns the reason why the operation cannot be called.
    pub(super) fn new(
        document: &Document,
        route: &Route<'_>,
        target: &Target,
    ) -> Result<(Self, Tool), String> {
        let Route { path, method, .. } = route;
        check_template(path)?;
        let operation = route.operation;
        // Copies of an operation would not be counted.
        if document.next(operation)?.is_some() {
            return Err("it is a reference to another operation".to_owned());
        }
        let place = format!("{method} {path}");
        let mut properties = Properties::new(document, &place);
        let mut arguments = Vec::new();
        for (parameter, part) in parameters(document, operation, route.parameters)? {
            match parameter.location {
                ParameterIn::Cookie if parameter.required == Some(true) => {
                    return Err(format!("the cookie {:?} is required", parameter.name));
                }
                ParameterIn::Cookie => continue,
                ParameterIn::Header if target.sets_header(parameter.name) => continue,
                ParameterIn::Query if target.sets_query(parameter.name) => continue,
                _ => {}
            }
            let mut name = parameter.name.to_owned();
            let mut prefixes = 0;
            while properties.contains(&name) {
                prefixes += 1;
                if prefixes > MAX_PREFIXES {
                    return Err("too many of its parameters have the same name".to_owned());
                }
                name = format!("{}_{name}", location(parameter.location));
            }
            let is_required = parameter.required == Some(true);
            let is_required = is_required || parameter.location == ParameterIn::Path;
            let schema = part.get("schema");
            let json = json_schema(part).filter(|_| schema.is_none());
            properties.add(&name, schema.or(json), parameter.description, is_required);
            let format = match json {
                Some(_) => ParameterFormat::Json,
                None => ParameterFormat::new(&parameter)?,
            };
            arguments.push(Argument {
                name,
                format,
                parameter: parameter.name.to_owned(),
                location: parameter.location,
                accepts_objects: false,
                accepts_arrays: false,
            });
        }
        let body = add_body(document, operation, &mut properties)?;
        let schema = properties.into_schema();
        let read = Schema::parse(&schema)
            .map_err(|error| format!("the schema of its arguments: {error}"))?;
        if levels_of(&schema) > MAX_LEVELS {
            return Err(format!(
                "the schema of its arguments has more than {MAX_LEVELS} levels"
            ));
        }
        // One for all: many arguments can have the same large schema.
        let walk = Walk::of_schema(limits::STEPS);
        for argument in &mut arguments {
            let property = read.root().property(&argument.name);
            let accepts = |kind| property.is_some_and(|property| accepts(property, kind, &walk));
            argument.accepts_objects = accepts(Type::Object);
            argument.accepts_arrays = accepts(Type::Array);
        }
        let text = |name| operation.get(name).and_then(Value::as_str);
        // The document's tools get portable names together.
        let name = text("operationId").filter(|id| !id.is_empty());
        let otherwise = || format!("{}{path}", method.as_str().to_ascii_lowercase());
        let name = name.map_or_else(otherwise, str::to_owned);
        let mut tool = Tool::new(name.replace(['{', '}'], "")).input_schema(schema);
        tool.output_schema = output_schema(document, operation, &place).map(Arc::new);
        let short = |text: &str| shorten(text, MAX_TEXT).into_owned();
        tool.description = text("description").or(text("summary")).map(short);
        tool.title = text("summary").map(short);
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
            path: (*path).to_owned(),
            arguments,
            body,
            has_output: tool.output_schema.is_some(),
        };
        Ok((operation, tool))
    }
}

/// Returns the parameters of an operation with their JSON, and those that its path adds.
fn parameters<'a>(
    document: &'a Document,
    operation: &'a Value,
    shared: Option<&'a Value>,
) -> Result<Vec<(Parameter<'a>, &'a Value)>, String> {
    let mut known = HashSet::new();
    let mut parameters = Vec::new();
    let lists = [operation.get("parameters"), shared];
    for list in lists.into_iter().flatten() {
        for part in list.as_array().ok_or("its parameters are not a list")? {
            let part = document.resolve(part)?;
            let parameter = Parameter::deserialize(part)
                .map_err(|error| format!("a parameter is malformed: {error}"))?;
            if known.insert((parameter.name, parameter.location)) {
                parameters.push((parameter, part));
            }
        }
    }
    Ok(parameters)
}

fn add_body(
    document: &Document,
    operation: &Value,
    properties: &mut Properties<'_>,
) -> Result<Option<BodyArgument>, String> {
    let Some(body) = operation.get("requestBody").filter(|body| !body.is_null()) else {
        return Ok(None);
    };
    let body = document.resolve(body)?;
    let is_required = body.get("required") == Some(&Value::Bool(true));
    let json = content(body, is_json);
    let Some((kind, media)) = json.or_else(|| content(body, is_form)) else {
        return if is_required {
            Err("its body is neither JSON nor a form".to_owned())
        } else {
            Ok(None)
        };
    };
    let format = if is_json(kind) {
        BodyFormat::Json
    } else {
        let members = media.get("encoding").and_then(Value::as_object);
        let members = members.into_iter().flatten();
        let deep = members.filter(|(_, encoding)| {
            encoding.get("style").and_then(Value::as_str) == Some("deepObject")
        });
        BodyFormat::Form(deep.map(|(name, _)| name.clone()).collect())
    };
    let mut name = BODY.to_owned();
    while properties.contains(&name) {
        name = format!("request_{name}");
    }
    let description = body.get("description").and_then(Value::as_str);
    properties.add(&name, media.get("schema"), description, is_required);
    Ok(Some(BodyArgument {
        name,
        is_required,
        format,
    }))
}

/// Returns the structured content's schema: the schema of the first 2xx response with JSON.
fn output_schema(document: &Document, operation: &Value, place: &str) -> Option<JsonObject> {
    let responses = operation.get("responses")?.as_object()?.iter();
    let mut successes: Vec<_> = responses
        .filter(|(status, _)| status.starts_with('2'))
        .collect();
    successes.sort_by_key(|(status, _)| *status);
    let mut schemas = successes
        .into_iter()
        .filter_map(|(_, response)| json_schema(document.resolve(response).ok()?));
    of_output(document, place, schemas.next()?)
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
