//! What reading a resource may return.

use std::borrow::Cow;

use bytes::Bytes;
use mcp_types::{Blob, ReadResourceResult, ResourceContents};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::{NotFound, ResourceError};
use crate::tools::Json;

/// A value that becomes the contents of a resource. The URI and the MIME type are those of the
/// request and of the route, unless the value has its own.
///
/// | type | contents |
/// |---|---|
/// | `String`, `&str`, `Cow<'_, str>` | text |
/// | `Vec<u8>`, `&[u8]`, `Bytes`, [`Blob`] | bytes |
/// | [`Json<T>`] | JSON as text, `application/json` |
/// | [`ResourceContents`], `Vec<ResourceContents>` | those contents |
/// | [`ReadResourceResult`] | itself |
/// | `Option<T>` | the value; without one there is no such resource |
/// | `Result<T, E>` with `E: Into<ResourceError>` | the value, or the failure |
///
/// An empty `Vec` says that the resource exists and has nothing in it; where it does not exist,
/// return `None` or [`NotFound`].
#[diagnostic::on_unimplemented(
    message = "reading a resource cannot return `{Self}`",
    label = "this does not become contents",
    note = "return `Json<{Self}>` for JSON, or a `String`, `Vec<u8>`, `Blob`, `ResourceContents`, `Vec<ResourceContents>`, `ReadResourceResult`, an `Option` of these",
    note = "a `Result` needs an error that `?` turns into `ResourceError`: `NotFound`, any `std::error::Error`, `anyhow::Error`, `String` or `&str`"
)]
pub trait IntoContents {
    /// Becomes the contents. An empty URI means the one that was asked for.
    ///
    /// # Errors
    ///
    /// Why the resource was not read.
    fn into_contents(self) -> Result<ReadResourceResult, ResourceError>;

    /// The MIME type of such contents, where the route names none.
    fn mime_type() -> Option<&'static str> {
        None
    }
}

impl IntoContents for ReadResourceResult {
    #[inline]
    fn into_contents(self) -> Result<ReadResourceResult, ResourceError> {
        Ok(self)
    }
}

impl IntoContents for ResourceContents {
    #[inline]
    fn into_contents(self) -> Result<ReadResourceResult, ResourceError> {
        Ok(self.into())
    }
}

impl IntoContents for Vec<ResourceContents> {
    #[inline]
    fn into_contents(self) -> Result<ReadResourceResult, ResourceError> {
        Ok(ReadResourceResult::new(self))
    }
}

impl<T: Serialize + JsonSchema> IntoContents for Json<T> {
    fn into_contents(self) -> Result<ReadResourceResult, ResourceError> {
        let text = serde_json::to_string(&self.0)?;
        Ok(ResourceContents::text("", text).into())
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

    fn mime_type() -> Option<&'static str> {
        T::mime_type()
    }
}

impl<T: IntoContents, E: Into<ResourceError>> IntoContents for Result<T, E> {
    fn into_contents(self) -> Result<ReadResourceResult, ResourceError> {
        self.map_err(Into::into)?.into_contents()
    }

    fn mime_type() -> Option<&'static str> {
        T::mime_type()
    }
}

macro_rules! contents {
    ($($kind:ident: $($ty:ty),*;)*) => {
        $($(impl IntoContents for $ty {
            fn into_contents(self) -> Result<ReadResourceResult, ResourceError> {
                Ok(ResourceContents::$kind("", self).into())
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
