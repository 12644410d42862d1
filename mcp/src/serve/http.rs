//! Serving over HTTP in one line.

use std::future::ready;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use mcp_core::BoxFuture;
use mcp_server::{IntoServer, Server};
use mcp_transport_http::{Serve, StreamableHttp, termination};
use tokio::net::TcpListener;

use crate::Result;

/// Serves a server over Streamable HTTP at the path `/mcp` of an address, until the process is
/// asked to end (ctrl-c or SIGTERM): then running calls finish, for ten seconds at the most.
///
/// Only requests to and from this machine are served; for others build a
/// [`StreamableHttp`] with `allowed_hosts` and `allowed_origins`.
///
/// # Errors
///
/// When the server has a mistake ([`Server::check`](crate::Server::check)), or the address cannot
/// be had.
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
pub fn serve_http<'a>(
    server: impl IntoServer,
    address: impl Address + 'a,
) -> BoxFuture<'a, Result<()>> {
    serve(server.into_server(), address.listen())
}

/// Boxed and of no type of the program: so it is compiled in here, and not with each program.
fn serve<'a>(server: Server, listening: Listening<'a>) -> BoxFuture<'a, Result<()>> {
    Box::pin(async move {
        server.check()?;
        Serve::new(listening.await?, StreamableHttp::new(server))
            .shutdown_on(termination())
            .run()
            .await?;
        Ok(())
    })
}

/// Where to serve: text such as `127.0.0.1:8000`, a socket address, or a listener.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no address to serve at",
    label = "no address",
    note = "write it as `\"127.0.0.1:8000\"`, `(\"127.0.0.1\", 8000)` or a `SocketAddr`, or give a `tokio::net::TcpListener`"
)]
pub trait Address: sealed::Sealed {
    #[doc(hidden)]
    fn listen<'a>(self) -> Listening<'a>
    where
        Self: 'a;
}

type Listening<'a> = BoxFuture<'a, io::Result<TcpListener>>;

impl Address for TcpListener {
    fn listen<'a>(self) -> Listening<'a> {
        Box::pin(ready(Ok(self)))
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
                fn listen<'a>(self) -> Listening<'a>
                where
                    Self: 'a,
                {
                    Box::pin(TcpListener::bind(self))
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
