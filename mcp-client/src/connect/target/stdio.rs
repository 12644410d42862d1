//! Byte streams and child processes.

use mcp_transport_stdio::{ChildChannel, PipeChannel, ServerCommand};
use tokio::io::{AsyncRead, AsyncWrite};

use super::Target;
use crate::client::Client;
use crate::connect::ClientBuilder;
use crate::connect::open::open;
use crate::error::Error;

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
#[derive(Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the two streams are the whole type"
)]
pub struct Io<R, W>(pub R, pub W);

impl<R, W> Target for Io<R, W>
where
    R: AsyncRead + Send + 'static,
    W: AsyncWrite + Send + 'static,
{
    async fn connect(self, builder: ClientBuilder) -> Result<Client, Error> {
        open(builder, PipeChannel::new(self.0, self.1)).await
    }
}

impl Target for ServerCommand {
    async fn connect(self, builder: ClientBuilder) -> Result<Client, Error> {
        #[cfg(feature = "auth")]
        if let Some(login) = builder.login.clone() {
            // Before the process starts.
            login.applied("a command")?;
        }
        let channel = ChildChannel::spawn(self)?;
        let process = channel.clone();
        open(builder, channel).await.map_err(|error| {
            // When the process exits, the channel adds the output itself.
            if error.is_timeout() {
                error.with_stderr_tail(process.stderr_tail())
            } else {
                error
            }
        })
    }
}

macro_rules! commands {
    ($($command:ty => $convert:expr),* $(,)?) => {
        $(
            impl Target for $command {
                async fn connect(self, builder: ClientBuilder) -> Result<Client, Error> {
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
