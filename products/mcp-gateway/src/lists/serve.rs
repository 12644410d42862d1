//! Publishes the servers' items on the gateway's own server, under the names that the gateway gives them.
//!
//! The functions for each kind have the same parameters: `indices` are the servers whose items are replaced, and
//! `is_complete` removes the items of all other servers. They return true if the list differs from the one that clients
//! can have seen. Clients are notified of that.

use std::collections::HashMap;
use std::sync::Arc;

use mcp_client::group::{ItemNames, portable_names};
use mcp_types::{Resource, ResourceTemplate};
use serde_json::json;

use super::drift;
use super::listed_server::ListedServer;
use super::pages::{self, Pages};
use super::taken_uris::{TakenUris, UriPattern};
use super::{PublishedExtension, ServerLists};
use crate::changes::Kinds;
use crate::error::GatewayError;
use crate::extensions::ExtensionOwner;
use crate::routes::{self, Named};

impl ServerLists {
    /// Serves the items of all servers, and chooses all names anew.
    pub(super) fn serve_all(&mut self) {
        self.serve_extensions();
        self.tools.names = ItemNames::new(self.reserved());
        self.prompts.names = ItemNames::default();
        self.resources.names = ItemNames::default();
        self.templates.names = ItemNames::default();
        let all: Vec<usize> = (0..self.servers.len()).collect();
        self.serve_tools(&all, true);
        self.serve_prompts(&all, true);
        self.serve_resources(true);
    }

    /// Notifies the clients that may have listed these kinds.
    pub(super) fn announce(&self, kinds: Kinds) {
        let is_announced = |kind| kinds.has(kind) && self.starting.has_listed(kind);
        if is_announced(Kinds::TOOLS) {
            self.handles.notify.tools_changed();
        }
        if is_announced(Kinds::PROMPTS) {
            self.handles.notify.prompts_changed();
        }
        if is_announced(Kinds::RESOURCES) {
            self.handles.notify.resources_changed();
        }
    }

    /// Notifies the clients that may have listed a kind if it differs, and returns whether it does.
    fn announce_if(&self, differs: bool, kind: Kinds) -> bool {
        if differs {
            self.announce(kind);
        }
        differs
    }

    /// Publishes the extensions that the gateway passes on without knowing them.
    pub(super) fn serve_extensions(&mut self) {
        let next = self.next_extensions();
        if next == self.extensions {
            return;
        }
        let directory = &self.setup.directory;
        let extensions = next.iter().map(|(server, id, settings)| {
            let owner = ExtensionOwner::new(directory.clone(), server.clone(), id.clone());
            owner.extension(settings)
        });
        self.published.replace(extensions.collect());
        self.extensions = next;
    }

    /// Returns the extensions that the gateway passes on without knowing them, with their servers' settings.
    fn next_extensions(&self) -> Vec<PublishedExtension> {
        let servers = self.servers.iter().flat_map(|entry| {
            let capabilities = entry.listing.capabilities.as_ref();
            let published = capabilities.map(|capabilities| &*capabilities.extensions);
            entry.upstream.settings.extensions.ids().map(move |id| {
                let settings = published.and_then(|extensions| extensions.get(id)).cloned();
                let settings = settings.unwrap_or_else(|| json!({}));
                (entry.upstream.server.clone(), id.to_owned(), settings)
            })
        });
        servers.collect()
    }

    /// Returns the exact tool names that the settings reserve, with their tools.
    fn reserved(&self) -> HashMap<String, (Arc<str>, String)> {
        let servers = self.servers.iter().flat_map(|entry| {
            let server = &entry.upstream.server;
            let renamed = entry.upstream.settings.renamed();
            renamed.map(|(own, name)| (name.to_owned(), (server.clone(), own.to_owned())))
        });
        servers.collect()
    }

    /// Checks that no prefix from the settings turns one tool's name into another tool's exact name.
    ///
    /// # Errors
    ///
    /// Returns [`GatewayError::NameTaken`] with both tools.
    pub(super) fn check_listed_names(&self) -> Result<(), GatewayError> {
        let reserved = self.reserved();
        for server in &self.servers {
            // Names that the gateway chooses give way to exact ones.
            if server.upstream.settings.prefix.is_none() {
                continue;
            }
            for tool in server.allowed_tools().into_iter().flatten() {
                let second = (server.upstream.server.clone(), tool.name);
                let name = server
                    .wanted_names(self.naming, &second.1, false, &[])
                    .next()
                    .unwrap_or_default();
                let is_renamed = reserved.values().any(|item| *item == second);
                if let Some(first) = reserved.get(&name)
                    && !is_renamed
                    && *first != second
                {
                    return Err(GatewayError::NameTaken {
                        name,
                        first_server: first.0.clone(),
                        first: first.1.clone(),
                        second_server: second.0,
                        second: second.1,
                    });
                }
            }
        }
        Ok(())
    }

    /// Serves tools. An exact name from the settings precedes the names that the gateway chooses.
    pub(super) fn serve_tools(&mut self, indices: &[usize], is_complete: bool) -> bool {
        let lists = self.servers.iter().map(ListedServer::allowed_tools);
        let lists: Vec<_> = lists.collect();
        let lists: Vec<_> = lists.iter().map(Option::as_deref).collect();
        let (naming, max) = (self.naming, self.setup.max_tool_name);
        let mut next = self.tools.next(
            (&self.servers, indices),
            &lists,
            |tool| &tool.name,
            |server, own, is_shared, prefixes| {
                let exact = server.upstream.settings.exact_name(own);
                let others = server.wanted_names(naming, own, is_shared, prefixes);
                let others = portable_names(others, (&server.upstream.server, own), max);
                exact.map(ToOwned::to_owned).into_iter().chain(others)
            },
        );
        if let Some(pins) = &self.setup.pins {
            pins.hold_tools(&mut next, is_complete);
        }
        let mut pages = self.pages(indices, is_complete);
        // Few servers have pages, and some have thousands of resources.
        for (upstream, items) in &mut next {
            let mut taken = None;
            for Named { item, .. } in items {
                let uris = pages::uris(item);
                if uris.is_empty() {
                    continue;
                }
                let taken = taken.get_or_insert_with(|| self.taken_before(&upstream.server));
                let mut uris_taken = uris.iter();
                let is_taken = |uri: &String| {
                    let page = UriPattern::uri(uri);
                    taken.owner(&upstream.server, uri, &page).is_some()
                };
                let is_own = pages.add(&upstream.server, &uris) && !uris_taken.any(is_taken);
                if !is_own {
                    tracing::warn!(server = %mcp_types::escaped(&upstream.server), tool = %mcp_types::escaped(&item.name), "the gateway leaves out the page of a tool: another server answers for its URI");
                    pages::remove(item);
                }
            }
        }
        let is_listed = |name: &str| {
            let always = self.always_listed.as_ref();
            always.is_none_or(|always| always.matches(name))
        };
        let tools = &self.handles.tools;
        let replace = |removed, added| tools.replace(removed, added);
        let differ = self
            .tools
            .serve(next, is_complete, is_listed, routes::tool, replace);
        self.announce_if(differ, Kinds::TOOLS)
    }

    /// Returns the pages of the served tools that stay: those of all servers but the replaced ones.
    fn pages(&self, replaced: &[usize], is_complete: bool) -> Pages {
        let mut pages = Pages::default();
        let servers = self.servers.iter().enumerate();
        for (_, entry) in servers.filter(|(at, _)| !is_complete && !replaced.contains(at)) {
            let server = &entry.upstream.server;
            for tool in self.tools.items(server) {
                pages.add(server, &pages::uris(&tool.item));
            }
        }
        pages
    }

    /// Returns the URIs of the servers before this one. Later servers give way to the pages of its tools.
    fn taken_before(&self, server: &Arc<str>) -> TakenUris {
        let mut taken = TakenUris::default();
        let servers = self.servers.iter().map(|entry| &entry.upstream.server);
        for other in servers.take_while(|other| *other != server) {
            for resource in self.resources.items(other) {
                taken.add(other, &resource.name, UriPattern::uri(&resource.name));
            }
            for template in self.templates.items(other) {
                let pattern = UriPattern::template(&template.name);
                taken.add(other, &template.name, pattern);
            }
        }
        taken
    }

    pub(super) fn serve_prompts(&mut self, indices: &[usize], is_complete: bool) -> bool {
        let lists = self
            .servers
            .iter()
            .map(|server| server.listing.prompts.as_deref());
        let lists: Vec<_> = lists.collect();
        let naming = self.naming;
        let mut next = self.prompts.next(
            (&self.servers, indices),
            &lists,
            |prompt| &prompt.name,
            |server, own, is_shared, prefixes| {
                server.wanted_names(naming, own, is_shared, prefixes)
            },
        );
        if let Some(pins) = &self.setup.pins {
            pins.hold_prompts(&mut next, is_complete);
        }
        let prompts = &self.handles.prompts;
        let replace = |removed, added| prompts.replace(removed, added);
        let differ = self
            .prompts
            .serve(next, is_complete, |_| true, routes::prompt, replace);
        self.announce_if(differ, Kinds::PROMPTS)
    }

    /// Serves the resources and templates of all servers, in their order: the server that has started first has no
    /// precedence. If the URIs of two servers' items overlap, only the first item is served.
    pub(super) fn serve_resources(&mut self, is_complete: bool) -> bool {
        let mut taken = TakenUris::default();
        let pages = self.pages(&[], false);
        for (uri, server) in pages.iter() {
            taken.add(server, uri, UriPattern::uri(uri));
        }
        let mut free: Vec<(Vec<Resource>, Vec<ResourceTemplate>)> = Vec::new();
        for ListedServer {
            upstream, listing, ..
        } in &self.servers
        {
            let server = &upstream.server;
            let resources = listing.resources.iter().flatten().filter(|resource| {
                taken.take(server, &resource.uri, UriPattern::uri(&resource.uri))
            });
            let resources = resources.cloned().collect();
            let templates = listing.templates.iter().flatten().filter(|template| {
                let pattern = UriPattern::template(&template.uri_template);
                taken.take(server, &template.uri_template, pattern)
            });
            free.push((resources, templates.cloned().collect()));
        }
        let former = std::mem::take(&mut self.left_out);
        self.left_out = taken.into_left_out(&former, |left_out| {
            let mut servers = self.servers.iter_mut();
            let server = servers.find(|server| *server.upstream.server == *left_out);
            server.is_some_and(|server| drift::permits(&mut server.pace))
        });
        let own_name = |uri: &str| std::iter::once(uri.to_owned());
        self.resources.names = ItemNames::default();
        self.templates.names = ItemNames::default();
        let (mut resources, mut templates) = (Vec::new(), Vec::new());
        for (entry, free) in self.servers.iter().zip(&free) {
            let ListedServer {
                upstream, listing, ..
            } = entry;
            if listing.resources.is_some() {
                let uri: fn(&Resource) -> &str = |resource| &resource.uri;
                let items = &mut self.resources;
                let items = items.name(&upstream.server, &free.0, uri, own_name);
                resources.push((upstream, items));
            }
            if listing.templates.is_some() {
                let uri: fn(&ResourceTemplate) -> &str = |template| &template.uri_template;
                let items = &mut self.templates;
                let items = items.name(&upstream.server, &free.1, uri, own_name);
                templates.push((upstream, items));
            }
        }
        let resources_differ = self.resources.serve(
            resources,
            is_complete,
            |_| true,
            routes::resource,
            |removed, added| self.handles.resources.replace(removed, added),
        );
        let templates_differ = self.templates.serve(
            templates,
            is_complete,
            |_| true,
            routes::template,
            |removed, added| self.handles.templates.replace(removed, added),
        );
        // Resources and templates share one notification.
        self.announce_if(resources_differ || templates_differ, Kinds::RESOURCES)
    }
}
