//! Tool arguments that an HTTP client repeats in headers (`x-mcp-header`), so that proxies can route by them
//! without parsing the body.
//!
//! [`ParamHeaders`] is computed once per input schema. The client sends the values, the server compares them
//! with the body, and the transport encodes them.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>

mod decimal;
mod values;

use mcp_types::{JsonObject, shorten, truncate};
use serde_json::Value;

use super::walk::{Subschema, subschemas};

/// The keyword in a property's schema that names its header.
// spec: XHDR-01
pub const PARAM_HEADER: &str = "x-mcp-header";

/// Headers of one tool. HTTP servers accept about a hundred headers in a request.
const MAX_HEADERS: usize = 64;
/// Bytes of an argument's path, and of names and locations in errors.
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
}

/// A subschema on the way to another one. Its location is written when it is needed: a name of a megabyte can stand above
/// ten thousand schemas.
struct Place<'a> {
    above: Option<&'a Self>,
    sub: Subschema<'a>,
}

impl Place<'_> {
    /// Returns the JSON Pointer, which is cut.
    fn location(&self) -> String {
        let above = self.above.map(Self::location).unwrap_or_default();
        truncate(&self.sub.pointer(&above), MAX_PATH).to_owned()
    }

    /// Returns the argument's path, such as `options.limit`.
    ///
    /// # Errors
    ///
    /// Returns [`Reason::Unreachable`] if a keyword other than `properties` leads to it, and [`Reason::TooLong`].
    fn path(&self) -> Result<String, Reason> {
        let above = self.above.map(Self::path).transpose()?;
        let name = self.sub.name.filter(|_| self.sub.keyword == "properties");
        let name = name.ok_or(Reason::Unreachable)?;
        let above = above.map_or_else(String::new, |above| above + ".");
        if above.len() + name.len() > MAX_PATH {
            return Err(Reason::TooLong);
        }
        Ok(above + name)
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
        let mut plan = Self {
            properties: Vec::new(),
            headers: Vec::new(),
        };
        plan.properties = plan.scan(input_schema, None)?;
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
    // spec: XHDR-07
    fn scan(
        &mut self,
        schema: &JsonObject,
        above: Option<&Place<'_>>,
    ) -> Result<Vec<Property>, InvalidParamHeader> {
        let mut found = Vec::new();
        for sub in subschemas(schema) {
            let Value::Object(inner) = sub.schema else {
                continue;
            };
            let place = Place { above, sub };
            let mut header = None;
            if let Some(name) = inner.get(PARAM_HEADER) {
                let checked = place.path().and_then(|argument| {
                    let name = self.check(name, inner)?.into();
                    let argument = argument.into();
                    Ok(ParamHeader { name, argument })
                });
                let checked = checked.map_err(|reason| InvalidParamHeader {
                    location: place.location(),
                    reason,
                })?;
                header = Some(self.headers.len());
                self.headers.push(checked);
            }
            let below = self.scan(inner, Some(&place))?;
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
        if above.is_none() && schema.contains_key(PARAM_HEADER) {
            return Err(InvalidParamHeader {
                location: String::new(),
                reason: Reason::Unreachable,
            });
        }
        Ok(found)
    }

    /// Checks an annotation, and returns the header's name.
    // spec: XHDR-03, XHDR-04, XHDR-05, XHDR-06
    fn check<'a>(&self, name: &'a Value, schema: &JsonObject) -> Result<&'a str, Reason> {
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
                Ok(name)
            }
            Some(other) => Err(Reason::Type(
                shorten(&other.to_string(), MAX_PATH).into_owned(),
            )),
            None => Err(Reason::Type("not given".to_owned())),
        }
    }
}

/// Returns true for a character that a header name may contain (`tchar` in RFC 9110).
fn is_tchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests;
