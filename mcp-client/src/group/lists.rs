//! Combined lists of all servers of a group.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures_util::future::join_all;
use mcp_types::{Prompt, Resource, ResourceTemplate, Tool};

use super::handle::Group;
use super::member::Member;
use super::names::{Naming, prefixed, unique_name};
use super::routes::Routes;
use crate::client::Client;
use crate::error::Error;
use crate::prepared::PreparedCall;

/// A combined list of all servers of a group.
#[derive(Debug)]
#[non_exhaustive]
pub struct GroupList<T> {
    /// The items, in the order of the servers and of their lists.
    pub items: Vec<Listed<T>>,
    /// The servers whose list could not be requested, with their errors.
    pub failures: Vec<(Arc<str>, Error)>,
}

/// An item of a combined list.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Listed<T> {
    /// The name of the server.
    pub server: Arc<str>,
    /// The unique name in the group, for [`Group::call`], [`Group::get_prompt`] and
    /// [`Group::read_resource`].
    pub name: String,
    /// The item as the server lists it, with its own name.
    pub item: T,
}

impl Group {
    /// Lists the tools of all servers. A server whose list cannot be requested is among the
    /// failures.
    pub async fn list_tools(&self) -> GroupList<Tool> {
        let lists = self.gather(Client::list_all_tools).await;
        let list = self.with_unique_names(lists, |tool| &tool.name);
        update_routes(&self.inner.tools, &list, |tool| &tool.name);
        list
    }

    /// Lists the prompts of all servers, like [`list_tools`](Self::list_tools).
    pub async fn list_prompts(&self) -> GroupList<Prompt> {
        let lists = self.gather(Client::list_all_prompts).await;
        let list = self.with_unique_names(lists, |prompt| &prompt.name);
        update_routes(&self.inner.prompts, &list, |prompt| &prompt.name);
        list
    }

    /// Lists the resources of all servers. Each is named `server__uri`, regardless of [`Naming`].
    pub async fn list_resources(&self) -> GroupList<Resource> {
        let lists = self.gather(Client::list_all_resources).await;
        lists.into_list(|member, resource| prefixed(&member.prefix, &resource.uri))
    }

    /// Lists the resource templates of all servers. Each is named `server__uri_template`. With
    /// values in place of its variables, the name is that of a resource.
    pub async fn list_resource_templates(&self) -> GroupList<ResourceTemplate> {
        let lists = self.gather(Client::list_all_resource_templates).await;
        lists.into_list(|member, template| prefixed(&member.prefix, &template.uri_template))
    }

    /// Requests the lists of all enabled servers concurrently.
    async fn gather<T: Send + 'static>(
        &self,
        list: fn(&Client) -> PreparedCall<'static, Vec<T>>,
    ) -> ServerLists<'_, T> {
        let members = self
            .inner
            .members
            .iter()
            .filter(|member| member.is_enabled());
        let requests = members.map(|member| async move {
            let list = async { list(&member.client().await?).await };
            (member, list.await)
        });
        let mut gathered = ServerLists {
            lists: Vec::new(),
            failures: Vec::new(),
        };
        for (member, list) in join_all(requests).await {
            match list {
                Ok(list) => gathered.lists.push((member, list)),
                Err(error) => gathered.failures.push((member.name.clone(), error)),
            }
        }
        gathered
    }

    /// Gives each item a unique name. `own` returns the name on its server.
    fn with_unique_names<T>(
        &self,
        gathered: ServerLists<'_, T>,
        own: fn(&T) -> &str,
    ) -> GroupList<T> {
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
                plain => prefixed(&member.prefix, plain),
            };
            unique_name(wanted, &mut taken)
        })
    }
}

/// Replaces the routes by those of a list. Routes of failed servers stay.
fn update_routes<T>(routes: &Routes, list: &GroupList<T>, own: impl Fn(&T) -> &str) {
    let failures = &list.failures;
    let has_failed = |server: &Arc<str>| failures.iter().any(|(failed, _)| failed == server);
    let listed = list.items.iter().map(|listed| {
        let own = own(&listed.item).to_owned();
        (listed.name.clone(), (listed.server.clone(), own))
    });
    routes.replace(has_failed, listed);
}

/// The list of each server.
struct ServerLists<'g, T> {
    lists: Vec<(&'g Member, Vec<T>)>,
    failures: Vec<(Arc<str>, Error)>,
}

impl<T> ServerLists<'_, T> {
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
