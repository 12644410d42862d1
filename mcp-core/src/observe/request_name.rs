//! The names by which logs and telemetry call a request.

use std::borrow::Cow;

use crate::message::Call;

/// The names by which logs and telemetry call a request: its method, and the item that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestName<'a> {
    /// The method name.
    pub method: &'a str,
    /// The tool name.
    pub tool: Option<&'a str>,
    /// The prompt name.
    pub prompt: Option<&'a str>,
    /// The resource's URI, with everything that it contains.
    pub uri: Option<&'a str>,
}

impl<'a> RequestName<'a> {
    /// Returns the name of a call.
    pub fn of(call: &'a Call) -> Self {
        let mut name = Self::method(call.method_name());
        match call {
            Call::CallTool(params) => name.tool = Some(&params.name),
            Call::GetPrompt(params) => name.prompt = Some(&params.name),
            Call::ReadResource(params) => name.uri = Some(&params.uri),
            _ => {}
        }
        name
    }

    /// The name of a request that names no item.
    pub fn method(method: &'a str) -> Self {
        Self {
            method,
            tool: None,
            prompt: None,
            uri: None,
        }
    }

    /// Returns the URI without the parts that often contain secrets: user, query, fragment.
    pub fn public_uri(&self) -> Option<Cow<'a, str>> {
        self.uri.map(without_secrets)
    }
}

fn without_secrets(uri: &str) -> Cow<'_, str> {
    let end = uri.find(['?', '#']).unwrap_or(uri.len());
    let uri = &uri[..end];
    let Some((scheme, rest)) = uri.split_once("://") else {
        return uri.into();
    };
    let authority = &rest[..rest.find('/').unwrap_or(rest.len())];
    match authority.rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]).into(),
        None => uri.into(),
    }
}
