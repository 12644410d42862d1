//! The HTTP request's headers.

use std::fmt::{self, Display};
use std::ops::Deref;

use http::header::{AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION, SET_COOKIE};
use http::{HeaderMap, HeaderName};

use super::from_call::FromCall;
use crate::call::CallContext;
use crate::rejection::Rejection;

/// All headers of the HTTP request. Rejects calls over other transports; take `Option<Headers>` to
/// accept them.
///
/// `Debug` prints names only. Values with credentials (`Authorization`, cookies, keys and tokens) are
/// marked as sensitive, so that `Debug` of the map does not print them either.
#[derive(Clone)]
#[expect(clippy::exhaustive_structs, reason = "parameters destructure it")]
pub struct Headers(pub HeaderMap);

impl Deref for Headers {
    type Target = HeaderMap;

    fn deref(&self) -> &HeaderMap {
        &self.0
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.0.keys().map(HeaderName::as_str).collect();
        f.debug_tuple("Headers").field(&names).finish()
    }
}

impl FromCall for Headers {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let mut headers = headers(call)?.clone();
        mark_sensitive(&mut headers);
        Ok(Self(headers))
    }
}

/// Headers with credentials by their definition.
const CREDENTIALS: [HeaderName; 4] = [AUTHORIZATION, PROXY_AUTHORIZATION, COOKIE, SET_COOKIE];

/// Marks the values of headers with credentials as sensitive: their `Debug` prints `Sensitive`, and
/// HTTP/2 does not store them in its compression table.
fn mark_sensitive(headers: &mut HeaderMap) {
    for (name, value) in headers {
        if is_sensitive(name) {
            value.set_sensitive(true);
        }
    }
}

/// Returns true for the headers that are defined for credentials, and for others with a name that
/// is usual for them (`x-api-key`, `x-auth-token`).
fn is_sensitive(name: &HeaderName) -> bool {
    let words = [
        "auth", "cookie", "key", "password", "secret", "session", "token",
    ];
    CREDENTIALS.contains(name) || words.iter().any(|word| name.as_str().contains(word))
}

fn headers(call: &CallContext) -> Result<&HeaderMap, Rejection> {
    let parts = call.extensions().parts();
    parts.map(|parts| &parts.headers).ok_or_else(|| {
        Rejection::missing("this call needs HTTP headers, and its transport has none")
    })
}

/// One header of the HTTP request, decoded by [`FromHeader`]. Rejects calls without the header; take
/// `Option<Header<T>>` to accept them.
///
/// # Examples
///
/// ```
/// use std::convert::Infallible;
///
/// use mcp::prelude::*;
///
/// struct Tenant(String);
///
/// impl FromHeader for Tenant {
///     const NAME: &'static str = "x-tenant";
///     type Error = Infallible;
///
///     fn from_header(value: &str) -> Result<Self, Infallible> {
///         Ok(Self(value.to_owned()))
///     }
/// }
///
/// async fn whoami(Header(tenant): Header<Tenant>) -> String {
///     tenant.0
/// }
/// ```
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "parameters destructure it")]
pub struct Header<T>(pub T);

/// A type that is decoded from one header; see [`Header`].
pub trait FromHeader: Sized {
    /// The header's name, in any case.
    const NAME: &'static str;
    /// The error for a malformed value.
    type Error: Display;

    /// Decodes the header's value.
    ///
    /// # Errors
    ///
    /// Returns an error for a malformed value. The client receives its message.
    fn from_header(value: &str) -> Result<Self, Self::Error>;
}

impl<T: FromHeader> FromCall for Header<T> {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let name = T::NAME;
        let value = headers(call)?
            .get(name)
            .ok_or_else(|| Rejection::missing(format!("this call needs the header `{name}`")))?;
        let value = value
            .to_str()
            .map_err(|_| Rejection::missing(format!("the header `{name}` is not plain text")))?;
        T::from_header(value)
            .map(Self)
            .map_err(|error| Rejection::missing(format!("the header `{name}`: {error}")))
    }
}
