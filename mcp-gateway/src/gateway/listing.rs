//! The lists of one server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_client::group::Group;
use mcp_client::{Client, Error, PreparedCall};
use mcp_types::{Prompt, Resource, ResourceTemplate, ServerCapabilities, Tool};
use tokio::time::timeout;

use super::changes::{Kinds, Stale};
use super::counters::Counters;

/// Longest time for all lists of a server, including its start.
const LIMIT: Duration = Duration::from_secs(120);
/// Items of one list. A longer list is an error.
const MAX_ITEMS: usize = 5000;
/// Bytes of one list.
const MAX_BYTES: usize = 16 << 20;

/// The lists of a server. `None`: not requested, or the request failed.
#[derive(Debug, Clone, Default)]
pub(super) struct Listing {
    /// `None`: not known.
    pub(super) capabilities: Option<ServerCapabilities>,
    pub(super) tools: Option<Vec<Tool>>,
    pub(super) prompts: Option<Vec<Prompt>>,
    pub(super) resources: Option<Vec<Resource>>,
    pub(super) templates: Option<Vec<ResourceTemplate>>,
}

impl Listing {
    /// Returns true if all lists are known.
    pub(super) fn is_complete(&self) -> bool {
        self.missing().is_empty()
    }

    /// Returns the kinds that are not known.
    pub(super) fn missing(&self) -> Kinds {
        Kinds {
            tools: self.tools.is_none(),
            prompts: self.prompts.is_none(),
            resources: self.resources.is_none() || self.templates.is_none(),
        }
    }

    /// Replaces the lists that are known in another listing. Returns true if one has changed.
    pub(super) fn replace(&mut self, new: Self) -> bool {
        let Self {
            capabilities,
            tools,
            prompts,
            resources,
            templates,
        } = new;
        [
            replace(&mut self.capabilities, capabilities),
            replace(&mut self.tools, tools),
            replace(&mut self.prompts, prompts),
            replace(&mut self.resources, resources),
            replace(&mut self.templates, templates),
        ]
        .contains(&true)
    }

    /// Returns true if the server may send updates of resources.
    pub(super) fn offers_updates(&self) -> bool {
        let Some(capabilities) = &self.capabilities else {
            // A server of 2026-07-28 whose capabilities are unknown grants what it offers.
            let has = |count: Option<usize>| count.is_some_and(|count| count > 0);
            return has(self.resources.as_ref().map(Vec::len))
                || has(self.templates.as_ref().map(Vec::len));
        };
        let resources = capabilities.resources.as_ref();
        resources.is_some_and(|resources| resources.subscribe == Some(true))
    }
}

/// Replaces a value that is known. Returns true if it has changed.
fn replace<T: PartialEq>(current: &mut Option<T>, new: Option<T>) -> bool {
    let has_changed = new.is_some() && *current != new;
    if has_changed {
        *current = new;
    }
    has_changed
}

/// The result of a request for lists.
pub(super) struct Listed {
    pub(super) server: Arc<str>,
    /// The number of the settings that the request belongs to.
    pub(super) generation: u64,
    pub(super) requested: Stale,
    pub(super) listing: Listing,
    /// The kinds that could not be requested.
    pub(super) failed: Kinds,
    /// The reason for clients, without details of the connection. `None`: no kind has failed.
    pub(super) problem: Option<String>,
}

/// Requests lists of a server. Starts the server if it does not run.
pub(super) async fn request(
    group: Group,
    server: Arc<str>,
    counters: Arc<Counters>,
    generation: u64,
    (requested, needs_capabilities): (Stale, bool),
) -> Listed {
    let kinds = requested.kinds();
    let warn = |problem: &dyn fmt::Display| warn(&server, &counters, problem);
    let mut listing = Listing::default();
    let mut failed = Kinds::default();
    let mut problem = None;
    match timeout(LIMIT, group.client(&server)).await {
        Ok(Ok(client)) => {
            if needs_capabilities && client.server_capabilities().is_none() {
                // The settings of extensions are empty if the server does not say.
                let _ = timeout(LIMIT, client.discover()).await;
            }
            let requesting = fill(&client, &warn, kinds, &mut listing, &mut failed);
            if timeout(LIMIT, requesting).await.is_err() {
                warn(&"it lists too slowly");
                failed = kinds;
            }
            if !failed.is_empty() {
                problem = Some("its lists cannot be read".to_owned());
            }
        }
        Ok(Err(error)) => {
            warn(&error);
            failed = kinds;
            problem = Some(start_problem(&error));
        }
        Err(_) => {
            warn(&"it starts too slowly");
            failed = kinds;
            problem = Some("it takes too long".to_owned());
        }
    }
    Listed {
        server,
        generation,
        requested,
        listing,
        failed,
        problem,
    }
}

/// Returns the reason why a server did not start. It names neither hosts of an inner network nor programs.
fn start_problem(error: &Error) -> String {
    let problem = match error {
        _ if error.is_timeout() => "it takes too long",
        _ if error.is_auth() => "it refuses the credentials of the gateway",
        _ if error.is_closed() => "it has ended",
        _ => "it cannot be started or reached; the log of the gateway has the details",
    };
    problem.to_owned()
}

async fn fill(
    client: &Client,
    warn: &(dyn Fn(&dyn fmt::Display) + Sync),
    kinds: Kinds,
    listing: &mut Listing,
    failed: &mut Kinds,
) {
    let known = client.server_capabilities();
    listing.capabilities.clone_from(&known);
    let offers = |offers: fn(&ServerCapabilities) -> bool| known.as_ref().is_none_or(offers);
    if kinds.tools {
        let tools =
            offers(|capabilities| capabilities.tools.is_some()).then(|| client.list_tools());
        listing.tools = list(tools, warn).await;
        failed.tools = listing.tools.is_none();
    }
    if kinds.prompts {
        let prompts =
            offers(|capabilities| capabilities.prompts.is_some()).then(|| client.list_prompts());
        listing.prompts = list(prompts, warn).await;
        failed.prompts = listing.prompts.is_none();
    }
    if kinds.resources {
        let has_resources = offers(|capabilities| capabilities.resources.is_some());
        let resources = has_resources.then(|| client.list_resources());
        listing.resources = list(resources, warn).await;
        let templates = has_resources.then(|| client.list_resource_templates());
        listing.templates = list(templates, warn).await;
        failed.resources = listing.resources.is_none() || listing.templates.is_none();
    }
}

/// Requests a list. It is empty if the server does not offer it. Returns `None` if the request failed.
async fn list<T: Send + 'static>(
    call: Option<PreparedCall<'static, Vec<T>>>,
    warn: &(dyn Fn(&dyn fmt::Display) + Sync),
) -> Option<Vec<T>> {
    let Some(call) = call else {
        return Some(Vec::new());
    };
    match call.max_items(MAX_ITEMS).max_list_bytes(MAX_BYTES).await {
        Ok(items) => Some(items),
        Err(error) if error.is_unknown_method() => Some(Vec::new()),
        Err(error) => {
            warn(&error);
            None
        }
    }
}

fn warn(server: &Arc<str>, counters: &Counters, problem: &dyn fmt::Display) {
    let error = problem.to_string();
    // A server that stays broken is tried again and again.
    if counters.add_failure(&error) {
        tracing::warn!(%server, error = %mcp_types::escape_line(&error), "a server behind the gateway does not answer");
    } else {
        tracing::debug!(%server, error = %mcp_types::escape_line(&error), "a server behind the gateway still does not answer");
    }
}
