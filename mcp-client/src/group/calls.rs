//! Calls by names of the group, each to the server that has it.

use mcp_types::{
    CallToolResult, CompleteParams, CompleteResult, CompletionReference, GetPromptResult,
    ReadResourceResult,
};
use serde::Serialize;

use super::Group;
use super::lists::{Routes, SEPARATOR};
use crate::error::Kind;
use crate::{Client, Error};

impl Group {
    /// Calls a tool by its name in the group.
    ///
    /// # Errors
    ///
    /// See [`route_tool`](Self::route_tool); and what the call fails with.
    pub async fn call(&self, tool: &str, args: impl Serialize) -> Result<CallToolResult, Error> {
        let (client, name) = self.route_tool(tool).await?;
        client.call(name, args).await
    }

    /// Gets a prompt by its name in the group.
    ///
    /// # Errors
    ///
    /// See [`route_prompt`](Self::route_prompt); and what the call fails with.
    pub async fn get_prompt(
        &self,
        prompt: &str,
        args: impl Serialize,
    ) -> Result<GetPromptResult, Error> {
        let (client, name) = self.route_prompt(prompt).await?;
        client.get_prompt(name, args).await
    }

    /// Reads a resource by its name in the group, `server__uri`. URIs in the result are those of the
    /// server.
    ///
    /// A link in the result of a tool is a URI of that tool's server: read it with the client that
    /// [`route_tool`](Self::route_tool) gives.
    ///
    /// # Errors
    ///
    /// See [`route_resource`](Self::route_resource); and what the call fails with.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(group: mcp_client::group::Group) -> Result<(), mcp_client::Error> {
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

    /// Completes an argument of a prompt or of a resource template, whose names are those in the
    /// group.
    ///
    /// # Errors
    ///
    /// When no server has what is completed, or its server cannot be had; and what the call fails
    /// with.
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
            _ => return Err(Kind::NotInGroup("what is to be completed".into()).into()),
        };
        client.complete(params).await
    }

    /// The server of a tool, by the tool's name in the group, and the tool's own name: for calls
    /// with settings.
    ///
    /// # Errors
    ///
    /// When no server has that tool, or its server cannot be had.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// # async fn example(group: mcp_client::group::Group) -> Result<(), mcp_client::Error> {
    /// let (client, tool) = group.route_tool("files__find").await?;
    /// let result = client.call(tool, ()).timeout(Duration::from_secs(5)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn route_tool(&self, tool: &str) -> Result<(Client, String), Error> {
        if self.inner.tools.find(tool).is_none() {
            self.list_tools().await;
        }
        self.routed(&self.inner.tools, tool).await
    }

    /// The server of a prompt, and the prompt's own name, like [`route_tool`](Self::route_tool).
    ///
    /// # Errors
    ///
    /// When no server has that prompt, or its server cannot be had.
    pub async fn route_prompt(&self, prompt: &str) -> Result<(Client, String), Error> {
        if self.inner.prompts.find(prompt).is_none() {
            self.list_prompts().await;
        }
        self.routed(&self.inner.prompts, prompt).await
    }

    /// The server of a resource, and the resource's own URI, by its name in the group,
    /// `server__uri`. No list is asked for: whether the server has the resource shows when it is
    /// read.
    ///
    /// # Errors
    ///
    /// When the name begins with no server of the group, or that server cannot be had.
    pub async fn route_resource(&self, resource: &str) -> Result<(Client, String), Error> {
        let members = self.inner.members.iter();
        let found = members.filter_map(|member| {
            let rest = resource.strip_prefix(&*member.prefix)?;
            Some((member, rest.strip_prefix(SEPARATOR)?))
        });
        // `a__b` is meant by `a__b__c:`, not `a`: no URI begins with `b__c:`.
        let found = found.max_by_key(|(member, _)| member.prefix.len());
        let (member, uri) = found.ok_or_else(|| Kind::NotInGroup(resource.into()))?;
        Ok((member.client().await?, uri.to_owned()))
    }

    async fn routed(&self, routes: &Routes, name: &str) -> Result<(Client, String), Error> {
        let found = routes.find(name);
        let (server, own) = found.ok_or_else(|| Kind::NotInGroup(name.into()))?;
        Ok((self.client(&server).await?, own))
    }
}
