//! An operation of a document, and the arguments of its tool.

use http::Method;
use mcp_types::{JsonObject, Tool, ToolAnnotations};
use oas3::Spec;
use oas3::spec::{ObjectOrReference, Operation, Parameter, ParameterIn, ParameterStyle};

use super::schema::Properties;

/// Longest name of a tool.
const MAX_NAME: usize = 128;
/// The name of the argument with the body of the request.
const BODY: &str = "body";

/// An operation whose tool can be called.
#[derive(Debug, Clone)]
pub(super) struct ApiOperation {
    pub(super) method: Method,
    /// The path with its variables: `/pets/{id}`.
    pub(super) path: String,
    pub(super) arguments: Vec<Argument>,
    /// The name of the argument with the body.
    pub(super) body: Option<String>,
}

/// An argument that is a parameter of the request.
#[derive(Debug, Clone)]
pub(super) struct Argument {
    /// The name of the argument.
    pub(super) name: String,
    /// The name of the parameter.
    pub(super) parameter: String,
    pub(super) location: ParameterIn,
    pub(super) is_exploded: bool,
    pub(super) is_deep: bool,
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
    ) -> Result<(Self, Tool), String> {
        let mut properties = Properties::default();
        let mut arguments = Vec::new();
        for parameter in parameters(spec, path, operation)? {
            if parameter.location == ParameterIn::Cookie {
                if parameter.required == Some(true) {
                    return Err(format!("the cookie {:?} is required", parameter.name));
                }
                continue;
            }
            if parameter.location == ParameterIn::Header && is_reserved(&parameter.name) {
                continue;
            }
            let name = match properties.contains(&parameter.name) {
                true => format!("{}_{}", location(parameter.location), parameter.name),
                false => parameter.name.clone(),
            };
            let is_required = parameter.required == Some(true);
            let is_required = is_required || parameter.location == ParameterIn::Path;
            let description = parameter.description.as_deref();
            properties.add(&name, parameter.schema.as_ref(), description, is_required);
            let is_form = matches!(parameter.style, None | Some(ParameterStyle::Form));
            arguments.push(Argument {
                name,
                is_exploded: parameter.explode.unwrap_or(is_form),
                is_deep: parameter.style == Some(ParameterStyle::DeepObject),
                parameter: parameter.name,
                location: parameter.location,
            });
        }
        let body = add_body(spec, operation, &mut properties)?;
        let name = name(path, method, operation);
        let mut tool = Tool::raw(name, properties.into_schema(spec));
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
        };
        Ok((operation, tool))
    }
}

/// Returns the parameters of an operation and those of its path that it does not replace.
fn parameters(spec: &Spec, path: &str, operation: &Operation) -> Result<Vec<Parameter>, String> {
    let resolve =
        |it: &ObjectOrReference<Parameter>| it.resolve(spec).map_err(|error| error.to_string());
    let own = operation.parameters.iter().map(resolve);
    let mut all = own.collect::<Result<Vec<_>, _>>()?;
    let item = spec.paths.as_ref().and_then(|paths| paths.get(path));
    for shared in item.iter().flat_map(|item| &item.parameters) {
        let shared = resolve(shared)?;
        let is_same = |it: &Parameter| it.name == shared.name && it.location == shared.location;
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
) -> Result<Option<String>, String> {
    let Some(body) = &operation.request_body else {
        return Ok(None);
    };
    let body = body.resolve(spec).map_err(|error| error.to_string())?;
    let is_required = body.required == Some(true);
    let json = body.content.iter().find(|(kind, _)| is_json(kind));
    let Some((_, json)) = json else {
        return match is_required {
            true => Err("its body is no JSON".to_owned()),
            false => Ok(None),
        };
    };
    let name = match properties.contains(BODY) {
        true => format!("request_{BODY}"),
        false => BODY.to_owned(),
    };
    properties.add(
        &name,
        json.schema.as_ref(),
        body.description.as_deref(),
        is_required,
    );
    Ok(Some(name))
}

/// Returns whether a media type is JSON.
pub(super) fn is_json(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    let essence = essence.to_ascii_lowercase();
    essence == "application/json" || essence.ends_with("+json")
}

/// Returns whether OpenAPI ignores a parameter for this header, or a request sets it itself.
fn is_reserved(header: &str) -> bool {
    let reserved = [
        "accept",
        "authorization",
        "connection",
        "content-length",
        "content-type",
        "cookie",
        "host",
        "transfer-encoding",
    ];
    reserved
        .iter()
        .any(|name| header.eq_ignore_ascii_case(name))
}

fn location(location: ParameterIn) -> &'static str {
    match location {
        ParameterIn::Path => "path",
        ParameterIn::Query => "query",
        ParameterIn::Header => "header",
        ParameterIn::Cookie => "cookie",
    }
}

/// Returns the id of the operation, or method and path, with the characters that names of tools may have.
// spec: TOOL-04
fn name(path: &str, method: &Method, operation: &Operation) -> String {
    let id = operation.operation_id.clone();
    let id = id.filter(|id| !id.is_empty());
    let id = id.unwrap_or_else(|| format!("{}{path}", method.as_str().to_ascii_lowercase()));
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let name: String = id
        .chars()
        .filter(|c| !matches!(c, '{' | '}'))
        .map(|c| if is_allowed(c) { c } else { '_' })
        .take(MAX_NAME)
        .collect();
    name
}

/// The arguments of a call.
pub(super) type Arguments = JsonObject;
