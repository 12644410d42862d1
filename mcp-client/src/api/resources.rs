//! Resources.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/resources>

use futures_core::Stream;
use mcp_core::{Call, ResultBody};
use mcp_types::{
    Cursor, ListResourceTemplatesResult, ListResourcesResult, ReadResourceParams,
    ReadResourceResult, Resource, ResourceTemplate,
};

use super::pages::paged;
use crate::{Client, Error, PreparedCall};

paged! {
    ListResourcesResult of Resource in resources by ListResources;
    ListResourceTemplatesResult of ResourceTemplate in resource_templates by ListResourceTemplates;
}

impl Client {
    /// Reads a resource.
    pub fn read_resource<'a>(
        &self,
        uri: impl Into<String>,
    ) -> PreparedCall<'a, ReadResourceResult> {
        let call = Call::ReadResource(ReadResourceParams::new(uri));
        PreparedCall::new(self, call, |body| match body {
            ResultBody::ReadResource(result) => Some(result),
            _ => None,
        })
    }

    /// The resources of the server, over all pages, like [`list_tools`](Self::list_tools).
    pub fn list_resources(
        &self,
    ) -> impl Stream<Item = Result<Resource, Error>> + Send + Unpin + use<> {
        self.pages::<ListResourcesResult>()
    }

    /// All resources of the server.
    ///
    /// # Errors
    ///
    /// The first error of [`list_resources`](Self::list_resources).
    pub async fn list_all_resources(&self) -> Result<Vec<Resource>, Error> {
        self.all::<ListResourcesResult>().await
    }

    /// One page of resources: the first one, or the one at a cursor.
    pub fn list_resources_page<'a>(
        &self,
        cursor: impl Into<Option<Cursor>>,
    ) -> PreparedCall<'a, ListResourcesResult> {
        self.page(cursor.into())
    }

    /// The resource templates of the server, over all pages, like
    /// [`list_tools`](Self::list_tools).
    pub fn list_resource_templates(
        &self,
    ) -> impl Stream<Item = Result<ResourceTemplate, Error>> + Send + Unpin + use<> {
        self.pages::<ListResourceTemplatesResult>()
    }

    /// All resource templates of the server.
    ///
    /// # Errors
    ///
    /// The first error of [`list_resource_templates`](Self::list_resource_templates).
    pub async fn list_all_resource_templates(&self) -> Result<Vec<ResourceTemplate>, Error> {
        self.all::<ListResourceTemplatesResult>().await
    }

    /// One page of resource templates: the first one, or the one at a cursor.
    pub fn list_resource_templates_page<'a>(
        &self,
        cursor: impl Into<Option<Cursor>>,
    ) -> PreparedCall<'a, ListResourceTemplatesResult> {
        self.page(cursor.into())
    }
}
