//! One subscription of the gateway to a server's resources.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::{once, select_all};
use mcp_client::{Change, Error, Subscription};
use mcp_core::{Backoff, Fault};
use mcp_server::Notify;
use parking_lot::Mutex;
use tokio::time::{Instant, sleep};
use tokio_util::task::AbortOnDropHandle;

use crate::calls::upstream::Upstream;

/// Delays before a subscription that has ended is opened again.
const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// A subscription that was open for this time is opened again after the shortest delay.
const HEALTHY: Duration = Duration::from_secs(60);

/// Requests that a server may refuse before a subscription counts as failed.
const MAX_REFUSED: usize = 64;

/// A subscription to some resources of one server. It is opened again when it breaks, and ends when this is
/// dropped. The server runs until then.
pub(crate) struct UpdateStream {
    pub(crate) uris: Arc<[Arc<str>]>,
    state: Arc<StreamState>,
    _task: AbortOnDropHandle<()>,
}

#[derive(Default)]
struct StreamState {
    /// The server has acknowledged the subscription.
    is_open: AtomicBool,
    /// The server does not send updates of all the resources.
    has_refused: AtomicBool,
    /// The subscriptions that this one replaces. They end when it is open, so that no update is lost.
    replaced: Mutex<Vec<Arc<UpdateStream>>>,
}

impl UpdateStream {
    /// Starts a subscription in place of others.
    pub(crate) fn start(
        upstream: &Arc<Upstream>,
        notify: &Notify,
        uris: Vec<Arc<str>>,
        replaced: Vec<Arc<Self>>,
    ) -> Arc<Self> {
        let complete = replaced.iter().filter(|stream| !stream.has_refused());
        let known: HashSet<&Arc<str>> = complete.flat_map(|stream| &*stream.uris).collect();
        let new = uris.iter().filter(|uri| !known.contains(uri));
        let new = new.cloned().collect();
        let (uris, state) = (Arc::from(uris), Arc::new(StreamState::default()));
        *state.replaced.lock() = replaced;
        let following = UpdateTask {
            upstream: upstream.clone(),
            notify: notify.clone(),
            uris: Arc::clone(&uris),
            missed: new,
            state: state.clone(),
        };
        Arc::new(Self {
            uris,
            state,
            _task: AbortOnDropHandle::new(tokio::spawn(following.run())),
        })
    }

    /// Returns true if the server has acknowledged the subscription.
    pub(crate) fn is_open(&self) -> bool {
        self.state.is_open.load(Ordering::Acquire)
    }

    /// Returns true if the server does not send updates of all the resources.
    pub(super) fn has_refused(&self) -> bool {
        self.state.has_refused.load(Ordering::Acquire)
    }

    /// Returns the open subscriptions that a subscription in place of this one replaces.
    pub(super) fn into_open(self: Arc<Self>) -> Vec<Arc<Self>> {
        let replaced = std::mem::take(&mut *self.state.replaced.lock());
        if self.is_open() { vec![self] } else { replaced }
    }
}

/// The task that runs a subscription.
struct UpdateTask {
    upstream: Arc<Upstream>,
    notify: Notify,
    uris: Arc<[Arc<str>]>,
    /// The resources that may have changed while nothing was subscribed to.
    missed: Arc<[Arc<str>]>,
    state: Arc<StreamState>,
}

impl UpdateTask {
    /// Passes updates on. Returns when the server sends none of these resources.
    async fn run(mut self) {
        let _in_use = self.upstream.usage.begin();
        let server = self.upstream.server.clone();
        let mut backoff = Backoff::new(RETRY.0, RETRY.1);
        loop {
            let opened = Instant::now();
            match self.open().await {
                Ok(streams) => {
                    self.report_open(&streams);
                    if streams.is_empty() {
                        return;
                    }
                    self.forward(streams).await;
                    self.state.is_open.store(false, Ordering::Release);
                }
                Err(error) => {
                    tracing::warn!(server = %mcp_types::escaped(&server), error = %mcp_types::escaped(&error), "the gateway cannot forward resource updates");
                }
            }
            self.missed = self.uris.clone();
            if opened.elapsed() >= HEALTHY {
                backoff.reset();
            }
            sleep(backoff.next_delay()).await;
        }
    }

    /// Subscribes to the resources that the server grants. A server of 2026-07-28 may refuse a whole request for
    /// one URI; then each half is requested.
    async fn open(&self) -> Result<Vec<Subscription>, Error> {
        let Upstream { group, server, .. } = &*self.upstream;
        let client = group.client(server).await?;
        let (mut opened, mut refused) = (Vec::new(), 0);
        let mut requests = vec![&*self.uris];
        while let Some(uris) = requests.pop() {
            match client.subscribe(uris.iter().map(|uri| &**uri)).await {
                Ok(stream) if !stream.granted().resource_subscriptions.is_empty() => {
                    opened.push(stream);
                }
                Ok(_) => {}
                Err(error) if error.is_unknown_method() => return Ok(Vec::new()),
                Err(error) if refused < MAX_REFUSED && is_refusal(&error) => {
                    refused += 1;
                    if uris.len() > 1 {
                        let (first, second) = uris.split_at(uris.len() / 2);
                        requests.extend([first, second]);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(opened)
    }

    /// Ends the replaced subscriptions, and notifies clients of updates that may have been missed.
    fn report_open(&self, streams: &[Subscription]) {
        let granted = streams.iter().map(Subscription::granted);
        let granted = granted.flat_map(|filter| &filter.resource_subscriptions);
        let granted: HashSet<&str> = granted.map(|uri| &**uri).collect();
        let has_refused = granted.len() < self.uris.len();
        self.state.has_refused.store(has_refused, Ordering::Release);
        self.state.is_open.store(true, Ordering::Release);
        let replaced = std::mem::take(&mut *self.state.replaced.lock());
        drop(replaced);
        let missed = self.missed.iter();
        for uri in missed.filter(|uri| granted.contains(&***uri)) {
            self.notify.resource_updated(&**uri);
        }
    }

    /// Passes updates on until a subscription ends.
    async fn forward(&self, streams: Vec<Subscription>) {
        let streams = streams.into_iter();
        let streams = streams.map(|stream| stream.map(Some).chain(once(async { None })).boxed());
        let mut changes = select_all(streams);
        while let Some(Some(change)) = changes.next().await {
            match change {
                Ok(Change::Resource { uri }) => self.notify.resource_updated(uri),
                Ok(Change::Missed(filter)) => {
                    let uris = filter.resource_subscriptions.into_iter();
                    uris.for_each(|uri| self.notify.resource_updated(uri));
                }
                Ok(_) => {}
                Err(error) => {
                    let server = &self.upstream.server;
                    tracing::warn!(server = %mcp_types::escaped(&server), error = %mcp_types::escaped(&error), "a subscription to resources has ended");
                    return;
                }
            }
        }
    }
}

/// Returns true if a server does not know a resource.
fn is_refusal(error: &Error) -> bool {
    matches!(
        error.fault(),
        Some(Fault::BadParams { .. } | Fault::NoSuchItem { .. })
    )
}
