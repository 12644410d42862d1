//! The methods of extensions, as they are looked up.

use std::collections::HashMap;
use std::future::ready;

use mcp_core::{BoxFuture, Fault, Reply};
use mcp_types::ServerCapabilities;

use super::config::ServerConfig;
use crate::call::CallContext;
use crate::extension::{MethodRoute, RouteMethods};

/// The methods of extensions by name. Most servers have none, and a lookup in an empty map costs
/// nothing.
#[derive(Debug)]
pub(crate) struct MethodIndex {
    exact: HashMap<&'static str, IndexedMethod>,
    /// Routes of methods that a function accepts, in their order.
    matching: Vec<IndexedMethod>,
}

#[derive(Debug)]
pub(crate) struct IndexedMethod {
    route: MethodRoute,
    /// A requirement of the extension that the server does not meet.
    unmet: Option<Box<str>>,
}

impl MethodIndex {
    /// The index of a server's methods. Of several methods with one name it keeps the first;
    /// `Server::check` reports the others.
    pub(super) fn new(config: &ServerConfig, capabilities: &ServerCapabilities) -> Self {
        let (mut exact, mut matching) = (HashMap::new(), Vec::new());
        for route in &config.methods {
            let mut registrations = config.extensions.iter();
            let registration = registrations.find(|extension| extension.id() == &*route.extension);
            let unmet =
                registration.and_then(|registration| registration.unmet_requirement(capabilities));
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

    /// Returns a method by its name, if it is a request or a notification as `is_request` says.
    pub(crate) fn find(&self, method: &str, is_request: bool) -> Option<&IndexedMethod> {
        let found = self.exact.get(method).or_else(|| {
            let mut matching = self.matching.iter();
            matching.find(|entry| {
                entry.route.is_request() == is_request
                    && matches!(&entry.route.methods, RouteMethods::Matching(accepts) if accepts(method))
            })
        });
        found.filter(|entry| entry.route.is_request() == is_request)
    }
}

impl IndexedMethod {
    /// Runs the handler, if the requirements of its extension are met.
    pub(crate) fn call(&self, call: CallContext) -> BoxFuture<'static, Reply> {
        match &self.unmet {
            None => self.route.call(call),
            Some(unmet) => {
                tracing::error!(method = call.method(), "{unmet}");
                Box::pin(ready(Fault::internal(unmet.to_string()).into()))
            }
        }
    }
}
