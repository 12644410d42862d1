//! What the HTTP transport and its layers know of a call.

use std::any::type_name;
use std::fmt::Display;
use std::ops::Deref;

use http::HeaderMap;
use http::request::Parts;
use mcp_core::Fault;

use super::FromCall;
use crate::context::CallContext;
use crate::rejection::Rejection;

/// All headers of the HTTP request. Rejects calls that came over another transport; take
/// `Option<Headers>` where they may be missing.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "it is taken apart in parameters")]
pub struct Headers(pub HeaderMap);

impl Deref for Headers {
    type Target = HeaderMap;

    #[inline]
    fn deref(&self) -> &HeaderMap {
        &self.0
    }
}

impl FromCall for Headers {
    #[inline]
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        Ok(Self(parts(call)?.headers.clone()))
    }
}

#[inline]
fn parts(call: &CallContext) -> Result<&Parts, Rejection> {
    call.extensions().parts().ok_or_else(|| {
        Rejection::missing("this call needs HTTP headers, and its transport has none")
    })
}

/// A header of the HTTP request as a type of yours. Rejects calls without it; take
/// `Option<Header<T>>` where it may be missing.
///
/// # Examples
///
/// ```
/// use std::convert::Infallible;
///
/// use mcp_server::{FromHeader, Header};
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
#[expect(clippy::exhaustive_structs, reason = "it is taken apart in parameters")]
pub struct Header<T>(pub T);

/// A type that is read from one header.
pub trait FromHeader: Sized {
    /// The header's name; its case does not matter.
    const NAME: &'static str;
    /// Why a value does not fit.
    type Error: Display;

    /// Reads the header's value.
    ///
    /// # Errors
    ///
    /// Why the value does not fit; the client is told.
    fn from_header(value: &str) -> Result<Self, Self::Error>;
}

impl<T: FromHeader> FromCall for Header<T> {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let name = T::NAME;
        let value = parts(call)?
            .headers
            .get(name)
            .ok_or_else(|| Rejection::missing(format!("this call needs the header `{name}`")))?;
        let text = value
            .to_str()
            .map_err(|_| Rejection::missing(format!("the header `{name}` is not plain text")))?;
        T::from_header(text)
            .map(Self)
            .map_err(|error| Rejection::missing(format!("the header `{name}`: {error}")))
    }
}

/// A clone of a value that a tower layer inserted into the request's extensions.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "it is taken apart in parameters")]
pub struct Extension<T>(pub T);

impl<T: Clone + Send + Sync + 'static> FromCall for Extension<T> {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        call.extensions()
            .get::<T>()
            .cloned()
            .map(Self)
            .ok_or_else(|| {
                tracing::error!(
                    r#type = type_name::<T>(),
                    "no layer inserted an extension of this type"
                );
                Rejection::Fault(Fault::internal("the server is not set up for this call"))
            })
    }
}
