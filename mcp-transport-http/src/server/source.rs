//! Where the service of a request comes from.

use std::borrow::Cow;
use std::sync::Arc;

use http::request::Parts;
use mcp_core::{ServerProfile, Service};
use parking_lot::Mutex;

/// Where the service of a request comes from. Its type is forgotten here, so that what is behind it
/// is compiled once, and not for each service.
#[derive(Clone)]
pub(super) enum Source {
    /// All requests have the same one.
    One(Arc<dyn Service>),
    /// It is made by the head of the request.
    PerRequest(Arc<Make>),
}

type Make = dyn Fn(&Parts) -> Arc<dyn Service> + Send + Sync;

impl Source {
    pub(super) fn service(&self, parts: &Parts) -> Cow<'_, Arc<dyn Service>> {
        match self {
            Self::One(service) => Cow::Borrowed(service),
            Self::PerRequest(make) => Cow::Owned(make(parts)),
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
