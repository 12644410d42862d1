//! The arguments of a call.

use mcp_core::Call;
use mcp_types::{JsonObject, RawJson, RawObject};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{FromCall, json, text};
use crate::context::CallContext;
use crate::rejection::{ArgumentError, Rejection};
use crate::schema;
use crate::spec::RouteSpec;

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

impl CallContext {
    /// Takes the arguments as `T`.
    ///
    /// # Errors
    ///
    /// [`ArgumentError`] with the path of what does not fit.
    fn parse_arguments<T: DeserializeOwned>(&mut self) -> Result<T, ArgumentError> {
        let arguments = self.take_arguments();
        match self.has_texts() {
            true => text::parse(&arguments),
            false => json::parse(&arguments),
        }
    }

    /// Reads one of the arguments as `T`.
    ///
    /// # Errors
    ///
    /// [`ArgumentError`] with the path of what does not fit; it starts with the name.
    pub(crate) fn parse_member<T: DeserializeOwned>(
        &self,
        name: &str,
        value: RawJson<'_>,
    ) -> Result<T, ArgumentError> {
        match self.has_texts() {
            true => text::parse_member(name, value),
            false => json::parse_member(name, value),
        }
    }

    /// All arguments are strings; only those of tools are any JSON.
    // spec: PROMPT-03
    fn has_texts(&self) -> bool {
        !matches!(self.call(), Call::CallTool(_))
    }
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
        json::parse(&self.0)
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
