//! [`Gateway`].

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use mcp_client::Client;
use mcp_client::group::{Group, MAX_TOOL_NAME, Naming};
use mcp_core::CallerKey;
use mcp_core::store::StoreError;
use mcp_server::Server;
use mcp_toolset::{PinFile, Ranker};
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::AbortOnDropHandle;

use crate::calls::parked::Parked;
use crate::calls::upstream::Directory;
use crate::calls::usage::OpenTasks;
use crate::changes::Announcements;
use crate::error::GatewayError;
use crate::limits::limiter::{CallLimits, Limiter, UsedStates};
use crate::lists::pinned::PinnedItems;
use crate::lists::setup::{Setup, check_settings};
use crate::lists::{Command, ServerLists};
use crate::patterns::ToolPatterns;
use crate::search::{ToolMode, ToolSearch};
use crate::settings::server::GatewayServer;
use crate::starting::Handles;
use crate::status::GatewayStatus;
use crate::tasks::ids::TaskIds;

/// Default time that servers have to be listed before the gateway opens without them.
const START_LIMIT: Duration = Duration::from_secs(30);

/// The default of [`Gateway::max_tool_name`].
pub(crate) const DEFAULT_TOOL_NAME: usize = 48;

/// Many servers behind one: their tools, prompts, resources and templates are those of one [`Server`],
/// which any transport serves to clients of any revision.
///
/// The gateway speaks to each server in the newest revision that both have, and translates for clients of other
/// revisions:
///
/// - Results, errors, `_meta`, progress and log messages pass, and cancelling a call cancels it at its
///   server.
/// - A server's requests for input (elicitation, sampling, roots) reach the call's client,
///   whether the server asks in a session or with its reply.
/// - The gateway passes tasks on to clients that declare tasks.
/// - Lists are combined. When a server's list changes, the gateway's list changes.
/// - Updates of resources pass: the gateway is subscribed to those that its clients are subscribed to.
///
/// # Names
///
/// Tools and prompts are named `server__tool` ([`Naming`] has another choice). Resources and templates
/// keep their URIs. An item whose URIs another server answers for, also by a template, is left out with a warning in
/// the log: the first server wins, in the order of the settings.
///
/// # Legacy servers
///
/// A server of the revisions before 2026-07-28 may keep a state in a session, so each caller with a verified
/// [`Principal`](mcp_core::Principal) has sessions of its own; callers without one are one anonymous caller.
/// A session does not say which call a question belongs to. A call of
/// a client that can be asked therefore has a session for itself while it runs. A caller has up to 8 sessions
/// with each server, and idle ones are closed after 5 minutes.
/// A server that asks for roots has a session for each client's roots: the gateway asks the client before each call. A
/// session whose server has asked an anonymous client for anything else is closed after the call, because another program
/// may be the next caller.
/// See [`GatewayServer::one_session`] for servers that cannot work so, and
/// [`GatewayServer::share_sessions`] for servers without a state.
/// A client of 2026-07-28 has 5 minutes to answer such a server, and must send its answer to the same
/// node. For a server on a pipe, each session is a process.
///
/// # Examples
///
/// ```no_run
/// use mcp::gateway::{Gateway, GatewayServer};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let gateway = Gateway::new("tools", "1.0.0")
///     .server(GatewayServer::new("weather", |client| client.connect("https://weather.example.com/mcp")))
///     .server(GatewayServer::new("files", |client| client.connect("http://127.0.0.1:8001/mcp")))
///     .connect()
///     .await?;
/// mcp::serve_http(gateway.server, "127.0.0.1:8000").await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a gateway does nothing before `connect`"]
pub struct Gateway {
    name: String,
    version: String,
    naming: Naming,
    max_tool_name: usize,
    servers: Vec<GatewayServer>,
    used_states: UsedStates,
    start_limit: Duration,
    first_list: Option<Duration>,
    tool_mode: ToolMode,
    search: ToolSearch,
    pins: Option<PinFile>,
}

/// A gateway whose servers were listed. Created by [`Gateway::connect`].
#[derive(Debug)]
#[non_exhaustive]
pub struct ConnectedGateway {
    /// The server with the tools, prompts and resources of all servers. Add layers, scopes or
    /// instructions before a transport takes it. The lists are kept current until it is dropped.
    pub server: Server,
    /// The servers behind the gateway: their health, and their end.
    pub group: Group,
    /// Shows the state of the servers, and changes them and their settings while the gateway runs.
    pub control: GatewayControl,
}

/// Shows and changes a running gateway. Clones control the same gateway.
#[derive(Debug, Clone)]
pub struct GatewayControl(mpsc::Sender<Command>);

impl GatewayControl {
    /// Replaces the servers and their settings by those of another gateway, whose name and version are not
    /// used. Clients are notified of the new lists. A server whose
    /// [connection id](GatewayServer::connection_id) is the same keeps its connection; calls of any other
    /// server that run can finish. New servers start now, and are listed when they have started.
    ///
    /// Prompt completions, and resource updates if no server had offered them before, stay as they were
    /// when the gateway opened.
    ///
    /// # Errors
    ///
    /// Returns a [`GatewayError`] when the new settings contradict each other; the current ones stay then. Returns
    /// [`GatewayError::Ended`] after the end of the gateway.
    pub async fn reload(&self, gateway: Gateway) -> Result<(), GatewayError> {
        let command = |done| Command::Reload(gateway.servers, gateway.naming, done);
        self.send(command).await?
    }

    /// Ends a server and starts it again, for example after its program has changed. Returns when the new one is
    /// listed. Its former lists are served until then, and clients are notified if the new ones differ. Calls that run
    /// can finish in the old process or session; calls from now on use the new one.
    ///
    /// A [lazy](GatewayServer::lazy) server is ended, and starts at its next call.
    ///
    /// # Errors
    ///
    /// Returns [`GatewayError::UnknownServer`] when the gateway has no such server, [`GatewayError::NotRestarted`] when
    /// it does not start or cannot be listed (the gateway tries it again, with growing pauses), and
    /// [`GatewayError::Ended`] after the end of the gateway, or when a [`reload`](Self::reload) replaces the server
    /// meanwhile.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::gateway::{Gateway, GatewayServer};
    ///
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// let gateway = Gateway::new("tools", "1.0.0")
    ///     .server(GatewayServer::new("files", |client| client.connect("http://127.0.0.1:8001/mcp")))
    ///     .connect()
    ///     .await?;
    /// gateway.control.restart("files").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn restart(&self, server: &str) -> Result<(), GatewayError> {
        self.send(|done| Command::Restart(server.into(), done))
            .await?
    }

    /// Returns the health, items, calls and last failure of each server.
    ///
    /// # Errors
    ///
    /// Returns [`GatewayError::Ended`] after the end of the gateway.
    pub async fn status(&self) -> Result<GatewayStatus, GatewayError> {
        self.send(Command::Status).await
    }

    async fn send<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, GatewayError> {
        let (sender, answer) = oneshot::channel();
        let sent = self.0.send(command(sender)).await;
        sent.map_err(|_| GatewayError::Ended)?;
        answer.await.map_err(|_| GatewayError::Ended)
    }
}

impl Gateway {
    /// A gateway without servers. Name and version are those that its clients see.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            naming: Naming::default(),
            max_tool_name: DEFAULT_TOOL_NAME,
            servers: Vec::new(),
            used_states: UsedStates::default(),
            start_limit: START_LIMIT,
            first_list: None,
            tool_mode: ToolMode::default(),
            search: ToolSearch::default(),
            pins: None,
        }
    }

    /// Adds a server. A server with the same name is replaced.
    pub fn server(mut self, server: GatewayServer) -> Self {
        self.servers.retain(|other| other.name != server.name);
        self.servers.push(server);
        self
    }

    /// Changes the settings of all servers that were added, such as those of a configuration file.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::gateway::{Gateway, GatewayServer};
    ///
    /// let gateway = Gateway::new("tools", "1.0.0")
    ///     .server(GatewayServer::new("files", |client| client.connect("http://127.0.0.1:8001/mcp")))
    ///     .map_servers(|server| server.deny_tools(["delete_*"]));
    /// ```
    pub fn map_servers(mut self, change: impl FnMut(GatewayServer) -> GatewayServer) -> Self {
        self.servers = self.servers.into_iter().map(change).collect();
        self
    }

    /// Sets the store that counts used request states for several nodes. Clients may send a state more than once. A tool
    /// with a [`rate`](crate::CallLimits::rate) accepts each state once. Default: each node counts the states that
    /// it receives, in memory. A reload does not change the store.
    ///
    /// `insert` stores the id of a state that a caller uses for at least the given time, and returns false if it is
    /// stored already. Check and write must be atomic. A call whose id was not stored fails. `Redis::used_states` of
    /// `mcp::redis` returns such a function.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::core::store::StoreError;
    /// use mcp::gateway::Gateway;
    ///
    /// # async fn set_if_absent(_: &str, _: std::time::Duration) -> std::io::Result<bool> { Ok(true) }
    /// let gateway = Gateway::new("tools", "1.0.0").used_states(|_, id, ttl| {
    ///     let key = format!("used:{id}");
    ///     async move { set_if_absent(&key, ttl).await.map_err(StoreError::new) }
    /// });
    /// ```
    pub fn used_states<F>(
        mut self,
        insert: impl Fn(&CallerKey, &str, Duration) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<bool, StoreError>> + Send + 'static,
    {
        let insert = move |caller: &_, id: &_, ttl| insert(caller, id, ttl).boxed();
        self.used_states = UsedStates(Arc::new(insert));
        self
    }

    /// Sets the time that [`connect`](Self::connect) waits until all servers are listed. Default: 30 seconds. Slower servers
    /// follow later, and clients are notified.
    ///
    /// With zero, `connect` returns at once, so that clients can connect while the servers start. Their first lists and
    /// calls then wait until all servers have answered: for half a second after the last answer, and for up to
    /// 2 seconds. A later call of a server that still starts waits for it. If the server does not start, the error names it.
    pub fn start_limit(mut self, time: Duration) -> Self {
        self.start_limit = time;
        self
    }

    /// Sets the time that the first lists and calls of clients wait for all servers after [`connect`](Self::connect) has
    /// returned, for hosts that list only once and wait longer. Default: until half a second after the last answer, and
    /// for up to 2 seconds. With [stored lists](GatewayServer::store_lists) they wait for servers without a file only.
    pub fn first_list_limit(mut self, time: Duration) -> Self {
        self.first_list = Some(time);
        self
    }

    /// Sets the maximum number of characters of a tool's name: 16 to 64. Default: 48, because hosts put
    /// `mcp__NAME__` in front of it, and model providers accept 64.
    ///
    /// A longer name is cut and ends with a digest, and characters other than letters and digits of ASCII, `_` and `-`
    /// become `_` (see [`portable_names`](mcp_client::group::portable_names)). An exact name of the
    /// [settings](GatewayServer::tool) stays as it is.
    pub fn max_tool_name(mut self, characters: usize) -> Self {
        self.max_tool_name = characters.clamp(16, MAX_TOOL_NAME);
        self
    }

    /// Sets the naming of tools and prompts. Default: [`Naming::Prefixed`].
    pub fn naming(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    /// Sets how clients find tools. Default: [`ToolMode::List`]. A reload does not change it.
    ///
    /// With [`ToolMode::Search`], a client lists three tools instead of all, and its language model spends a few hundred
    /// tokens on definitions however many tools there are. A call of a tool that was found is a call of that tool for
    /// scopes, limits, layers, questions, tasks, progress and the audit log. A caller finds what it may see.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::gateway::{Gateway, GatewayServer, ToolMode};
    ///
    /// let gateway = Gateway::new("tools", "1.0.0")
    ///     .server(GatewayServer::new("files", |client| client.connect("http://127.0.0.1:8001/mcp")))
    ///     .tool_mode(ToolMode::Search)
    ///     .always_list(["files__read_*"]);
    /// ```
    pub fn tool_mode(mut self, mode: ToolMode) -> Self {
        self.tool_mode = mode;
        self
    }

    /// Sets patterns of tools that stay listed with [`ToolMode::Search`], by their names for clients. Default: none.
    pub fn always_list<S: AsRef<str>>(mut self, patterns: impl IntoIterator<Item = S>) -> Self {
        self.search.listed = ToolPatterns::new(patterns);
        self
    }

    /// Sets limits of the tools that [`ToolMode::Search`] adds: `search_tools` and `describe_tools` count together. A call of a
    /// tool that was found has that tool's limits. Default: none. A reload does not change them.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// use mcp::gateway::{CallLimits, Gateway, ToolMode};
    ///
    /// let gateway = Gateway::new("tools", "1.0.0")
    ///     .tool_mode(ToolMode::Search)
    ///     .search_limits(CallLimits::new().rate(60, Duration::from_secs(60)));
    /// ```
    pub fn search_limits(mut self, limits: CallLimits) -> Self {
        self.search.limiter = Arc::new(Limiter::new(&limits));
        self
    }

    /// Sets the ranking of [`ToolMode::Search`], such as one with embeddings. Default:
    /// [`WordRanker`](mcp_toolset::WordRanker).
    pub fn ranker(mut self, ranker: impl Ranker) -> Self {
        self.search.ranker = Arc::new(ranker);
        self
    }

    /// Offers only tools and prompts with the definitions in a lock file: a server cannot change what language models read. The
    /// log names those that are held, with their differences, and requests for them are refused. When a user approves one with
    /// `mcp pin FILE` or [`PinFile::approve`], it is offered within a second. A reload does not change the file. Default: the
    /// definitions that the servers send.
    ///
    /// A server that lists no tools at first gets all later ones held, and so with prompts. If a server changes its
    /// list often, ten changes are logged and written at once, and then one per 30 seconds. A call of a held tool is a
    /// result that says what to do. [`ServerStatus::held`](crate::ServerStatus::held) names what is held. A file that
    /// cannot be written stays as it is.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::gateway::{Gateway, GatewayServer};
    /// use mcp::toolset::PinFile;
    ///
    /// # fn run() -> Result<(), mcp::group::ConsentError> {
    /// let gateway = Gateway::new("tools", "1.0.0")
    ///     .server(GatewayServer::new("files", |client| client.connect("http://127.0.0.1:8001/mcp")))
    ///     .pin(PinFile::open("mcp.lock")?);
    /// # let _ = gateway;
    /// # Ok(())
    /// # }
    /// ```
    pub fn pin(mut self, pins: PinFile) -> Self {
        self.pins = Some(pins);
        self
    }

    /// Starts the servers and lists what they offer. A server that cannot be started is left out with a
    /// warning in the log, and tried again with growing pauses of up to a minute. A server that is not listed
    /// within the [start limit](Self::start_limit) follows later.
    ///
    /// # Errors
    ///
    /// Returns a [`GatewayError`] when a name is invalid, or when a tool has the exact name of another one.
    ///
    /// # Panics
    ///
    /// Panics outside a Tokio runtime.
    pub async fn connect(self) -> Result<ConnectedGateway, GatewayError> {
        check_settings(&self.servers)?;
        let mut server = Server::new(self.name.clone(), self.version.clone());
        let directory = Directory::default();
        let tasks = TaskIds {
            directory: directory.clone(),
            sealer: server.token_sealer(),
            open: OpenTasks::default(),
        };
        server = server.tasks(tasks);
        let setup = Setup {
            client: Client::builder().identity(&*self.name, &*self.version),
            group: Group::builder().build(),
            parked: Parked::default(),
            used_states: self.used_states,
            announcements: Announcements::default(),
            directory,
            clients: server.broadcaster(),
            pins: self.pins.map(PinnedItems::new),
            max_tool_name: self.max_tool_name,
            first_list: self.first_list,
        };
        let pins = setup.pins.clone();
        let group = setup.group.clone();
        let quiet = server.unannounced();
        let handles = Handles {
            tools: quiet.tools(),
            prompts: quiet.prompts(),
            resources: quiet.resources(),
            templates: quiet.templates(),
            notify: server.notify(),
        };
        let is_search = self.tool_mode == ToolMode::Search;
        let always_listed = is_search.then(|| self.search.listed.clone());
        let mut lists = ServerLists::new(setup, handles, server.extensions(), always_listed);
        lists.set_servers(self.servers, self.naming);
        lists.load(self.start_limit).await?;
        lists.pass_updates(&server);
        let unlisted = lists.starting.clone();
        if let Some(starting) = lists.starting() {
            server = server.layer(starting);
        }
        if let Some(pins) = pins {
            server = server.layer(pins);
        }
        if is_search {
            server = self.search.add_to(server, unlisted);
        }
        let (control, commands) = mpsc::channel(1);
        // From now on: a call may start a server before the task runs.
        let events = group.events();
        let follower = Follower {
            _task: AbortOnDropHandle::new(tokio::spawn(lists.follow(events, commands))),
        };
        Ok(ConnectedGateway {
            server: server.state(Arc::new(follower)),
            group,
            control: GatewayControl(control),
        })
    }
}

/// The task that keeps the lists current. It ends when this is dropped with the server.
struct Follower {
    _task: AbortOnDropHandle<()>,
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway")
            .field("name", &self.name)
            .field("servers", &self.servers)
            .finish_non_exhaustive()
    }
}
