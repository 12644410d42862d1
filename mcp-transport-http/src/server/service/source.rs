//! The service for a request.

use std::sync::Arc;

use http::request::Parts;
use mcp_core::{ServerIdentity, ServerProfile, Service};
use parking_lot::Mutex;

/// The service's source for a request.
#[derive(Clone)]
pub(super) enum ServiceSource {
    /// All requests use the same service.
    Shared(Arc<dyn Service>),
    /// A function chooses the service by the head of the request.
    PerRequest(Arc<MakeService>, ServerIdentity),
}

pub(super) type MakeService = dyn Fn(&Parts) -> Arc<dyn Service> + Send + Sync;

impl ServiceSource {
    /// Returns the service of all requests.
    #[cfg(feature = "serve")]
    pub(super) fn shared(&self) -> Option<&Arc<dyn Service>> {
        match self {
            Self::Shared(service) => Some(service),
            Self::PerRequest(..) => None,
        }
    }

    /// Returns the identity that the services of single requests have in common.
    pub(super) fn common_identity(&self) -> Option<ServerIdentity> {
        match self {
            Self::Shared(_) => None,
            Self::PerRequest(_, identity) => Some(*identity),
        }
    }

    /// Returns the service for a request. `own` stores a service that the request does not share with
    /// others. The shared one is borrowed without cloning the `Arc`, to avoid contention on its counter.
    pub(super) fn service<'a>(
        &'a self,
        head: &Parts,
        own: &'a mut Option<Arc<dyn Service>>,
    ) -> &'a Arc<dyn Service> {
        match self {
            Self::Shared(service) => service,
            Self::PerRequest(make, _) => own.insert(make(head)),
        }
    }
}

/// Removes the legacy versions from profiles. The last result is cached, because most requests have
/// the same profile.
#[derive(Default)]
pub(super) struct ModernProfiles {
    /// A profile, and the same without legacy versions.
    last: Mutex<Option<[Arc<ServerProfile>; 2]>>,
}

impl ModernProfiles {
    /// Returns `profile` without its legacy versions.
    pub(super) fn get(&self, profile: &Arc<ServerProfile>) -> Arc<ServerProfile> {
        let mut last = self.last.lock();
        if let Some([source, modern]) = &*last
            && Arc::ptr_eq(source, profile)
        {
            return Arc::clone(modern);
        }
        let mut modern = ServerProfile::clone(profile);
        modern.versions.retain(|version| version.is_modern());
        let modern = Arc::new(modern);
        *last = Some([Arc::clone(profile), Arc::clone(&modern)]);
        modern
    }
}
