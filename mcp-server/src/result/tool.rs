//! Return values of tools.

use std::borrow::Cow;

use mcp_core::{ResultBody, wire};
use mcp_types::{CallToolResult, ContentBlock, JsonObject, Method};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::combine;
use super::error::{check_method, foreign_result};
use super::json::Json;
use super::tool_error::ToolError;
use crate::schema;

/// A return value of a tool.
///
/// | type | result |
/// |---|---|
/// | `()` | no content |
/// | `String`, `&str`, `Cow<'_, str>`, `char` | one text block |
/// | numbers, `bool` | structured content with a schema, and one text block |
/// | [`Json<T>`], a type with `#[derive(mcp::Output)]` | structured content with a schema, and the same JSON as text |
/// | [`Value`] | structured content without a schema, and the same JSON as text |
/// | [`ContentBlock`] | this block |
/// | [`CallToolResult`] | itself |
/// | [`ResultBody`] of `tools/call` | itself, without decoding it |
/// | `Vec<T>` | the content of all elements, for numbers and `bool` with an array as structured content; for other structured `T` one array of them |
/// | `Option<T>` | the value; `None` means no content, or `null` for structured `T` |
/// | `(A, B)`, up to four elements | the content of all elements; the structured content of the one that has some, or an array if several have; numbers have none here |
/// | `Result<T, E>` with `E: Into<ToolError>` | the value, or the error |
///
/// Clients older than revision 2026-07-28 need structured content that is an object. They get other
/// values as `{"result": …}`, with a schema of that object: every value of a tool whose schema accepts
/// others than objects, such as an `Option` of a struct. A number that is not finite is an error that
/// names its member, because JSON cannot contain it.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "this does not become a result",
    note = "return `Json<T>` (or derive `mcp::Output` for `T`) for structured content, or a `String`, a number, `ContentBlock`, `CallToolResult`, a `Vec` or an `Option` of these",
    note = "a `Result` needs an error that `?` turns into `ToolError`: any `std::error::Error`, `anyhow::Error`, `String` or `&str`; an error must be `Send + Sync`: write `Result<_, ToolError>` in place of `Result<_, Box<dyn Error>>`"
)]
pub trait IntoToolResult {
    /// Converts the value into a result.
    ///
    /// # Errors
    ///
    /// Returns the [`ToolError`] of a tool that failed.
    fn into_tool_result(self) -> Result<CallToolResult, ToolError>;

    /// Converts the value into the body of the reply. Only [`ResultBody`] has another one than its result.
    ///
    /// # Errors
    ///
    /// Returns the [`ToolError`] of a tool that failed.
    fn into_body(self) -> Result<ResultBody, ToolError>
    where
        Self: Sized,
    {
        self.into_tool_result().map(ResultBody::from)
    }

    /// Returns the structured content's schema, if all results of the type have one schema.
    fn output_schema() -> Option<JsonObject> {
        None
    }

    /// True for numbers and `bool`. In a list, each remains a text block of its own. In a tuple they are
    /// only content, so that they do not hide a text beside them from clients that read structured content.
    #[doc(hidden)]
    const IS_SCALAR: bool = false;
}

impl<T: Serialize + JsonSchema> IntoToolResult for Json<T> {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        structured(&self.0)
    }

    fn output_schema() -> Option<JsonObject> {
        Some(schema::of_output::<T>())
    }
}

/// Passes the result of another server on.
impl IntoToolResult for ResultBody {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        match wire::decoded(self) {
            Ok(Self::CallTool(result)) => Ok(result),
            _ => Err(ToolError::fault(foreign_result(Method::CallTool))),
        }
    }

    fn into_body(self) -> Result<ResultBody, ToolError> {
        check_method(self, Method::CallTool).map_err(ToolError::fault)
    }
}

impl IntoToolResult for CallToolResult {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(self)
    }
}

impl IntoToolResult for () {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::default())
    }
}

impl IntoToolResult for ContentBlock {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::new(vec![self]))
    }
}

impl IntoToolResult for Value {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        structured(&self)
    }
}

impl<T: IntoToolResult> IntoToolResult for Vec<T> {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        let is_empty = self.is_empty();
        let parts = self.into_iter().enumerate().map(|(index, element)| {
            let part = element.into_tool_result();
            part.map_err(|error| error.in_element(index))
        });
        let parts: Vec<_> = parts.collect::<Result<_, _>>()?;
        if T::IS_SCALAR {
            let values = raw(&structured_parts(&parts))?;
            let content = parts.into_iter().flat_map(|part| part.content).collect();
            let mut result = CallToolResult::new(content);
            result.structured_content = Some(values);
            return Ok(result);
        }
        let is_structured = |part: &CallToolResult| part.structured_content.is_some();
        // Only an empty list needs the schema, which is expensive to make.
        let is_array = if is_empty {
            T::output_schema().is_some()
        } else {
            parts.iter().all(is_structured)
        };
        if is_array {
            structured(&structured_parts(&parts))
        } else {
            Ok(concatenate(parts))
        }
    }

    fn output_schema() -> Option<JsonObject> {
        T::output_schema().map(combine::array)
    }
}

impl<T: IntoToolResult> IntoToolResult for Option<T> {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        match self {
            Some(value) => value.into_tool_result(),
            None if T::output_schema().is_some() => structured(&Value::Null),
            None => Ok(CallToolResult::default()),
        }
    }

    fn output_schema() -> Option<JsonObject> {
        T::output_schema().map(combine::nullable)
    }

    const IS_SCALAR: bool = T::IS_SCALAR;
}

macro_rules! tuples {
    ($(($($element:ident),*))*) => {
        $(
            #[allow(non_snake_case, reason = "variables are named like their types")]
            impl<$($element: IntoToolResult),*> IntoToolResult for ($($element,)*) {
                fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
                    let ($($element,)*) = self;
                    Ok(concatenate(vec![$(part($element)?),*]))
                }

                fn output_schema() -> Option<JsonObject> {
                    combine::tuple(vec![$(part_schema::<$element>()),*])
                }
            }
        )*
    };
}

tuples! { (A, B) (A, B, C) (A, B, C, D) }

/// Converts a tuple element.
fn part<T: IntoToolResult>(element: T) -> Result<CallToolResult, ToolError> {
    let mut part = element.into_tool_result()?;
    if T::IS_SCALAR {
        part.structured_content = None;
    }
    Ok(part)
}

fn part_schema<T: IntoToolResult>() -> Option<JsonObject> {
    if T::IS_SCALAR {
        None
    } else {
        T::output_schema()
    }
}

fn structured(value: &impl Serialize) -> Result<CallToolResult, ToolError> {
    CallToolResult::from_json(value).map_err(|error| ToolError::not_json(&error))
}

fn raw(value: &impl Serialize) -> Result<Box<RawValue>, ToolError> {
    serde_json::value::to_raw_value(value).map_err(|error| ToolError::not_json(&error))
}

fn structured_parts(parts: &[CallToolResult]) -> Vec<&RawValue> {
    let parts = parts.iter();
    parts
        .filter_map(|part| part.structured_content.as_deref())
        .collect()
}

/// Concatenates the content of several results. Structured content stays as it is if one part has
/// some, and becomes an array if several have. One failed part makes the result a failed one.
fn concatenate(parts: Vec<CallToolResult>) -> CallToolResult {
    let structured = match structured_parts(&parts).as_slice() {
        [] => None,
        [single] => Some((*single).to_owned()),
        // Serializing an array of JSON values cannot fail.
        several => serde_json::value::to_raw_value(several).ok(),
    };
    let is_error = parts.iter().any(CallToolResult::is_error);
    let content = parts.into_iter().flat_map(|part| part.content).collect();
    let mut result = CallToolResult::new(content);
    if is_error {
        result.is_error = Some(true);
    } else {
        result.structured_content = structured;
    }
    result
}

#[diagnostic::do_not_recommend]
impl<T: IntoToolResult, E: Into<ToolError>> IntoToolResult for Result<T, E> {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        self.map_err(Into::into)?.into_tool_result()
    }

    fn into_body(self) -> Result<ResultBody, ToolError> {
        self.map_err(Into::into)?.into_body()
    }

    fn output_schema() -> Option<JsonObject> {
        T::output_schema()
    }

    const IS_SCALAR: bool = T::IS_SCALAR;
}

macro_rules! texts {
    ($($text:ty),*) => {
        $(impl IntoToolResult for $text {
            fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
                Ok(CallToolResult::from_text(self))
            }
        })*
    };
}

macro_rules! integers {
    ($($value:ty),*) => {
        $(impl IntoToolResult for $value {
            fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
                structured(&self)
            }

            fn output_schema() -> Option<JsonObject> {
                Some(schema::of_output::<Self>())
            }

            const IS_SCALAR: bool = true;
        })*
    };
}

macro_rules! floats {
    ($($value:ty),*) => {
        $(impl IntoToolResult for $value {
            fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
                let mut result = structured(&self)?;
                result.content = vec![ContentBlock::text(self.to_string())];
                Ok(result)
            }

            fn output_schema() -> Option<JsonObject> {
                Some(schema::of_output::<Self>())
            }

            const IS_SCALAR: bool = true;
        })*
    };
}

impl IntoToolResult for char {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        self.to_string().into_tool_result()
    }
}

texts!(String, &str, Box<str>, Cow<'_, str>);
integers!(
    bool, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize
);
floats!(f32, f64);
