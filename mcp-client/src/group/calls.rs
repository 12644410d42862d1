//! Calls by names in the group.

use std::sync::Arc;

use mcp_types::{
    CallToolResult, CompleteParams, CompleteResult, CompletionReference, GetPromptResult,
    ReadResourceResult,
};
use parking_lot::RwLock;
use serde::Serialize;

use super::handle::{Group, GroupMember};
use super::names::{ItemNames, Naming, SEPARATOR};
use crate::client::Client;
use crate::error::{Error, ErrorKind};

impl Group {
    /// Calls a tool by its name in the group.
    ///
    /// # Errors
    ///
    /// Returns the error of [`route_tool`](Self::route_tool) or of the call.
    pub async fn call(&self, tool: &str, args: impl Serialize) -> Result<CallToolResult, Error> {
        let (client, name) = self.route_tool(tool).await?;
        client.call(name, args).await
    }

    /// Gets a prompt by its name in the group.
    ///
    /// # Errors
    ///
    /// Returns an error when no server has the prompt, when its server cannot be started, or when the call fails.
    pub async fn get_prompt(
        &self,
        prompt: &str,
        args: impl Serialize,
    ) -> Result<GetPromptResult, Error> {
        let (client, name) = self.route_prompt(prompt).await?;
        client.get_prompt(name, args).await
    }

    /// Reads a resource by its name in the group, `server__uri`. URIs in the result have no prefix.
    ///
    /// A resource link in a tool's result has no prefix either. Read it with the client that
    /// [`route_tool`](Self::route_tool) returns.
    ///
    /// # Errors
    ///
    /// Returns an error when the name starts with no server of the group, when that server cannot be started, or when
    /// the call fails.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(group: mcp::group::Group) -> Result<(), mcp::Error> {
    /// for resource in group.list_resources().await.items {
    ///     println!("{}", group.read_resource(&resource.name).await?.text());
    /// }
    /// // From the template `users://{id}/profile` of the server `crm`:
    /// let profile = group.read_resource("crm__users://7/profile").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn read_resource(&self, resource: &str) -> Result<ReadResourceResult, Error> {
        let (client, uri) = self.route_resource(resource).await?;
        client.read_resource(uri).await
    }

    /// Completes an argument of a prompt or of a resource template. The reference contains its name
    /// in the group.
    ///
    /// # Errors
    ///
    /// Returns an error when no server has the prompt or template, when its server cannot be
    /// started, or when the call fails.
    pub async fn complete(&self, mut params: CompleteParams) -> Result<CompleteResult, Error> {
        let client = match &mut params.reference {
            CompletionReference::Prompt { name } => {
                let (client, own) = self.route_prompt(name).await?;
                *name = own;
                client
            }
            CompletionReference::Resource { uri } => {
                let (client, own) = self.route_resource(uri).await?;
                *uri = own;
                client
            }
            _ => return Err(ErrorKind::NotInGroup("this kind of reference".into()).into()),
        };
        client.complete(params).await
    }

    /// Returns the client of the server that has a tool, and the tool's name on that server. Use it
    /// for calls with options.
    ///
    /// # Errors
    ///
    /// Returns an error when no server has the tool, or when its server cannot be started.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// # async fn example(group: mcp::group::Group) -> Result<(), mcp::Error> {
    /// let (client, tool) = group.route_tool("files__find").await?;
    /// let result = client.call(tool, ()).timeout(Duration::from_secs(5)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn route_tool(&self, tool: &str) -> Result<(Client, String), Error> {
        let listing = async { self.list_tools().await.failures };
        self.routed(&self.inner.tools, tool, listing).await
    }

    /// Returns the client of the server that has a prompt, and the prompt's name on that server.
    async fn route_prompt(&self, prompt: &str) -> Result<(Client, String), Error> {
        let listing = async { self.list_prompts().await.failures };
        self.routed(&self.inner.prompts, prompt, listing).await
    }

    /// Returns the client of the server in a resource name (`server__uri`), and the URI on that
    /// server. No list is requested, so the server may not have the resource.
    async fn route_resource(&self, resource: &str) -> Result<(Client, String), Error> {
        let found = self.member_of(resource);
        let (found, uri) = found.ok_or_else(|| ErrorKind::NotInGroup(resource.into()))?;
        Ok((found.member.client().await?, uri.to_owned()))
    }

    /// Returns the server whose prefix begins a name, and the rest of the name.
    fn member_of<'a>(&self, name: &'a str) -> Option<(GroupMember, &'a str)> {
        let members = self.members();
        let found = members.iter().filter_map(|found| {
            let rest = name.strip_prefix(&*found.prefix)?;
            Some((found, rest.strip_prefix(SEPARATOR)?))
        });
        // The longest prefix wins: `a__b__c:` is a URI of server `a__b`, because no URI starts with
        // `b__c:`.
        let found = found.max_by_key(|(found, _)| found.prefix.len());
        found.map(|(found, rest)| (found.clone(), rest))
    }

    /// Returns the owner of a name. If none is known, the servers are listed: `listing` returns those that fail.
    async fn routed(
        &self,
        names: &RwLock<ItemNames>,
        name: &str,
        listing: impl Future<Output = Vec<(Arc<str>, Error)>>,
    ) -> Result<(Client, String), Error> {
        let mut failures = Vec::new();
        let mut found = names.read().find(name);
        if found.is_none() {
            failures = listing.await;
            found = names.read().find(name);
        }
        let (server, own) = found.ok_or_else(|| self.missing(name, failures))?;
        Ok((self.client(&server).await?, own))
    }

    /// Returns the error of the server that would have the name, if it could not be listed.
    fn missing(&self, name: &str, failures: Vec<(Arc<str>, Error)>) -> Error {
        let owner = self
            .member_of(name)
            .map(|(found, _)| found.member.name.clone());
        let mut failures = failures.into_iter();
        let failure = failures.find(|(server, _)| match &owner {
            Some(owner) => owner == server,
            // A name without a prefix can be that of any server.
            None => self.inner.naming == Naming::PlainUnlessTaken,
        });
        failure.map_or_else(
            || ErrorKind::NotInGroup(name.into()).into(),
            |(_, error)| error,
        )
    }
}
