//! Where the service of a request comes from.

use std::sync::Arc;

use http::request::Parts;

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
