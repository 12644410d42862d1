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
    let found = fitting(catalogue, uri)?;
    let shown = match &found {
        Found::Resource(route) => catalogue.resources.shows(route, caller),
        Found::Template(route, _) => catalogue.templates.shows(route, caller),
    };
    shown.then_some(found)
}

/// The caller may hear of a URI. Those that nothing reads are no secret.
// spec: GAP-10
pub(crate) fn shows(catalogue: &Catalogue, uri: &str, caller: &Caller<'_>) -> bool {
    let same_for_all = !catalogue.resources.is_by_caller() && !catalogue.templates.is_by_caller();
    same_for_all || find(catalogue, uri, caller).is_some() || fitting(catalogue, uri).is_none()
}

fn fitting<'a>(catalogue: &'a Catalogue, uri: &str) -> Option<Found<'a>> {
    if let Some(route) = catalogue.resources.get(uri) {
        return Some(Found::Resource(route));
    }
    let mut templates = catalogue.templates.iter();
    templates.find_map(|route| Some(Found::Template(route, route.matches(uri)?)))
}
