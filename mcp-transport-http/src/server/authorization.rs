//! [`Authorization`]: what [`Serve::authorize`](crate::Serve::authorize) needs.

use std::error::Error;

use super::service::StreamableHttp;

/// Server authorization, for [`Serve::authorize`](crate::Serve::authorize). `ResourceServer` of
/// `mcp-auth` implements it for OAuth access tokens.
///
/// Implement it for another kind of credentials: the service that [`protect`](Self::protect) returns checks
/// them, and passes the caller to the endpoint as a [`Principal`](mcp_core::Principal) in the request's
/// extensions.
pub trait Authorization: Send + 'static {
    /// The endpoint behind the check of its requests: a tower service.
    type Service;

    /// Returns the host of the server's public URL. [`Serve`](crate::Serve) allows it, unless other
    /// [hosts](StreamableHttp::allowed_hosts) are set. `None` for a server on this machine.
    fn host(&self) -> Option<String>;

    /// Returns the path of the server's public URL. [`Serve`](crate::Serve) serves the endpoint there, unless
    /// another [path](crate::Serve::path) is set. `None`: `/mcp`.
    fn path(&self) -> Option<String>;

    /// Protects an endpoint.
    ///
    /// # Errors
    ///
    /// Returns an error when a setting is invalid.
    fn protect(
        self,
        endpoint: StreamableHttp,
    ) -> Result<ProtectedEndpoint<Self::Service>, Box<dyn Error + Send + Sync>>;
}

/// A protected endpoint, the result of [`Authorization::protect`].
#[derive(Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "implementations of the trait create it"
)]
pub struct ProtectedEndpoint<S> {
    /// The tower service.
    pub service: S,
    /// Paths beside that of the endpoint that the service answers, such as that of its metadata.
    pub paths: Vec<String>,
}
