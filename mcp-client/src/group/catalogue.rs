//! What all servers of a group have, under names that are told apart.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::sync::Arc;

use futures_util::future::join_all;
use mcp_core::locks::RwLock;
use mcp_types::{Prompt, Resource, Tool};

use super::{Group, Naming};
use crate::{Client, Error};

/// What the servers of a group have of a kind.
#[derive(Debug)]
#[non_exhaustive]
pub struct Catalogue<T> {
    /// Everything, in the order of the servers and of their lists.
    pub items: Vec<Listed<T>>,
    /// Servers whose list could not be had, and why.
    pub failures: Vec<(Arc<str>, Error)>,
}

/// Something that a server of a group has.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Listed<T> {
    /// The server.
    pub server: Arc<str>,
    /// Its name in the group; for resources their URI.
    pub name: String,
    /// What the server says of it, with its own name.
    pub item: T,
}

/// Names in the group, and whose they are.
#[derive(Debug, Default)]
pub(super) struct Routes(RwLock<HashMap<String, (Arc<str>, String)>>);

impl Routes {
    pub(super) fn find(&self, name: &str) -> Option<(Arc<str>, String)> {
        let routes = self.0.read();
        routes.get(name).cloned()
    }

    /// Takes a new catalogue; what servers had that could not be asked now stays.
    fn learn<T>(&self, catalogue: &Catalogue<T>, own: impl Fn(&T) -> &str) {
        let mut routes = self.0.write();
        let failures = &catalogue.failures;
        routes.retain(|_, (server, _)| failures.iter().any(|(failed, _)| failed == server));
        for listed in &catalogue.items {
            let own = own(&listed.item).to_owned();
            routes.insert(listed.name.clone(), (listed.server.clone(), own));
        }
    }
}

impl Group {
    /// The tools of all servers. A server that cannot be asked is among the failures, and hides no
    /// other one.
    pub async fn list_tools(&self) -> Catalogue<Tool> {
        let own = |tool: &Tool| tool.name.clone();
        let all = self.gather(|client| async move { client.list_all_tools().await });
        let catalogue = self.named(all.await, own);
        self.inner.tools.learn(&catalogue, |tool| &tool.name);
        catalogue
    }

    /// The prompts of all servers, like [`list_tools`](Self::list_tools).
    pub async fn list_prompts(&self) -> Catalogue<Prompt> {
        let own = |prompt: &Prompt| prompt.name.clone();
        let all = self.gather(|client| async move { client.list_all_prompts().await });
        let catalogue = self.named(all.await, own);
        self.inner.prompts.learn(&catalogue, |prompt| &prompt.name);
        catalogue
    }

    /// The resources of all servers, by their URIs: read one with the [`client`](Self::client) of
    /// its server.
    pub async fn list_resources(&self) -> Catalogue<Resource> {
        let (lists, failures) = self
            .gather(|client| async move { client.list_all_resources().await })
            .await;
        let items = lists.into_iter().flat_map(|(server, list)| {
            list.into_iter().map(move |item| Listed {
                server: server.clone(),
                name: item.uri.clone(),
                item,
            })
        });
        Catalogue {
            items: items.collect(),
            failures,
        }
    }

    /// Asks all servers that are in use at once.
    async fn gather<T, F, Fut>(&self, fetch: F) -> Gathered<T>
    where
        F: Fn(Client) -> Fut,
        Fut: Future<Output = Result<Vec<T>, Error>>,
    {
        let members = self.inner.members.iter().filter(|member| member.is_used());
        let fetch = &fetch;
        let lists = members.map(|member| async move {
            let list = async { fetch(member.client().await?).await };
            (member.name.clone(), list.await)
        });
        let mut gathered = (Vec::new(), Vec::new());
        for (server, list) in join_all(lists).await {
            match list {
                Ok(list) => gathered.0.push((server, list)),
                Err(error) => gathered.1.push((server, error)),
            }
        }
        gathered
    }

    /// Gives everything a name that nothing else has.
    fn named<T>(&self, gathered: Gathered<T>, own: impl Fn(&T) -> String) -> Catalogue<T> {
        let (lists, failures) = gathered;
        let mut count: HashMap<String, usize> = HashMap::new();
        for item in lists.iter().flat_map(|(_, list)| list) {
            *count.entry(own(item)).or_default() += 1;
        }
        let mut taken = HashSet::new();
        let mut items = Vec::new();
        for (server, list) in lists {
            for item in list {
                let plain = own(&item);
                let is_plain =
                    self.inner.naming == Naming::PlainUnlessTaken && count.get(&plain) == Some(&1);
                let wanted = if is_plain {
                    plain
                } else {
                    format!("{}__{plain}", word(&server))
                };
                items.push(Listed {
                    server: server.clone(),
                    name: untaken(wanted, &mut taken),
                    item,
                });
            }
        }
        Catalogue { items, failures }
    }
}

type Gathered<T> = (Vec<(Arc<str>, Vec<T>)>, Vec<(Arc<str>, Error)>);

/// A server's name with the characters alone that names of tools may have.
// spec: TOOL-04
fn word(server: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    server
        .chars()
        .map(|c| if fits(c) { c } else { '_' })
        .collect()
}

/// The name, or the name with the first number that makes it one of its own.
fn untaken(wanted: String, taken: &mut HashSet<String>) -> String {
    let mut name = wanted.clone();
    let mut number = 2_usize;
    while !taken.insert(name.clone()) {
        name = format!("{wanted}_{number}");
        number += 1;
    }
    name
}
