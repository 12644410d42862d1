//! Tools and prompts that are held until a user approves their definitions; see [`PinFile`].

use std::collections::HashMap;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use mcp_core::tower::{Middleware, Next};
use mcp_core::{Call, Exchange, Fault, Reply};
use mcp_server::Caller;
use mcp_toolset::PinFile;
use mcp_types::{CallToolResult, Prompt, Tool};
use parking_lot::RwLock;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::listing::Listing;
use crate::calls::upstream::Upstream;
use crate::routes::Named;

/// Time between two looks at the file.
const INTERVAL: Duration = Duration::from_secs(1);

/// The pins of a gateway, and the items that it holds back. Clones share them.
#[derive(Clone)]
pub(crate) struct PinnedItems(Arc<SharedPins>);

struct SharedPins {
    pins: PinFile,
    tools: RwLock<HeldItems>,
    prompts: RwLock<HeldItems>,
}

/// A server, and its next items.
pub(crate) type NextItems<'a, T> = (&'a Arc<Upstream>, Vec<Named<T>>);

/// Items that the gateway does not serve, by their names for clients.
type HeldItems = HashMap<String, HeldItem>;

struct HeldItem {
    upstream: Arc<Upstream>,
    /// The name that the server gives it.
    own: String,
}

impl PinnedItems {
    pub(crate) fn new(pins: PinFile) -> Self {
        Self(Arc::new(SharedPins {
            pins,
            tools: RwLock::default(),
            prompts: RwLock::default(),
        }))
    }

    /// Compares the lists of a server with the file, on another thread.
    pub(crate) async fn check(&self, server: &Arc<str>, listing: &Listing) {
        let (pins, server) = (self.0.pins.clone(), server.clone());
        let (tools, prompts) = (listing.tools.clone(), listing.prompts.clone());
        let checked = spawn_blocking(move || {
            if let Some(tools) = tools {
                pins.check(&server, &tools);
            }
            if let Some(prompts) = prompts {
                pins.check(&server, &prompts);
            }
        });
        if let Err(error) = checked.await {
            // What was not recorded is not offered.
            tracing::error!(error = %mcp_types::escaped(&error), "the pins cannot be checked");
        }
    }

    /// Takes the tools that are held out of the next ones of their servers. With `is_complete`, others are held no more.
    pub(super) fn hold_tools(&self, next: &mut [NextItems<'_, Tool>], is_complete: bool) {
        let offered = |server: &str, tool: &Tool| self.0.pins.offered(server, tool);
        let own = |tool: &Tool| tool.name.clone();
        hold(&self.0.tools, (next, is_complete), own, offered);
    }

    /// Takes the prompts that are held out of the next ones, as [`hold_tools`](Self::hold_tools) does with tools.
    pub(super) fn hold_prompts(&self, next: &mut [NextItems<'_, Prompt>], is_complete: bool) {
        let offered = |server: &str, prompt: &Prompt| self.0.pins.offered(server, prompt);
        let own = |prompt: &Prompt| prompt.name.clone();
        hold(&self.0.prompts, (next, is_complete), own, offered);
    }

    /// Returns the names of a server's tools and prompts that are held.
    pub(crate) fn held(&self, server: &str) -> Vec<String> {
        let mut names = Vec::new();
        for held in [&self.0.tools, &self.0.prompts] {
            let held = held.read();
            let held = held.iter();
            let held = held.filter(|(_, item)| *item.upstream.server == *server);
            names.extend(held.map(|(name, _)| name.clone()));
        }
        names.sort_unstable();
        names
    }

    /// Waits until the file is another one than that with the number `seen`, which is set.
    pub(crate) async fn changed(&self, seen: &mut u64) {
        loop {
            let pins = self.0.pins.clone();
            let now = spawn_blocking(move || pins.refresh())
                .await
                .unwrap_or(*seen);
            if now != *seen {
                *seen = now;
                return;
            }
            sleep(INTERVAL).await;
        }
    }

    /// Returns the answer to a request for a held item that its caller may see.
    fn refusal(&self, exchange: &Exchange) -> Option<Reply> {
        let (held, name) = match &exchange.call {
            Call::CallTool(params) => (&self.0.tools, &*params.name),
            Call::GetPrompt(params) => (&self.0.prompts, &*params.name),
            _ => return None,
        };
        let held = held.read();
        let item = held.get(name)?;
        let settings = &item.upstream.settings;
        let caller = Caller::new(&exchange.facts, &exchange.extensions);
        let refusal = self.0.pins.refusal(name);
        if let Call::GetPrompt(_) = &exchange.call {
            let is_visible = settings.is_visible(None, &caller);
            return is_visible.then(|| Fault::bad_params(refusal).into());
        }
        let is_visible = settings.is_visible(Some(&settings.tool(&item.own)), &caller);
        is_visible.then(|| CallToolResult::error(refusal).into())
    }
}

/// Moves the items that are not offered to the held ones, and leaves what is not pinned out of the others.
fn hold<T>(
    held: &RwLock<HeldItems>,
    (next, is_complete): (&mut [NextItems<'_, T>], bool),
    own: impl Fn(&T) -> String,
    offered: impl Fn(&str, &T) -> Option<T>,
) {
    let mut held = held.write();
    if is_complete {
        held.clear();
    }
    for (upstream, items) in next {
        held.retain(|_, item| item.upstream.server != upstream.server);
        items.retain_mut(|named| {
            if let Some(item) = offered(&upstream.server, &named.item) {
                named.item = item;
                return true;
            }
            let (upstream, own) = (upstream.clone(), own(&named.item));
            held.insert(named.name.clone(), HeldItem { upstream, own });
            false
        });
    }
}

/// The layer that answers requests for held items.
impl Middleware for PinnedItems {
    fn wrap(self, next: Next) -> Next {
        Next::new(move |exchange| match self.refusal(&exchange) {
            Some(refusal) => Box::pin(ready(refusal)),
            None => next.run(exchange),
        })
    }
}
