//! The resources and templates of a server, by URI and in the order in which they were given.

use std::collections::HashMap;
use std::sync::Arc;

use mcp_core::{BoxFuture, Listing, Reply, ResultBody};
use mcp_types::{
    CacheHint, ListResourceTemplatesResult, ListResourcesResult, Page, ResourceTemplate,
};

use super::template::Variables;
use super::{ResourceRoute, TemplateRoute};
use crate::extract::CallContext;
use crate::listing::{index, listed};

#[derive(Debug)]
pub(crate) struct ResourceSet {
    by_uri: HashMap<Box<str>, ResourceRoute>,
    templates: Vec<TemplateRoute>,
    resources_listing: Arc<Listing<ListResourcesResult>>,
    templates_listing: Arc<Listing<ListResourceTemplatesResult>>,
    cache: Option<CacheHint>,
}

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

impl ResourceSet {
    /// Indexes the routes. Of two templates with one text the first one is kept, too: they are
    /// matched in their order.
    pub(crate) fn new(
        resources: &[ResourceRoute],
        templates: &[TemplateRoute],
        cache: Option<CacheHint>,
    ) -> Self {
        let (by_uri, listed) = index(resources, ResourceRoute::resource, |resource| &resource.uri);
        let mut kept: Vec<TemplateRoute> = Vec::with_capacity(templates.len());
        for route in templates {
            let uri = &route.template().uri_template;
            if !kept
                .iter()
                .any(|other| other.template().uri_template == *uri)
            {
                kept.push(route.clone());
            }
        }
        let listed_templates: Vec<ResourceTemplate> =
            kept.iter().map(|route| route.template().clone()).collect();
        Self {
            by_uri,
            templates: kept,
            resources_listing: Arc::new(Listing::new(ListResourcesResult::new(listed))),
            templates_listing: Arc::new(Listing::new(ListResourceTemplatesResult::new(
                listed_templates,
            ))),
            cache,
        }
    }

    /// There is nothing to read.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_uri.is_empty() && self.templates.is_empty()
    }

    pub(crate) fn has_resource(&self, uri: &str) -> bool {
        self.by_uri.contains_key(uri)
    }

    /// A template by its text.
    pub(crate) fn template(&self, uri_template: &str) -> Option<&TemplateRoute> {
        let mut templates = self.templates.iter();
        templates.find(|route| route.template().uri_template == uri_template)
    }

    /// What reads a URI: exact URIs come first, then templates in their order.
    pub(crate) fn find(&self, uri: &str) -> Option<Found<'_>> {
        if let Some(route) = self.by_uri.get(uri) {
            return Some(Found::Resource(route));
        }
        self.templates
            .iter()
            .find_map(|route| Some(Found::Template(route, route.matches(uri)?)))
    }

    /// All resources.
    // spec: RSRC-02
    pub(crate) fn list(&self, page: &Page) -> Reply {
        let body = ResultBody::ListResources(self.resources_listing.clone());
        listed(page, body, self.cache)
    }

    /// All templates.
    pub(crate) fn list_templates(&self, page: &Page) -> Reply {
        let body = ResultBody::ListResourceTemplates(self.templates_listing.clone());
        listed(page, body, self.cache)
    }
}
