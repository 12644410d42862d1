//! One server of a gateway, and its lists.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use mcp_client::group::{Group, GroupBuilder, Health, Naming};
use mcp_core::{Backoff, Pace};
use mcp_types::Tool;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::drift;
use super::listing::Listing;
use super::manifest::Manifest;
use super::pinned::PinnedItems;
use crate::calls::upstream::Upstream;
use crate::changes::Kinds;
use crate::error::GatewayError;
use crate::sessions::pool::ConnectShared;
use crate::settings::server::StartSettings;
use crate::starting::UnlistedServer;

/// Shortest time between two lists of a server, however often it says that it has changed.
pub(crate) const PAUSE: Duration = Duration::from_secs(1);

/// Longest time between two attempts to list a server.
const MAX_RETRY: Duration = Duration::from_secs(60);

/// One server, and its lists.
pub(crate) struct ListedServer {
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) connect: ConnectShared,
    pub(crate) connection_id: Option<String>,
    pub(crate) start: StartSettings,
    pub(crate) manifest: Option<Arc<Manifest>>,
    /// The lists are those of the manifest: the server was not listed.
    is_stored: bool,
    /// The manifest has the lists.
    is_saved: bool,
    /// The pace of lines in the log that the server causes.
    pub(super) pace: Pace,
    pub(crate) prefix: String,
    pub(crate) listing: Listing,
    /// The lists that are to be requested.
    pub(super) stale: Kinds,
    /// The lists that have changed, as the server says.
    pub(super) announced: Kinds,
    pub(super) is_requested: bool,
    /// The callers that wait until the server is started again and listed.
    pub(super) restarts: Vec<oneshot::Sender<Result<(), GatewayError>>>,
    /// The reason why the last request of the lists has failed.
    pub(crate) problem: Option<Arc<str>>,
    /// The lists are not requested before.
    pub(crate) next: Instant,
    /// Times until failed lists are requested again.
    pub(crate) backoff: Backoff,
}

impl ListedServer {
    pub(crate) fn new(
        (connect, upstream): (ConnectShared, Arc<Upstream>),
        connection_id: Option<String>,
    ) -> Self {
        Self {
            upstream,
            connect,
            connection_id,
            start: StartSettings::default(),
            manifest: None,
            is_stored: false,
            is_saved: false,
            pace: Pace::default(),
            prefix: String::new(),
            listing: Listing::default(),
            stale: Kinds::ALL,
            announced: Kinds::NONE,
            is_requested: false,
            restarts: Vec::new(),
            problem: None,
            next: Instant::now(),
            backoff: Backoff::new(PAUSE, MAX_RETRY),
        }
    }

    pub(super) fn set_start(&mut self, start: StartSettings) {
        if self.start.manifest != start.manifest {
            self.is_saved = false;
            self.manifest = start.manifest.clone().map(Manifest::new);
        }
        self.start = start;
    }

    /// Adds the server to the servers of a group, as one that does not run yet.
    pub(crate) fn add_to(&self, group: GroupBuilder) -> GroupBuilder {
        let (name, connect) = (&self.upstream.server, self.connect.clone());
        let group = group.server(name, move || connect());
        match self.start.health_check {
            Some(period) => group.health_check(name, period),
            None => group,
        }
    }

    /// Requests all lists of a new connection.
    pub(super) fn list_again(&mut self) {
        self.is_requested = false;
        self.stale = Kinds::ALL;
        self.next = Instant::now();
        self.backoff.reset();
    }

    /// Answers the callers that wait until the server is started again.
    pub(super) fn report_restart(&mut self) {
        let outcome = match &self.problem {
            Some(problem) => Err(GatewayError::NotRestarted {
                server: self.upstream.server.clone(),
                problem: problem.clone(),
            }),
            None => Ok(()),
        };
        for done in self.restarts.drain(..) {
            // The caller may have gone.
            let _ = done.send(outcome.clone());
        }
    }

    /// Returns true if the first calls wait for the server.
    pub(super) fn is_awaited(&self) -> bool {
        self.is_requested && !self.listing.is_complete()
    }

    pub(super) fn is_due(&self) -> bool {
        !self.is_requested && !self.stale.is_empty()
    }

    /// Returns true if only calls start the server. Until it is listed, it is started for its lists.
    pub(super) fn starts_on_demand(&self) -> bool {
        let may_stop = self.start.idle_timeout.is_some() && !self.is_stored;
        (self.start.is_lazy || may_stop) && self.listing.is_complete()
    }

    /// Returns when the server is to be stopped unless it is called before. `None`: never.
    pub(super) fn idle_until(&self, now: Instant) -> Option<Instant> {
        let limit = self.start.idle_timeout?;
        let since = self.upstream.usage.idle_since();
        // A call that runs may end at any time from now on.
        let since = since.filter(|_| !self.is_requested).unwrap_or(now);
        since.checked_add(limit)
    }

    /// Stores the lists that are known now. The log has the differences of the tools.
    pub(super) fn update(&mut self, new: Listing) {
        self.is_stored = false;
        let all = &mut self.listing;
        if let (Some(old), Some(new)) = (&all.tools, &new.tools)
            && old != new
        {
            drift::log(&mut self.pace, &self.upstream.server, old, new);
        }
        self.is_saved &= !all.replace(new);
        if let Some(manifest) = &self.manifest
            && !self.is_saved
            && self.listing.is_complete()
        {
            manifest.write(&self.listing);
            self.is_saved = true;
        }
    }

    /// Returns the server, if lists of it are not known, for calls that wait for it.
    pub(crate) fn unlisted(&self, naming: Naming) -> Option<UnlistedServer> {
        let kinds = self.listing.missing();
        (!kinds.is_empty()).then(|| UnlistedServer {
            upstream: self.upstream.clone(),
            prefix: self.prefix.clone(),
            naming,
            kinds,
            problem: self.problem.clone().filter(|_| !self.is_requested),
        })
    }

    /// Returns the tools that clients may know.
    pub(super) fn allowed_tools(&self) -> Option<Vec<Tool>> {
        let tools = self.listing.tools.as_ref()?.iter();
        let allowed = tools.filter(|tool| self.upstream.settings.allows(&tool.name));
        Some(allowed.cloned().collect())
    }

    /// Returns what the names of the server may begin with.
    pub(crate) fn prefixes(&self) -> impl Iterator<Item = &str> {
        let own = self.upstream.settings.prefix.as_deref();
        std::iter::once(&*self.prefix).chain(own)
    }

    /// Returns the names that an item may have, the best one first. `is_shared`: other servers have an item with the same
    /// name. `prefixes`: what the names of all servers may begin with.
    pub(super) fn wanted_names(
        &self,
        naming: Naming,
        own: &str,
        is_shared: bool,
        prefixes: &[&str],
    ) -> impl Iterator<Item = String> + use<> {
        let prefix = self.upstream.settings.prefix.as_deref();
        wanted_names((&self.prefix, prefix), naming, own, is_shared, prefixes)
    }
}

/// Reads the manifests of servers that have no lists yet.
pub(super) async fn read_manifests(servers: &mut [ListedServer], pins: Option<&PinnedItems>) {
    let unlisted = servers
        .iter_mut()
        .filter(|server| !server.listing.is_complete());
    let reading = unlisted.filter_map(|server| {
        let manifest = server.manifest.clone()?;
        Some(async move {
            if let Some(listing) = manifest.read().await {
                if let Some(pins) = pins {
                    pins.check(&server.upstream.server, &listing).await;
                }
                server.listing = listing;
                server.is_saved = true;
                server.is_stored = true;
            }
        })
    });
    join_all(reading.collect::<Vec<_>>()).await;
}

/// Returns the names of an item. The prefix from the settings precedes the group prefix.
fn wanted_names(
    (group_prefix, prefix): (&str, Option<&str>),
    mut naming: Naming,
    own: &str,
    is_shared: bool,
    prefixes: &[&str],
) -> impl Iterator<Item = String> + use<> {
    let first = prefix.map(|prefix| {
        naming = Naming::Prefixed;
        if prefix.is_empty() {
            own.to_owned()
        } else {
            format!("{prefix}__{own}")
        }
    });
    let others = naming.candidates(group_prefix, own, is_shared, prefixes);
    first.into_iter().chain(others)
}

/// Returns the health of each server in a group.
pub(crate) fn health(group: &Group) -> HashMap<Arc<str>, Health> {
    group.health().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use mcp_client::group::Naming;

    use super::wanted_names;

    #[test]
    fn names_follow_prefix_and_naming() {
        let two = |prefix, naming, is_shared| -> Vec<String> {
            let names = wanted_names(("files", prefix), naming, "read", is_shared, &["files"]);
            names.take(2).collect()
        };
        for (prefix, naming, is_shared, expected) in [
            (
                None,
                Naming::Prefixed,
                false,
                ["files__read", "files__read_2"],
            ),
            (Some(""), Naming::Prefixed, true, ["read", "files__read"]),
            (
                Some("fs"),
                Naming::PlainUnlessTaken,
                false,
                ["fs__read", "files__read"],
            ),
            (
                None,
                Naming::PlainUnlessTaken,
                false,
                ["read", "files__read"],
            ),
            (
                None,
                Naming::PlainUnlessTaken,
                true,
                ["files__read", "files__read_2"],
            ),
        ] {
            assert_eq!(two(prefix, naming, is_shared), expected);
        }
    }
}
