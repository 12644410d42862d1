//! A subscription of a webhook that renews itself.

use std::sync::Arc;
use std::time::Duration;

use mcp_client::Error;
use mcp_core::Backoff;
use mcp_types::time;
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;

use super::query::{EventClient, EventQuery, WebhookTarget};
use super::stream::is_final;
use crate::clock;
use crate::wire::SubscribeResult;

/// The shortest and the longest wait between two renewals.
const SHORTEST_WAIT: Duration = Duration::from_secs(20);
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3600);
/// The wait if the server names a time that cannot be read.
const UNKNOWN_WAIT: Duration = Duration::from_secs(600);
/// Waits after failures.
const FIRST_RETRY: Duration = Duration::from_secs(2);
const LONGEST_RETRY: Duration = Duration::from_secs(60);

/// A subscription of a webhook that renews itself before it expires.
///
/// [`EventClient::keep_subscribed`] creates it. It renews after two thirds of the time that the server
/// grants, and repeats failed renewals after 1 to 60 seconds. If the server has lost the subscription, a
/// renewal creates it again, at the last known [position](Self::set_cursor).
///
/// Dropping it ends the renewals, and the subscription expires. [`unsubscribe`](Self::unsubscribe) ends it
/// at once.
#[derive(Debug)]
pub struct WebhookSubscription {
    client: EventClient,
    query: EventQuery,
    url: String,
    state: Arc<Mutex<SubscribeResult>>,
    failed: oneshot::Receiver<Error>,
    task: AbortOnDropHandle<()>,
}

impl EventClient {
    /// Subscribes with a webhook, and renews the subscription until the result is dropped.
    ///
    /// # Errors
    ///
    /// Returns the [`Error`] of the first request.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::events::{EventClient, EventQuery, WebhookSecret, WebhookTarget};
    ///
    /// # async fn example(client: mcp::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// let secret = WebhookSecret::generate()?;
    /// let target = WebhookTarget::new("https://agent.example/hooks/orders", secret);
    /// let events = EventClient::new(&client)?;
    /// let subscription = events.keep_subscribed(EventQuery::new("order.placed"), target).await?;
    /// println!("{}", subscription.status().id);
    /// subscription.unsubscribe().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn keep_subscribed(
        &self,
        query: EventQuery,
        target: WebhookTarget,
    ) -> Result<WebhookSubscription, Error> {
        let first = self.subscribe(query.clone(), &target).await?;
        let state = Arc::new(Mutex::new(first));
        let (sender, failed) = oneshot::channel();
        let url = target.url.clone();
        let renewal = Renewal {
            client: self.clone(),
            query: query.clone(),
            target,
            state: state.clone(),
        };
        let run = async move {
            // The receiver is dropped together with the task.
            let _ = sender.send(renewal.run().await);
        };
        Ok(WebhookSubscription {
            client: self.clone(),
            query,
            url,
            state,
            failed,
            task: AbortOnDropHandle::new(tokio::spawn(run)),
        })
    }
}

impl WebhookSubscription {
    /// The result of the last renewal: id, end and state of the deliveries.
    pub fn status(&self) -> SubscribeResult {
        self.state.lock().clone()
    }

    /// Sets the position at which the subscription is created again if the server loses it: the `cursor`
    /// of the last event that the program has stored. Default: the position at the last renewal.
    pub fn set_cursor(&self, cursor: impl Into<String>) {
        self.state.lock().cursor = Some(cursor.into());
    }

    /// Waits until the server refuses to renew the subscription, and returns its error. Called again, it
    /// never returns.
    pub async fn failed(&mut self) -> Error {
        if !self.failed.is_terminated()
            && let Ok(error) = (&mut self.failed).await
        {
            return error;
        }
        std::future::pending().await
    }

    /// Ends the subscription.
    ///
    /// # Errors
    ///
    /// Returns the request's [`Error`]. The renewals end nevertheless.
    pub async fn unsubscribe(self) -> Result<(), Error> {
        self.task.abort();
        let unsubscribe = self.client.unsubscribe(self.query.clone(), &self.url);
        unsubscribe.await.map(drop)
    }
}

struct Renewal {
    client: EventClient,
    query: EventQuery,
    target: WebhookTarget,
    state: Arc<Mutex<SubscribeResult>>,
}

impl Renewal {
    /// Renews until the server refuses it. Returns its error.
    async fn run(self) -> Error {
        let mut backoff = Backoff::new(FIRST_RETRY, LONGEST_RETRY);
        let mut wait = self.wait();
        loop {
            sleep(wait).await;
            let mut query = self.query.clone();
            query.selector.cursor.clone_from(&self.state.lock().cursor);
            match self.client.subscribe(query, &self.target).await {
                Ok(renewed) => {
                    *self.state.lock() = renewed;
                    backoff.reset();
                    wait = self.wait();
                }
                Err(error) if is_final(&error) => return error,
                Err(error) => {
                    tracing::warn!(error = %mcp_types::escaped(&error), "the subscription of a webhook was not renewed; trying again");
                    wait = backoff.next_delay();
                }
            }
        }
    }

    /// Returns two thirds of the time until the subscription ends.
    fn wait(&self) -> Duration {
        let state = self.state.lock();
        let end = state.refresh_before.as_deref();
        end.map_or(Duration::MAX, |end| wait_until(end, clock::now()))
    }
}

fn wait_until(refresh_before: &str, now: u64) -> Duration {
    let Some(end) = time::parse(refresh_before) else {
        return UNKNOWN_WAIT;
    };
    let left = Duration::from_millis(end.saturating_sub(now));
    // Clocks may differ: even for a time in the past, there is a pause before the renewal.
    (left * 2 / 3).clamp(SHORTEST_WAIT, LONGEST_WAIT)
}

#[cfg(test)]
mod tests {
    use super::wait_until;

    #[test]
    fn renewal_comes_after_two_thirds_of_the_granted_time() {
        let now = 1_785_240_000_000;
        for (end, seconds) in [
            ("2026-07-28T13:00:00.000Z", 2400),
            ("2026-07-28T12:01:00Z", 40),
            ("2026-07-28T12:00:03Z", 20),
            ("2025-01-01T00:00:00Z", 20),
            ("2036-01-01T00:00:00Z", 86_400),
            ("tomorrow", 600),
        ] {
            assert_eq!(wait_until(end, now).as_secs(), seconds, "{end}");
        }
    }
}
