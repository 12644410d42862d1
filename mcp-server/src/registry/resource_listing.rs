//! The list of resources: those that are routes, then those that templates compute.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mcp_core::{Listing, Reply, ResultBody};
use mcp_types::{ListResourcesResult, Page, escaped};

use super::snapshot::Registry;
use crate::caller::Caller;
use crate::routes::{ListPosition, ListTarget, PageCheck, TemplateRoute};

/// A page of the resource list.
pub(crate) enum ResourcePage<'a> {
    Ready(Reply),
    /// A page that the template computes.
    Computed(&'a TemplateRoute, ListTarget),
}

impl Registry {
    /// Returns a page of the resource list, or the template that computes it.
    // spec: PAG-01
    pub(crate) fn list_resources(&self, page: &Page, caller: &Caller<'_>) -> ResourcePage<'_> {
        if !self.templates.iter().any(TemplateRoute::has_list) {
            return ResourcePage::Ready(self.resources.list(page, caller));
        }
        let position = page.cursor.as_ref().and_then(ListPosition::read);
        let (items, mut position) = match position {
            Some(position) => (Vec::new(), position),
            None => match self.resources.uncached_page(page, caller) {
                Err(fault) => return ResourcePage::Ready(fault.into()),
                Ok(routes) if routes.next_cursor.is_some() => return self.ready_page(routes),
                Ok(routes) => (routes.resources, ListPosition::default()),
            },
        };
        let Some((template, route)) = self.template_with_list(position.template, caller) else {
            return self.ready_page(ListResourcesResult::from(items));
        };
        if template != position.template {
            position = ListPosition {
                template,
                ..ListPosition::default()
            };
        }
        let next = self.template_with_list(template + 1, caller);
        let target = ListTarget {
            items,
            check: self.page_check(route),
            position,
            next_template: next.map(|(template, _)| template),
            page_size: self.resources.page_size,
            cache: self.resources.private_cache_hint(),
        };
        ResourcePage::Computed(route, target)
    }

    /// Returns the check of a computed page: it warns once per template about a resource that no route can
    /// read, because clients would not find it.
    fn page_check(&self, route: &TemplateRoute) -> PageCheck {
        let (registry, has_warned) = (self.clone(), Arc::clone(&route.has_warned));
        Box::new(move |listed| {
            let unreadable = listed.iter().find(|item| !registry.is_readable(&item.uri));
            if let Some(item) = unreadable
                && !has_warned.swap(true, Ordering::Relaxed)
            {
                tracing::warn!(
                    uri = %escaped(&item.uri),
                    "a listed resource cannot be read: no resource has its URI, and no template matches it"
                );
            }
        })
    }

    fn ready_page(&self, page: ListResourcesResult) -> ResourcePage<'_> {
        ResourcePage::Ready(Reply::Complete {
            body: ResultBody::ListResources(Arc::new(Listing::new(page))),
            cache: self.resources.private_cache_hint(),
        })
    }

    /// Returns the first template from `start` that has a list and that the caller may see.
    fn template_with_list(
        &self,
        start: usize,
        caller: &Caller<'_>,
    ) -> Option<(usize, &TemplateRoute)> {
        let templates = self.templates.iter().enumerate().skip(start);
        let mut templates = templates.filter(|(_, route)| route.has_list());
        templates.find(|(_, route)| self.templates.is_visible(route, caller))
    }
}
