//! [`Gateway`].

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use mcp_client::group::{Group, GroupBuilder, Naming};
use mcp_client::{Client, ClientBuilder, Error};
use mcp_server::Server;
use tokio::task::AbortHandle;

use super::catalogue::{Catalogue, Handles};
use super::forward::Upstream;
use super::parked::Parked;
use super::questions::Questions;

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
/// - Lists are combined, and changes of a server's lists are changes of the gateway's lists.
///
/// # Names
///
/// Tools and prompts are named `server__tool` ([`Naming`] has another choice). Resources and templates
/// keep their URIs; of two servers with the same URI the first one wins.
///
/// # Legacy servers
///
/// A session of the revisions before 2026-07-28 does not say which call a question belongs to. Calls of
/// clients that can be asked therefore run one after the other at such a server; other calls run at the
/// same time. A client of 2026-07-28 has 5 minutes for its answer, and must send it to the same node.
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
    group: GroupBuilder,
    questions: HashMap<Arc<str>, Questions>,
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
            group: Group::builder(),
            questions: HashMap::new(),
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
        let questions = Questions::new();
        let client = Client::builder()
            .identity(&*self.name, &*self.version)
            .capabilities(Questions::capabilities())
            .inbound_layer(questions.layer());
        self.group = self.group.server(name, move || connect(client.clone()));
        self.questions.insert(name.into(), questions);
        self
    }

    /// Sets the naming of tools and prompts. Default: [`Naming::Prefixed`].
    pub fn naming(mut self, naming: Naming) -> Self {
        self.group = self.group.naming(naming);
        self
    }

    /// Starts the servers and lists what they offer. A server that cannot be started is left out with a
    /// warning in the log, and tried again after a minute.
    ///
    /// # Panics
    ///
    /// Panics outside of a Tokio runtime.
    pub async fn open(self) -> OpenGateway {
        let group = self.group.build();
        let parked = Parked::default();
        let upstreams = self.questions.into_iter().map(|(server, questions)| {
            let upstream = Upstream {
                server: server.clone(),
                group: group.clone(),
                questions,
                parked: parked.clone(),
            };
            (server, upstream)
        });
        let upstreams = upstreams.collect();
        let mut server = Server::new(self.name, self.version);
        let handles = Handles {
            tools: server.tools(),
            prompts: server.prompts(),
            resources: server.resources(),
            templates: server.templates(),
        };
        let mut catalogue = Catalogue::new(group.clone(), upstreams, handles);
        catalogue.load().await;
        for completion in catalogue.completions() {
            server = server.completion(completion);
        }
        let follower = tokio::spawn(catalogue.follow());
        let follower = Follower(follower.abort_handle());
        OpenGateway {
            server: server.state(Arc::new(follower)),
            group,
        }
    }
}

/// The task that keeps the lists current. It ends when this is dropped with the server.
struct Follower(AbortHandle);

impl Drop for Follower {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway")
            .field("name", &self.name)
            .field("servers", &self.questions.keys())
            .finish_non_exhaustive()
    }
}
