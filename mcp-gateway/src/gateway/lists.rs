//! The lists of all servers, kept current in the server of the gateway.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use mcp_client::group::{Group, GroupEvent, Health, Naming};
use mcp_core::BoxFuture;
use mcp_core::backoff::Backoff;
use mcp_server::{CompletionRoute, Notify};
use mcp_types::{Prompt, Resource, ResourceTemplate, Tool};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::changes::{Kinds, Stale};
use super::drift;
use super::error::GatewayError;
use super::forward::Upstream;
use super::listing::{self, Listed, Listing};
use super::names::{Item, ServerNames};
use super::options::GatewayServer;
use super::routes;
use super::served::{NextItems, Served};
use super::setup::{Setup, check_names};
use super::status::{GatewayStatus, ServerStatus};
use super::updates::{ServerResources, Updates};

/// Shortest time between two lists of a server, however often it says that it has changed.
const PAUSE: Duration = Duration::from_secs(1);

/// Longest time between two attempts to list a server.
const MAX_RETRY: Duration = Duration::from_secs(60);

/// Time that servers have to be listed before the gateway opens without them.
const START_LIMIT: Duration = Duration::from_secs(30);

/// A request of [`GatewayControl`](super::GatewayControl).
pub(super) enum Command {
    Reload(Reload),
    Status(oneshot::Sender<GatewayStatus>),
}

/// New settings for a running gateway.
pub(super) struct Reload {
    pub(super) servers: Vec<GatewayServer>,
    pub(super) naming: Naming,
    pub(super) done: oneshot::Sender<Result<(), GatewayError>>,
}

/// The lists of all servers.
pub(super) struct ServerLists {
    setup: Setup,
    naming: Naming,
    servers: Vec<ListedServer>,
    handles: Handles,
    tools: Served<Tool>,
    prompts: Served<Prompt>,
    resources: Served<Resource>,
    templates: Served<ResourceTemplate>,
    /// `None` until a server offers updates of resources.
    updates: Option<Updates>,
    requests: FuturesUnordered<BoxFuture<'static, Listed>>,
    generation: u64,
}

/// The handles of the gateway's server.
pub(super) struct Handles {
    pub(super) tools: mcp_server::Tools,
    pub(super) prompts: mcp_server::Prompts,
    pub(super) resources: mcp_server::Resources,
    pub(super) templates: mcp_server::Templates,
}

/// One server, and its lists.
struct ListedServer {
    upstream: Upstream,
    connection_id: Option<String>,
    has_one_session: bool,
    prefix: String,
    generation: u64,
    listing: Listing,
    /// The lists that are to be requested.
    stale: Stale,
    is_requested: bool,
    /// The lists are not requested before.
    next: Instant,
    backoff: Backoff,
}

impl ListedServer {
    fn is_due(&self) -> bool {
        !self.is_requested && !self.stale.kinds().is_empty()
    }

    /// Returns the tools that clients may know.
    fn allowed_tools(&self) -> Option<Vec<Tool>> {
        let tools = self.listing.tools.as_ref()?.iter();
        let allowed = tools.filter(|tool| self.upstream.settings.allows(&tool.name));
        Some(allowed.cloned().collect())
    }

    fn names(&self, naming: Naming) -> ServerNames<'_> {
        ServerNames {
            group_prefix: &self.prefix,
            prefix: self.upstream.settings.prefix.as_deref(),
            naming,
        }
    }
}

impl ServerLists {
    pub(super) fn new(setup: Setup, handles: Handles) -> Self {
        Self {
            setup,
            naming: Naming::default(),
            servers: Vec::new(),
            handles,
            tools: Served::default(),
            prompts: Served::default(),
            resources: Served::default(),
            templates: Served::default(),
            updates: None,
            requests: FuturesUnordered::new(),
            generation: 0,
        }
    }

    fn group(&self) -> &Group {
        &self.setup.group
    }

    /// Replaces the servers. A server whose connection has the same id goes on as it is.
    pub(super) fn set_servers(&mut self, servers: Vec<GatewayServer>, naming: Naming) {
        self.naming = naming;
        let mut old = std::mem::take(&mut self.servers);
        let mut group = Group::builder();
        for server in servers {
            let kept = old.iter().position(|it| {
                it.upstream.server == server.name
                    && it.connection_id.is_some()
                    && it.connection_id == server.connection_id
                    && it.has_one_session == server.has_one_session
            });
            let listed = match kept {
                Some(index) => {
                    let mut listed = old.swap_remove(index);
                    group = group.keep(&server.name);
                    listed.upstream.settings = Arc::new(server.settings);
                    listed
                }
                None => {
                    self.generation += 1;
                    let (name, id) = (server.name.clone(), server.connection_id.clone());
                    let has_one_session = server.has_one_session;
                    let (connect, upstream) = self.setup.connect(server);
                    group = group.server(&name, connect);
                    ListedServer {
                        upstream,
                        connection_id: id,
                        has_one_session,
                        prefix: String::new(),
                        generation: self.generation,
                        listing: Listing::default(),
                        stale: Stale::UNKNOWN,
                        is_requested: false,
                        next: Instant::now(),
                        backoff: Backoff::new(PAUSE, MAX_RETRY),
                    }
                }
            };
            self.servers.push(listed);
        }
        self.group().replace(group);
        for index in 0..self.servers.len() {
            let prefix = self.group().prefix(&self.servers[index].upstream.server);
            self.servers[index].prefix = prefix.unwrap_or_default();
        }
    }

    /// Lists all servers. A slow one is listed later.
    ///
    /// # Errors
    ///
    /// Returns [`GatewayError::NameTaken`] when a server lists a tool with the exact name of another one.
    pub(super) async fn load(&mut self) -> Result<(), GatewayError> {
        let limit = Instant::now() + START_LIMIT;
        self.request_due();
        while let Ok(Some(listed)) = timeout_at(limit, self.requests.next()).await {
            self.store(listed);
        }
        self.check_listed_names()?;
        self.serve_all();
        Ok(())
    }

    /// Passes updates of resources on, if a server offers them. `notify` declares that the gateway does.
    pub(super) async fn subscribe(&mut self, notify: impl FnOnce() -> Notify) {
        let resources = self.updated_resources().await;
        if !resources.is_empty() {
            let updates = self.updates.insert(Updates::new(notify()));
            updates.subscribe(resources);
        }
    }

    /// Returns the resources of running servers that offer updates. No server is waited for.
    fn updated_resources(&self) -> impl Future<Output = Vec<ServerResources>> + Send + use<> {
        let health: HashMap<_, _> = self.group().health().into_iter().collect();
        let is_running = |server: &Arc<str>| health.get(server) == Some(&Health::Running);
        let servers = self.servers.iter();
        let servers = servers.filter(|it| is_running(&it.upstream.server));
        let servers = servers.filter_map(|it| {
            let resources = it.listing.resources.as_ref()?;
            let server = it.upstream.server.clone();
            let uris = resources.iter().map(|it| it.uri.clone()).collect();
            Some(ServerResources::new(self.group().clone(), server, uris))
        });
        let servers = join_all(servers.collect::<Vec<_>>());
        async move { servers.await.into_iter().flatten().collect() }
    }

    /// Returns the completions of the listed prompts and templates.
    pub(super) fn completions(&self) -> Vec<CompletionRoute> {
        let completions = self.servers.iter().flat_map(|it| {
            let server = &it.upstream.server;
            let prompts = self.prompts.items(server);
            let prompts =
                prompts.flat_map(|listed| routes::prompt_completions(&it.upstream, listed));
            let templates = self.templates.items(server);
            let templates =
                templates.flat_map(|listed| routes::template_completions(&it.upstream, listed));
            prompts.chain(templates)
        });
        completions.collect()
    }

    /// Lists servers again whenever they change, until the task is aborted.
    pub(super) async fn follow(mut self, mut commands: mpsc::Receiver<Command>) {
        let mut events = self.group().events();
        let announcements = self.setup.announcements.clone();
        loop {
            self.request_due();
            let due = self.servers.iter().filter(|it| it.is_due());
            let wake = due.map(|it| it.next).min();
            tokio::select! {
                event = events.next() => match event {
                    Some(event) => self.add_event(event),
                    None => return,
                },
                changed = announcements.next() => self.add_changes(changed),
                Some(listed) = self.requests.next(), if !self.requests.is_empty() => {
                    self.serve_listed(listed).await;
                }
                Some(command) = commands.recv() => match command {
                    Command::Reload(reload) => self.reload(reload).await,
                    // The caller may have gone.
                    Command::Status(sender) => drop(sender.send(self.status())),
                },
                () = sleep_until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => {}
            }
        }
    }

    fn status(&self) -> GatewayStatus {
        let mut health: HashMap<_, _> = self.group().health().into_iter().collect();
        let servers = self.servers.iter().map(|it| {
            let server = &it.upstream.server;
            ServerStatus {
                name: server.clone(),
                health: health.remove(server).unwrap_or(Health::Idle),
                tools: self.tools.items(server).map(|it| it.name.clone()).collect(),
                prompts: self.prompts.count(server),
                resources: self.resources.count(server),
                templates: self.templates.count(server),
                calls: it.upstream.counters.calls(),
                last_failure: it.upstream.counters.last_failure(),
            }
        });
        GatewayStatus {
            servers: servers.collect(),
        }
    }

    fn server(&mut self, name: &str) -> Option<&mut ListedServer> {
        let mut servers = self.servers.iter_mut();
        servers.find(|it| *it.upstream.server == *name)
    }

    fn add_event(&mut self, event: GroupEvent) {
        match event {
            GroupEvent::Changed { server, change, .. } => {
                if let Some(server) = self.server(&server) {
                    server.stale.add(Stale::new(&change));
                }
            }
            GroupEvent::Health { server, health, .. } => {
                let Some(server) = self.server(&server) else {
                    return;
                };
                match health {
                    // The request that has started the server lists it.
                    Health::Running if !server.is_requested => server.stale.add(Stale::UNKNOWN),
                    // Started again by the request of its lists.
                    Health::Down(_) => {
                        server.stale.add(Stale::UNKNOWN);
                        server.next = server.next.max(Instant::now() + PAUSE);
                    }
                    _ => {}
                }
            }
            GroupEvent::Lost(_) => {
                let servers = self.servers.iter_mut();
                servers.for_each(|it| it.stale.add(Stale::UNKNOWN));
            }
            _ => {}
        }
    }

    fn add_changes(&mut self, changed: HashMap<Arc<str>, Stale>) {
        for (server, stale) in changed {
            if let Some(server) = self.server(&server) {
                server.stale.add(stale);
            }
        }
    }

    /// Requests the lists of servers that are due. Each server has one request at a time, so a slow one
    /// delays no other.
    fn request_due(&mut self) {
        let now = Instant::now();
        let group = self.group().clone();
        for server in &mut self.servers {
            if !server.is_due() || server.next > now {
                continue;
            }
            server.is_requested = true;
            server.next = now + PAUSE;
            let stale = std::mem::take(&mut server.stale);
            let name = server.upstream.server.clone();
            let counters = server.upstream.counters.clone();
            let request = listing::request(group.clone(), name, counters, server.generation, stale);
            self.requests.push(Box::pin(request));
        }
    }

    /// Stores lists. Returns the kinds that were listed, and those that the server has announced.
    fn store(&mut self, listed: Listed) -> Option<(usize, Kinds, Kinds)> {
        let index = self.servers.iter().position(|it| {
            it.upstream.server == listed.server && it.generation == listed.generation
        })?;
        let server = &mut self.servers[index];
        server.is_requested = false;
        let Listed {
            listing,
            failed,
            requested,
            ..
        } = listed;
        if failed.is_empty() {
            server.backoff.reset();
        } else {
            // Lists that were requested with success are not requested again.
            server
                .stale
                .unknown
                .add(failed.without(requested.announced));
            server.stale.announced.add(failed.and(requested.announced));
            server.next = Instant::now() + server.backoff.next_delay();
        }
        let all = &mut server.listing;
        if let (Some(old), Some(new)) = (&all.tools, &listing.tools)
            && old != new
        {
            drift::log(&server.upstream.server, old, new);
        }
        all.tools = listing.tools.or(all.tools.take());
        all.prompts = listing.prompts.or(all.prompts.take());
        all.resources = listing.resources.or(all.resources.take());
        all.templates = listing.templates.or(all.templates.take());
        let listed = requested.kinds().without(failed);
        Some((index, listed, requested.announced))
    }

    /// Serves the lists of one server.
    async fn serve_listed(&mut self, listed: Listed) {
        let Some((index, kinds, announced)) = self.store(listed) else {
            return;
        };
        if kinds.tools {
            self.serve_tools(&[index], announced.tools, false);
        }
        if kinds.prompts {
            self.serve_prompts(&[index], announced.prompts, false);
        }
        if kinds.resources {
            self.serve_resources(&[index], announced.resources, false);
            // A URI may be free now that another server lists, too.
            let others: Vec<usize> = self.incomplete_resources().collect();
            self.serve_resources(&others, false, false);
            if self.updates.is_some() {
                let resources = self.updated_resources().await;
                if let Some(updates) = &mut self.updates {
                    updates.subscribe(resources);
                }
            }
        }
    }

    /// Returns the servers with resources that another server has.
    fn incomplete_resources(&self) -> impl Iterator<Item = usize> {
        let servers = self.servers.iter().enumerate();
        let incomplete = servers.filter(|(_, it)| {
            let listed = it.listing.resources.as_ref().map_or(0, Vec::len)
                + it.listing.templates.as_ref().map_or(0, Vec::len);
            let server = &it.upstream.server;
            listed != self.resources.count(server) + self.templates.count(server)
        });
        incomplete.map(|(index, _)| index)
    }

    async fn reload(&mut self, reload: Reload) {
        let Reload {
            servers,
            naming,
            done,
        } = reload;
        let checked = check_names(&servers);
        if checked.is_ok() {
            self.set_servers(servers, naming);
            self.serve_all();
            if self.updates.is_some() {
                let resources = self.updated_resources().await;
                if let Some(updates) = &mut self.updates {
                    updates.subscribe(resources);
                }
            }
        }
        // The caller may have gone.
        let _ = done.send(checked);
    }

    /// Serves all that was listed, with names as at the start.
    fn serve_all(&mut self) {
        self.tools.reset_keys(self.reserved());
        self.prompts.reset_keys(HashMap::new());
        self.resources.reset_keys(HashMap::new());
        self.templates.reset_keys(HashMap::new());
        let all: Vec<usize> = (0..self.servers.len()).collect();
        self.serve_tools(&all, false, true);
        self.serve_prompts(&all, false, true);
        self.serve_resources(&all, false, true);
    }

    /// Returns the exact names of the settings, with the tools that they belong to.
    fn reserved(&self) -> HashMap<String, Item> {
        let servers = self.servers.iter().flat_map(|it| {
            let server = &it.upstream.server;
            let renamed = it.upstream.settings.renamed();
            renamed.map(|(own, name)| (name.to_owned(), (server.clone(), own.to_owned())))
        });
        servers.collect()
    }

    fn check_listed_names(&self) -> Result<(), GatewayError> {
        let reserved = self.reserved();
        for server in &self.servers {
            // Other names give way to exact ones.
            if server.upstream.settings.prefix.is_none() {
                continue;
            }
            let names = server.names(self.naming);
            for tool in server.allowed_tools().into_iter().flatten() {
                let second = (server.upstream.server.clone(), tool.name);
                let name = names.wanted(&second.1, false).next().unwrap_or_default();
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

    fn serve_tools(&mut self, indices: &[usize], is_announced: bool, is_complete: bool) {
        let allowed: Vec<_> = self
            .servers
            .iter()
            .map(ListedServer::allowed_tools)
            .collect();
        let names = allowed.iter().flatten().flatten().map(|it| &*it.name);
        let counts = count(names);
        let mut next = Vec::new();
        for &index in indices {
            let server = &self.servers[index];
            let Some(tools) = &allowed[index] else {
                continue;
            };
            let renamed: HashMap<_, _> = server.upstream.settings.renamed().collect();
            let names = server.names(self.naming);
            let items = self.tools.name(
                &server.upstream.server,
                tools,
                |tool| &tool.name,
                |own| {
                    let exact = renamed.get(own).map(|&name| name.to_owned());
                    let others = names.wanted(own, counts.get(own) > Some(&1));
                    exact
                        .into_iter()
                        .chain(others)
                        .collect::<Vec<_>>()
                        .into_iter()
                },
            );
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

    fn serve_prompts(&mut self, indices: &[usize], is_announced: bool, is_complete: bool) {
        let listed = self.servers.iter().flat_map(|it| &it.listing.prompts);
        let counts = count(listed.flatten().map(|it| &*it.name));
        let mut next = Vec::new();
        for &index in indices {
            let server = &self.servers[index];
            let Some(prompts) = &server.listing.prompts else {
                continue;
            };
            let names = server.names(self.naming);
            let items = self.prompts.name(
                &server.upstream.server,
                prompts,
                |prompt| &prompt.name,
                |own| {
                    let wanted = names.wanted(own, counts.get(own) > Some(&1));
                    wanted.collect::<Vec<_>>().into_iter()
                },
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

    fn serve_resources(&mut self, indices: &[usize], is_announced: bool, is_complete: bool) {
        let (mut resources, mut templates) = (Vec::new(), Vec::new());
        for &index in indices {
            let ListedServer {
                upstream, listing, ..
            } = &self.servers[index];
            if let Some(listed) = &listing.resources {
                let items = self.resources.name(
                    &upstream.server,
                    listed,
                    |it| &it.uri,
                    |uri| std::iter::once(uri.to_owned()),
                );
                resources.push(NextItems {
                    upstream,
                    items,
                    is_announced,
                });
            }
            if let Some(listed) = &listing.templates {
                let items = self.templates.name(
                    &upstream.server,
                    listed,
                    |it| &it.uri_template,
                    |uri| std::iter::once(uri.to_owned()),
                );
                templates.push(NextItems {
                    upstream,
                    items,
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

/// Returns how many items have a name.
fn count<'a>(names: impl Iterator<Item = &'a str>) -> HashMap<&'a str, usize> {
    let mut counts = HashMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    counts
}
