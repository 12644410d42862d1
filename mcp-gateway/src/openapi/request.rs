//! The HTTP request of a call.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Uri};
use mcp_server::ToolError;
use oas3::spec::ParameterIn;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::operation::{ApiOperation, Argument, Arguments};

/// The characters that a value must not have in a URL: all but the unreserved ones.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The parts of all requests.
#[derive(Clone)]
pub(super) struct Target {
    /// The base URL without a slash at its end.
    pub(super) base: String,
    pub(super) headers: HeaderMap,
    pub(super) query: Vec<(String, String)>,
}

impl Target {
    /// Returns the request of a call. Its URL is always below the base URL.
    ///
    /// # Errors
    ///
    /// Returns a [`ToolError`] when an argument cannot be sent.
    pub(super) fn request(
        &self,
        operation: &ApiOperation,
        arguments: &Arguments,
    ) -> Result<Request<Bytes>, ToolError> {
        let mut path = operation.path.clone();
        let mut query = Vec::new();
        let mut headers = HeaderMap::new();
        for argument in &operation.arguments {
            let Some(value) = arguments.get(&argument.name).filter(|it| !it.is_null()) else {
                continue;
            };
            match argument.location {
                ParameterIn::Path => {
                    let segment = segment(argument, value)?;
                    path = path.replace(&format!("{{{}}}", argument.parameter), &segment);
                }
                ParameterIn::Query => add_query(&mut query, argument, value),
                ParameterIn::Header => {
                    let unusable = || unusable(&argument.name, "cannot be sent in a header");
                    let name = HeaderName::try_from(&argument.parameter).map_err(|_| unusable())?;
                    let value = HeaderValue::try_from(simple(value)).map_err(|_| unusable())?;
                    headers.insert(name, value);
                }
                ParameterIn::Cookie => {}
            }
        }
        if path.contains('{') {
            return Err(ToolError::new("an argument of the path is missing"));
        }
        query.extend(self.query.iter().cloned());
        let uri = format!("{}{path}{}", self.base, encode(&query));
        let uri: Uri = uri
            .parse()
            .map_err(|_| ToolError::new("the arguments give no valid URL"))?;
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("application/json, text/*;q=0.5"),
        );
        let body = operation.body.as_ref().and_then(|name| arguments.get(name));
        let body = body.map(|body| {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            Bytes::from(body.to_string())
        });
        // Arguments cannot replace the headers of the settings.
        headers.extend(self.headers.clone());
        let mut request = Request::new(body.unwrap_or_default());
        *request.method_mut() = operation.method.clone();
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        Ok(request)
    }
}

fn unusable(argument: &str, reason: &str) -> ToolError {
    ToolError::new(format!("the argument {argument:?} {reason}"))
}

/// Returns a value as one segment of a path. Segments that change the path are refused.
fn segment(argument: &Argument, value: &Value) -> Result<String, ToolError> {
    let value = simple(value);
    match &*value {
        "" | "." | ".." => Err(unusable(&argument.name, "cannot be a part of a path")),
        value => Ok(escape(value)),
    }
}

fn add_query(query: &mut Vec<(String, String)>, argument: &Argument, value: &Value) {
    let name = &argument.parameter;
    match value {
        Value::Array(items) if argument.is_exploded => {
            query.extend(items.iter().map(|item| (name.clone(), simple(item))));
        }
        Value::Object(members) if argument.is_deep => {
            let members = members.iter();
            query.extend(members.map(|(key, value)| (format!("{name}[{key}]"), simple(value))));
        }
        Value::Object(members) if argument.is_exploded => {
            query.extend(
                members
                    .iter()
                    .map(|(key, value)| (key.clone(), simple(value))),
            );
        }
        value => query.push((name.clone(), simple(value))),
    }
}

/// Returns a value in the style `simple`: items and members with commas between them.
fn simple(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(simple).collect::<Vec<_>>().join(","),
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(key, value)| format!("{key},{}", simple(value)));
            members.collect::<Vec<_>>().join(",")
        }
        value => value.to_string(),
    }
}

fn encode(query: &[(String, String)]) -> String {
    let pairs = query.iter();
    let pairs: Vec<_> = pairs
        .map(|(name, value)| format!("{}={}", escape(name), escape(value)))
        .collect();
    match pairs.is_empty() {
        true => String::new(),
        false => format!("?{}", pairs.join("&")),
    }
}

fn escape(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}
