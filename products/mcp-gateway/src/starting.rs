//! Calls of servers that are not listed yet. They wait until their server is listed, or has failed.

use std::future::ready;
use std::pin::pin;
use std::sync::Arc;

use mcp_client::group::Naming;
use mcp_core::tower::{Middleware, Next};
use mcp_core::{Call, Exchange, Fault};
use mcp_server::{Caller, Notify, Prompts, Resources, Templates, Tools};
use parking_lot::{Mutex, RwLock};
use tokio::sync;

use crate::calls::upstream::Upstream;
use crate::changes::Kinds;

/// Maximum number of servers that a report names, and the characters of each name.
const MAX_NAMED: usize = 20;
const MAX_NAME: usize = 64;

/// The servers that are not listed yet. Clones share them.
#[derive(Clone)]
pub(crate) struct Starting(Arc<SharedStarting>);

struct SharedStarting {
    state: RwLock<State>,
    changed: sync::Notify,
    handles: Handles,
    /// The kinds of lists that a client may have seen.
    listed: Mutex<Kinds>,
}

#[derive(Default)]
struct State {
    /// Calls do not wait for servers that they do not name.
    is_settled: bool,
    servers: Vec<UnlistedServer>,
}

/// The handles of the items that the gateway serves.
#[derive(Clone)]
pub(crate) struct Handles {
    pub(crate) tools: Tools,
    pub(crate) prompts: Prompts,
    pub(crate) resources: Resources,
    pub(crate) templates: Templates,
    pub(crate) notify: Notify,
}

/// A server that is not listed yet.
pub(crate) struct UnlistedServer {
    pub(crate) upstream: Arc<Upstream>,
    /// The prefix in the group.
    pub(crate) prefix: String,
    pub(crate) naming: Naming,
    /// The kinds that are not listed.
    pub(crate) kinds: Kinds,
    /// The reason why it is not listed. `None`: it starts.
    pub(crate) problem: Option<Arc<str>>,
}

impl Starting {
    pub(crate) fn new(handles: Handles) -> Self {
        Self(Arc::new(SharedStarting {
            state: RwLock::default(),
            changed: sync::Notify::new(),
            handles,
            listed: Mutex::default(),
        }))
    }

    /// Notes that clients may have seen the lists of these kinds.
    pub(crate) fn add_listed(&self, kinds: Kinds) {
        self.0.listed.lock().add(kinds);
    }

    /// Returns true if a client may have seen the list of a kind. A client that has not needs no notification of a change.
    pub(crate) fn has_listed(&self, kind: Kinds) -> bool {
        self.0.listed.lock().has(kind)
    }

    /// Names the servers without a list of tools for a caller's language model, if the caller may know one of the tools.
    /// `None`: no such server is missing.
    pub(crate) fn missing_tools(&self, exchange: &Exchange) -> Option<String> {
        let state = self.0.state.read();
        let caller = Caller::new(&exchange.facts, &exchange.extensions);
        let servers = state.servers.iter();
        let missing = servers.filter(|server| {
            server.kinds.has(Kinds::TOOLS) && server.upstream.settings.may_show_tools(&caller)
        });
        let (starting, failed): (Vec<_>, Vec<_>) =
            missing.partition(|server| server.problem.is_none());
        let groups = [("still starting", starting), ("not started", failed)];
        let groups = groups
            .into_iter()
            .filter(|(_, servers)| !servers.is_empty());
        let reports = groups.map(|(state, servers)| {
            let names = servers.iter().take(MAX_NAMED).map(|server| {
                let name: String = server.upstream.server.chars().take(MAX_NAME).collect();
                // Quoted: a name can be a sentence.
                format!("\"{}\"", mcp_types::escape_line(&name).replace('"', "'"))
            });
            let names = names.collect::<Vec<_>>().join(", ");
            match servers.len().saturating_sub(MAX_NAMED) {
                0 => format!("{state}: {names}"),
                more => format!("{state}: {names} and {more} more"),
            }
        });
        let reports: Vec<_> = reports.collect();
        (!reports.is_empty()).then(|| reports.join("; "))
    }

    /// Replaces the servers that are not listed. Unless `is_settled`, all calls wait.
    pub(crate) fn set(&self, servers: Vec<UnlistedServer>, is_settled: bool) {
        let state = State {
            is_settled,
            servers,
        };
        // Dropped without the lock, because it may be the end of a server.
        let old = std::mem::replace(&mut *self.0.state.write(), state);
        drop(old);
        self.0.changed.notify_waiters();
    }

    /// Returns what becomes of a call. `None`: it waits.
    fn outcome(&self, exchange: &Exchange) -> Option<Result<(), Fault>> {
        let outcome = self.0.outcome(exchange);
        let list = Kinds::of_list(&exchange.call);
        if !list.is_empty() && matches!(outcome, Some(Ok(()))) {
            self.add_listed(list);
        }
        outcome
    }

    /// Waits until the server of a call is listed.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] when the server has not started.
    async fn wait(&self, exchange: &Exchange) -> Result<(), Fault> {
        loop {
            let mut changed = pin!(self.0.changed.notified());
            changed.as_mut().enable();
            match self.outcome(exchange) {
                Some(outcome) => return outcome,
                None => changed.await,
            }
        }
    }
}

/// The layer in which calls wait. A call that does not wait is not boxed again.
impl Middleware for Starting {
    fn wrap(self, next: Next) -> Next {
        Next::new(move |exchange| match self.outcome(&exchange) {
            Some(Ok(())) => next.run(exchange),
            Some(Err(fault)) => Box::pin(ready(fault.into())),
            None => {
                let (starting, next) = (self.clone(), next.clone());
                Box::pin(async move {
                    match starting.wait(&exchange).await {
                        Ok(()) => next.run(exchange).await,
                        Err(fault) => fault.into(),
                    }
                })
            }
        })
    }
}

impl SharedStarting {
    fn outcome(&self, exchange: &Exchange) -> Option<Result<(), Fault>> {
        let state = self.state.read();
        if state.servers.is_empty() && state.is_settled
            || matches!(exchange.call, Call::Notification { .. })
        {
            return Some(Ok(()));
        }
        let Some(server) = self.find(&state.servers, exchange) else {
            return state.is_settled.then_some(Ok(()));
        };
        let problem = server.problem.as_ref()?;
        let name = &server.upstream.server;
        let text = format!("the server {name:?} of this gateway did not start: {problem}");
        Some(Err(Fault::internal(text)))
    }

    /// Returns the unlisted server that may have the called item. A server that has failed is found by a name's prefix
    /// only.
    fn find<'a>(
        &self,
        servers: &'a [UnlistedServer],
        exchange: &Exchange,
    ) -> Option<&'a UnlistedServer> {
        let item = exchange.call.item()?;
        let caller = Caller::new(&exchange.facts, &exchange.extensions);
        let mut may_have = servers.iter().filter(|server| {
            let kind = match exchange.call {
                Call::CallTool(_) => Kinds::TOOLS,
                Call::GetPrompt(_) => Kinds::PROMPTS,
                Call::ReadResource(_) => Kinds::RESOURCES,
                _ => Kinds::NONE,
            };
            server.kinds.has(kind) && server.upstream.settings.is_visible(None, &caller)
        });
        let is_resource = matches!(exchange.call, Call::ReadResource(_));
        let has_name = |server: &&UnlistedServer| !is_resource && server.has_prefix_of(item);
        let found = may_have.clone().find(has_name);
        let found = found.or_else(|| {
            may_have.find(|server| {
                (is_resource || server.has_plain_names(item)) && server.problem.is_none()
            })
        });
        found.filter(|_| !self.handles.contains(&exchange.call, item))
    }
}

impl UnlistedServer {
    fn has_prefix_of(&self, name: &str) -> bool {
        let prefix = self.upstream.settings.prefix.as_deref();
        let mut prefixes = [Some(&*self.prefix), prefix].into_iter().flatten();
        prefixes.any(|prefix| name.starts_with(&format!("{prefix}__")))
    }

    /// Returns true if the server may have an item with this name without a prefix.
    fn has_plain_names(&self, name: &str) -> bool {
        let settings = &self.upstream.settings;
        let is_plain = match &settings.prefix {
            Some(prefix) => prefix.is_empty(),
            None => self.naming == Naming::PlainUnlessTaken,
        };
        is_plain || settings.renamed().any(|(_, renamed)| renamed == name)
    }
}

impl Handles {
    /// Returns true if the gateway serves the item of a call.
    fn contains(&self, call: &Call, item: &str) -> bool {
        let is_item = |name: &String| name == item;
        match call {
            Call::CallTool(_) => self.tools.names().iter().any(is_item),
            Call::GetPrompt(_) => self.prompts.names().iter().any(is_item),
            _ => {
                let begins = |template: &String| {
                    let fixed = template.split('{').next().unwrap_or_default();
                    item.starts_with(fixed)
                };
                self.resources.uris().iter().any(is_item)
                    || self.templates.uris().iter().any(begins)
            }
        }
    }
}
