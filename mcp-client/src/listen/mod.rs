//! Changes of lists and resources, as a stream.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions>

mod modern;
mod session;

use std::fmt;
use std::future::IntoFuture;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use http::{HeaderMap, HeaderName, HeaderValue};
use mcp_core::BoxFuture;
use mcp_types::SubscriptionFilter;

use crate::change::Change;
use crate::error::Kind;
use crate::options::header;
use crate::{Client, Error};

/// A subscription that begins when it is awaited. Made by [`Client::subscribe`].
#[must_use = "nothing is subscribed to unless it is awaited"]
pub struct Subscribe {
    client: Client,
    filter: SubscriptionFilter,
    settings: Settings,
    /// Why it cannot be sent.
    problem: Option<Kind>,
}

/// How a subscription is begun, and begun anew.
#[derive(Debug, Clone)]
struct Settings {
    headers: HeaderMap,
    timeout: Option<Duration>,
    retry_for: Duration,
}

impl Subscribe {
    /// Also changes of the list of tools.
    pub fn tools_changed(mut self) -> Self {
        self.filter = self.filter.tools_changed();
        self
    }

    /// Also changes of the list of prompts.
    pub fn prompts_changed(mut self) -> Self {
        self.filter = self.filter.prompts_changed();
        self
    }

    /// Also changes of the list of resources.
    pub fn resources_changed(mut self) -> Self {
        self.filter = self.filter.resources_changed();
        self
    }

    /// Exactly these changes, those of extensions among them.
    pub fn filter(mut self, filter: SubscriptionFilter) -> Self {
        self.filter = filter;
        self
    }

    /// Adds a header, for transports that have them.
    pub fn header(
        mut self,
        name: impl TryInto<HeaderName> + AsRef<str>,
        value: impl TryInto<HeaderValue>,
    ) -> Self {
        match header(name, value) {
            Ok((name, value)) => {
                self.settings.headers.append(name, value);
            }
            Err(problem) => {
                self.problem.get_or_insert(problem);
            }
        }
        self
    }

    /// Sets how long the server may take to acknowledge the subscription.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = Some(timeout);
        self
    }

    /// Sets for how long a stream that broke is begun anew before the subscription fails.
    /// Default: 5 minutes.
    pub fn retry_for(mut self, time: Duration) -> Self {
        self.settings.retry_for = time;
        self
    }
}

impl IntoFuture for Subscribe {
    type Output = Result<Subscription, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            if let Some(problem) = self.problem {
                return Err(problem.into());
            }
            if self.client.protocol_version().is_modern() {
                modern::subscribe(self.client, self.filter, self.settings).await
            } else {
                session::subscribe(self.client, self.filter, self.settings).await
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

/// Changes of a server, as a stream; dropping it ends the subscription.
///
/// A stream that breaks is begun anew, first after half a second and then ever more slowly, and
/// says so with [`Change::Missed`]. The end of the stream means that the server has ended the
/// subscription in good order; every other end comes as an error before it.
///
/// Nothing runs in the background: changes are read when the stream is polled.
pub struct Subscription {
    asked: SubscriptionFilter,
    granted: SubscriptionFilter,
    changes: Changes,
}

type Changes = Pin<Box<dyn Stream<Item = Result<Change, Error>> + Send>>;

impl Subscription {
    /// The changes that the server agreed to tell when the subscription began.
    pub fn granted(&self) -> &SubscriptionFilter {
        &self.granted
    }

    /// What was asked for and is not granted: the server does not tell it, or not to this client.
    // spec: SUB-05
    pub fn refused(&self) -> SubscriptionFilter {
        let (asked, granted) = (&self.asked, &self.granted);
        let mut refused = SubscriptionFilter::new();
        refused.tools_list_changed = asked.tools_list_changed && !granted.tools_list_changed;
        refused.prompts_list_changed = asked.prompts_list_changed && !granted.prompts_list_changed;
        refused.resources_list_changed =
            asked.resources_list_changed && !granted.resources_list_changed;
        refused.resource_subscriptions = without(
            &asked.resource_subscriptions,
            &granted.resource_subscriptions,
        );
        refused.task_ids = without(&asked.task_ids, &granted.task_ids);
        refused
    }
}

fn without(asked: &[String], granted: &[String]) -> Vec<String> {
    let refused = asked.iter().filter(|it| !granted.contains(it));
    refused.cloned().collect()
}

impl Stream for Subscription {
    type Item = Result<Change, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.changes.as_mut().poll_next(cx)
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("granted", &self.granted)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Subscribes to changes of resources, by URI; changes of lists are added to it.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use futures_util::TryStreamExt as _;
    /// use mcp_client::Change;
    ///
    /// # async fn example(client: mcp_client::Client) -> Result<(), mcp_client::Error> {
    /// let mut changes = client.subscribe(["config://app"]).tools_changed().await?;
    /// while let Some(change) = changes.try_next().await? {
    ///     match change {
    ///         Change::Resource { uri } => println!("{uri} has changed"),
    ///         Change::Tools => println!("{} tools", client.list_all_tools().await?.len()),
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
            settings: Settings {
                headers: HeaderMap::new(),
                timeout: None,
                retry_for: Duration::from_secs(300),
            },
            problem: None,
        }
    }

    /// Subscribes to changes of lists alone: say which.
    pub fn changes(&self) -> Subscribe {
        self.subscribe([] as [String; 0])
    }
}
