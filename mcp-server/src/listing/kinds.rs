//! What each kind of routes has of its own.

use std::sync::Arc;

use mcp_core::{Listing, ResultBody};
use mcp_types::{
    Cursor, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    Prompt, Resource, ResourceTemplate, Tool,
};

use super::{Kind, Listed};
use crate::prompts::PromptRoute;
use crate::resources::{ResourceRoute, TemplateRoute};
use crate::spec::RouteSpec;
use crate::standing::Standing;
use crate::tools::ToolRoute;

macro_rules! listed {
    ($($route:ident: $kind:ident, $item:ident ($get:ident by $key:ident), $page:ident as $body:ident;)*) => {
        $(impl Listed for $route {
            type Item = $item;
            type Page = $page;

            const KIND: Kind = Kind::$kind;

            fn item(&self) -> &$item {
                self.$get()
            }

            fn key(&self) -> &str {
                &self.$get().$key
            }

            fn spec(&self) -> &RouteSpec {
                self.spec()
            }

            fn standing(&self) -> &Standing {
                &self.standing
            }

            fn page(items: Vec<$item>, next: Option<Cursor>) -> $page {
                let mut page = $page::new(items);
                page.next_cursor = next;
                page
            }

            fn body(listing: Arc<Listing<$page>>) -> ResultBody {
                ResultBody::$body(listing)
            }
        })*
    };
}

listed! {
    ToolRoute: Tool, Tool (tool by name), ListToolsResult as ListTools;
    ResourceRoute: Resource, Resource (resource by uri), ListResourcesResult as ListResources;
    TemplateRoute: Template, ResourceTemplate (template by uri_template), ListResourceTemplatesResult as ListResourceTemplates;
    PromptRoute: Prompt, Prompt (prompt by name), ListPromptsResult as ListPrompts;
}
