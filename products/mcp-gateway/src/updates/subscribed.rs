//! Resource updates, from the servers to the clients of the gateway.
//!
//! The gateway is subscribed to exactly the resources that its own clients are subscribed to, at the servers that
//! have them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use mcp_core::SubscribedResources;
use mcp_server::{Notify, Server, Templates};
use tokio::time::{Instant, sleep_until};

use super::stream::UpdateStream;
use crate::calls::upstream::Upstream;
use crate::sessions::pool::Run;

/// Resources of one server that the gateway subscribes to. Updates of further ones are not forwarded.
const MAX_RESOURCES: usize = 10_000;
/// Maximum number of resources in one subscription: a server may limit its size.
const MAX_URIS: usize = 1000;
/// Largest sum of URI lengths in a subscription, in bytes.
const MAX_URI_BYTES: usize = 64 * 1024;
/// Maximum number of a server's subscriptions with free space. Beyond it, they are merged.
const MAX_STREAMS: usize = 8;

/// Shortest time between two changes of the subscriptions.
const PAUSE: Duration = Duration::from_millis(20);

/// The gateway's subscriptions at its servers.
pub(crate) struct Updates {
    notify: Notify,
    templates: Templates,
    subscribed: SubscribedResources,
    sources: Vec<UpdateSource>,
    /// The indices of the sources that have each subscribed URI.
    owners: HashMap<Arc<str>, Vec<usize>>,
    streams: HashMap<Arc<str>, ServerStreams>,
    /// The subscriptions are not changed before.
    next: Instant,
}

impl Updates {
    /// Declares that the server of the gateway sends updates.
    pub(crate) fn new(server: &Server) -> Self {
        Self {
            notify: server.notify(),
            templates: server.templates(),
            subscribed: server.subscribed_resources(),
            sources: Vec::new(),
            owners: HashMap::new(),
            streams: HashMap::new(),
            next: Instant::now(),
        }
    }

    /// Waits until clients are subscribed to other resources than before.
    pub(crate) async fn changed(&mut self) {
        sleep_until(self.next).await;
        self.subscribed.changed().await;
        self.next = Instant::now() + PAUSE;
    }

    /// Replaces the servers. One whose lists are new may send updates that it has refused before.
    pub(crate) fn set_sources(&mut self, sources: Vec<UpdateSource>) {
        self.sources = sources;
        self.owners.clear();
        self.subscribe();
        for source in &mut self.sources {
            source.is_listed = false;
        }
    }

    /// Subscribes to the resources that clients are subscribed to.
    pub(crate) fn subscribe(&mut self) {
        let mut wanted = vec![BTreeSet::new(); self.sources.len()];
        let mut former = std::mem::take(&mut self.owners);
        for uri in self.subscribed.uris() {
            let owners = former.remove(&uri);
            let owners = owners.unwrap_or_else(|| self.find_owners(&uri));
            for &owner in &owners {
                wanted[owner].insert(uri.clone());
            }
            self.owners.insert(uri, owners);
        }
        let mut next = HashMap::new();
        for (source, wanted) in self.sources.iter().zip(wanted) {
            if wanted.is_empty() {
                continue;
            }
            let server = &source.upstream.server;
            let current = self.streams.remove(server);
            let current = current.filter(|streams| streams.run == source.run);
            let mut streams = current.unwrap_or_else(|| ServerStreams {
                run: source.run.clone(),
                streams: Vec::new(),
            });
            streams.change(source, wanted, &self.notify);
            next.insert(server.clone(), streams);
        }
        self.streams = next;
    }

    fn find_owners(&self, uri: &str) -> Vec<usize> {
        let template = self.templates.matching(uri);
        let sources = self.sources.iter().enumerate();
        let owners = sources.filter(|(_, source)| source.has(uri, template.as_deref()));
        owners.map(|(index, _)| index).collect()
    }
}

/// A server that offers updates.
pub(crate) struct UpdateSource {
    upstream: Arc<Upstream>,
    /// The run that the subscriptions belong to.
    run: Run,
    /// The lists have just been requested.
    is_listed: bool,
    /// The resources' URIs, in ascending order.
    resources: Vec<String>,
    /// The URI templates, in ascending order.
    templates: Vec<String>,
}

impl UpdateSource {
    /// A server with the URIs of the resources and templates that the gateway serves.
    pub(crate) fn new(
        upstream: &Arc<Upstream>,
        is_listed: bool,
        mut resources: Vec<String>,
        mut templates: Vec<String>,
    ) -> Self {
        resources.sort_unstable();
        templates.sort_unstable();
        Self {
            upstream: upstream.clone(),
            run: upstream.sessions.run(),
            is_listed,
            resources,
            templates,
        }
    }

    /// Returns true if the server has a resource, its template, or anything below it.
    // spec: RSRC-13
    fn has(&self, uri: &str, template: Option<&str>) -> bool {
        let contains = |items: &[String], item: &str| {
            let found = items.binary_search_by(|found| found.as_str().cmp(item));
            found.is_ok()
        };
        let above = format!("{}/", uri.strip_suffix('/').unwrap_or(uri));
        let has_below = |items: &[String]| {
            let first = items.partition_point(|item| **item < *above);
            items
                .get(first)
                .is_some_and(|item| item.starts_with(&above))
        };
        contains(&self.resources, uri)
            || template.is_some_and(|template| contains(&self.templates, template))
            || has_below(&self.resources)
            || has_below(&self.templates)
    }
}

/// The subscriptions at one server. No two have the same resource.
struct ServerStreams {
    run: Run,
    streams: Vec<Arc<UpdateStream>>,
}

impl ServerStreams {
    /// Subscribes to these resources only. A subscription cannot be changed: another one replaces it.
    fn change(&mut self, source: &UpdateSource, mut wanted: BTreeSet<Arc<str>>, notify: &Notify) {
        let UpdateSource {
            upstream,
            is_listed,
            ..
        } = source;
        if let Some(first) = wanted.iter().nth(MAX_RESOURCES).cloned() {
            let (server, left_out) = (&upstream.server, wanted.split_off(&first).len());
            tracing::warn!(server = %mcp_types::escaped(&server), left_out, "the gateway does not forward the updates of some resources: there are too many");
        }
        let open = self
            .streams
            .iter()
            .filter(|stream| stream.is_open())
            .count();
        let merges = open >= MAX_STREAMS + wanted.len() / MAX_URIS;
        let streams = std::mem::take(&mut self.streams).into_iter();
        let (kept, replaced): (Vec<_>, Vec<_>) = streams.partition(|stream| {
            stream.uris.iter().all(|uri| wanted.contains(uri))
                && !(*is_listed && stream.has_refused())
                && !(merges && stream.is_open())
        });
        let known: HashSet<&Arc<str>> = kept.iter().flat_map(|stream| &*stream.uris).collect();
        wanted.retain(|uri| !known.contains(uri));
        let replaced: Vec<_> = replaced
            .into_iter()
            .flat_map(UpdateStream::into_open)
            .collect();
        let parts = split(wanted).into_iter();
        let new = parts.map(|uris| UpdateStream::start(upstream, notify, uris, replaced.clone()));
        let new: Vec<_> = new.collect();
        self.streams = kept;
        self.streams.extend(new);
    }
}

/// Splits resources into parts for one subscription each.
fn split(uris: BTreeSet<Arc<str>>) -> Vec<Vec<Arc<str>>> {
    let mut parts: Vec<Vec<Arc<str>>> = Vec::new();
    let mut bytes = 0;
    for uri in uris {
        bytes += uri.len();
        match parts.last_mut() {
            Some(part) if part.len() < MAX_URIS && bytes <= MAX_URI_BYTES => part.push(uri),
            _ => {
                bytes = uri.len();
                parts.push(vec![uri]);
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{MAX_URI_BYTES, MAX_URIS, split};

    #[test]
    fn subscription_is_split_into_limited_parts() {
        let uris = |count: usize, len: usize| {
            let uris = (0..count).map(|n| Arc::from(format!("{n:04}{}", "a".repeat(len))));
            uris.collect()
        };
        let count = |parts: Vec<Vec<Arc<str>>>| parts.iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(count(split(uris(2500, 4))), [MAX_URIS, MAX_URIS, 500]);
        assert_eq!(count(split(uris(3, MAX_URI_BYTES / 2))), [1, 1, 1]);
        assert_eq!(count(split(uris(3, MAX_URI_BYTES * 2))), [1, 1, 1]);
        assert!(split(uris(0, 1)).is_empty());
    }
}
