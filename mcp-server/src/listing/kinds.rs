//! What each kind of routes has of its own.

use std::sync::Arc;

use mcp_core::{Listing, ResultBody};
use mcp_types::{
    Cursor, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    Prompt, Resource, ResourceTemplate, Tool,
};

use super::{Kind, Listed, Set, Shelf};
use crate::extract::RouteSpec;
use crate::live::{Book, Catalogue};
use crate::prompts::PromptRoute;
use crate::resources::{ResourceRoute, TemplateRoute};
use crate::standing::Standing;
use crate::tools::ToolRoute;

macro_rules! listed {
    ($($route:ident: $kind:ident, $item:ident ($get:ident by $key:ident), $page:ident as $body:ident, $shelf:ident;)*) => {
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

            fn shelf(book: &Book) -> &Shelf<Self> {
                &book.$shelf
            }

            fn shelf_mut(book: &mut Book) -> &mut Shelf<Self> {
                &mut book.$shelf
            }

            fn set_mut(catalogue: &mut Catalogue) -> &mut Arc<Set<Self>> {
                &mut catalogue.$shelf
            }
        })*
    };
}

listed! {
    ToolRoute: Tool, Tool (tool by name), ListToolsResult as ListTools, tools;
    ResourceRoute: Resource, Resource (resource by uri), ListResourcesResult as ListResources, resources;
    TemplateRoute: Template, ResourceTemplate (template by uri_template), ListResourceTemplatesResult as ListResourceTemplates, templates;
    PromptRoute: Prompt, Prompt (prompt by name), ListPromptsResult as ListPrompts, prompts;
}
