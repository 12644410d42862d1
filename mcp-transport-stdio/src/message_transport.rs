//! [`MessageTransport`]: a transport of whole messages.

use std::error::Error;

use bytes::Bytes;

/// A transport of whole messages, which the host provides: a websocket, a remote process, a pair of channels. A
/// client uses it with `PipeChannel::from_messages`, a server with `StdioServer::run_over_messages`; both panic outside a tokio runtime.
///
/// Each message is one protocol message as JSON, in UTF-8 and without a line feed at its end. Ids,
/// cancellations, progress, requests of the server and limits are the same as on a pair of byte streams. For byte
/// streams with one message per line, use these streams: queued messages then share a write.
///
/// # Concurrency
///
/// One task calls `receive`, and another one calls `send` and, after the last message, `close`. So at most one
/// `receive` and one `send` run at the same time; each direction needs its own state, for example behind a
/// `tokio::sync::Mutex`.
///
/// No method has to be cancel safe: each future is polled until it is ready. It is dropped only when the whole
/// connection ends, after which no method is called. The value is dropped together with the connection.
///
/// # Limits
///
/// While `send` waits, up to 256 KiB of messages are queued, and calls behind them wait until their timeouts. Closing a
/// client, and the end of a server, wait for `close` for one second.
///
/// # Security
///
/// A server over a transport trusts its peer, as on standard input. Whatever accepts the connection, such as a
/// websocket's handshake, must check the origin and the credentials of the client.
///
/// # Examples
///
/// A client and a server in one process, connected by two channels:
///
/// ```
/// use bytes::Bytes;
/// use mcp::prelude::*;
/// use mcp::stdio::{MessageTransport, PipeChannel};
/// use mcp::{Over, StdioServer};
/// use tokio::sync::{Mutex, mpsc};
///
/// struct Channels {
///     sender: Mutex<Option<mpsc::Sender<Bytes>>>,
///     receiver: Mutex<mpsc::Receiver<Bytes>>,
/// }
///
/// impl MessageTransport for Channels {
///     type Error = std::io::Error;
///
///     async fn send(&self, message: Bytes) -> Result<(), Self::Error> {
///         let sent = match &*self.sender.lock().await {
///             Some(sender) => sender.send(message).await.is_ok(),
///             None => false,
///         };
///         if sent { Ok(()) } else { Err(std::io::ErrorKind::BrokenPipe.into()) }
///     }
///
///     async fn receive(&self) -> Result<Option<Bytes>, Self::Error> {
///         Ok(self.receiver.lock().await.recv().await)
///     }
///
///     async fn close(&self) -> Result<(), Self::Error> {
///         self.sender.lock().await.take();
///         Ok(())
///     }
/// }
///
/// fn pair() -> (Channels, Channels) {
///     let (to_server, from_client) = mpsc::channel(16);
///     let (to_client, from_server) = mpsc::channel(16);
///     let end = |sender, receiver| Channels {
///         sender: Mutex::new(Some(sender)),
///         receiver: Mutex::new(receiver),
///     };
///     (end(to_server, from_server), end(to_client, from_client))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> mcp::Result<()> {
/// let (client, peer) = pair();
/// let server = Server::new("clock", "1.0.0").tool(Tool::new("now").handler(|| "half past"));
/// let serving = tokio::spawn(StdioServer::new(server).run_over_messages(peer));
/// let client = Client::connect(Over(PipeChannel::from_messages(client))).await?;
/// assert_eq!(client.call("now", ()).await?.text(), "half past");
/// client.close().await?;
/// serving.await.expect("the server does not panic")?;
/// # Ok(())
/// # }
/// ```
// spec: TRN-04
pub trait MessageTransport: Send + Sync + 'static {
    /// The transport's error. Callers find it in the [source](Error::source) of their call's error.
    type Error: Into<Box<dyn Error + Send + Sync>> + Send;

    /// Sends one message. Waits while the peer cannot take it.
    ///
    /// # Errors
    ///
    /// Returns an error when the connection is lost. The connection then ends; messages that have arrived are still
    /// read for one second.
    fn send(&self, message: Bytes) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Waits for the next message. Returns `None` when the peer has closed its side; it is not called again after
    /// that.
    ///
    /// # Errors
    ///
    /// Returns an error when the connection is lost. The connection then ends.
    fn receive(&self) -> impl Future<Output = Result<Option<Bytes>, Self::Error>> + Send;

    /// Closes the sending side, after all messages are sent. The peer's `receive` then returns `None`.
    ///
    /// # Errors
    ///
    /// Returns an error when the connection is lost.
    fn close(&self) -> impl Future<Output = Result<(), Self::Error>> + Send;
}
