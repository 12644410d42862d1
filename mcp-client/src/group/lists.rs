//! What all servers of a group have, under names that are told apart.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures_util::future::join_all;
use mcp_types::{Prompt, Resource, ResourceTemplate, Tool};
use parking_lot::RwLock;

use super::member::Member;
use super::{Group, Naming};
use crate::{Client, Error, PreparedCall};

/// A list of what all servers of a group have.
#[derive(Debug)]
#[non_exhaustive]
pub struct GroupList<T> {
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
    /// Its name in the group, which no other item of the list has: what [`Group::call`],
    /// [`Group::get_prompt`] and [`Group::read_resource`] take.
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

    /// Takes a new list; what servers had that could not be asked now stays.
    fn learn<T>(&self, list: &GroupList<T>, own: impl Fn(&T) -> &str) {
        let mut routes = self.0.write();
        let failures = &list.failures;
        routes.retain(|_, (server, _)| failures.iter().any(|(failed, _)| failed == server));
        for listed in &list.items {
            let own = own(&listed.item).to_owned();
            routes.insert(listed.name.clone(), (listed.server.clone(), own));
        }
    }
}

impl Group {
    /// The tools of all servers. A server that cannot be asked is among the failures, and hides no
    /// other one.
    pub async fn list_tools(&self) -> GroupList<Tool> {
        let lists = self.gather(Client::list_all_tools).await;
        let list = self.named(lists, |tool| &tool.name);
        self.inner.tools.learn(&list, |tool| &tool.name);
        list
    }

    /// The prompts of all servers, like [`list_tools`](Self::list_tools).
    pub async fn list_prompts(&self) -> GroupList<Prompt> {
        let lists = self.gather(Client::list_all_prompts).await;
        let list = self.named(lists, |prompt| &prompt.name);
        self.inner.prompts.learn(&list, |prompt| &prompt.name);
        list
    }

    /// The resources of all servers, each by its server and URI: `server__uri`, whatever the
    /// [`Naming`].
    pub async fn list_resources(&self) -> GroupList<Resource> {
        let lists = self.gather(Client::list_all_resources).await;
        lists.into_list(|member, resource| of_server(member, &resource.uri))
    }

    /// The resource templates of all servers, each by its server and URI template, like
    /// [`list_resources`](Self::list_resources). With values in place of its variables the name is
    /// that of a resource.
    pub async fn list_resource_templates(&self) -> GroupList<ResourceTemplate> {
        let lists = self.gather(Client::list_all_resource_templates).await;
        lists.into_list(|member, template| of_server(member, &template.uri_template))
    }

    /// Asks all servers that are in use at once.
    async fn gather<T: Send + 'static>(
        &self,
        list: fn(&Client) -> PreparedCall<'static, Vec<T>>,
    ) -> Gathered<'_, T> {
        let members = self.inner.members.iter().filter(|member| member.is_used());
        let lists = members.map(|member| async move {
            let list = async { list(&member.client().await?).await };
            (member, list.await)
        });
        let mut gathered = Gathered {
            lists: Vec::new(),
            failures: Vec::new(),
        };
        for (member, list) in join_all(lists).await {
            match list {
                Ok(list) => gathered.lists.push((member, list)),
                Err(error) => gathered.failures.push((member.name.clone(), error)),
            }
        }
        gathered
    }

    /// Gives everything a name that nothing else has.
    fn named<T>(&self, gathered: Gathered<'_, T>, own: fn(&T) -> &str) -> GroupList<T> {
        let mut count: HashMap<String, usize> = HashMap::new();
        for item in gathered.lists.iter().flat_map(|(_, list)| list) {
            *count.entry(own(item).to_owned()).or_default() += 1;
        }
        let mut taken = HashSet::new();
        let is_plain = |plain: &str| {
            self.inner.naming == Naming::PlainUnlessTaken && count.get(plain) == Some(&1)
        };
        gathered.into_list(|member, item| {
            let wanted = match own(item) {
                plain if is_plain(plain) => plain.to_owned(),
                plain => of_server(member, plain),
            };
            untaken(wanted, &mut taken)
        })
    }
}

/// What each server has.
struct Gathered<'g, T> {
    lists: Vec<(&'g Member, Vec<T>)>,
    failures: Vec<(Arc<str>, Error)>,
}

impl<T> Gathered<'_, T> {
    fn into_list(self, mut name: impl FnMut(&Member, &T) -> String) -> GroupList<T> {
        let mut items = Vec::new();
        for (member, list) in self.lists {
            items.extend(list.into_iter().map(|item| Listed {
                server: member.name.clone(),
                name: name(member, &item),
                item,
            }));
        }
        GroupList {
            items,
            failures: self.failures,
        }
    }
}

/// A name that says whose it is.
fn of_server(member: &Member, own: &str) -> String {
    format!("{}{SEPARATOR}{own}", member.prefix)
}

/// Stands between a server and what it has.
pub(super) const SEPARATOR: &str = "__";

/// A server's name with the characters alone that names of tools may have.
// spec: TOOL-04
pub(super) fn word(server: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    server
        .chars()
        .map(|c| if fits(c) { c } else { '_' })
        .collect()
}

/// The name, or the name with the first number that makes it one of its own.
pub(super) fn untaken(wanted: String, taken: &mut HashSet<String>) -> String {
    let mut name = wanted.clone();
    let mut number = 2_usize;
    while !taken.insert(name.clone()) {
        name = format!("{wanted}_{number}");
        number += 1;
    }
    name
}
