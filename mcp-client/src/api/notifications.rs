//! Server notifications, for any number of readers.

use futures_core::Stream;
use mcp_core::{Omission, ServerNotification};

use crate::client::Client;
use crate::notifications::{LostNotifications, received};
use crate::session;

impl Client {
    /// Returns the server's notifications from now on: log messages, progress, changes, completed elicitations, and
    /// those of extensions. Any number of readers may exist. Callbacks, handlers and [subscriptions](Self::subscribe) receive
    /// theirs as well.
    ///
    /// Each reader sees each notification once, in the order of its arrival, as the
    /// [layers](crate::ClientBuilder::inbound_layer) of the client have left it. Calls and the connection never wait
    /// for a reader: it has room for 256 notifications, and learns the number of those that it has lost. The stream
    /// ends when all clones of the client are dropped.
    ///
    /// The server sends what it was asked for: log messages from the level of
    /// [`log_level`](crate::ClientBuilder::log_level) on, progress of calls with
    /// [`on_progress`](crate::PreparedCall::on_progress), whose token is the [id](crate::PreparedCall::id) of the call's
    /// request, and in revision 2026-07-28 the changes of a [subscription](Self::subscribe). Acknowledged
    /// subscriptions, and cancellations of the server's own requests, are not part of the stream.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime if the connection is a [pipe](Self::is_pipe).
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use futures_util::StreamExt;
    /// use mcp::core::ServerNotification;
    ///
    /// # async fn example(client: mcp::Client) {
    /// let mut notifications = client.notifications();
    /// tokio::spawn(async move {
    ///     while let Some(received) = notifications.next().await {
    ///         match received {
    ///             Ok(ServerNotification::Log(message)) => println!("{:?}: {}", message.level, message.data),
    ///             Ok(other) => println!("{other:?}"),
    ///             Err(lost) => println!("{lost}"),
    ///         }
    ///     }
    /// });
    /// # }
    /// ```
    pub fn notifications(
        &self,
    ) -> impl Stream<Item = Result<ServerNotification, LostNotifications>> + Send + Unpin + use<>
    {
        let receiver = self.inner.events.notifications.subscribe();
        // On a pipe, notifications of concurrent calls do not name their calls. A session has its dispatcher already.
        if self.is_pipe() && self.protocol_version().is_modern() {
            session::watch_notifications(self);
        }
        received(receiver, |received| {
            Some(received.map_err(|count| LostNotifications { count }))
        })
    }

    /// Returns what the client leaves out of the server's lists from now on: malformed items, unreadable members,
    /// repeated pages. Each omission is reported once, until its reason changes. A reader that is 256 events behind
    /// loses the oldest ones; [`omissions`](Self::omissions) has all of the latest lists.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use futures_util::StreamExt;
    ///
    /// # async fn example(client: mcp::Client) {
    /// let mut omissions = client.omission_events();
    /// tokio::spawn(async move {
    ///     while let Some(omission) = omissions.next().await {
    ///         eprintln!("{omission}");
    ///     }
    /// });
    /// # }
    /// ```
    pub fn omission_events(&self) -> impl Stream<Item = Omission> + Send + Unpin + use<> {
        received(self.inner.omissions.subscribe(), Result::ok)
    }
}
