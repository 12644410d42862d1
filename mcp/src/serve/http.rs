//! [`serve_http`] and the addresses that it accepts.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use mcp_server::IntoServer;
use mcp_transport_http::{Serve, StreamableHttp, termination};
use tokio::net::TcpListener;

use crate::error::Result;

/// Serves `server` over Streamable HTTP at the path `/mcp` of `address`.
///
/// The future completes after ctrl-c or SIGTERM. Running calls then have ten seconds to finish.
///
/// Only requests whose `Host` and `Origin` name this machine are accepted. For a public server,
/// build a [`StreamableHttp`] with `allowed_hosts` and `allowed_origins` and serve it with
/// [`Serve`](crate::http::Serve) or a web framework.
///
/// # Errors
///
/// Returns an error when [`Server::check`](crate::Server::check) finds a mistake, when the address
/// cannot be bound, or when the listener fails.
///
/// # Examples
///
/// ```no_run
/// use mcp::prelude::*;
///
/// # async fn run() -> mcp::Result<()> {
/// let server = Server::new("clock", "1.0.0")
///     .tool(Tool::new("now").describe("The time").handler(|| "half past"));
/// mcp::serve_http(server, "127.0.0.1:8000").await
/// # }
/// ```
pub async fn serve_http(server: impl IntoServer, address: impl Address) -> Result<()> {
    let server = server.into_server();
    server.check()?;
    let listener = address.listen().await?;
    Serve::new(listener, StreamableHttp::new(server))
        .shutdown_on(termination())
        .await?;
    Ok(())
}

/// An address for [`serve_http`]: a string such as `127.0.0.1:8000`, a host and a port, a
/// [`SocketAddr`], or a bound [`TcpListener`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an address to serve at",
    label = "not an address",
    note = "write it as `\"127.0.0.1:8000\"`, `(\"127.0.0.1\", 8000)` or a `SocketAddr`, or pass a `tokio::net::TcpListener`"
)]
pub trait Address: sealed::Sealed + Send {
    #[doc(hidden)]
    fn listen(self) -> impl Future<Output = io::Result<TcpListener>> + Send;
}

impl Address for TcpListener {
    async fn listen(self) -> io::Result<Self> {
        Ok(self)
    }
}

mod sealed {
    #[expect(unnameable_types, reason = "seals the trait")]
    pub trait Sealed {}
    impl Sealed for tokio::net::TcpListener {}
}

macro_rules! addresses {
    ($($address:ty),*) => {
        $(
            impl sealed::Sealed for $address {}

            impl Address for $address {
                async fn listen(self) -> io::Result<TcpListener> {
                    TcpListener::bind(self).await
                }
            }
        )*
    };
}

addresses!(
    &str,
    String,
    SocketAddr,
    (&str, u16),
    (IpAddr, u16),
    (Ipv4Addr, u16),
    (Ipv6Addr, u16)
);
