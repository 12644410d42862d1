//! Combined lists of all servers in a group.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures_util::future::join_all;
use mcp_types::{Prompt, Resource, ResourceTemplate, Tool};
use parking_lot::RwLock;

use super::handle::{Group, GroupMember};
use super::names::{ItemNames, MAX_TOOL_NAME, is_portable_name, portable_names, prefixed};
use crate::call::PreparedCall;
use crate::client::Client;
use crate::error::Error;

/// A combined list of all servers in a group.
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
    /// The server's name.
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
        let lists = self.gather(Client::list_tools).await;
        // Models call tools by their names in the group.
        let max = Some(MAX_TOOL_NAME);
        self.with_unique_names(lists, &self.inner.tools, max, |tool| &tool.name)
    }

    /// Lists the prompts of all servers, like [`list_tools`](Self::list_tools).
    pub async fn list_prompts(&self) -> GroupList<Prompt> {
        let lists = self.gather(Client::list_prompts).await;
        self.with_unique_names(lists, &self.inner.prompts, None, |prompt| &prompt.name)
    }

    /// Lists the resources of all servers. Each is named `server__uri`, regardless of [`Naming`](super::Naming).
    pub async fn list_resources(&self) -> GroupList<Resource> {
        let list = Client::list_resources;
        let lists = self.gather(list).await;
        lists.into_list(|member, resource| Some(prefixed(&member.prefix, &resource.uri)))
    }

    /// Lists the resource templates of all servers. Each is named `server__uri_template`. With
    /// values in place of its variables, the name is that of a resource.
    pub async fn list_resource_templates(&self) -> GroupList<ResourceTemplate> {
        let list = Client::list_resource_templates;
        let lists = self.gather(list).await;
        lists.into_list(|member, template| Some(prefixed(&member.prefix, &template.uri_template)))
    }

    /// Requests the lists of all enabled servers concurrently. A server that does not offer the
    /// feature has an empty list.
    async fn gather<T: Send + 'static>(
        &self,
        list: fn(&Client) -> PreparedCall<'static, Vec<T>>,
    ) -> ServerLists<T> {
        let members = self.members();
        let members = members.iter().filter(|listed| listed.member.is_enabled());
        let requests = members.map(|listed| async move {
            let list = async {
                let client = listed.member.client().await?;
                list(&client).if_offered().await
            };
            (listed.clone(), list.await)
        });
        let mut gathered = ServerLists {
            lists: Vec::new(),
            failures: Vec::new(),
        };
        for (listed, list) in join_all(requests).await {
            match list {
                Ok(list) => gathered.lists.push((listed, list)),
                Err(error) => gathered.failures.push((listed.member.name.clone(), error)),
            }
        }
        gathered
    }

    /// Gives each item a unique name. `own` returns the name on its server; later items with the same one are
    /// left out. The names of servers whose list could not be requested stay taken, so that no other server
    /// receives their calls. With `max`, names are portable and have at most this length. Names that fit are assigned
    /// first, so that no cleaned name takes one of them.
    fn with_unique_names<T>(
        &self,
        mut gathered: ServerLists<T>,
        names: &RwLock<ItemNames>,
        max: Option<usize>,
        own: fn(&T) -> &str,
    ) -> GroupList<T> {
        let mut counts: HashMap<String, usize> = HashMap::new();
        let mut listed: HashSet<(Arc<str>, String)> = HashSet::new();
        for (member, list) in &mut gathered.lists {
            let server = &member.member.name;
            list.retain(|item| listed.insert((server.clone(), own(item).to_owned())));
            for item in list {
                *counts.entry(own(item).to_owned()).or_default() += 1;
            }
        }
        let failed: HashSet<_> = gathered.failures.iter().map(|(name, _)| name).collect();
        let mut names = names.write();
        names.retain(|server, own| {
            failed.contains(server) || listed.contains(&(server.clone(), own.to_owned()))
        });
        let naming = self.inner.naming;
        let members = self.members();
        let prefixes: Vec<&str> = members.iter().map(|member| &*member.prefix).collect();
        let wanted = |member: &GroupMember, own: &str| {
            let is_shared = counts.get(own) > Some(&1);
            naming.candidates(&member.prefix, own, is_shared, &prefixes)
        };
        let named = |member: &GroupMember, own: &str| (member.member.name.clone(), own.to_owned());
        if let Some(max) = max {
            for (member, list) in &gathered.lists {
                for own in list.iter().map(own) {
                    let mut fitting = wanted(member, own).take(1);
                    if fitting.all(|name| is_portable_name(&name, max)) {
                        names.assign(named(member, own), wanted(member, own));
                    }
                }
            }
        }
        gathered.into_list(|member, item| {
            let own = own(item);
            let (item, wanted) = (named(member, own), wanted(member, own));
            match max {
                Some(max) => {
                    let server = &member.member.name;
                    names.assign(item, portable_names(wanted, (server, own), max))
                }
                None => names.assign(item, wanted),
            }
        })
    }
}

/// The list of each server.
struct ServerLists<T> {
    lists: Vec<(GroupMember, Vec<T>)>,
    failures: Vec<(Arc<str>, Error)>,
}

impl<T> ServerLists<T> {
    /// Leaves out items without a name.
    fn into_list(self, mut name: impl FnMut(&GroupMember, &T) -> Option<String>) -> GroupList<T> {
        let mut items = Vec::new();
        for (member, list) in self.lists {
            items.extend(list.into_iter().filter_map(|item| {
                let server = member.member.name.clone();
                let name = name(&member, &item)?;
                Some(Listed { server, name, item })
            }));
        }
        GroupList {
            items,
            failures: self.failures,
        }
    }
}
