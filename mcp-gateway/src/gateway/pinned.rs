//! Tools that are held until a user approves their definitions; see [`PinFile`].

use std::collections::HashMap;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use mcp_core::tower::{Middleware, Next};
use mcp_core::{Call, Exchange};
use mcp_server::Caller;
use mcp_toolset::PinFile;
use mcp_types::{CallToolResult, Tool};
use parking_lot::RwLock;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::routes::Named;
use super::upstream::Upstream;

/// Time between two looks at the file.
const INTERVAL: Duration = Duration::from_secs(1);

/// The pins of a gateway, and the tools that it holds back. Clones share them.
#[derive(Clone)]
pub(super) struct PinnedTools(Arc<SharedPins>);

struct SharedPins {
    pins: PinFile,
    held: RwLock<HashMap<String, HeldTool>>,
}

/// A tool that the gateway does not serve.
struct HeldTool {
    upstream: Arc<Upstream>,
    /// The name that the server gives it.
    own: String,
}

impl PinnedTools {
    pub(super) fn new(pins: PinFile) -> Self {
        Self(Arc::new(SharedPins {
            pins,
            held: RwLock::default(),
        }))
    }

    /// Compares the tools of a server with the file, on another thread.
    pub(super) async fn check(&self, server: &Arc<str>, tools: &[Tool]) {
        let (pins, server, tools) = (self.0.pins.clone(), server.clone(), tools.to_vec());
        let checked = spawn_blocking(move || pins.check(&server, &tools)).await;
        if let Err(error) = checked {
            // What was not recorded is not offered.
            tracing::error!(error = %mcp_types::escaped(&error), "the pins cannot be checked");
        }
    }

    /// Takes the tools of a server that are held out of its tools.
    pub(super) fn hold(&self, upstream: &Arc<Upstream>, items: &mut Vec<Named<Tool>>) {
        let mut held = self.0.held.write();
        held.retain(|_, tool| tool.upstream.server != upstream.server);
        items.retain(|named| {
            let is_offered = self.0.pins.offers(&upstream.server, &named.item);
            if !is_offered {
                let (upstream, own) = (upstream.clone(), named.item.name.clone());
                let tool = HeldTool { upstream, own };
                held.insert(named.name.clone(), tool);
            }
            is_offered
        });
    }

    /// Forgets which tools are held.
    pub(super) fn clear(&self) {
        self.0.held.write().clear();
    }

    /// Returns the names of a server's tools that are held.
    pub(super) fn held(&self, server: &str) -> Vec<String> {
        let held = self.0.held.read();
        let names = held
            .iter()
            .filter(|(_, tool)| *tool.upstream.server == *server);
        let mut names: Vec<_> = names.map(|(name, _)| name.clone()).collect();
        names.sort_unstable();
        names
    }

    /// Waits until the file is another one than that with the number `seen`, which is set.
    pub(super) async fn changed(&self, seen: &mut u64) {
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

    /// Returns the answer to a call of a held tool that its caller may see.
    fn refusal(&self, exchange: &Exchange) -> Option<CallToolResult> {
        let Call::CallTool(params) = &exchange.call else {
            return None;
        };
        let held = self.0.held.read();
        let tool = held.get(&*params.name)?;
        let settings = &tool.upstream.settings;
        let caller = Caller::new(&exchange.facts, &exchange.extensions);
        let is_visible = settings.is_visible(Some(&settings.tool(&tool.own)), &caller);
        is_visible.then(|| CallToolResult::error(self.0.pins.refusal(&params.name)))
    }
}

/// The layer that answers calls of held tools.
impl Middleware for PinnedTools {
    fn wrap(self, next: Next) -> Next {
        Next::new(move |exchange| match self.refusal(&exchange) {
            Some(refusal) => Box::pin(ready(refusal.into())),
            None => next.run(exchange),
        })
    }
}
