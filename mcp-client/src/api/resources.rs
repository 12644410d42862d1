//! Resources.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/resources>

use mcp_core::Call;
use mcp_types::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceParams, ReadResourceResult,
    Resource, ResourceTemplate,
};

use super::pages::list_page;
use crate::call::{PreparedCall, result_of};
use crate::client::Client;

list_page! {
    ListResourcesResult of Resource in resources named uri by ListResources;
    ListResourceTemplatesResult of ResourceTemplate in resource_templates named uri_template by ListResourceTemplates;
}

impl Client {
    /// Reads a resource by its URI.
    pub fn read_resource<'a>(
        &self,
        uri: impl Into<String>,
    ) -> PreparedCall<'a, ReadResourceResult> {
        let call = Call::ReadResource(ReadResourceParams::from(uri));
        PreparedCall::new(self, call, result_of!(ReadResource))
    }

    /// Lists the resources, like [`list_tools`](Self::list_tools).
    pub fn list_resources<'a>(&self) -> PreparedCall<'a, Vec<Resource>> {
        self.list::<ListResourcesResult>()
    }

    /// Lists the resource templates, like [`list_tools`](Self::list_tools).
    pub fn list_resource_templates<'a>(&self) -> PreparedCall<'a, Vec<ResourceTemplate>> {
        self.list::<ListResourceTemplatesResult>()
    }
}
