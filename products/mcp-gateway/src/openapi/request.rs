//! HTTP requests for calls.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Uri};
use mcp_server::ToolError;
use mcp_types::JsonObject;
use serde_json::Value;

use super::document::ParameterIn;
use super::operation::{ApiOperation, Argument, BodyFormat, FORM, ParameterFormat};
use super::path::{has_dot_segment, is_below};
use super::reference::escape;
use super::target::{Target, canonical_name};

/// Deepest nesting of an object that becomes parameters.
const MAX_BRACKETS: usize = 8;

impl Target {
    /// Returns the HTTP request for a call. Its URL is always below the base URL.
    ///
    /// # Errors
    ///
    /// Returns a [`ToolError`] when an argument cannot be sent.
    pub(super) fn request(
        &self,
        operation: &ApiOperation,
        arguments: &JsonObject,
    ) -> Result<Request<Bytes>, ToolError> {
        let mut path = operation.path.clone();
        let mut query = Query::new(self, operation);
        let mut headers = HeaderMap::new();
        for argument in &operation.arguments {
            let Some(value) = arguments
                .get(&argument.name)
                .filter(|value| !value.is_null())
            else {
                continue;
            };
            check_type(argument, value)?;
            match argument.location {
                ParameterIn::Path => {
                    let segment = segment(argument, value)?;
                    path = path.replace(&format!("{{{}}}", argument.parameter), &segment);
                }
                ParameterIn::Query => query.add(argument, value)?,
                ParameterIn::Header => {
                    let unusable = || unusable(&argument.name, "cannot be sent in a header");
                    let name = HeaderName::try_from(&argument.parameter).map_err(|_| unusable())?;
                    let value = argument.format.text(value);
                    let value = HeaderValue::try_from(value).map_err(|_| unusable())?;
                    headers.insert(name, value);
                }
                ParameterIn::Cookie => {}
            }
        }
        if path.contains('{') {
            return Err(ToolError::new("an argument of the path is missing"));
        }
        let uri = self.uri(&path, query)?;
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("application/json, text/*;q=0.5"),
        );
        let body = operation.body.as_ref().and_then(|body| {
            let value = arguments.get(&body.name)?;
            (body.is_required || !value.is_null()).then_some((&body.format, value))
        });
        let body = body.map(|(format, body)| match format {
            BodyFormat::Json => {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                Ok(body.to_string())
            }
            BodyFormat::Form(deep) => {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static(FORM));
                form(deep, body)
            }
        });
        let body = body.transpose()?.map(Bytes::from);
        // Arguments cannot replace the configured headers.
        headers.extend(self.headers.clone());
        let mut request = Request::new(body.unwrap_or_default());
        *request.method_mut() = operation.method.clone();
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        Ok(request)
    }

    /// Returns the request URL.
    ///
    /// # Errors
    ///
    /// Returns a [`ToolError`] unless the URL is below the base URL.
    fn uri(&self, path: &str, query: Query<'_>) -> Result<Uri, ToolError> {
        let base = self.base.to_string();
        let base = base.trim_end_matches('/');
        let uri: Result<Uri, _> = format!("{base}{path}{}", query.encode(self)).parse();
        let uri = uri.map_err(|_| ToolError::new("the arguments give no valid URL"))?;
        let base_path = self.base.path().trim_end_matches('/');
        let is_in_base = uri.scheme() == self.base.scheme()
            && uri.authority() == self.base.authority()
            && uri.path().strip_prefix(base_path).is_some_and(is_below);
        if !is_in_base {
            return Err(ToolError::new("the arguments lead out of the base URL"));
        }
        Ok(uri)
    }
}

fn unusable(argument: &str, reason: &str) -> ToolError {
    ToolError::new(format!("the argument {argument:?} {reason}"))
}

/// Checks that an object or array is sent only for a parameter whose schema has this type.
fn check_type(argument: &Argument, value: &Value) -> Result<(), ToolError> {
    match value {
        Value::Object(_) if !argument.accepts_objects => {
            Err(unusable(&argument.name, "cannot be an object"))
        }
        Value::Array(_) if !argument.accepts_arrays => {
            Err(unusable(&argument.name, "cannot be an array"))
        }
        _ => Ok(()),
    }
}

/// Returns a value as one segment of a path. Values that change the path are refused.
fn segment(argument: &Argument, value: &Value) -> Result<String, ToolError> {
    let value = argument.format.text(value);
    if value.is_empty() || has_dot_segment(&value) || value.chars().any(char::is_control) {
        return Err(unusable(&argument.name, "cannot be a part of a path"));
    }
    Ok(escape(&value))
}

/// Returns an object as a form.
///
/// # Errors
///
/// Returns a [`ToolError`] when the value is not an object, or is nested too deeply.
fn form(deep: &HashSet<String>, body: &Value) -> Result<String, ToolError> {
    let Value::Object(members) = body else {
        return Err(ToolError::new(
            "the body must be an object: it is sent as a form",
        ));
    };
    let mut pairs = Vec::new();
    for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        match value {
            value if deep.contains(name) => flatten(name.clone(), value, &mut pairs)?,
            Value::Array(items) => {
                let items = items.iter();
                pairs.extend(items.map(|item| (name.clone(), form_text(item))));
            }
            value => pairs.push((name.clone(), form_text(value))),
        }
    }
    Ok(encode_pairs(&pairs))
}

/// Returns a member of a form: text as it is, everything else as JSON.
fn form_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Adds the scalars below a value, each with its path in brackets: `name[member][0]`.
///
/// # Errors
///
/// Returns a [`ToolError`] for more than [`MAX_BRACKETS`] brackets.
fn flatten(
    name: String,
    value: &Value,
    pairs: &mut Vec<(String, String)>,
) -> Result<(), ToolError> {
    if name.matches('[').count() > MAX_BRACKETS {
        let name = name.split('[').next().unwrap_or_default();
        return Err(unusable(name, "is nested too deeply"));
    }
    match value {
        Value::Null => Ok(()),
        Value::Object(members) => members
            .iter()
            .try_for_each(|(key, value)| flatten(format!("{name}[{key}]"), value, pairs)),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, item)| flatten(format!("{name}[{index}]"), item, pairs)),
        value => {
            pairs.push((name, form_text(value)));
            Ok(())
        }
    }
}

fn encode_pairs(pairs: &[(String, String)]) -> String {
    let pairs = pairs.iter();
    let pairs = pairs.map(|(name, value)| format!("{}={}", escape(name), escape(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// A request query.
struct Query<'a> {
    pairs: Vec<(String, String)>,
    /// The names that are taken, and their arguments. Those of the settings have none.
    owners: HashMap<String, Option<&'a Argument>>,
}

impl<'a> Query<'a> {
    fn new(target: &Target, operation: &'a ApiOperation) -> Self {
        let arguments = operation.arguments.iter();
        let declared = arguments.filter(|argument| argument.location == ParameterIn::Query);
        let declared =
            declared.map(|argument| (canonical_name(&argument.parameter), Some(argument)));
        let set = target.query.iter();
        let set = set.map(|(name, _)| (canonical_name(name), None));
        Self {
            pairs: Vec::new(),
            owners: declared.chain(set).collect(),
        }
    }

    /// Adds an argument value.
    ///
    /// # Errors
    ///
    /// Returns a [`ToolError`] when an object has a member that cannot be a parameter.
    fn add(&mut self, argument: &'a Argument, value: &Value) -> Result<(), ToolError> {
        let name = &argument.parameter;
        match (argument.format, value) {
            (ParameterFormat::Exploded, Value::Array(items)) => {
                let items = items.iter();
                self.pairs
                    .extend(items.map(|item| (name.clone(), argument.format.text(item))));
            }
            (ParameterFormat::Deep, Value::Object(members)) => {
                for (key, value) in members {
                    let member = format!("{name}[{key}]");
                    let mut pairs = Vec::new();
                    match value {
                        Value::Object(_) => flatten(member, value, &mut pairs)?,
                        value => pairs.push((member, argument.format.text(value))),
                    }
                    for (name, value) in pairs {
                        self.add_member(argument, name, value)?;
                    }
                }
            }
            (ParameterFormat::Exploded, Value::Object(members)) => {
                for (key, value) in members {
                    self.add_member(argument, key.clone(), argument.format.text(value))?;
                }
            }
            (format, value) => self.pairs.push((name.clone(), format.text(value))),
        }
        Ok(())
    }

    /// Adds a parameter whose name the caller has chosen.
    fn add_member(
        &mut self,
        argument: &'a Argument,
        name: String,
        value: String,
    ) -> Result<(), ToolError> {
        let group = name.split('[').next().unwrap_or_default();
        for name in [canonical_name(&name), canonical_name(group)] {
            let is_own = match self.owners.get(&name) {
                Some(owner) => owner.is_some_and(|owner| std::ptr::eq(owner, argument)),
                None => !name.is_empty(),
            };
            if !is_own || name.chars().any(char::is_control) {
                let reason = format!(
                    "cannot have the member {name:?}: the name is invalid, or another argument uses it"
                );
                return Err(unusable(&argument.name, &reason));
            }
            self.owners.insert(name, Some(argument));
        }
        self.pairs.push((name, value));
        Ok(())
    }

    /// Encodes the query. The configured parameters come last.
    fn encode(mut self, target: &Target) -> String {
        self.pairs.extend(target.query.iter().cloned());
        if self.pairs.is_empty() {
            String::new()
        } else {
            format!("?{}", encode_pairs(&self.pairs))
        }
    }
}
