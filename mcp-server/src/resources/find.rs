//! Which resource or template reads a URI.

use mcp_core::{BoxFuture, Reply};

use super::template::Variables;
use super::{ResourceRoute, TemplateRoute};
use crate::caller::Caller;
use crate::extract::CallContext;
use crate::live::Catalogue;

/// What reads a URI.
pub(crate) enum Found<'a> {
    Resource(&'a ResourceRoute),
    Template(&'a TemplateRoute, Variables),
}

impl Found<'_> {
    pub(crate) fn call(self, call: CallContext) -> BoxFuture<'static, Reply> {
        match self {
            Self::Resource(route) => route.call(call),
            Self::Template(route, variables) => route.call(call, variables),
        }
    }
}

/// What reads a URI: exact URIs come first, then templates in their order. The first that fits
/// decides: where the caller may not see it, nothing reads the URI.
pub(crate) fn find<'a>(
    catalogue: &'a Catalogue,
    uri: &str,
    caller: &Caller<'_>,
) -> Option<Found<'a>> {
    if let Some(route) = catalogue.resources.get(uri) {
        let shown = catalogue.resources.shows(route, caller);
        return shown.then_some(Found::Resource(route));
    }
    let mut templates = catalogue.templates.iter();
    let (route, variables) = templates.find_map(|route| Some((route, route.matches(uri)?)))?;
    let shown = catalogue.templates.shows(route, caller);
    shown.then_some(Found::Template(route, variables))
}
