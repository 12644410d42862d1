//! The lists of one server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_client::{Client, Error, PreparedCall};
use mcp_types::{Prompt, Resource, ResourceTemplate, ServerCapabilities, Tool};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use crate::calls::upstream::Upstream;
use crate::changes::Kinds;
use crate::sessions::pool::Run;

/// Longest time for all lists of a server, including its start.
const LIMIT: Duration = Duration::from_secs(120);
/// Items of one list. A longer list is an error.
const MAX_ITEMS: usize = 5000;
/// Bytes of one list.
const MAX_BYTES: usize = 16 << 20;

/// The lists of a server. `None`: not requested, or the request failed. As JSON it is a snapshot of
/// `mcp_client::catalog`, with the items in the server's order.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default = "Listing::empty")]
pub(crate) struct Listing {
    /// `None`: not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) capabilities: Option<ServerCapabilities>,
    pub(crate) tools: Option<Vec<Tool>>,
    pub(crate) prompts: Option<Vec<Prompt>>,
    pub(crate) resources: Option<Vec<Resource>>,
    #[serde(rename = "resourceTemplates")]
    pub(crate) templates: Option<Vec<ResourceTemplate>>,
}

impl Listing {
    /// The lists of a server without items.
    fn empty() -> Self {
        Self {
            capabilities: None,
            tools: Some(Vec::new()),
            prompts: Some(Vec::new()),
            resources: Some(Vec::new()),
            templates: Some(Vec::new()),
        }
    }

    /// Returns true if all lists are known.
    pub(super) fn is_complete(&self) -> bool {
        self.missing().is_empty()
    }

    /// Returns the kinds that are not known.
    pub(crate) fn missing(&self) -> Kinds {
        let mut missing = Kinds::NONE;
        missing.add_if(Kinds::TOOLS, self.tools.is_none());
        missing.add_if(Kinds::PROMPTS, self.prompts.is_none());
        let has_resources = self.resources.is_some() && self.templates.is_some();
        missing.add_if(Kinds::RESOURCES, !has_resources);
        missing
    }

    /// Replaces the lists that are known in another listing. Returns true if one has changed.
    pub(crate) fn replace(&mut self, new: Self) -> bool {
        [
            replace(&mut self.capabilities, new.capabilities),
            replace(&mut self.tools, new.tools),
            replace(&mut self.prompts, new.prompts),
            replace(&mut self.resources, new.resources),
            replace(&mut self.templates, new.templates),
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
pub(crate) struct Listed {
    pub(crate) server: Arc<str>,
    /// The run that was listed.
    pub(crate) run: Run,
    pub(super) requested: Kinds,
    /// A requested list that is not known could not be requested.
    pub(crate) listing: Listing,
    /// The reason for clients, without details of the connection. `None`: no list has failed.
    pub(crate) problem: Option<Arc<str>>,
}

/// Requests lists of a server. Starts the server if it does not run.
pub(crate) async fn request(upstream: Arc<Upstream>, run: Run, requested: Kinds) -> Listed {
    let server = &upstream.server;
    let warn = |problem: &dyn fmt::Display| upstream.counters.report(server, problem);
    let mut listing = Listing::default();
    let mut problem = None;
    match timeout(LIMIT, upstream.group.client(server)).await {
        Ok(Ok(client)) => {
            let needs_capabilities = !upstream.settings.extensions.is_empty();
            if needs_capabilities && client.server_capabilities().is_none() {
                // The extension settings are empty if the server does not say.
                let _ = timeout(LIMIT, client.discover()).await;
            }
            let requesting = fill(&client, &warn, requested, &mut listing);
            if timeout(LIMIT, requesting).await.is_err() {
                warn(&"it lists too slowly");
            }
            if requested.has(listing.missing()) {
                problem = Some("its lists cannot be read");
            }
        }
        Ok(Err(error)) => {
            warn(&error);
            problem = Some(start_problem(&error));
        }
        Err(_) => {
            warn(&"it starts too slowly");
            problem = Some("it takes too long");
        }
    }
    Listed {
        server: server.clone(),
        run,
        requested,
        listing,
        problem: problem.map(Into::into),
    }
}

/// Returns the reason why a server did not start. It names neither hosts of an inner network nor programs.
fn start_problem(error: &Error) -> &'static str {
    match error {
        _ if error.is_timeout() => "it takes too long",
        _ if error.is_auth() => "it refuses the credentials of the gateway",
        _ if error.is_closed() => "it has ended",
        _ => "it cannot be started or reached; the log of the gateway has the details",
    }
}

async fn fill(
    client: &Client,
    warn: &(dyn Fn(&dyn fmt::Display) + Sync),
    kinds: Kinds,
    listing: &mut Listing,
) {
    listing.capabilities = client.server_capabilities();
    if kinds.has(Kinds::TOOLS) {
        listing.tools = list(client.list_tools(), warn).await;
    }
    if kinds.has(Kinds::PROMPTS) {
        listing.prompts = list(client.list_prompts(), warn).await;
    }
    if kinds.has(Kinds::RESOURCES) {
        listing.resources = list(client.list_resources(), warn).await;
        listing.templates = list(client.list_resource_templates(), warn).await;
    }
}

/// Requests a list. It is empty if the server does not offer it. Returns `None` if the request failed.
async fn list<T: Send + 'static>(
    call: PreparedCall<'_, Vec<T>>,
    warn: &(dyn Fn(&dyn fmt::Display) + Sync),
) -> Option<Vec<T>> {
    let call = call.max_items(MAX_ITEMS).max_list_bytes(MAX_BYTES);
    let listed = call.if_offered().await;
    listed.inspect_err(|error| warn(error)).ok()
}
