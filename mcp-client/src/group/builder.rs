//! [`GroupBuilder`]: the servers and settings of a group.

use std::collections::HashSet;
use std::fmt;
use std::future::Future;

use tokio::sync::broadcast;

use super::event::GroupEvent;
use super::handle::Group;
use super::member::Member;
use super::names::{Naming, UniqueNames, sanitize};
use crate::client::Client;
use crate::error::Error;

/// Events that are queued for a slow subscriber. On overflow it loses the oldest ones.
const EVENT_CAPACITY: usize = 256;

/// Settings of a [`Group`], created by [`Group::builder`].
#[must_use = "creates a group with `build`"]
pub struct GroupBuilder {
    members: Vec<Member>,
    naming: Naming,
    listens: bool,
    events: broadcast::Sender<GroupEvent>,
}

impl GroupBuilder {
    /// Adds a server with a function that connects to it. The function is called each time the
    /// server starts. A server with the same name is replaced. Wrap foreign errors with
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

    /// Adds a disabled server with the reason: for example, its configuration is invalid. It appears
    /// in [`Group::health`] only.
    pub fn unused(self, name: &str, reason: impl Into<String>) -> Self {
        self.add(Member::unused(name, reason.into()))
    }

    fn add(mut self, member: Member) -> Self {
        self.members.push(member);
        self
    }

    /// Sets the naming of tools and prompts. Default: [`Naming::Prefixed`].
    pub fn naming(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    /// Sets whether the group subscribes to list changes of each running server. Over HTTP this
    /// needs a connection per server. Default: yes.
    pub fn listen(mut self, listens: bool) -> Self {
        self.listens = listens;
        self
    }

    /// Creates the group. No server is started yet.
    pub fn build(self) -> Group {
        let mut members = without_replaced(self.members);
        let mut prefixes = UniqueNames::default();
        for member in &mut members {
            let prefix = prefixes.take(sanitize(&member.name));
            member.join(prefix, self.events.clone(), self.listens);
        }
        Group::new(members, self.naming, self.events)
    }
}

/// Keeps the last one of the servers with the same name.
fn without_replaced(mut members: Vec<Member>) -> Vec<Member> {
    let mut names = HashSet::new();
    members.reverse();
    members.retain(|member| names.insert(member.name.clone()));
    members.reverse();
    members
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
    /// Creates a builder for a group without servers.
    pub fn builder() -> GroupBuilder {
        GroupBuilder {
            members: Vec::new(),
            naming: Naming::default(),
            listens: true,
            events: broadcast::Sender::new(EVENT_CAPACITY),
        }
    }
}
