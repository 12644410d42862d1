//! Several servers behind one handle: one catalogue, one way to call, each server's health.
//!
//! Servers start when they are first needed. One that ends is started anew, ever more slowly when
//! it keeps ending; the others do not notice.

mod calls;
mod config;
mod lists;
mod member;

use std::collections::HashSet;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use futures_core::Stream;
use futures_util::future::join_all;
use futures_util::stream;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::error::Kind;
use crate::{Change, Client, Error};
use lists::{Routes, untaken, word};
use member::Member;

pub use config::{ConfigError, EntryError, GroupConfig, ServerEntry, ServerSpec, Variables};
pub use lists::{GroupList, Listed};
pub use member::Health;

/// Events that wait for a listener which does not read; older ones make room.
const WAITING: usize = 256;

/// Several servers behind one handle. Cheap to clone; clones share everything.
///
/// Lists hold what all servers have, under names that cannot collide ([`Naming`]); calls take such a
/// name and go to the server that has it. For a call with settings, and for all that is not here
/// (subscriptions, log messages), [`route_tool`](Self::route_tool) and its siblings give the server's
/// [`Client`] and the name there.
///
/// # Examples
///
/// ```no_run
/// use mcp_client::Client;
/// use mcp_client::group::Group;
/// use mcp_transport_http::HttpChannel;
/// use serde_json::json;
///
/// # async fn example() -> Result<(), mcp_client::Error> {
/// let group = Group::builder()
///     .server("files", || async { Client::over(HttpChannel::new("http://127.0.0.1:8001/mcp")?).await })
///     .server("mail", || async { Client::over(HttpChannel::new("http://127.0.0.1:8002/mcp")?).await })
///     .build();
/// let tools = group.list_tools().await;
/// for tool in &tools.items {
///     println!("{}: {}", tool.name, tool.item.description());
/// }
/// for (server, error) in &tools.failures {
///     println!("{server} is not there: {error}");
/// }
/// let result = group.call("files__read", json!({"path": "a.txt"})).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Group {
    inner: Arc<Inner>,
}

struct Inner {
    members: Vec<Member>,
    naming: Naming,
    tools: Routes,
    prompts: Routes,
    events: broadcast::Sender<GroupEvent>,
}

/// How tools and prompts of the servers are called in the group. Resources are always called
/// `server__uri`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Naming {
    /// `server__tool`, always: a name means the same whatever other servers there are.
    #[default]
    Prefixed,
    /// As the server calls them; `server__tool` where two servers have the same name for one.
    PlainUnlessTaken,
}

/// Something happened to a server of a group.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum GroupEvent {
    /// The server tells of a change.
    #[non_exhaustive]
    Changed {
        /// Which server.
        server: Arc<str>,
        /// What has changed.
        change: Change,
    },
    /// The server has started, ended, or could not be started.
    #[non_exhaustive]
    Health {
        /// Which server.
        server: Arc<str>,
        /// How it is now.
        health: Health,
    },
    /// Whoever listens was too slow: so many events are lost.
    Lost(u64),
}

/// Settings of a [`Group`], made by [`Group::builder`].
#[must_use = "makes a group with `build`"]
pub struct GroupBuilder {
    members: Vec<Member>,
    naming: Naming,
    listens: bool,
    events: broadcast::Sender<GroupEvent>,
}

impl GroupBuilder {
    /// Adds a server: its name and how to connect to it, each time it is started. A name that is
    /// taken replaces the server that has it. Errors of something else than a client come as
    /// [`Error::other`].
    pub fn server<F, Fut, E>(self, name: &str, connect: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Client, E>> + Send + 'static,
        E: Into<Error>,
    {
        let member = Member::new(name, move || {
            let connecting = connect();
            Box::pin(async move { connecting.await.map_err(Into::into) })
        });
        self.add(member)
    }

    /// Adds a server that is known and not used: switched off, or its entry in a file is wrong.
    pub fn unused(self, name: &str, reason: impl Into<String>) -> Self {
        self.add(Member::unused(name, reason.into()))
    }

    fn add(mut self, member: Member) -> Self {
        self.members.retain(|known| known.name != member.name);
        self.members.push(member);
        self
    }

    /// Sets how tools and prompts are called in the group. Default: [`Naming::Prefixed`].
    pub fn naming(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    /// Sets whether each running server is listened to for changes of its lists; over HTTP that
    /// takes a connection. Default: yes.
    pub fn listen(mut self, listens: bool) -> Self {
        self.listens = listens;
        self
    }

    /// Makes the group. No server is started yet.
    pub fn build(self) -> Group {
        let mut members = self.members;
        let mut taken = HashSet::new();
        for member in &mut members {
            let prefix = untaken(word(&member.name), &mut taken);
            member.join(prefix, self.events.clone(), self.listens);
        }
        Group {
            inner: Arc::new(Inner {
                members,
                naming: self.naming,
                tools: Routes::default(),
                prompts: Routes::default(),
                events: self.events,
            }),
        }
    }
}

impl fmt::Debug for GroupBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.members.iter().map(|member| &member.name).collect();
        f.debug_struct("GroupBuilder")
            .field("servers", &names)
            .field("naming", &self.naming)
            .finish_non_exhaustive()
    }
}

impl Group {
    /// A group without servers.
    pub fn builder() -> GroupBuilder {
        GroupBuilder {
            members: Vec::new(),
            naming: Naming::default(),
            listens: true,
            events: broadcast::Sender::new(WAITING),
        }
    }

    /// The client of a server, which is started if need be.
    ///
    /// # Errors
    ///
    /// An [`Error`] that names the server when there is none of that name, when it is not used,
    /// when it cannot be started, or when it has just ended and rests.
    pub async fn client(&self, server: &str) -> Result<Client, Error> {
        let mut members = self.inner.members.iter();
        let member = members.find(|member| &*member.name == server);
        let member = member.ok_or_else(|| Kind::NoSuchServer(server.into()))?;
        member.client().await
    }

    /// How the servers are, in the order in which they were added.
    pub fn health(&self) -> Vec<(Arc<str>, Health)> {
        let members = self.inner.members.iter();
        members
            .map(|member| (member.name.clone(), member.health()))
            .collect()
    }

    /// What happens from now on: changes of lists, servers that start and end.
    pub fn events(&self) -> impl Stream<Item = GroupEvent> + Send + Unpin + use<> {
        let events = self.inner.events.subscribe();
        Box::pin(stream::unfold(events, |mut events| async move {
            match events.recv().await {
                Ok(event) => Some((event, events)),
                Err(RecvError::Lagged(count)) => Some((GroupEvent::Lost(count), events)),
                Err(RecvError::Closed) => None,
            }
        }))
    }

    /// Ends all servers. None is started again.
    pub async fn close(&self) {
        join_all(self.inner.members.iter().map(Member::close)).await;
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.health()).finish()
    }
}
