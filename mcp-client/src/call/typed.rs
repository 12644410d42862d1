//! [`TypedCall`]: a call whose result has a type.

use std::fmt;
use std::future::IntoFuture;
use std::marker::PhantomData;

use mcp_core::{BoxFuture, ResultBody};
use mcp_types::CallToolResult;
use serde::de::DeserializeOwned;

use super::prepared::PreparedCall;
use crate::error::{Error, ErrorKind};

/// A tool call with a typed result, sent when it is awaited. A tool failure is an error, as is a result of another
/// shape. Their messages name tool and server. Exported as `mcp::typed::TypedCall`.
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
///
/// use mcp::typed::TypedCall;
///
/// # async fn example(client: mcp::Client) -> mcp::Result<()> {
/// let call: TypedCall<'_, f64> = TypedCall::new(client.call("pi", ()));
/// let pi = call.options(|call| call.timeout(Duration::from_secs(5))).await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a call does nothing unless it is awaited"]
pub struct TypedCall<'a, T> {
    call: PreparedCall<'a, CallToolResult>,
    result: PhantomData<fn() -> T>,
}

impl<'a, T: DeserializeOwned + Send + 'a> TypedCall<'a, T> {
    /// Wraps a call.
    pub fn new(call: PreparedCall<'a, CallToolResult>) -> Self {
        Self {
            call,
            result: PhantomData,
        }
    }

    /// Sets options of the call: its timeout, a function for progress, headers.
    pub fn options(
        self,
        set: impl FnOnce(PreparedCall<'a, CallToolResult>) -> PreparedCall<'a, CallToolResult>,
    ) -> Self {
        Self::new(set(self.call))
    }

    /// Sends the call, and returns the whole result beside the typed one: its content blocks, such as
    /// images, and its `_meta`.
    ///
    /// # Errors
    ///
    /// Returns the same errors as the awaited call: a failure of the tool is one.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::ContentBlock;
    /// use mcp::typed::TypedCall;
    ///
    /// # async fn example(client: mcp::Client) -> mcp::Result<()> {
    /// let call: TypedCall<'_, f64> = TypedCall::new(client.call("chart", ()));
    /// let (highest, result) = call.with_result().await?;
    /// for block in result.content {
    ///     if let ContentBlock::Image(image) = block {
    ///         println!("{highest}: a picture of {} bytes", image.data.as_bytes().len());
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn with_result(self) -> Result<(T, CallToolResult), Error> {
        self.call.reading(read).await
    }
}

/// Reads the result of a tool. The call adds its tool and server to the error.
fn read<T: DeserializeOwned>(body: ResultBody) -> Result<(T, CallToolResult), ErrorKind> {
    let ResultBody::CallTool(result) = body else {
        return Err(ErrorKind::WrongResult);
    };
    Ok((result.parse().map_err(ErrorKind::Result)?, result))
}

impl<T> fmt::Debug for TypedCall<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TypedCall").field(&self.call).finish()
    }
}

impl<'a, T: DeserializeOwned + Send + 'a> IntoFuture for TypedCall<'a, T> {
    type Output = Result<T, Error>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.call.reading(|body| Ok(read(body)?.0)).into_future()
    }
}
