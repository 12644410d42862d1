//! [`TypedCall`].

use std::fmt;
use std::future::IntoFuture;
use std::marker::PhantomData;

use mcp_client::{Error, PreparedCall};
use mcp_core::BoxFuture;
use mcp_types::CallToolResult;
use serde::de::DeserializeOwned;

/// A call of a tool with a typed result, sent when it is awaited. A failure of the tool is an error.
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

impl<'a, T: DeserializeOwned> TypedCall<'a, T> {
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

    /// Returns the call whose result is not parsed, for content blocks and `_meta`.
    pub fn untyped(self) -> PreparedCall<'a, CallToolResult> {
        self.call
    }
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
        let call = self.call;
        Box::pin(async move { Ok(call.await?.parse()?) })
    }
}
