//! Combined lists of all servers of a group.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures_util::future::join_all;
use mcp_types::{Prompt, Resource, ResourceTemplate, ServerCapabilities, Tool};

use super::handle::{Group, GroupMember};
use super::names::{Naming, UniqueNames, prefixed};
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
    /// failures. A server without tools is not asked.
    pub async fn list_tools(&self) -> GroupList<Tool> {
        let lists = self
            .gather(
                |capabilities| capabilities.tools.is_some(),
                Client::list_tools,
            )
            .await;
        let list = self.with_unique_names(lists, &self.inner.tools, |tool| &tool.name);
        update_routes(&self.inner.tools, &list, |tool| &tool.name);
        list
    }

    /// Lists the prompts of all servers, like [`list_tools`](Self::list_tools).
    pub async fn list_prompts(&self) -> GroupList<Prompt> {
        let offers = |it: &ServerCapabilities| it.prompts.is_some();
        let lists = self.gather(offers, Client::list_prompts).await;
        let list = self.with_unique_names(lists, &self.inner.prompts, |prompt| &prompt.name);
        update_routes(&self.inner.prompts, &list, |prompt| &prompt.name);
        list
    }

    /// Lists the resources of all servers. Each is named `server__uri`, regardless of [`Naming`].
    pub async fn list_resources(&self) -> GroupList<Resource> {
        let list = Client::list_resources;
        let lists = self.gather(offers_resources, list).await;
        lists.into_list(|member, resource| prefixed(&member.prefix, &resource.uri))
    }

    /// Lists the resource templates of all servers. Each is named `server__uri_template`. With
    /// values in place of its variables, the name is that of a resource.
    pub async fn list_resource_templates(&self) -> GroupList<ResourceTemplate> {
        let list = Client::list_resource_templates;
        let lists = self.gather(offers_resources, list).await;
        lists.into_list(|member, template| prefixed(&member.prefix, &template.uri_template))
    }

    /// Requests the lists of all enabled servers concurrently. A server that does not offer the
    /// feature has an empty list.
    async fn gather<T: Send + 'static>(
        &self,
        offers: fn(&ServerCapabilities) -> bool,
        list: fn(&Client) -> PreparedCall<'static, Vec<T>>,
    ) -> ServerLists<T> {
        let members = self.members();
        let members = members.iter().filter(|it| it.member.is_enabled());
        let requests = members.map(|it| async move {
            let list = async {
                let client = it.member.client().await?;
                list_if_offered(&client, offers, list).await
            };
            (it.clone(), list.await)
        });
        let mut gathered = ServerLists {
            lists: Vec::new(),
            failures: Vec::new(),
        };
        for (it, list) in join_all(requests).await {
            match list {
                Ok(list) => gathered.lists.push((it, list)),
                Err(error) => gathered.failures.push((it.member.name.clone(), error)),
            }
        }
        gathered
    }

    /// Gives each item a unique name. `own` returns the name on its server. The names of servers
    /// whose list could not be requested stay taken, so that no other server receives their calls.
    fn with_unique_names<T>(
        &self,
        gathered: ServerLists<T>,
        routes: &Routes,
        own: fn(&T) -> &str,
    ) -> GroupList<T> {
        let mut count: HashMap<String, usize> = HashMap::new();
        for item in gathered.lists.iter().flat_map(|(_, list)| list) {
            *count.entry(own(item).to_owned()).or_default() += 1;
        }
        let mut names = UniqueNames::default();
        let failed: HashSet<_> = gathered.failures.iter().map(|(name, _)| name).collect();
        for (name, (_, own)) in routes.kept(|server| failed.contains(server)) {
            *count.entry(own).or_default() += 1;
            names.take(name);
        }
        let is_plain = |plain: &str| {
            self.inner.naming == Naming::PlainUnlessTaken && count.get(plain) == Some(&1)
        };
        gathered.into_list(|member, item| {
            let wanted = match own(item) {
                plain if is_plain(plain) => plain.to_owned(),
                plain => prefixed(&member.prefix, plain),
            };
            names.take(wanted)
        })
    }
}

fn offers_resources(capabilities: &ServerCapabilities) -> bool {
    capabilities.resources.is_some()
}

/// Requests a list. It is empty when the server does not offer the feature, or does not know the
/// method. A server whose capabilities are unknown is asked.
async fn list_if_offered<T: Send + 'static>(
    client: &Client,
    offers: fn(&ServerCapabilities) -> bool,
    list: fn(&Client) -> PreparedCall<'static, Vec<T>>,
) -> Result<Vec<T>, Error> {
    if client.server_capabilities().is_some_and(|it| !offers(&it)) {
        return Ok(Vec::new());
    }
    match list(client).await {
        Err(error) if error.is_unknown_method() => Ok(Vec::new()),
        listed => listed,
    }
}

/// Replaces the routes by those of a list. Routes of failed servers stay.
fn update_routes<T>(routes: &Routes, list: &GroupList<T>, own: impl Fn(&T) -> &str) {
    let failures: HashSet<_> = list.failures.iter().map(|(failed, _)| failed).collect();
    let has_failed = |server: &Arc<str>| failures.contains(server);
    let listed = list.items.iter().map(|listed| {
        let own = own(&listed.item).to_owned();
        (listed.name.clone(), (listed.server.clone(), own))
    });
    routes.replace(has_failed, listed);
}

/// The list of each server.
struct ServerLists<T> {
    lists: Vec<(GroupMember, Vec<T>)>,
    failures: Vec<(Arc<str>, Error)>,
}

impl<T> ServerLists<T> {
    fn into_list(self, mut name: impl FnMut(&GroupMember, &T) -> String) -> GroupList<T> {
        let mut items = Vec::new();
        for (member, list) in self.lists {
            items.extend(list.into_iter().map(|item| Listed {
                server: member.member.name.clone(),
                name: name(&member, &item),
                item,
            }));
        }
        GroupList {
            items,
            failures: self.failures,
        }
    }
}
