//! Tool arguments that an HTTP client repeats in headers (`x-mcp-header`), so that proxies can route by them
//! without parsing the body.
//!
//! [`ParamHeaders`] is computed once per input schema. The client sends the values, the server compares them
//! with the body, and the transport encodes them.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>

mod decimal;
mod values;

use mcp_schema::{Keywords as _, Limit, Node, Place, Schema};
use mcp_types::{JsonObject, shorten};
use serde_json::Value;

/// The keyword in a property's schema that names its header.
// spec: XHDR-01
pub const PARAM_HEADER: &str = "x-mcp-header";

/// Headers of one tool. HTTP servers accept about a hundred headers in a request.
const MAX_HEADERS: usize = 64;
/// Bytes of an argument's path, and of names in errors.
const MAX_PATH: usize = 1_000;

/// The tool arguments that are repeated in headers: at most 64 of a tool, each with a path of at most 1,000 bytes.
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
    #[error(
        "the path of its argument has more than {MAX_PATH} bytes; shorten the names of the properties"
    )]
    TooLong,
    #[error(
        "more than {MAX_HEADERS} arguments have a header; annotate those that decide about routes"
    )]
    TooMany,
    /// The schema exceeds a limit, and has an annotation.
    #[error("{0}")]
    Schema(Limit),
}

impl Reason {
    fn at(self, node: Node<'_>) -> InvalidParamHeader {
        InvalidParamHeader {
            location: node.pointer(),
            reason: self,
        }
    }
}

impl ParamHeaders {
    /// Finds the annotations in an input schema. Returns `None` if there are none.
    ///
    /// # Errors
    ///
    /// Returns the first [`InvalidParamHeader`]. Servers must not offer such a tool, and HTTP clients
    /// must not use it.
    pub fn from_schema(input_schema: &JsonObject) -> Result<Option<Self>, InvalidParamHeader> {
        // Clients ask for each tool that they list. Few are annotated, and only these are parsed.
        let is_root = input_schema.contains_key(PARAM_HEADER);
        if !is_root && !input_schema.values().any(contains_keyword) {
            return Ok(None);
        }
        let schema = Schema::parse(input_schema).map_err(|error| InvalidParamHeader {
            location: error.location,
            reason: Reason::Schema(error.limit),
        })?;
        if is_root {
            // The root is not a property.
            return Err(Reason::Unreachable.at(schema.root()));
        }
        let mut plan = Self {
            properties: Vec::new(),
            headers: Vec::new(),
        };
        plan.properties = plan.scan(schema.root(), Some(""))?;
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
    ///
    /// `path` begins the paths of its properties. `None`: a keyword other than `properties` leads to it.
    // spec: XHDR-07
    fn scan(
        &mut self,
        node: Node<'_>,
        path: Option<&str>,
    ) -> Result<Vec<Property>, InvalidParamHeader> {
        let mut found = Vec::new();
        for sub in node.subschemas() {
            let name = match (sub.keyword, sub.place) {
                ("properties", Place::Name(name)) => Some(name),
                _ => None,
            };
            let argument = path.zip(name).map(|(path, name)| path.to_owned() + name);
            let mut header = None;
            if let Some(name) = sub.node.get(PARAM_HEADER) {
                let checked = self.check(name, argument.as_deref(), sub.node);
                header = Some(self.headers.len());
                self.headers
                    .push(checked.map_err(|reason| reason.at(sub.node))?);
            }
            let path = argument.map(|argument| argument + ".");
            let below = self.scan(sub.node, path.as_deref())?;
            if let Some(name) = name
                && (header.is_some() || !below.is_empty())
            {
                found.push(Property {
                    name: name.into(),
                    header,
                    below,
                });
            }
        }
        Ok(found)
    }

    /// Checks an annotation of the argument with a path.
    // spec: XHDR-03, XHDR-04, XHDR-05, XHDR-06
    fn check(
        &self,
        name: &Value,
        argument: Option<&str>,
        schema: Node<'_>,
    ) -> Result<ParamHeader, Reason> {
        let argument = argument.ok_or(Reason::Unreachable)?;
        if argument.len() > MAX_PATH {
            return Err(Reason::TooLong);
        }
        let name = name.as_str().ok_or(Reason::NotAString)?;
        if name.is_empty() {
            return Err(Reason::Empty);
        }
        if !name.bytes().all(is_tchar) {
            return Err(Reason::NotAToken(shorten(name, MAX_PATH).into_owned()));
        }
        if self.names().any(|other| other.eq_ignore_ascii_case(name)) {
            return Err(Reason::Duplicate(shorten(name, MAX_PATH).into_owned()));
        }
        if self.headers.len() >= MAX_HEADERS {
            return Err(Reason::TooMany);
        }
        match schema.get("type") {
            Some(Value::String(kind)) if matches!(&**kind, "integer" | "string" | "boolean") => {
                Ok(ParamHeader {
                    name: name.into(),
                    argument: argument.into(),
                })
            }
            Some(other) => Err(Reason::Type(
                shorten(&other.to_string(), MAX_PATH).into_owned(),
            )),
            None => Err(Reason::Type("not given".to_owned())),
        }
    }
}

/// Returns true if the keyword stands anywhere in a value, also as the name of something else.
fn contains_keyword(value: &Value) -> bool {
    match value {
        Value::Object(members) => members
            .iter()
            .any(|(name, member)| name == PARAM_HEADER || contains_keyword(member)),
        Value::Array(elements) => elements.iter().any(contains_keyword),
        _ => false,
    }
}

/// Returns true for a character that a header name may contain (`tchar` in RFC 9110).
fn is_tchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests;
