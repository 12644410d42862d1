//! Publishes the servers' items on the gateway's own server, under the names that the gateway gives them.
//!
//! The functions for each kind have the same parameters: `indices` are the servers whose items are replaced,
//! `is_announced` notifies clients even if the items are the same, and `is_complete` removes the items of all
//! other servers.

use std::collections::HashMap;

use mcp_client::group::NamedItem;
use serde_json::json;

use super::{PublishedExtension, ServerLists};
use crate::gateway::entry::ListedServer;
use crate::gateway::error::GatewayError;
use crate::gateway::passed::ExtensionOwner;
use crate::gateway::routes;
use crate::gateway::served::NextItems;
use crate::gateway::taken_uris::{TakenUris, UriPattern};

impl ServerLists {
    /// Serves the items of all servers, and chooses all names anew.
    pub(super) fn serve_all(&mut self) {
        self.serve_extensions();
        self.tools.reset_names(self.reserved());
        self.prompts.reset_names(HashMap::new());
        self.resources.reset_names(HashMap::new());
        self.templates.reset_names(HashMap::new());
        let all: Vec<usize> = (0..self.servers.len()).collect();
        self.serve_tools(&all, false, true);
        self.serve_prompts(&all, false, true);
        self.serve_resources(&all, false, true);
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
            let published = capabilities.map(|capabilities| capabilities.extensions.as_object());
            entry.upstream.settings.extensions.ids().map(move |id| {
                let settings = published.and_then(|extensions| extensions.get(id)).cloned();
                let settings = settings.unwrap_or_else(|| json!({}));
                (entry.upstream.server.clone(), id.to_owned(), settings)
            })
        });
        servers.collect()
    }

    /// Returns the exact tool names that the settings reserve, with their tools.
    fn reserved(&self) -> HashMap<String, NamedItem> {
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
                    .wanted_names(self.naming, &second.1, false)
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
    pub(super) fn serve_tools(&mut self, indices: &[usize], is_announced: bool, is_complete: bool) {
        let allowed: Vec<_> = self
            .servers
            .iter()
            .map(ListedServer::allowed_tools)
            .collect();
        let names = allowed.iter().flatten().flatten().map(|item| &*item.name);
        let counts = count(names);
        if let Some(pins) = self.setup.pins.as_ref().filter(|_| is_complete) {
            pins.clear();
        }
        let mut next = Vec::new();
        for &index in indices {
            let server = &self.servers[index];
            let Some(tools) = &allowed[index] else {
                continue;
            };
            let renamed: HashMap<_, _> = server.upstream.settings.renamed().collect();
            let mut items = self.tools.name(
                &server.upstream.server,
                tools,
                |tool| &tool.name,
                |own| {
                    let exact = renamed.get(own).map(|&name| name.to_owned());
                    let is_shared = counts.get(own) > Some(&1);
                    let others = server.wanted_names(self.naming, own, is_shared);
                    exact.into_iter().chain(others)
                },
            );
            if let Some(pins) = &self.setup.pins {
                pins.hold(&server.upstream, &mut items);
            }
            next.push(NextItems {
                upstream: &server.upstream,
                items,
                is_announced,
            });
        }
        self.tools
            .serve(next, is_complete, routes::tool, |removed, added| {
                self.handles.tools.replace(removed, added)
            });
    }

    pub(super) fn serve_prompts(
        &mut self,
        indices: &[usize],
        is_announced: bool,
        is_complete: bool,
    ) {
        let listed = self
            .servers
            .iter()
            .flat_map(|server| &server.listing.prompts);
        let counts = count(listed.flatten().map(|item| &*item.name));
        let mut next = Vec::new();
        for &index in indices {
            let server = &self.servers[index];
            let Some(prompts) = &server.listing.prompts else {
                continue;
            };
            let items = self.prompts.name(
                &server.upstream.server,
                prompts,
                |prompt| &prompt.name,
                |own| server.wanted_names(self.naming, own, counts.get(own) > Some(&1)),
            );
            next.push(NextItems {
                upstream: &server.upstream,
                items,
                is_announced,
            });
        }
        self.prompts
            .serve(next, is_complete, routes::prompt, |removed, added| {
                self.handles.prompts.replace(removed, added)
            });
    }

    /// Returns the URIs of the servers whose resources stay: all but those in `replaced`.
    fn taken_uris(&self, replaced: &[usize], is_complete: bool) -> TakenUris {
        let mut taken = TakenUris::default();
        if is_complete {
            return taken;
        }
        let servers = self.servers.iter().enumerate();
        for (_, server) in servers.filter(|(index, _)| !replaced.contains(index)) {
            let server = &server.upstream.server;
            for resource in self.resources.items(server) {
                taken.add(server, UriPattern::uri(&resource.name));
            }
            for template in self.templates.items(server) {
                taken.add(server, UriPattern::template(&template.name));
            }
        }
        taken
    }

    /// Serves resources and templates. If the URIs of two servers' items overlap, only the first item is served.
    pub(super) fn serve_resources(
        &mut self,
        indices: &[usize],
        is_announced: bool,
        is_complete: bool,
    ) {
        let (mut resources, mut templates) = (Vec::new(), Vec::new());
        let mut taken = self.taken_uris(indices, is_complete);
        for &index in indices {
            let ListedServer {
                upstream, listing, ..
            } = &self.servers[index];
            let server = &upstream.server;
            if let Some(listed) = &listing.resources {
                let free = listed.iter().filter(|resource| {
                    taken.is_free(server, &resource.uri, &UriPattern::uri(&resource.uri))
                });
                let free: Vec<_> = free.cloned().collect();
                let items = self.resources.name(
                    server,
                    &free,
                    |resource| &resource.uri,
                    |uri| std::iter::once(uri.to_owned()),
                );
                for item in &items {
                    taken.add(server, UriPattern::uri(&item.name));
                }
                resources.push(NextItems {
                    upstream,
                    items,
                    is_announced,
                });
            }
            if let Some(listed) = &listing.templates {
                let free = listed.iter().filter(|template| {
                    let uri = &template.uri_template;
                    taken.is_free(server, uri, &UriPattern::template(uri))
                });
                let free: Vec<_> = free.cloned().collect();
                let items = self.templates.name(
                    server,
                    &free,
                    |template| &template.uri_template,
                    |uri| std::iter::once(uri.to_owned()),
                );
                for item in &items {
                    taken.add(server, UriPattern::template(&item.name));
                }
                templates.push(NextItems {
                    upstream,
                    items,
                    // Resources and templates share one notification.
                    is_announced: false,
                });
            }
        }
        self.resources.serve(
            resources,
            is_complete,
            routes::resource,
            |removed, added| self.handles.resources.replace(removed, added),
        );
        self.templates.serve(
            templates,
            is_complete,
            routes::template,
            |removed, added| self.handles.templates.replace(removed, added),
        );
    }
}

/// Returns how many items have each name.
fn count<'a>(names: impl Iterator<Item = &'a str>) -> HashMap<&'a str, usize> {
    let mut counts = HashMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    counts
}
