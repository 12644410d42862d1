//! `x-mcp-header`: arguments of a tool that an HTTP client repeats in headers, so that proxies can
//! route by them without reading the body.
//!
//! The plan is made once from an input schema. Clients take from it what they send, servers what
//! they compare. How the values look in a header is the business of the transport.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>

mod decimal;
mod values;

use mcp_types::JsonObject;
use serde_json::Value;

use crate::schema::{Subschema, subschemas};

pub use values::{DuplicateArgument, MirroredArgument, ParamValue};

/// The member of a property's schema that names its header.
// spec: XHDR-01
pub const PARAM_HEADER: &str = "x-mcp-header";

/// Which arguments of a tool are repeated in headers.
///
/// # Examples
///
/// ```
/// use mcp_core::ParamHeaders;
/// use mcp_types::{JsonObject, RawObject};
///
/// let schema: JsonObject = serde_json::from_str(
///     r#"{"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}"#,
/// )?;
/// let plan = ParamHeaders::from_schema(&schema)?.expect("one argument is annotated");
/// let arguments = RawObject::from_text(r#"{"region": "eu", "query": "…"}"#)?;
/// let [region] = &plan.values(Some(&arguments))?[..] else { panic!() };
/// assert_eq!(region.header, "Region");
/// assert_eq!(region.value.as_ref().and_then(|value| value.text()).as_deref(), Some("eu"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamHeaders {
    properties: Vec<Property>,
    headers: Vec<ParamHeader>,
}

/// A property that is annotated, or that has such below it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Property {
    name: Box<str>,
    /// Its place among the headers.
    header: Option<usize>,
    below: Vec<Self>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ParamHeader {
    /// The name of the header behind its prefix.
    name: Box<str>,
    /// The argument, by its path: `options.limit`.
    argument: Box<str>,
}

/// An annotation that makes the definition of a tool invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{PARAM_HEADER}` at {place:?} of the input schema: {reason}")]
pub struct InvalidParamHeader {
    /// Where: a JSON Pointer into the schema.
    place: String,
    reason: Reason,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Reason {
    #[error("the name is no string; name the header, as in \"Region\"")]
    NotAString,
    #[error("the name is empty; name the header, as in \"Region\"")]
    Empty,
    #[error("{0:?} is no name of a header; use letters, digits and -, such as \"Tenant-Id\"")]
    NotAToken(String),
    #[error("{0:?} is used twice, where names differ only in case, too; rename one")]
    Taken(String),
    #[error("a header repeats only an integer, a string or a boolean, and its type is {0}")]
    Type(String),
    #[error(
        "only a property that is reached through `properties` alone can be repeated; move it there"
    )]
    Place,
}

impl ParamHeaders {
    /// Finds the annotations of an input schema; `None` when there are none.
    ///
    /// # Errors
    ///
    /// The first [`InvalidParamHeader`]: servers must not offer such a tool, HTTP clients must not
    /// use it.
    pub fn from_schema(input_schema: &JsonObject) -> Result<Option<Self>, InvalidParamHeader> {
        let mut plan = Self {
            properties: Vec::new(),
            headers: Vec::new(),
        };
        plan.properties = plan.scan(input_schema, "", Some(""))?;
        Ok((!plan.headers.is_empty()).then_some(plan))
    }

    /// The names of the headers, without their common prefix.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.headers.iter().map(|header| &*header.name)
    }

    /// The paths of the arguments, in the order of [`names`](Self::names).
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.headers.iter().map(|header| &*header.argument)
    }

    /// Looks at what is inside of a schema. `path` is that of the value, as long as only
    /// `properties` lead to it.
    // spec: XHDR-07
    fn scan(
        &mut self,
        schema: &JsonObject,
        place: &str,
        path: Option<&str>,
    ) -> Result<Vec<Property>, InvalidParamHeader> {
        let mut found = Vec::new();
        for sub in subschemas(schema) {
            let Value::Object(inner) = sub.schema else {
                continue;
            };
            let place = sub.pointer(place);
            let path = path.and_then(|path| path_of(path, &sub));
            let mut header = None;
            if let Some(name) = inner.get(PARAM_HEADER) {
                let name = self.check(name, inner, path.is_some());
                let name = name.map_err(|reason| InvalidParamHeader {
                    place: place.clone(),
                    reason,
                })?;
                header = Some(self.headers.len());
                self.headers.push(ParamHeader {
                    name: name.into(),
                    argument: path.as_deref().unwrap_or_default().into(),
                });
            }
            let below = self.scan(inner, &place, path.as_deref())?;
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
        // The root is no property.
        if place.is_empty() && schema.contains_key(PARAM_HEADER) {
            let place = place.to_owned();
            let reason = Reason::Place;
            return Err(InvalidParamHeader { place, reason });
        }
        Ok(found)
    }

    // spec: XHDR-03, XHDR-04, XHDR-05, XHDR-06
    fn check<'a>(
        &self,
        name: &'a Value,
        schema: &JsonObject,
        is_reachable: bool,
    ) -> Result<&'a str, Reason> {
        if !is_reachable {
            return Err(Reason::Place);
        }
        let name = name.as_str().ok_or(Reason::NotAString)?;
        if name.is_empty() {
            return Err(Reason::Empty);
        }
        if !name.bytes().all(is_tchar) {
            return Err(Reason::NotAToken(name.to_owned()));
        }
        if self.names().any(|other| other.eq_ignore_ascii_case(name)) {
            return Err(Reason::Taken(name.to_owned()));
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

/// The path of a subschema's value: `None` where anything but `properties` leads to it.
fn path_of(path: &str, sub: &Subschema<'_>) -> Option<String> {
    let name = sub.name.filter(|_| sub.keyword == "properties")?;
    Some(match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    })
}

/// A character of a token of RFC 9110.
fn is_tchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests;
