//! Resources.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/resources>

use futures_core::Stream;
use mcp_core::{Call, ResultBody};
use mcp_types::{
    Cursor, ListResourceTemplatesResult, ListResourcesResult, ReadResourceParams,
    ReadResourceResult, Resource, ResourceTemplate,
};

use super::pages::list_page;
use crate::client::Client;
use crate::error::Error;
use crate::prepared::PreparedCall;

list_page! {
    ListResourcesResult of Resource in resources by ListResources;
    ListResourceTemplatesResult of ResourceTemplate in resource_templates by ListResourceTemplates;
}

impl Client {
    /// Reads a resource by its URI.
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

    /// Returns the resources of all pages as a stream, like [`list_tools`](Self::list_tools).
    pub fn list_resources(
        &self,
    ) -> impl Stream<Item = Result<Resource, Error>> + Send + Unpin + use<> {
        self.list_all_resources().stream()
    }

    /// Lists the resources of all pages, like [`list_all_tools`](Self::list_all_tools).
    pub fn list_all_resources<'a>(&self) -> PreparedCall<'a, Vec<Resource>> {
        self.all::<ListResourcesResult>()
    }

    /// Lists one page of resources: the first one, or the one at a cursor.
    pub fn list_resources_page<'a>(
        &self,
        cursor: impl Into<Option<Cursor>>,
    ) -> PreparedCall<'a, ListResourcesResult> {
        self.page(cursor.into())
    }

    /// Returns the resource templates of all pages as a stream, like
    /// [`list_tools`](Self::list_tools).
    pub fn list_resource_templates(
        &self,
    ) -> impl Stream<Item = Result<ResourceTemplate, Error>> + Send + Unpin + use<> {
        self.list_all_resource_templates().stream()
    }

    /// Lists the resource templates of all pages, like [`list_all_tools`](Self::list_all_tools).
    pub fn list_all_resource_templates<'a>(&self) -> PreparedCall<'a, Vec<ResourceTemplate>> {
        self.all::<ListResourceTemplatesResult>()
    }

    /// Lists one page of resource templates: the first one, or the one at a cursor.
    pub fn list_resource_templates_page<'a>(
        &self,
        cursor: impl Into<Option<Cursor>>,
    ) -> PreparedCall<'a, ListResourceTemplatesResult> {
        self.page(cursor.into())
    }
}
