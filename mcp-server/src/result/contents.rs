//! Return values of resources.

use std::borrow::Cow;

use bytes::Bytes;
use mcp_core::{ResultBody, wire};
use mcp_types::{Blob, Method, ReadResourceResult, ResourceContents};
use schemars::JsonSchema;
use serde::Serialize;

use super::error::{NotFound, ResourceError, check_method, foreign_result};
use super::json::Json;

/// A return value of a resource. The contents get the URI of the request and the MIME type of the
/// route, unless the value has its own.
///
/// | type | contents |
/// |---|---|
/// | `String`, `&str`, `Cow<'_, str>` | text |
/// | `Vec<u8>`, `&[u8]`, `Bytes`, [`Blob`] | bytes |
/// | [`Json<T>`] | JSON as text, `application/json` |
/// | [`ResourceContents`], `Vec<ResourceContents>` | these contents |
/// | [`ReadResourceResult`] | itself |
/// | [`ResultBody`] of `resources/read` | itself, without decoding it |
/// | `Option<T>` | the value; `None` is the error for an unknown resource |
/// | `Result<T, E>` with `E: Into<ResourceError>` | the value, or the error |
///
/// An empty `Vec` is a resource without contents. Return `None` or [`NotFound`] for a resource that
/// does not exist.
#[diagnostic::on_unimplemented(
    message = "reading a resource cannot return `{Self}`",
    label = "this does not become contents",
    note = "return `Json<T>` for JSON, or a `String`, `Vec<u8>`, `Blob`, `ResourceContents`, `Vec<ResourceContents>`, `ReadResourceResult`, an `Option` of these",
    note = "a `Result` needs an error that `?` turns into `ResourceError`: `NotFound`, any `std::error::Error`, `anyhow::Error`, `String` or `&str`; an error must be `Send + Sync`: write `Result<_, ResourceError>` in place of `Result<_, Box<dyn Error>>`"
)]
pub trait IntoContents {
    /// Converts the value into contents. An empty URI means the request's URI.
    ///
    /// # Errors
    ///
    /// Returns the [`ResourceError`] of a resource that cannot be read.
    fn into_contents(self) -> Result<ReadResourceResult, ResourceError>;

    /// Converts the value into the body of the reply. Only [`ResultBody`] has another one than its result.
    ///
    /// # Errors
    ///
    /// Returns the [`ResourceError`] of a resource that cannot be read.
    fn into_body(self) -> Result<ResultBody, ResourceError>
    where
        Self: Sized,
    {
        self.into_contents().map(ResultBody::from)
    }

    /// Returns the MIME type of such contents, for routes without one.
    fn mime_type() -> Option<&'static str> {
        None
    }
}

/// Passes the result of another server on.
impl IntoContents for ResultBody {
    fn into_contents(self) -> Result<ReadResourceResult, ResourceError> {
        match wire::decoded(self) {
            Ok(Self::ReadResource(result)) => Ok(result),
            _ => Err(ResourceError::fault(foreign_result(Method::ReadResource))),
        }
    }

    fn into_body(self) -> Result<ResultBody, ResourceError> {
        check_method(self, Method::ReadResource).map_err(ResourceError::fault)
    }
}

impl IntoContents for ReadResourceResult {
    fn into_contents(self) -> Result<ReadResourceResult, ResourceError> {
        Ok(self)
    }
}

impl IntoContents for ResourceContents {
    fn into_contents(self) -> Result<ReadResourceResult, ResourceError> {
        Ok(self.into())
    }
}

impl IntoContents for Vec<ResourceContents> {
    fn into_contents(self) -> Result<ReadResourceResult, ResourceError> {
        Ok(ReadResourceResult::from(self))
    }
}

impl<T: Serialize + JsonSchema> IntoContents for Json<T> {
    fn into_contents(self) -> Result<ReadResourceResult, ResourceError> {
        let json = serde_json::to_string(&self.0)?;
        Ok(ResourceContents::text("", json).into())
    }

    fn mime_type() -> Option<&'static str> {
        Some("application/json")
    }
}

// spec: RSRC-06
impl<T: IntoContents> IntoContents for Option<T> {
    fn into_contents(self) -> Result<ReadResourceResult, ResourceError> {
        self.ok_or(NotFound)?.into_contents()
    }

    fn into_body(self) -> Result<ResultBody, ResourceError> {
        self.ok_or(NotFound)?.into_body()
    }

    fn mime_type() -> Option<&'static str> {
        T::mime_type()
    }
}

#[diagnostic::do_not_recommend]
impl<T: IntoContents, E: Into<ResourceError>> IntoContents for Result<T, E> {
    fn into_contents(self) -> Result<ReadResourceResult, ResourceError> {
        self.map_err(Into::into)?.into_contents()
    }

    fn into_body(self) -> Result<ResultBody, ResourceError> {
        self.map_err(Into::into)?.into_body()
    }

    fn mime_type() -> Option<&'static str> {
        T::mime_type()
    }
}

macro_rules! contents {
    ($($constructor:ident: $($ty:ty),*;)*) => {
        $($(impl IntoContents for $ty {
            fn into_contents(self) -> Result<ReadResourceResult, ResourceError> {
                Ok(ResourceContents::$constructor("", self).into())
            }
        })*)*
    };
}

contents! {
    text: String, &str, Box<str>, Cow<'_, str>;
    blob: Vec<u8>, &[u8], Bytes, Blob;
}

impl<const N: usize> IntoContents for &[u8; N] {
    fn into_contents(self) -> Result<ReadResourceResult, ResourceError> {
        Ok(ResourceContents::blob("", self).into())
    }
}
