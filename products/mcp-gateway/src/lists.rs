//! The lists of all servers, kept current in the gateway's server.
//!
//! | module | content; each module uses only modules above it |
//! |---|---|
//! | `drift` | tool changes in the log |
//! | `pages` | pages of tools, which their own server must answer for |
//! | `taken_uris` | the URIs that servers answer for |
//! | `listing` | the lists of one server |
//! | `manifest` | the lists of a server in a file |
//! | `pinned` | the tools and prompts that are held until they are approved |
//! | `setup` | connections, checks of names and extensions |
//! | `listed_server` | one server, and its lists |
//! | `served` | the items of one kind |
//! | `serve` | the items of all servers, in the gateway's server |

mod drift;
mod listed_server;
mod listing;
mod manifest;
mod pages;
pub(crate) mod pinned;
mod serve;
mod served;
pub(crate) mod setup;
mod taken_uris;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::OptionFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{Stream, StreamExt as _};
use mcp_client::group::{Group, GroupEvent, Health, Naming};
use mcp_core::BoxFuture;
use mcp_server::{RawExtensions, Server};
use mcp_types::{Prompt, Resource, ResourceTemplate, Tool};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout};

use self::listed_server::{ListedServer, PAUSE, health, read_manifests};
use self::listing::Listed;
use self::manifest::Manifest;
use self::served::Served;
use self::setup::{Setup, check_settings};
use self::taken_uris::LeftOut;
use crate::calls::upstream::Upstream;
use crate::changes::Kinds;
use crate::error::GatewayError;
use crate::extensions::Broadcasts;
use crate::patterns::ToolPatterns;
use crate::routes::names;
use crate::settings::server::GatewayServer;
use crate::starting::{Handles, Starting};
use crate::status::{GatewayStatus, ServerStatus};
use crate::updates::subscribed::{UpdateSource, Updates};

/// Longest wait of the first calls for the servers.
const SETTLE_LIMIT: Duration = Duration::from_secs(2);

/// Longest time that a program can set: 34 years, which every clock can represent.
const LONGEST_LIMIT: Duration = Duration::from_secs(1 << 30);

/// Longest wait of the first calls for further servers, after one has answered. Codex starts without tools
/// when a list takes longer than a second.
const SETTLE_PAUSE: Duration = Duration::from_millis(500);

/// A request of [`GatewayControl`](crate::GatewayControl).
pub(crate) enum Command {
    /// Replaces the settings.
    Reload(Vec<GatewayServer>, Naming, Done),
    /// Starts a server again.
    Restart(Arc<str>, Done),
    Status(oneshot::Sender<GatewayStatus>),
}

/// Receives the outcome of a command.
pub(crate) type Done = oneshot::Sender<Result<(), GatewayError>>;

/// A server, its extension, and the extension's settings.
type PublishedExtension = (Arc<str>, String, Value);

/// The lists of all servers.
pub(crate) struct ServerLists {
    setup: Setup,
    naming: Naming,
    servers: Vec<ListedServer>,
    handles: Handles,
    tools: Served<Tool>,
    prompts: Served<Prompt>,
    resources: Served<Resource>,
    templates: Served<ResourceTemplate>,
    extensions: Vec<PublishedExtension>,
    published: RawExtensions,
    /// `None` until a server offers updates of resources.
    updates: Option<Updates>,
    /// Notifications of extensions that servers send to all clients.
    broadcasts: Broadcasts,
    requests: FuturesUnordered<BoxFuture<'static, Listed>>,
    /// Calls of servers that are not listed.
    pub(crate) starting: Starting,
    /// All servers have answered, or their time has passed.
    is_settled: bool,
    /// The number of the pins that are served.
    pins_seen: u64,
    /// The tools that clients list when they find the others by search. `None`: they list all.
    always_listed: Option<ToolPatterns>,
    /// The items that are left out since other servers answer for their URIs.
    left_out: LeftOut,
}

impl ServerLists {
    pub(crate) fn new(
        setup: Setup,
        handles: Handles,
        published: RawExtensions,
        always_listed: Option<ToolPatterns>,
    ) -> Self {
        Self {
            setup,
            naming: Naming::default(),
            servers: Vec::new(),
            starting: Starting::new(handles.clone()),
            handles,
            tools: Served::default(),
            prompts: Served::default(),
            resources: Served::default(),
            templates: Served::default(),
            extensions: Vec::new(),
            published,
            updates: None,
            broadcasts: Broadcasts::default(),
            requests: FuturesUnordered::new(),
            is_settled: false,
            pins_seen: 0,
            always_listed,
            left_out: LeftOut::new(),
        }
    }

    fn group(&self) -> &Group {
        &self.setup.group
    }

    /// Replaces the servers. A server whose connection has the same id goes on as it is.
    pub(crate) fn set_servers(&mut self, servers: Vec<GatewayServer>, naming: Naming) {
        self.naming = naming;
        let mut old = std::mem::take(&mut self.servers);
        let mut group = Group::builder();
        for server in servers {
            let kept = old.iter().position(|former| {
                former.upstream.server == server.name
                    && former.connection_id.is_some()
                    && former.connection_id == server.connection_id
                    && former.start.health_check == server.start.health_check
                    && former
                        .upstream
                        .settings
                        .has_same_connection(&server.settings)
            });
            let listed = match kept {
                Some(index) => {
                    let mut listed = old.swap_remove(index);
                    group = group.keep(&server.name);
                    listed.upstream = Arc::new(Upstream {
                        settings: server.settings,
                        ..Upstream::clone(&listed.upstream)
                    });
                    listed.set_start(server.start);
                    listed
                }
                None => {
                    let id = server.connection_id.clone();
                    let start = server.start.clone();
                    let parts = self.setup.connect(server);
                    let mut listed = ListedServer::new(parts, id);
                    listed.set_start(start);
                    group = listed.add_to(group);
                    listed
                }
            };
            self.servers.push(listed);
        }
        for removed in &old {
            let file = &removed.start.manifest;
            let is_used = self
                .servers
                .iter()
                .any(|server| server.start.manifest == *file);
            removed
                .manifest
                .iter()
                .filter(|_| !is_used)
                .for_each(Manifest::remove);
        }
        self.group().replace(group);
        for index in 0..self.servers.len() {
            let prefix = self.group().prefix(&self.servers[index].upstream.server);
            self.servers[index].prefix = prefix.unwrap_or_default();
        }
        let servers = self.servers.iter().map(|server| server.upstream.clone());
        self.setup.directory.replace(servers);
        self.broadcasts
            .retain(self.servers.iter().map(|server| &server.upstream));
    }

    /// Lists all servers. A slow one is listed later.
    ///
    /// # Errors
    ///
    /// Returns [`GatewayError::NameTaken`] when a server lists a tool with the exact name of another one.
    pub(crate) async fn load(&mut self, time: Duration) -> Result<(), GatewayError> {
        read_manifests(&mut self.servers, self.setup.pins.as_ref()).await;
        self.request_due();
        let all = async {
            while let Some(listed) = self.requests.next().await {
                self.store(listed);
            }
        };
        // The task that follows the servers lists a slow one.
        let _ = timeout(time, all).await;
        self.check_listed_names()?;
        self.serve_all();
        Ok(())
    }

    /// Returns the calls that have to wait. `None`: all servers have answered.
    pub(crate) fn starting(&mut self) -> Option<Starting> {
        self.settle();
        self.update_starting();
        let is_unlisted = |server: &ListedServer| !server.listing.is_complete();
        if self.is_settled && !self.servers.iter().any(is_unlisted) {
            self.starting.add_listed(Kinds::ALL);
            return None;
        }
        Some(self.starting.clone())
    }

    fn update_starting(&self) {
        let servers = self.servers.iter();
        let unlisted = servers.filter_map(|server| server.unlisted(self.naming));
        self.starting.set(unlisted.collect(), self.is_settled);
    }

    /// Lets calls run if all servers have answered.
    fn settle(&mut self) {
        self.is_settled |= !self.servers.iter().any(ListedServer::is_awaited);
    }

    /// Lets calls run, and names the servers that have not answered.
    fn stop_waiting(&mut self) {
        self.is_settled = true;
        let slow = self.servers.iter().filter(|server| server.is_awaited());
        let slow: Vec<&str> = slow.map(|slow| &*slow.upstream.server).collect();
        if !slow.is_empty() {
            let servers = slow.join(", ");
            tracing::warn!(server = %mcp_types::escaped(&servers), "servers behind the gateway are still starting; their tools follow when they have started");
        }
    }

    /// Passes updates of resources on, if a server offers them or is not known yet. Declares that the gateway does.
    pub(crate) fn pass_updates(&mut self, server: &Server) {
        let offers = |server: &ListedServer| server.is_requested || server.listing.offers_updates();
        if self.servers.iter().any(offers) {
            self.updates = Some(Updates::new(server));
            self.update_sources(&[]);
        }
    }

    /// Subscribes to resources of the servers as they are listed now. The lists of some are new.
    fn update_sources(&mut self, listed: &[usize]) {
        let Some(updates) = &mut self.updates else {
            return;
        };
        let servers = self.servers.iter().enumerate();
        let sources = servers.filter(|(_, server)| server.listing.offers_updates());
        let sources = sources.map(|(index, source)| {
            let server = &source.upstream.server;
            UpdateSource::new(
                &source.upstream,
                listed.contains(&index),
                names(self.resources.items(server)),
                names(self.templates.items(server)),
            )
        });
        updates.set_sources(sources.collect());
    }

    /// Lists servers again whenever they change, until the task is aborted.
    pub(crate) async fn follow(
        mut self,
        mut events: impl Stream<Item = GroupEvent> + Unpin,
        mut commands: mpsc::Receiver<Command>,
    ) {
        let announcements = self.setup.announcements.clone();
        let pins = self.setup.pins.clone();
        let first_list = self.setup.first_list;
        let limit = Instant::now() + first_list.unwrap_or(SETTLE_LIMIT).min(LONGEST_LIMIT);
        let has_answered = self.servers.iter().any(|server| !server.is_awaited());
        let pause = || match first_list {
            Some(_) => limit,
            None => limit.min(Instant::now() + SETTLE_PAUSE),
        };
        let mut settled = if has_answered { pause() } else { limit };
        loop {
            self.request_due();
            self.update_starting();
            let stop = self.stop_idle();
            let due = self.servers.iter().filter(|server| server.is_due());
            let wake = due.map(|server| server.next).chain(stop).min();
            tokio::select! {
                event = events.next() => match event {
                    Some(event) => self.add_event(event),
                    None => return,
                },
                changed = announcements.next() => {
                    // What a caller's session announces may concern that caller alone.
                    for (server, kinds) in changed {
                        if let Some(server) = self.server(&server) {
                            server.stale.add(kinds);
                        }
                    }
                }
                Some(listed) = self.requests.next(), if !self.requests.is_empty() => {
                    self.serve_listed(listed);
                    self.settle();
                    settled = pause();
                }
                Some(command) = commands.recv() => match command {
                    Command::Reload(servers, naming, done) => {
                        // The caller may have gone.
                        let _ = done.send(self.reload(servers, naming).await);
                    }
                    Command::Restart(server, done) => self.restart(server, done),
                    // The caller may have gone.
                    Command::Status(sender) => drop(sender.send(self.status())),
                },
                Some(()) = OptionFuture::from(pins.as_ref().map(|pins| pins.changed(&mut self.pins_seen))) => {
                    let all: Vec<usize> = (0..self.servers.len()).collect();
                    self.starting.add_listed(Kinds::TOOLS);
                    self.starting.add_listed(Kinds::PROMPTS);
                    self.serve_tools(&all, false);
                    self.serve_prompts(&all, false);
                    self.serve_resources(false);
                }
                Some(()) = OptionFuture::from(self.updates.as_mut().map(Updates::changed)) => {
                    self.updates.iter_mut().for_each(Updates::subscribe);
                }
                () = sleep_until(settled), if !self.is_settled => self.stop_waiting(),
                () = sleep_until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => {}
            }
        }
    }

    fn status(&self) -> GatewayStatus {
        let mut health = health(self.group());
        let servers = self.servers.iter().map(|entry| {
            let server = &entry.upstream.server;
            ServerStatus {
                name: server.clone(),
                health: health.remove(server).unwrap_or(Health::Idle),
                tools: names(self.tools.items(server)),
                held: self
                    .setup
                    .pins
                    .as_ref()
                    .map_or_else(Vec::new, |pins| pins.held(server)),
                is_listed: entry.listing.is_complete(),
                prompts: self.prompts.items(server).len(),
                resources: self.resources.items(server).len(),
                templates: self.templates.items(server).len(),
                calls: entry.upstream.counters.calls(),
                last_failure: entry.upstream.counters.last_failure(),
            }
        });
        GatewayStatus {
            servers: servers.collect(),
        }
    }

    fn server(&mut self, name: &str) -> Option<&mut ListedServer> {
        let mut servers = self.servers.iter_mut();
        servers.find(|server| *server.upstream.server == *name)
    }

    fn add_event(&mut self, event: GroupEvent) {
        match event {
            GroupEvent::Changed { server, change, .. } => {
                let changed = Kinds::of_change(&change);
                if let Some(server) = self.server(&server) {
                    server.stale.add(changed);
                    server.announced.add(changed);
                }
            }
            GroupEvent::Health { server, health, .. } => {
                let Some(server) = self.server(&server) else {
                    return;
                };
                match health {
                    // The request that has started the server lists it.
                    Health::Running if !server.is_requested => {
                        server.stale = Kinds::ALL;
                        server.next = server.next.min(Instant::now() + PAUSE);
                    }
                    // A request for its lists restarts it.
                    Health::Down(_) => {
                        server.upstream.questions.close();
                        server.stale = Kinds::ALL;
                        server.next = server.next.max(Instant::now() + PAUSE);
                    }
                    _ => {}
                }
            }
            GroupEvent::Lost(_) => {
                let servers = self.servers.iter_mut();
                servers.for_each(|server| server.stale = Kinds::ALL);
            }
            _ => {}
        }
    }

    /// Requests the lists of servers that are due. Each server has one request at a time, so a slow one
    /// delays no other.
    fn request_due(&mut self) {
        let now = Instant::now();
        let mut due = self.servers.iter().filter(|server| server.is_due());
        let health = if due.any(ListedServer::starts_on_demand) {
            health(self.group())
        } else {
            HashMap::new()
        };
        for server in &mut self.servers {
            if !server.is_due() || server.next > now {
                continue;
            }
            // A server that is stopped is not started to be listed: its next start lists it.
            if server.starts_on_demand()
                && health.get(&server.upstream.server) != Some(&Health::Running)
            {
                server.stale = Kinds::NONE;
                continue;
            }
            server.is_requested = true;
            server.next = now + PAUSE;
            let stale = std::mem::take(&mut server.stale);
            let run = server.upstream.sessions.run();
            let request = listing::request(server.upstream.clone(), run, stale);
            let pins = self.setup.pins.clone();
            self.requests.push(Box::pin(async move {
                let listed = request.await;
                if let Some(pins) = pins {
                    pins.check(&listed.server, &listed.listing).await;
                }
                listed
            }));
        }
    }

    /// Stops servers that were not called for their idle time. Returns when the next one may be due.
    fn stop_idle(&mut self) -> Option<Instant> {
        let now = Instant::now();
        if self
            .servers
            .iter()
            .all(|server| server.idle_until(now).is_none())
        {
            return None;
        }
        let health = health(self.group());
        let mut next = None;
        let mut stopped = HashSet::new();
        for server in &self.servers {
            let name = &server.upstream.server;
            if health.get(name) != Some(&Health::Running) {
                continue;
            }
            match server.idle_until(now) {
                Some(end) if end <= now => {
                    tracing::info!(server = %mcp_types::escaped(&name), "a server behind the gateway is stopped until its next call");
                    stopped.insert(name.clone());
                }
                end => next = next.into_iter().chain(end).min(),
            }
        }
        if !stopped.is_empty() {
            self.restart_later(&stopped);
        }
        next
    }

    /// Replaces running servers by ones that are not started yet. A call that has just begun ends in the old one.
    fn restart_later(&mut self, stopped: &HashSet<Arc<str>>) {
        let servers = self.servers.iter();
        let group = servers.fold(Group::builder(), |group, server| {
            let name = &server.upstream.server;
            if stopped.contains(name) {
                server.add_to(group)
            } else {
                group.keep(name)
            }
        });
        self.group().replace(group);
        self.broadcasts.stop(stopped);
        let servers = self.servers.iter();
        let servers = servers.filter(|server| stopped.contains(&server.upstream.server));
        servers.for_each(|server| server.upstream.sessions.retire());
    }

    fn restart(&mut self, server: Arc<str>, done: Done) {
        let Some(listed) = self.server(&server) else {
            // The caller may have gone.
            let _ = done.send(Err(GatewayError::UnknownServer { server }));
            return;
        };
        listed.list_again();
        listed.restarts.push(done);
        if listed.starts_on_demand() {
            listed.report_restart();
        }
        self.restart_later(&HashSet::from([server]));
    }

    /// Stores lists. Returns the server's index, and the kinds that were listed.
    fn store(&mut self, listed: Listed) -> Option<(usize, Kinds)> {
        let index = self
            .servers
            .iter()
            .position(|server| server.upstream.sessions.run() == listed.run)?;
        let server = &mut self.servers[index];
        server.is_requested = false;
        let failed = listed.requested.and(listed.listing.missing());
        server.problem = listed.problem;
        if failed.is_empty() {
            server.backoff.reset();
            server.upstream.counters.answered();
        } else {
            // Lists that were requested with success are not requested again.
            server.stale.add(failed);
            server.next = Instant::now() + server.backoff.next_delay();
        }
        let kinds = listed.requested.without(failed);
        // The first list of a server is not a change. A later one is, also for clients that only subscribe.
        self.starting
            .add_listed(kinds.without(server.listing.missing()));
        server.update(listed.listing);
        self.broadcasts.start(&server.upstream);
        Some((index, kinds))
    }

    /// Serves the lists of one server.
    fn serve_listed(&mut self, listed: Listed) {
        let Some((index, kinds)) = self.store(listed) else {
            return;
        };
        let announced = std::mem::take(&mut self.servers[index].announced);
        self.serve_extensions();
        let mut unchanged = Kinds::NONE;
        if kinds.has(Kinds::TOOLS) {
            let differ = self.serve_tools(&[index], false);
            unchanged.add_if(Kinds::TOOLS, !differ && self.always_listed.is_none());
        }
        if kinds.has(Kinds::PROMPTS) {
            let differ = self.serve_prompts(&[index], false);
            unchanged.add_if(Kinds::PROMPTS, !differ);
        }
        // No server answers for the page of another server's tool.
        let may_differ = kinds.has(Kinds::RESOURCES) || kinds.has(Kinds::TOOLS);
        let differ = may_differ && self.serve_resources(false);
        if kinds.has(Kinds::RESOURCES) {
            unchanged.add_if(Kinds::RESOURCES, !differ);
            self.update_sources(&[index]);
        }
        // The server may know of a difference that its list does not show.
        self.announce(announced.and(unchanged));
        self.servers[index].report_restart();
    }

    async fn reload(
        &mut self,
        servers: Vec<GatewayServer>,
        naming: Naming,
    ) -> Result<(), GatewayError> {
        check_settings(&servers)?;
        self.starting.add_listed(Kinds::ALL);
        self.set_servers(servers, naming);
        read_manifests(&mut self.servers, self.setup.pins.as_ref()).await;
        self.serve_all();
        self.update_sources(&[]);
        Ok(())
    }
}

impl Drop for ServerLists {
    /// Lets calls run: nothing is listed any more.
    fn drop(&mut self) {
        self.starting.set(Vec::new(), true);
    }
}
