//! [`Subscribe`]: a subscription's builder.

use std::fmt;
use std::future::IntoFuture;
use std::time::Duration;

use http::HeaderMap;
use mcp_core::BoxFuture;
use mcp_types::SubscriptionFilter;

use super::subscription::{SubscribeOptions, Subscription};
use super::{legacy, modern};
use crate::client::Client;
use crate::error::{Error, ErrorKind};
use crate::options::setter;

/// A subscription that starts when it is awaited. Created by [`Client::subscribe`].
#[must_use = "nothing is subscribed to unless it is awaited"]
pub struct Subscribe {
    client: Client,
    filter: SubscriptionFilter,
    options: SubscribeOptions,
    /// An error of the builder methods. The subscription then fails when it is awaited.
    error: Option<ErrorKind>,
}

impl Subscribe {
    /// Adds changes of the tool list.
    pub fn tools_changed(mut self) -> Self {
        self.filter = self.filter.tools_changed();
        self
    }

    /// Adds changes of the prompt list.
    pub fn prompts_changed(mut self) -> Self {
        self.filter = self.filter.prompts_changed();
        self
    }

    /// Adds changes of the resource and template lists.
    pub fn resources_changed(mut self) -> Self {
        self.filter = self.filter.resources_changed();
        self
    }

    /// Replaces the filter. Use this to subscribe to extension changes.
    pub fn filter(mut self, filter: SubscriptionFilter) -> Self {
        self.filter = filter;
        self
    }

    /// Adds the notifications of extensions that the client declares, as [`Change::Other`](crate::Change::Other):
    /// those that the server sends to all its clients. Notifications that a handler of the client receives are left
    /// out. Has no effect before 2026-07-28, where the
    /// [inbound layers](crate::ClientBuilder::inbound_layer) of the client see them.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use futures_util::TryStreamExt as _;
    /// use mcp::Change;
    ///
    /// # async fn example(client: mcp::Client) -> Result<(), mcp::Error> {
    /// let mut changes = client.changes().tools_changed().extensions().await?;
    /// while let Some(change) = changes.try_next().await? {
    ///     if let Change::Other { method, .. } = change {
    ///         println!("{method}");
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn extensions(mut self) -> Self {
        self.options.with_extensions = true;
        self
    }

    setter!(header);

    /// Sets the timeout for the acknowledgement. Default:
    /// [`ClientBuilder::timeout`](crate::ClientBuilder::timeout).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// Sets the time during which a broken stream is opened again before the subscription fails.
    /// Default: 5 minutes.
    pub fn retry_for(mut self, time: Duration) -> Self {
        self.options.retry_for = time;
        self
    }
}

impl IntoFuture for Subscribe {
    type Output = Result<Subscription, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            if let Some(error) = self.error {
                return Err(error.into());
            }
            if self.client.protocol_version().is_modern() {
                modern::subscribe(self.client, self.filter, self.options).await
            } else {
                legacy::subscribe(self.client, self.filter, self.options).await
            }
        })
    }
}

impl fmt::Debug for Subscribe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscribe")
            .field("filter", &self.filter)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Subscribes to resource changes by URI. Add changes of lists with the methods of
    /// [`Subscribe`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use futures_util::TryStreamExt as _;
    /// use mcp::Change;
    ///
    /// # async fn example(client: mcp::Client) -> Result<(), mcp::Error> {
    /// let mut changes = client.subscribe(["config://app"]).tools_changed().await?;
    /// while let Some(change) = changes.try_next().await? {
    ///     match change {
    ///         Change::Resource { uri } => println!("{uri} has changed"),
    ///         Change::Tools => println!("{} tools", client.list_tools().await?.len()),
    ///         Change::Missed(these) => println!("any of {these:?} may have changed"),
    ///         _ => {}
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn subscribe(&self, uris: impl IntoIterator<Item = impl Into<String>>) -> Subscribe {
        let uris = uris.into_iter().map(Into::into);
        let filter = uris.fold(SubscriptionFilter::new(), SubscriptionFilter::resource);
        Subscribe {
            client: self.clone(),
            filter,
            options: SubscribeOptions {
                headers: HeaderMap::new(),
                timeout: None,
                retry_for: Duration::from_secs(300),
                with_extensions: false,
            },
            error: None,
        }
    }

    /// Subscribes to list changes. Select the lists with the methods of [`Subscribe`].
    pub fn changes(&self) -> Subscribe {
        self.subscribe([] as [String; 0])
    }
}
