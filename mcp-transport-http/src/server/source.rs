//! Where the service of a request comes from.

use std::sync::Arc;

use http::request::Parts;
use mcp_core::ServerProfile;
use mcp_core::locks::Mutex;

/// Where the service of a request comes from.
pub(super) enum Source<S> {
    /// All requests have the same one.
    One(Arc<S>),
    /// It is made by the head of the request.
    PerRequest(Arc<dyn Fn(&Parts) -> S + Send + Sync>),
}

impl<S> Source<S> {
    pub(super) fn service(&self, parts: &Parts) -> Arc<S> {
        match self {
            Self::One(service) => Arc::clone(service),
            Self::PerRequest(make) => Arc::new(make(parts)),
        }
    }
}

impl<S> Clone for Source<S> {
    fn clone(&self) -> Self {
        match self {
            Self::One(service) => Self::One(Arc::clone(service)),
            Self::PerRequest(make) => Self::PerRequest(Arc::clone(make)),
        }
    }
}

/// Leaves the legacy revisions out of profiles. It remembers the last one: a server has the same
/// profile for many requests.
#[derive(Default)]
pub(super) struct LegacyFilter(Mutex<Option<(Arc<ServerProfile>, Arc<ServerProfile>)>>);

impl LegacyFilter {
    pub(super) fn apply(&self, profile: &Arc<ServerProfile>) -> Arc<ServerProfile> {
        let mut last = self.0.lock();
        if let Some((of, filtered)) = &*last
            && Arc::ptr_eq(of, profile)
        {
            return Arc::clone(filtered);
        }
        let mut filtered = ServerProfile::clone(profile);
        filtered.versions.retain(|version| version.is_modern());
        let filtered = Arc::new(filtered);
        *last = Some((Arc::clone(profile), Arc::clone(&filtered)));
        filtered
    }
}
