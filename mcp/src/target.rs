//! Connection targets of a client.

use std::future::Future;

use mcp_client::{Client, ClientBuilder};

use crate::error::Result;

/// A connection target: the server that a client connects to.
///
/// | type | server | feature |
/// |---|---|---|
/// | `&str`, `String`, `Url` | a Streamable HTTP endpoint at this URL | `http-client` |
/// | `Authorizer` | an HTTP endpoint that demands authorization | `auth` |
/// | `HttpChannel` | an HTTP endpoint, with custom headers and limits | `http-client` |
/// | `Command` of the standard library or of tokio, `ServerCommand` | a child process | `stdio` |
/// | `Io` | the peer of a pair of byte streams | `stdio` |
/// | `InProcess` | a server in this process | `server` |
/// | [`ServerSpec`](crate::group::ServerSpec) | an entry of an `mcp.json` | `stdio`, `http-client` |
///
/// Program, arguments, environment variables and working directory of a `Command` are used; its
/// other settings are ignored. The child process gets the variables of the command and a short list
/// of variables of this process, such as `PATH` and `HOME`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a connection target",
    label = "expected a URL, a command, a pair of streams, or a server in this process",
    note = "URLs need the feature `http-client`, commands and `Io` the feature `stdio`, `InProcess` the feature `server`"
)]
pub trait Target: sealed::Sealed + Send {
    #[doc(hidden)]
    fn connect(self, builder: ClientBuilder) -> impl Future<Output = Result<Client>> + Send;
}

pub(crate) mod sealed {
    #[expect(unnameable_types, reason = "seals the trait")]
    pub trait Sealed {}
}

#[cfg(feature = "http-client")]
mod http {
    use mcp_client::{Client, ClientBuilder};
    use mcp_transport_http::client::HttpChannel;

    use super::{Target, sealed};
    use crate::error::Result;

    macro_rules! urls {
        ($($url:ty),*) => {
            $(
                impl sealed::Sealed for $url {}

                impl Target for $url {
                    async fn connect(self, builder: ClientBuilder) -> Result<Client> {
                        let url: &str = self.as_ref();
                        HttpChannel::new(url)?.connect(builder).await
                    }
                }
            )*
        };
    }

    urls!(&str, String, &String, url::Url, &url::Url);

    impl sealed::Sealed for HttpChannel {}

    impl Target for HttpChannel {
        async fn connect(self, builder: ClientBuilder) -> Result<Client> {
            Ok(builder.over(self).await?)
        }
    }
}

/// A pair of byte streams whose other end is a server: a socket, or two pipes.
///
/// The first field is the reader, the second the writer. Each message is one line of JSON.
///
/// # Examples
///
/// ```no_run
/// # #[cfg(unix)]
/// # async fn run() -> mcp::Result<()> {
/// use mcp::prelude::*;
///
/// let socket = tokio::net::UnixStream::connect("/run/mcp.sock").await?;
/// let (reader, writer) = socket.into_split();
/// let client = Client::connect(Io(reader, writer)).await?;
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "stdio")]
#[derive(Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the two streams are the whole type"
)]
pub struct Io<R, W>(pub R, pub W);

#[cfg(feature = "stdio")]
mod stdio {
    use mcp_client::{Client, ClientBuilder};
    use mcp_transport_stdio::{ChildChannel, PipeChannel, ServerCommand};
    use tokio::io::{AsyncRead, AsyncWrite};

    use super::{Io, Target, sealed};
    use crate::error::Result;

    impl<R, W> sealed::Sealed for Io<R, W> {}

    impl<R, W> Target for Io<R, W>
    where
        R: AsyncRead + Send + 'static,
        W: AsyncWrite + Send + 'static,
    {
        async fn connect(self, builder: ClientBuilder) -> Result<Client> {
            Ok(builder.over(PipeChannel::new(self.0, self.1)).await?)
        }
    }

    impl sealed::Sealed for ServerCommand {}

    impl Target for ServerCommand {
        async fn connect(self, builder: ClientBuilder) -> Result<Client> {
            let channel = ChildChannel::spawn(self)?;
            let stderr = channel.stderr_tail();
            let connected = builder.over(channel).await;
            Ok(connected.map_err(|error| match error.is_timeout() {
                true => error.with_stderr_tail(stderr.text()),
                // When the process exits, the channel adds the output itself.
                false => error,
            })?)
        }
    }

    macro_rules! commands {
        ($($command:ty => $convert:expr),* $(,)?) => {
            $(
                impl sealed::Sealed for $command {}

                impl Target for $command {
                    async fn connect(self, builder: ClientBuilder) -> Result<Client> {
                        let convert: fn(&$command) -> ServerCommand = $convert;
                        convert(&self).connect(builder).await
                    }
                }
            )*
        };
    }

    commands! {
        std::process::Command => |command| command.into(),
        &mut std::process::Command => |command| (&**command).into(),
        tokio::process::Command => |command| command.as_std().into(),
        &mut tokio::process::Command => |command| command.as_std().into(),
    }
}

/// A server in this process. Calls run on the task of the caller; no socket and no task is created.
///
/// # Examples
///
/// ```
/// use mcp::InProcess;
/// use mcp::prelude::*;
///
/// # async fn run() -> mcp::Result<()> {
/// let server = Server::new("clock", "1.0.0")
///     .tool(Tool::new("now").describe("The time").handler(|| "half past"));
/// let client = Client::connect(InProcess(server)).await?;
/// assert_eq!(client.list_tools().await?.len(), 1);
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "server")]
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "the server is the whole type")]
pub struct InProcess<S>(pub S);

#[cfg(feature = "server")]
mod in_process {
    use mcp_client::{Client, ClientBuilder};
    use mcp_core::InProcessChannel;
    use mcp_server::IntoServer;

    use super::{InProcess, Target, sealed};
    use crate::error::Result;

    impl<S> sealed::Sealed for InProcess<S> {}

    impl<S: IntoServer + Send> Target for InProcess<S> {
        async fn connect(self, builder: ClientBuilder) -> Result<Client> {
            let server = self.0.into_server();
            server.check()?;
            Ok(builder.over(InProcessChannel::new(server)).await?)
        }
    }
}
