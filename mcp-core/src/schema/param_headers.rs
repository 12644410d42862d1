//! Tool arguments that an HTTP client repeats in headers (`x-mcp-header`), so that proxies can route by them
//! without parsing the body.
//!
//! [`ParamHeaders`] is computed once per input schema. The client sends the values, the server compares them
//! with the body, and the transport encodes them.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>

mod decimal;
mod values;

use mcp_types::JsonObject;
use serde_json::Value;

use super::walk::{Subschema, subschemas};

/// The keyword in a property's schema that names its header.
// spec: XHDR-01
pub const PARAM_HEADER: &str = "x-mcp-header";

/// The tool arguments that are repeated in headers.
///
/// # Examples
///
/// ```
/// use mcp::core::ParamHeaders;
/// use mcp::types::{JsonObject, RawObject};
///
/// let schema: JsonObject = serde_json::from_str(
///     r#"{"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}"#,
/// )?;
/// let plan = ParamHeaders::from_schema(&schema)?.expect("one argument is annotated");
/// let arguments = RawObject::from_text(r#"{"region": "eu", "query": "…"}"#)?;
/// assert_eq!(plan.values(Some(&arguments)), Some(vec![("Region".into(), "eu".into())]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamHeaders {
    properties: Vec<Property>,
    headers: Vec<ParamHeader>,
}

/// A property that has a header, or contains properties that have one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Property {
    name: Box<str>,
    /// The index of its header in [`ParamHeaders::headers`].
    header: Option<usize>,
    below: Vec<Self>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ParamHeader {
    /// The header name without the common prefix.
    name: Box<str>,
    /// The argument path, such as `options.limit`.
    argument: Box<str>,
}

/// An annotation that makes a tool invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{PARAM_HEADER}` at {location:?} of the input schema: {reason}")]
pub struct InvalidParamHeader {
    /// The location: a JSON Pointer into the schema.
    location: String,
    reason: Reason,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Reason {
    #[error("the name is not a string; name the header, as in \"Region\"")]
    NotAString,
    #[error("the name is empty; name the header, as in \"Region\"")]
    Empty,
    #[error("{0:?} is not a header name; use letters, digits and -, such as \"Tenant-Id\"")]
    NotAToken(String),
    #[error("{0:?} is used twice, and case does not matter; rename one")]
    Duplicate(String),
    #[error("a property with a header must be an integer, a string or a boolean; its type is {0}")]
    Type(String),
    #[error(
        "only a property that is reached through `properties` alone can have a header; move it there"
    )]
    Unreachable,
}

impl ParamHeaders {
    /// Finds the annotations in an input schema. Returns `None` if there are none.
    ///
    /// # Errors
    ///
    /// Returns the first [`InvalidParamHeader`]. Servers must not offer such a tool, and HTTP clients
    /// must not use it.
    pub fn from_schema(input_schema: &JsonObject) -> Result<Option<Self>, InvalidParamHeader> {
        let mut plan = Self {
            properties: Vec::new(),
            headers: Vec::new(),
        };
        plan.properties = plan.scan(input_schema, "", Some(""))?;
        Ok((!plan.headers.is_empty()).then_some(plan))
    }

    /// Returns the header names without the common prefix.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.headers.iter().map(|header| &*header.name)
    }

    /// Returns the argument paths, in the order of [`names`](Self::names).
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.headers.iter().map(|header| &*header.argument)
    }

    /// Finds the annotations in a schema's subschemas. Adds their headers, and returns their properties.
    /// `path` is the value's path; it is `None` below other keywords than `properties`.
    // spec: XHDR-07
    fn scan(
        &mut self,
        schema: &JsonObject,
        location: &str,
        path: Option<&str>,
    ) -> Result<Vec<Property>, InvalidParamHeader> {
        let mut found = Vec::new();
        for sub in subschemas(schema) {
            let Value::Object(inner) = sub.schema else {
                continue;
            };
            let location = sub.pointer(location);
            let path = path.and_then(|path| path_of(path, &sub));
            let mut header = None;
            if let Some(name) = inner.get(PARAM_HEADER) {
                let name = self.check(name, inner, path.is_some());
                let name = name.map_err(|reason| InvalidParamHeader {
                    location: location.clone(),
                    reason,
                })?;
                header = Some(self.headers.len());
                self.headers.push(ParamHeader {
                    name: name.into(),
                    argument: path.as_deref().unwrap_or_default().into(),
                });
            }
            let below = self.scan(inner, &location, path.as_deref())?;
            if let Some(name) = sub.name
                && (header.is_some() || !below.is_empty())
            {
                found.push(Property {
                    name: name.into(),
                    header,
                    below,
                });
            }
        }
        // The root is not a property.
        if location.is_empty() && schema.contains_key(PARAM_HEADER) {
            let location = location.to_owned();
            let reason = Reason::Unreachable;
            return Err(InvalidParamHeader { location, reason });
        }
        Ok(found)
    }

    /// Checks an annotation, and returns the header's name.
    // spec: XHDR-03, XHDR-04, XHDR-05, XHDR-06
    fn check<'a>(
        &self,
        name: &'a Value,
        schema: &JsonObject,
        is_reachable: bool,
    ) -> Result<&'a str, Reason> {
        if !is_reachable {
            return Err(Reason::Unreachable);
        }
        let name = name.as_str().ok_or(Reason::NotAString)?;
        if name.is_empty() {
            return Err(Reason::Empty);
        }
        if !name.bytes().all(is_tchar) {
            return Err(Reason::NotAToken(name.to_owned()));
        }
        if self.names().any(|other| other.eq_ignore_ascii_case(name)) {
            return Err(Reason::Duplicate(name.to_owned()));
        }
        match schema.get("type") {
            Some(Value::String(kind)) if matches!(&**kind, "integer" | "string" | "boolean") => {
                Ok(name)
            }
            Some(other) => Err(Reason::Type(other.to_string())),
            None => Err(Reason::Type("not given".to_owned())),
        }
    }
}

/// Returns the path of a subschema's value, or `None` if a keyword other than `properties` leads to it.
fn path_of(path: &str, sub: &Subschema<'_>) -> Option<String> {
    let name = sub.name.filter(|_| sub.keyword == "properties")?;
    Some(match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    })
}

/// Returns true for a character that a header name may contain (`tchar` in RFC 9110).
fn is_tchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests;
