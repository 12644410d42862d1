//! [`GroupBuilder`]: a group's servers and settings.

use std::collections::HashSet;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "auth")]
use mcp_auth::OAuth;
use tokio::sync::broadcast;

use super::event::GroupEvent;
use super::handle::{Group, GroupMember};
use super::login::GroupLogin;
use super::member::Member;
use super::names::{Naming, numbered, sanitize};
use crate::client::Client;
use crate::error::Error;

/// Events that are queued for a slow subscriber. On overflow it loses the oldest ones.
const EVENT_CAPACITY: usize = 256;

/// Shortest period of health checks.
const MIN_PERIOD: Duration = Duration::from_secs(1);

/// Settings of a [`Group`], created by [`Group::builder`].
#[must_use = "creates a group with `build`"]
pub struct GroupBuilder {
    members: Vec<NewMember>,
    naming: Naming,
    listens: bool,
    login: GroupLogin,
    events: broadcast::Sender<GroupEvent>,
}

/// A server of a builder.
enum NewMember {
    Added(Box<Member>),
    /// The server with this name of the group whose servers are replaced.
    Kept(Arc<str>),
}

impl NewMember {
    fn name(&self) -> &Arc<str> {
        match self {
            Self::Added(member) => &member.name,
            Self::Kept(name) => name,
        }
    }
}

impl GroupBuilder {
    /// Adds a server with a function that connects to it. The function is called each time the
    /// server starts. A server with the same name is replaced. Wrap foreign errors with
    /// [`Error::other`].
    pub fn server<F, Fut>(self, name: &str, connect: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Client, Error>> + Send + 'static,
    {
        self.add(Member::new(name, move |_| Box::pin(connect())))
    }

    /// Adds a disabled server with the reason: for example, its configuration is invalid. It appears
    /// in [`Group::health`] only.
    pub(super) fn unused(self, name: &str, reason: impl Into<String>) -> Self {
        self.add(Member::unused(name, reason.into()))
    }

    /// Checks a server of the builder while it runs, once in each period: with
    /// [`Client::ping`], which has 5 seconds. A server that fails two checks in a row is closed. Its calls
    /// fail then, and the next call starts it again. Default: no checks.
    ///
    /// A program that answers nothing while it works on a call fails the checks as well.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use mcp::{Client, Group};
    ///
    /// let group = Group::builder()
    ///     .target("files", "http://127.0.0.1:8001/mcp", Client::builder())
    ///     .health_check("files", Duration::from_secs(30))
    ///     .build();
    /// ```
    pub fn health_check(mut self, name: &str, period: Duration) -> Self {
        // A period of zero would ping without a pause.
        let period = period.max(MIN_PERIOD);
        for member in &mut self.members {
            if let NewMember::Added(member) = member
                && *member.name == *name
            {
                member.set_health_check(period);
            }
        }
        self
    }

    /// Keeps a server of the group that [`Group::replace`] changes, with its connection and its health.
    /// Without such a server in the group, nothing is added.
    pub fn keep(mut self, name: &str) -> Self {
        self.members.push(NewMember::Kept(name.into()));
        self
    }

    pub(super) fn add(mut self, member: Member) -> Self {
        self.members.push(NewMember::Added(Box::new(member)));
        self
    }

    /// Sets the naming of tools and prompts. Default: [`Naming::Prefixed`].
    pub fn naming(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    /// Sets whether the group subscribes to each running server's list changes. Over HTTP this
    /// needs a connection per server. Default: yes.
    pub fn listen(mut self, listens: bool) -> Self {
        self.listens = listens;
        self
    }

    /// Sets the login of the servers over HTTP that [`target`](Self::target) and [`config`](Self::config) add, before or
    /// after this call. Each server has tokens of its own, which survive its restarts. Commands and servers in this
    /// process get no token, and a client with a login of its own keeps it. Default: no login.
    ///
    /// The [`oauth`](super::ServerSpec) of a file's entry replaces the client id and secret for its server, and adds
    /// scopes. Settings with a client secret need [`OAuth::issuer`], because each server could have the secret sent to
    /// an authorization server of its own; for [`OAuth::token`], set the login of one server's client. A server with
    /// other settings cannot be started.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::Group;
    /// use mcp::auth::{FileStore, OAuth};
    /// use mcp::group::GroupConfig;
    /// use mcp::prelude::*;
    ///
    /// # fn run() -> mcp::Result<()> {
    /// let group = Group::builder()
    ///     .config(GroupConfig::read("mcp.json")?, Client::builder())
    ///     .oauth(OAuth::interactive("My Agent").store(FileStore::new("tokens")))
    ///     .build();
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "auth")]
    pub fn oauth(mut self, oauth: OAuth) -> Self {
        self.login.oauth = Some(Box::new(oauth));
        self
    }

    /// Creates the group. No server is started yet.
    pub fn build(self) -> Group {
        let (naming, events) = (self.naming, self.events.clone());
        let members = self.into_members(&events, &[]);
        Group::new(members, naming, events)
    }

    /// Returns the servers for a group with these events and these current servers.
    pub(super) fn into_members(
        self,
        events: &broadcast::Sender<GroupEvent>,
        current: &[GroupMember],
    ) -> Vec<GroupMember> {
        let mut prefixes = HashSet::new();
        let members = without_replaced(self.members).into_iter();
        let members = members.filter_map(|new| {
            let member = match new {
                NewMember::Added(mut member) => {
                    member.join(events.clone(), self.listens, self.login.clone());
                    Arc::from(member)
                }
                NewMember::Kept(name) => {
                    let mut current = current.iter();
                    current
                        .find(|known| known.member.name == name)?
                        .member
                        .clone()
                }
            };
            let prefix =
                numbered(sanitize(&member.name)).find(|name| prefixes.insert(name.clone()))?;
            Some(GroupMember { prefix, member })
        });
        members.collect()
    }
}

/// Keeps the last one of the servers with the same name.
fn without_replaced(mut members: Vec<NewMember>) -> Vec<NewMember> {
    let mut names = HashSet::new();
    members.reverse();
    members.retain(|member| names.insert(member.name().clone()));
    members.reverse();
    members
}

impl fmt::Debug for GroupBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.members.iter().map(NewMember::name).collect();
        f.debug_struct("GroupBuilder")
            .field("servers", &names)
            .field("naming", &self.naming)
            .finish_non_exhaustive()
    }
}

impl Group {
    /// Creates a builder for a group without servers.
    pub fn builder() -> GroupBuilder {
        GroupBuilder {
            members: Vec::new(),
            naming: Naming::default(),
            listens: true,
            login: GroupLogin::default(),
            events: broadcast::Sender::new(EVENT_CAPACITY),
        }
    }

    /// Replaces the servers by those of a builder, for all clones of this handle. The naming and the
    /// subscribers of events stay. Servers that the builder [keeps](GroupBuilder::keep) go on as they are;
    /// each other one is a new server, also if the group has one with its name. A removed server ends
    /// with its last [`Client`], so that calls in flight can finish.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::{Client, Group};
    ///
    /// let group = Group::builder()
    ///     .target("files", "http://127.0.0.1:8001/mcp", Client::builder())
    ///     .target("mail", "http://127.0.0.1:8002/mcp", Client::builder())
    ///     .build();
    /// group.replace(
    ///     Group::builder()
    ///         .keep("files")
    ///         .target("news", "http://127.0.0.1:8003/mcp", Client::builder()),
    /// );
    /// assert_eq!(group.health().len(), 2);
    /// ```
    pub fn replace(&self, servers: GroupBuilder) {
        let current = self.members();
        let members = servers.into_members(&self.inner.events, &current);
        let removed = std::mem::replace(&mut *self.inner.members.write(), members.into());
        // Dropped without the lock: the end of a server may take time.
        drop(removed);
    }
}
