//! The arguments of a call.

use mcp_types::{JsonObject, RawObject};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{ArgumentError, CallContext, FromCall, Rejection, RouteSpec};
use crate::tools::schema;

/// The arguments as a type of yours; its schema is the tool's input schema.
///
/// Arguments that do not fit are told to the language model as a failed result, with the path and
/// what was expected.
///
/// In a prompt they are its arguments, in a URI template its variables, in a completion the
/// arguments that have their values already. All of these are strings on the wire: numbers, `bool`s
/// and enums are read from them, anything else from JSON in the string. What does not fit is a
/// protocol error that names the argument.
///
/// # Examples
///
/// ```
/// use mcp_server::Args;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Add {
///     /// first addend
///     a: f64,
///     b: f64,
/// }
///
/// async fn add(Args(p): Args<Add>) -> f64 {
///     p.a + p.b
/// }
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "it is taken apart in parameters")]
pub struct Args<T>(pub T);

impl<T: DeserializeOwned + JsonSchema> FromCall for Args<T> {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        Ok(Self(call.parse_arguments()?))
    }

    fn describe(spec: &mut RouteSpec) {
        spec.described(schema::of_input::<T>());
    }
}

/// Reads arguments as `T`.
///
/// # Errors
///
/// [`ArgumentError`] with the path of what does not fit.
pub(crate) fn parse<T: DeserializeOwned>(arguments: &RawObject) -> Result<T, ArgumentError> {
    parse_member("", arguments.as_raw())
}

/// Reads one argument as `T`; the path of what does not fit starts with its name.
///
/// # Errors
///
/// [`ArgumentError`] with that path.
pub(crate) fn parse_member<T: DeserializeOwned>(
    name: &str,
    value: &RawValue,
) -> Result<T, ArgumentError> {
    serde_json::from_str(value.get()).map_err(|error| locate::<T>(name, value, &error))
}

/// Reads a value that does not fit again, this time keeping track of the path.
#[cold]
fn locate<T: DeserializeOwned>(
    name: &str,
    value: &RawValue,
    error: &serde_json::Error,
) -> ArgumentError {
    let mut again = serde_json::Deserializer::from_str(value.get());
    let Err(located) = serde_path_to_error::deserialize::<_, T>(&mut again) else {
        return ArgumentError::new(name.to_owned(), reason(error));
    };
    let path = match located.path().to_string().as_str() {
        "." => name.to_owned(),
        inner if name.is_empty() || inner.starts_with('[') => format!("{name}{inner}"),
        inner => format!("{name}.{inner}"),
    };
    ArgumentError::new(path, reason(located.inner()))
}

/// What `serde_json` says, without its place in a text that nobody sees.
pub(crate) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

/// The arguments as they arrived.
///
/// # Examples
///
/// ```
/// use mcp_server::RawArgs;
///
/// async fn forward(raw: RawArgs) -> String {
///     raw.as_str().to_owned()
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "it is taken apart in parameters")]
pub struct RawArgs(pub RawObject);

impl RawArgs {
    /// Their text: a JSON object.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Reads them as `T`.
    ///
    /// # Errors
    ///
    /// [`ArgumentError`] with the path of what does not fit.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ArgumentError> {
        parse(&self.0)
    }
}

impl FromCall for RawArgs {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        Ok(Self(call.take_arguments()))
    }

    fn describe(spec: &mut RouteSpec) {
        let mut any = JsonObject::new();
        any.insert("type".to_owned(), "object".into());
        any.insert("properties".to_owned(), JsonObject::new().into());
        spec.input_schema(any);
    }
}
