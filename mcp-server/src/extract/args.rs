//! Call arguments.

use std::sync::{Arc, LazyLock};

use mcp_core::Call;
use mcp_types::{JsonObject, RawJson, RawObject};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::from_call::FromCall;
use super::{json_arguments, string_arguments};
use crate::call::{CallContext, RouteSpec};
use crate::constraints::ArgumentFormat;
use crate::rejection::{ArgumentError, Rejection};
use crate::schema::{self, ArgumentSchema, InputSchema, explain};

/// The arguments, decoded into a type of yours. Its JSON Schema becomes the tool's input schema.
///
/// In a tool, arguments that do not match become a failed result for the language model, which lists all
/// mistakes with their paths and the expected types of JSON.
///
/// In a prompt these are the prompt's arguments, in a URI template the variables, and in a completion
/// the arguments that already have values. All of these are strings on the wire. Numbers, `bool`s and
/// enums are parsed from the string; other types are decoded from JSON in the string. Values of other
/// types than a string are accepted as well. Values that do not match become a protocol error that names the argument.
///
/// # Examples
///
/// ```
/// use mcp::Args;
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
#[expect(clippy::exhaustive_structs, reason = "parameters destructure it")]
pub struct Args<T>(pub T);

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> FromCall for Args<T> {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let mut arguments = call.take_arguments();
        // An extractor that takes arguments without describing them has no schema in the route.
        let schema = || match call.input_schema() {
            Some(schema) => schema.clone(),
            None => InputSchema::new(schema::of_arguments::<T>().schema),
        };
        if call.is_form() {
            remove_blanks(&mut arguments, schema);
        }
        if !call.has_string_arguments() {
            return Ok(Self(json_arguments::parse_described(&arguments, schema)?));
        }
        let parsed = string_arguments::parse(&arguments);
        let explain = |error| explain(error, &schema(), &arguments, ArgumentFormat::Strings);
        Ok(Self(parsed.map_err(explain)?))
    }

    fn describe(spec: &mut RouteSpec) {
        spec.set_arguments(schema::of_decoded_arguments::<T>());
    }
}

/// Removes optional arguments that the user left empty. `schema` is needed only if one is empty.
fn remove_blanks(arguments: &mut RawObject, schema: impl FnOnce() -> InputSchema) {
    let is_blank = |value: &RawJson<'_>| value.text().is_some_and(|text| text.trim().is_empty());
    let has_blank = arguments
        .as_raw()
        .members()
        .any(|(_, value)| is_blank(&value));
    if !has_blank {
        return;
    }
    let Ok(mut parsed) = arguments.parse::<JsonObject>() else {
        return;
    };
    let schema = schema();
    parsed.retain(|name, value| {
        let is_required = schema::required(schema.json()).any(|required| required == name);
        is_required || value.as_str().is_none_or(|text| !text.trim().is_empty())
    });
    if let Ok(filled) = RawObject::from_value(&parsed) {
        *arguments = filled;
    }
}

impl CallContext {
    /// Decodes one argument. Returns `None` for a value that counts as absent.
    ///
    /// # Errors
    ///
    /// Returns an [`ArgumentError`] whose path starts with `name`.
    pub(crate) fn parse_argument<T: DeserializeOwned>(
        &self,
        name: &str,
        value: RawJson<'_>,
    ) -> Result<Option<T>, ArgumentError> {
        if self.has_string_arguments() {
            string_arguments::parse_one(name, value)
        } else {
            json_arguments::parse_one(name, value, self.input_schema())
        }
    }

    /// Returns whether the arguments are those of a prompt, which clients show as a form.
    pub(crate) fn is_form(&self) -> bool {
        matches!(self.call(), Call::GetPrompt(_))
    }

    /// Returns the representation of the arguments.
    pub(crate) fn argument_format(&self) -> ArgumentFormat {
        if self.has_string_arguments() {
            ArgumentFormat::Strings
        } else {
            ArgumentFormat::Json
        }
    }

    /// Returns whether all arguments are strings. Only those of tools may be any JSON.
    // spec: PROMPT-03
    fn has_string_arguments(&self) -> bool {
        !matches!(self.call(), Call::CallTool(_))
    }
}

/// The arguments as the client sent them: a JSON object.
///
/// # Examples
///
/// ```
/// use mcp::RawArgs;
///
/// async fn forward(raw: RawArgs) -> String {
///     raw.as_str().to_owned()
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "parameters destructure it")]
pub struct RawArgs(pub RawObject);

impl RawArgs {
    /// The arguments as JSON.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Decodes the arguments.
    ///
    /// # Errors
    ///
    /// Returns an [`ArgumentError`] with the path of the value that does not match.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ArgumentError> {
        json_arguments::parse(&self.0)
    }
}

/// The schema of any arguments. All routes with [`RawArgs`] share it.
static ANY: LazyLock<Arc<JsonObject>> = LazyLock::new(|| {
    let any = ArgumentSchema::new(JsonObject::new(), Ok(None), None);
    Arc::new(any.schema)
});

impl FromCall for RawArgs {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        Ok(Self(call.take_arguments()))
    }

    fn describe(spec: &mut RouteSpec) {
        spec.set_input_schema(InputSchema::new(ANY.clone()));
    }
}
