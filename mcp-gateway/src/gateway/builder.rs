//! [`Gateway`].

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use mcp_client::group::{Group, Naming};
use mcp_client::{Client, ClientBuilder, Error};
use mcp_core::BoxFuture;
use mcp_server::Server;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::forward::Upstream;
use super::lists::{Handles, ServerLists};
use super::parked::Parked;
use super::questions::Questions;
use super::sessions::{Connect, Sessions};
use crate::tools::HiddenTools;

/// Sessions of one server, for calls whose client can be asked.
const MAX_SESSIONS: usize = 32;
/// Changes of lists that wait to be read.
const MAX_CHANGES: usize = 64;

/// Many servers behind one: their tools, prompts, resources and templates are those of one [`Server`],
/// which any transport serves to clients of any revision.
///
/// The gateway speaks to each server in the newest revision that both have, and translates between the
/// revisions of its clients and those of its servers:
///
/// - Results, errors, `_meta`, progress and log messages pass, and cancelling a call cancels it at its
///   server.
/// - Requests of a server for input (elicitation, sampling, roots) reach the client of the call,
///   whether the server asks in a session or with its reply.
/// - Lists are combined, and changes of a server's lists are changes of the gateway's lists. So are
///   updates of the first 1,000 listed resources of each server.
///
/// # Names
///
/// Tools and prompts are named `server__tool` ([`Naming`] has another choice). Resources and templates
/// keep their URIs; of two servers with the same URI the first one wins.
///
/// # Legacy servers
///
/// A session of the revisions before 2026-07-28 does not say which call a question belongs to. A call of
/// a client that can be asked therefore has a session of its own while it runs, up to 32 for each server;
/// all other calls share one. See [`one_session`](Self::one_session) for servers that cannot work so.
/// A client of 2026-07-28 has 5 minutes to answer such a server, and must send its answer to the same
/// node. For a server on a pipe, each session is a process.
///
/// # Examples
///
/// ```no_run
/// use mcp::gateway::Gateway;
/// use mcp::prelude::*;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let gateway = Gateway::new("tools", "1.0.0")
///     .server("weather", |client| client.connect("https://weather.example.com/mcp"))
///     .server("files", |client| client.connect("http://127.0.0.1:8001/mcp"))
///     .open()
///     .await;
/// mcp::serve_http(gateway.server, "127.0.0.1:8000").await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a gateway does nothing before `open`"]
pub struct Gateway {
    name: String,
    version: String,
    naming: Naming,
    servers: Vec<GatewayServer>,
}

/// A server behind the gateway.
struct GatewayServer {
    name: Arc<str>,
    connect: Connect,
    has_one_session: bool,
    hidden: Option<HiddenTools>,
}

/// A gateway whose servers were listed. Created by [`Gateway::open`].
#[derive(Debug)]
#[non_exhaustive]
pub struct OpenGateway {
    /// The server with the tools, prompts and resources of all servers. Add layers, scopes or
    /// instructions before a transport takes it. The lists are kept current until it is dropped.
    pub server: Server,
    /// The servers behind the gateway: their health, and their end.
    pub group: Group,
}

impl Gateway {
    /// A gateway without servers. Name and version are those that its clients see.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            naming: Naming::default(),
            servers: Vec::new(),
        }
    }

    /// Adds a server with a function that connects to it with the settings of the gateway. Settings may
    /// be added to them, such as headers, layers and timeouts. The function is called each time the
    /// server starts. A server with the same name is replaced.
    pub fn server<F, Fut, E>(mut self, name: &str, connect: F) -> Self
    where
        F: Fn(ClientBuilder) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Client, E>> + Send + 'static,
        E: Into<Error>,
    {
        let connect: Connect = Arc::new(move |client| {
            let connecting = connect(client);
            Box::pin(async move { connecting.await.map_err(Into::into) })
        });
        self.servers.retain(|server| *server.name != *name);
        self.servers.push(GatewayServer {
            name: name.into(),
            connect,
            has_one_session: false,
            hidden: None,
        });
        self
    }

    /// Lets all calls of a server share one session or process, also those whose client can be asked: they
    /// run one after the other then. For servers that keep a state in their process, such as the page of
    /// a browser. Has no effect on a server of 2026-07-28, which has no sessions.
    pub fn one_session(self, server: &str) -> Self {
        self.configure(server, |server| server.has_one_session = true)
    }

    /// Leaves out tools of a server, by the names that the server gives them.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::gateway::Gateway;
    /// use mcp::prelude::*;
    ///
    /// let gateway = Gateway::new("tools", "1.0.0")
    ///     .server("files", |client| client.connect("http://127.0.0.1:8001/mcp"))
    ///     .hide_tools("files", |tool| tool.starts_with("delete_"));
    /// ```
    pub fn hide_tools(
        self,
        server: &str,
        is_hidden: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.configure(server, |server| {
            server.hidden = Some(HiddenTools::new(is_hidden))
        })
    }

    fn configure(mut self, server: &str, change: impl FnOnce(&mut GatewayServer)) -> Self {
        let mut servers = self.servers.iter_mut();
        if let Some(server) = servers.find(|it| *it.name == *server) {
            change(server);
        }
        self
    }

    /// Sets the naming of tools and prompts. Default: [`Naming::Prefixed`].
    pub fn naming(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    /// Starts the servers and lists what they offer. A server that cannot be started is left out with a
    /// warning in the log, and tried again after a minute.
    ///
    /// # Panics
    ///
    /// Panics outside of a Tokio runtime.
    pub async fn open(self) -> OpenGateway {
        let client = Client::builder().identity(&*self.name, &*self.version);
        let shared: Vec<_> = self.servers.iter().map(|_| Questions::new()).collect();
        let group = self.servers.iter().zip(&shared);
        let group = group.fold(
            Group::builder().naming(self.naming),
            |group, (server, questions)| {
                group.server(&server.name, server.connect_shared(&client, questions))
            },
        );
        let group = group.build();
        let parked = Parked::default();
        let (announced, changes) = mpsc::channel(MAX_CHANGES);
        let upstreams = self
            .servers
            .into_iter()
            .zip(shared)
            .map(|(server, questions)| {
                let sessions = Sessions::new(
                    server.connect,
                    client.clone(),
                    MAX_SESSIONS,
                    announced.clone(),
                );
                let upstream = Upstream {
                    server: server.name.clone(),
                    group: group.clone(),
                    questions,
                    sessions: (!server.has_one_session).then_some(sessions),
                    hidden: server.hidden,
                    parked: parked.clone(),
                };
                (server.name, upstream)
            });
        let upstreams = upstreams.collect();
        let mut server = Server::new(self.name, self.version);
        let handles = Handles {
            tools: server.tools(),
            prompts: server.prompts(),
            resources: server.resources(),
            templates: server.templates(),
        };
        let mut lists = ServerLists::new(group.clone(), upstreams, handles);
        lists.load().await;
        for completion in lists.completions() {
            server = server.completion(completion);
        }
        if lists.offers_updates().await {
            lists.subscribe(server.notify()).await;
        }
        let follower = Follower {
            _task: AbortOnDropHandle::new(tokio::spawn(lists.follow(changes))),
        };
        OpenGateway {
            server: server.state(Arc::new(follower)),
            group,
        }
    }
}

impl GatewayServer {
    /// Returns the function that opens the session that calls share. Only the session of all calls
    /// declares what some client of the gateway may be asked for; see [`Gateway::one_session`].
    fn connect_shared(
        &self,
        client: &ClientBuilder,
        questions: &Questions,
    ) -> impl Fn() -> BoxFuture<'static, Result<Client, Error>> + Send + Sync + use<> {
        let client = client.clone().inbound_layer(questions.layer());
        let client = match self.has_one_session {
            true => client.capabilities(Questions::capabilities()),
            false => client,
        };
        let connect = self.connect.clone();
        move || connect(client.clone())
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
            .field(
                "servers",
                &self.servers.iter().map(|it| &it.name).collect::<Vec<_>>(),
            )
            .finish_non_exhaustive()
    }
}
