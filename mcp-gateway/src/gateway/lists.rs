//! The lists of all servers, kept current in the server of the gateway.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _};
use mcp_client::group::{Group, GroupEvent, GroupList, Health, Listed};
use mcp_client::{Change, Error};
use mcp_core::catch_panic_sync;
use mcp_server::{CompletionRoute, EditError, Notify};
use mcp_types::{Prompt, Resource, ResourceTemplate, Tool};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};

use super::forward::Upstream;
use super::routes;
use super::updates::{Updates, offers_updates};

/// Shortest time between two lists of all servers, however often a server says that it has changed.
const PAUSE: Duration = Duration::from_secs(1);

/// Time after which servers that could not be listed are listed again.
const RETRY: Duration = Duration::from_secs(60);

/// The lists of all servers.
pub(super) struct ServerLists {
    pub(super) group: Group,
    pub(super) upstreams: HashMap<Arc<str>, Upstream>,
    pub(super) handles: Handles,
    lists: Lists,
    /// `None` until a server offers updates of resources.
    updates: Option<Updates>,
    /// A list of a server could not be requested.
    is_incomplete: bool,
}

/// The handles of the gateway's server.
pub(super) struct Handles {
    pub(super) tools: mcp_server::Tools,
    pub(super) prompts: mcp_server::Prompts,
    pub(super) resources: mcp_server::Resources,
    pub(super) templates: mcp_server::Templates,
}

#[derive(Default)]
struct Lists {
    tools: Vec<Listed<Tool>>,
    prompts: Vec<Listed<Prompt>>,
    resources: Vec<Listed<Resource>>,
    templates: Vec<Listed<ResourceTemplate>>,
}

/// The kinds of lists that may have changed.
#[derive(Clone, Copy, Default)]
struct Kinds {
    tools: bool,
    prompts: bool,
    resources: bool,
}

impl Kinds {
    const ALL: Self = Self {
        tools: true,
        prompts: true,
        resources: true,
    };

    fn is_empty(self) -> bool {
        !(self.tools || self.prompts || self.resources)
    }
}

/// Adds the lists that an event concerns: those that its server has announced, and those that may have
/// changed unnoticed.
fn add_event(event: &GroupEvent, stale: &mut Kinds, announced: &mut Kinds) {
    match event {
        GroupEvent::Changed { change, .. } => add_change(change, stale, announced),
        GroupEvent::Lost(_)
        | GroupEvent::Health {
            health: Health::Running,
            ..
        } => *stale = Kinds::ALL,
        _ => {}
    }
}

fn add_change(change: &Change, stale: &mut Kinds, announced: &mut Kinds) {
    match change {
        Change::Tools => announced.tools = true,
        Change::Prompts => announced.prompts = true,
        Change::Resources => announced.resources = true,
        Change::Missed(_) => *stale = Kinds::ALL,
        _ => {}
    }
}

impl ServerLists {
    pub(super) fn new(
        group: Group,
        upstreams: HashMap<Arc<str>, Upstream>,
        handles: Handles,
    ) -> Self {
        Self {
            group,
            upstreams,
            handles,
            lists: Lists::default(),
            updates: None,
            is_incomplete: false,
        }
    }

    /// Lists all servers.
    pub(super) async fn load(&mut self) {
        self.refresh(Kinds::ALL, Kinds::default()).await;
    }

    /// Returns true if a listed server may send updates of resources.
    pub(super) async fn offers_updates(&self) -> bool {
        let servers: HashSet<_> = self.lists.resources.iter().map(|it| &it.server).collect();
        for server in servers {
            let client = self.group.client(server).await;
            if client.is_ok_and(|client| offers_updates(&client)) {
                return true;
            }
        }
        false
    }

    /// Passes updates of resources on.
    pub(super) async fn subscribe(&mut self, notify: Notify) {
        let updates = self.updates.insert(Updates::new(notify));
        updates.subscribe(&self.group, &self.lists.resources).await;
    }

    /// Returns the completions of the listed prompts and templates.
    pub(super) fn completions(&self) -> Vec<CompletionRoute> {
        let Lists {
            prompts, templates, ..
        } = &self.lists;
        let prompts = prompts.iter().flat_map(|listed| {
            let upstream = self.upstreams.get(&listed.server);
            upstream.map(|it| routes::prompt_completions(it, listed))
        });
        let templates = templates.iter().flat_map(|listed| {
            let upstream = self.upstreams.get(&listed.server);
            upstream.map(|it| routes::template_completions(it, listed))
        });
        prompts.chain(templates).flatten().collect()
    }

    /// Lists servers again whenever they change, until the task is aborted. `changes` are those of sessions
    /// of single calls.
    pub(super) async fn follow(mut self, mut changes: mpsc::Receiver<Change>) {
        let mut events = self.group.events();
        loop {
            let (mut stale, mut announced) = (Kinds::default(), Kinds::default());
            tokio::select! {
                event = events.next() => match event {
                    Some(event) => add_event(&event, &mut stale, &mut announced),
                    None => return,
                },
                Some(change) = changes.recv() => add_change(&change, &mut stale, &mut announced),
                () = sleep(RETRY), if self.is_incomplete => stale = Kinds::ALL,
            }
            while let Some(Some(event)) = events.next().now_or_never() {
                add_event(&event, &mut stale, &mut announced);
            }
            while let Ok(change) = changes.try_recv() {
                add_change(&change, &mut stale, &mut announced);
            }
            if stale.is_empty() && announced.is_empty() {
                continue;
            }
            let next = Instant::now() + PAUSE;
            self.refresh(stale, announced).await;
            sleep_until(next).await;
        }
    }

    /// Lists servers again. A change that a server has announced is announced to the clients of the
    /// gateway, also if the list is the same again.
    async fn refresh(&mut self, stale: Kinds, announced: Kinds) {
        let Self {
            group,
            upstreams,
            handles,
            lists,
            updates,
            is_incomplete,
        } = self;
        let upstream = |server: &Arc<str>| upstreams.get(server).cloned();
        *is_incomplete = false;
        if stale.tools || announced.tools {
            let mut list = group.list_tools().await;
            list.items.retain(|tool| {
                let upstream = upstreams.get(&tool.server);
                let hidden = upstream.and_then(|it| it.hidden.as_ref());
                // A panic of the function hides the tool.
                hidden.is_none_or(|hidden| {
                    catch_panic_sync(|| !hidden.contains(&tool.item.name)).unwrap_or(false)
                })
            });
            *is_incomplete |= update(
                &mut lists.tools,
                list,
                announced.tools,
                |it| &it.name,
                |it| Some(routes::tool(upstream(&it.server)?, it)),
                |removed, added| handles.tools.replace(removed, added),
            );
        }
        if stale.prompts || announced.prompts {
            let list = group.list_prompts().await;
            *is_incomplete |= update(
                &mut lists.prompts,
                list,
                announced.prompts,
                |it| &it.name,
                |it| Some(routes::prompt(upstream(&it.server)?, it)),
                |removed, added| handles.prompts.replace(removed, added),
            );
        }
        if stale.resources || announced.resources {
            let list = group.list_resources().await;
            *is_incomplete |= update(
                &mut lists.resources,
                list,
                announced.resources,
                |it| &it.item.uri,
                |it| Some(routes::resource(upstream(&it.server)?, it)),
                |removed, added| handles.resources.replace(removed, added),
            );
            let list = group.list_resource_templates().await;
            *is_incomplete |= update(
                &mut lists.templates,
                list,
                false,
                |it| &it.item.uri_template,
                |it| Some(routes::template(upstream(&it.server)?, it)),
                |removed, added| handles.templates.replace(removed, added),
            );
            if let Some(updates) = updates {
                updates.subscribe(group, &lists.resources).await;
            }
        }
    }
}

/// Replaces the routes of a list, if it has changed or a change was announced. Items of servers that could
/// not be listed stay. Returns true if there are such servers.
fn update<T: Clone + PartialEq, R>(
    current: &mut Vec<Listed<T>>,
    list: GroupList<T>,
    is_announced: bool,
    key: impl Fn(&Listed<T>) -> &str,
    route: impl Fn(&Listed<T>) -> Option<R>,
    replace: impl Fn(Vec<String>, Vec<R>) -> Result<(), EditError>,
) -> bool {
    let is_incomplete = !list.failures.is_empty();
    let next = merge(current, list, &key);
    if *current == next && !is_announced {
        return is_incomplete;
    }
    let removed: Vec<String> = current.iter().map(|it| key(it).to_owned()).collect();
    let added = next.iter().filter_map(&route).collect();
    if let Err(error) = replace(removed.clone(), added) {
        // One item that cannot be served must not hide the others.
        tracing::warn!(%error, "a list of the gateway is replaced item by item");
        let _ = replace(removed, Vec::new());
        for item in &next {
            let added = route(item).into_iter().collect();
            if let Err(error) = replace(Vec::new(), added) {
                let (server, item) = (&item.server, key(item));
                tracing::warn!(%server, item, %error, "the gateway leaves out an item");
            }
        }
    }
    *current = next;
    is_incomplete
}

/// Returns the items of the list and the current items of servers that could not be listed. The first
/// item with a key wins.
fn merge<T: Clone>(
    current: &[Listed<T>],
    list: GroupList<T>,
    key: impl Fn(&Listed<T>) -> &str,
) -> Vec<Listed<T>> {
    let failed: HashSet<Arc<str>> = list.failures.iter().map(report).collect();
    let kept = current.iter().filter(|it| failed.contains(&it.server));
    let mut items = list.items;
    items.extend(kept.cloned());
    let mut keys = HashSet::new();
    items.retain(|item| {
        let is_new = keys.insert(key(item).to_owned());
        if !is_new {
            let (server, item) = (&item.server, key(item));
            tracing::warn!(%server, item, "another server of the gateway has this item already");
        }
        is_new
    });
    items
}

fn report((server, error): &(Arc<str>, Error)) -> Arc<str> {
    tracing::warn!(%server, %error, "a server behind the gateway cannot be listed");
    server.clone()
}
