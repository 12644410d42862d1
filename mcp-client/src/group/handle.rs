//! [`Group`]: a group's handle.

use std::fmt;
use std::sync::Arc;

use futures_core::Stream;
use futures_util::future::join_all;
use parking_lot::RwLock;
use tokio::sync::broadcast;

use super::event::{GroupEvent, Health};
use super::member::Member;
use super::names::{ItemNames, Naming};
use crate::client::Client;
use crate::error::{Error, ErrorKind};
use crate::notifications::received;

/// Several servers behind one handle. Clones are cheap and share the servers.
///
/// Lists combine the items of all servers under unique names ([`Naming`]). Calls accept such a name
/// and are sent to the server that has the item. For calls with options, [`route_tool`](Self::route_tool)
/// returns the server's [`Client`] and the tool's name on that server; for subscriptions and log
/// messages, [`client`](Self::client) returns a server's client.
///
/// # Examples
///
/// ```no_run
/// use mcp::Group;
/// use serde_json::json;
///
/// # async fn example() -> mcp::Result<()> {
/// let group = Group::load("mcp.json")?;
/// let tools = group.list_tools().await;
/// for tool in &tools.items {
///     println!("{}: {}", tool.name, tool.item.description.as_deref().unwrap_or_default());
/// }
/// for (server, error) in &tools.failures {
///     println!("{server} failed: {error}");
/// }
/// let result = group.call("files__read", json!({"path": "a.txt"})).await?;
/// # Ok(())
/// # }
/// ```
///
/// The same servers without a file:
///
/// ```
/// use mcp::{Client, Group};
///
/// let group = Group::builder()
///     .target("files", "http://127.0.0.1:8001/mcp", Client::builder())
///     .target("mail", "http://127.0.0.1:8002/mcp", Client::builder())
///     .build();
/// ```
#[derive(Clone)]
pub struct Group {
    pub(super) inner: Arc<GroupInner>,
}

pub(super) struct GroupInner {
    pub(super) members: RwLock<Arc<[GroupMember]>>,
    pub(super) naming: Naming,
    pub(super) tools: RwLock<ItemNames>,
    pub(super) prompts: RwLock<ItemNames>,
    pub(super) events: broadcast::Sender<GroupEvent>,
}

/// A server, and its name in this group.
#[derive(Clone)]
pub(super) struct GroupMember {
    /// The unique prefix of names in the group.
    pub(super) prefix: String,
    pub(super) member: Arc<Member>,
}

impl Group {
    pub(super) fn new(
        members: Vec<GroupMember>,
        naming: Naming,
        events: broadcast::Sender<GroupEvent>,
    ) -> Self {
        Self {
            inner: Arc::new(GroupInner {
                members: RwLock::new(members.into()),
                naming,
                tools: RwLock::default(),
                prompts: RwLock::default(),
                events,
            }),
        }
    }

    /// The servers at this time.
    pub(super) fn members(&self) -> Arc<[GroupMember]> {
        self.inner.members.read().clone()
    }

    /// Returns the prefix for the names of a server's items in this group: its name with only those characters
    /// that tool names may have.
    pub fn prefix(&self, server: &str) -> Option<String> {
        Some(self.find(server)?.prefix)
    }

    /// Returns the client of a server. Starts the server if it does not run.
    ///
    /// # Errors
    ///
    /// Returns an [`Error`] when the group has no such server, when it is disabled, when it cannot be
    /// started, or when it has just ended and is not started again yet.
    pub async fn client(&self, server: &str) -> Result<Client, Error> {
        let found = self.find(server);
        let found = found.ok_or_else(|| ErrorKind::NoSuchServer(server.into()))?;
        found.member.client().await
    }

    fn find(&self, server: &str) -> Option<GroupMember> {
        let members = self.members();
        let mut members = members.iter();
        members.find(|found| &*found.member.name == server).cloned()
    }

    /// Returns the health of all servers, in the order in which they were added.
    pub fn health(&self) -> Vec<(Arc<str>, Health)> {
        let members = self.members();
        let members = members.iter().map(|found| &found.member);
        members
            .map(|member| (member.name.clone(), member.health()))
            .collect()
    }

    /// Returns the events from now on: list changes, and starts and ends of servers.
    pub fn events(&self) -> impl Stream<Item = GroupEvent> + Send + Unpin + use<> {
        received(self.inner.events.subscribe(), |event| {
            Some(event.unwrap_or_else(GroupEvent::Lost))
        })
    }

    /// Closes all servers. They are not started again.
    pub async fn close(&self) {
        join_all(self.members().iter().map(|found| found.member.close())).await;
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.health()).finish()
    }
}
