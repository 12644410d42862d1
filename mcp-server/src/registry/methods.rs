//! [`MethodIndex`]: finds the route of an extension's method.

use std::collections::HashMap;
use std::future::ready;

use mcp_core::{BoxFuture, Fault, Reply};
use mcp_types::ServerCapabilities;

use super::config::ServerConfig;
use crate::call::CallContext;
use crate::extension::{MethodRoute, RouteMethods};

/// The extension methods by name. Most servers have none: a lookup in an empty map does not even
/// hash the name.
#[derive(Debug)]
pub(crate) struct MethodIndex {
    exact: HashMap<&'static str, IndexedMethod>,
    /// Routes whose function decides which methods they accept. The first one that accepts a method runs.
    matching: Vec<IndexedMethod>,
}

#[derive(Debug)]
pub(crate) struct IndexedMethod {
    route: MethodRoute,
    /// Names a requirement of the extension that the server does not meet.
    unmet: Option<Box<str>>,
}

impl MethodIndex {
    /// Creates the index of a server's methods. The first of several routes with one name wins;
    /// `Server::check` reports the others.
    pub(super) fn new(config: &ServerConfig, capabilities: &ServerCapabilities) -> Self {
        let (mut exact, mut matching) = (HashMap::new(), Vec::new());
        for route in &config.methods {
            let mut registrations = config.extensions.iter();
            let registration = registrations.find(|extension| extension.id() == &*route.extension);
            let unmet = registration
                .and_then(|registration| registration.unmet_requirements(capabilities).next());
            let indexed = IndexedMethod {
                route: route.clone(),
                unmet: unmet.map(Into::into),
            };
            match route.methods {
                RouteMethods::Exact(name) => drop(exact.entry(name).or_insert(indexed)),
                RouteMethods::Matching(_) => matching.push(indexed),
            }
        }
        Self { exact, matching }
    }

    /// Finds a request by its method, or a notification if `is_request` is false.
    pub(crate) fn find(&self, method: &str, is_request: bool) -> Option<&IndexedMethod> {
        let is_kind = |entry: &&IndexedMethod| entry.route.is_request() == is_request;
        if let Some(exact) = self.exact.get(method) {
            return Some(exact).filter(is_kind);
        }
        self.matching.iter().filter(is_kind).find(|entry| {
            matches!(&entry.route.methods, RouteMethods::Matching(accepts) if accepts(method))
        })
    }
}

impl IndexedMethod {
    /// Runs the handler. Returns an internal error if the server does not meet a requirement of the
    /// extension.
    pub(crate) fn call(&self, call: CallContext) -> BoxFuture<'static, Reply> {
        match &self.unmet {
            None => self.route.call(call),
            Some(unmet) => {
                tracing::error!(method = call.method(), "{}", mcp_types::escaped(unmet));
                Box::pin(ready(Fault::internal(unmet.to_string()).into()))
            }
        }
    }
}
