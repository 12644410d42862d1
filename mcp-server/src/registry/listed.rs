//! Routes that are listed: tools, resources, URI templates, prompts.

use std::fmt;
use std::sync::Arc;

use mcp_core::schema::Lint;
use mcp_core::{ChangeEvent, Listing, ResultBody};
use mcp_types::{
    Cursor, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    Prompt, Resource, ResourceTemplate, Tool,
};

use crate::call::RouteSpec;
use crate::routes::{
    CompletionRoute, PromptRoute, ResourceRoute, RouteScope, TemplateRoute, ToolRoute,
};
use crate::validation::Validation;

/// A kind of listed route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListKind {
    Tool,
    Resource,
    Template,
    Prompt,
}

impl ListKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Template => "resource template",
            Self::Prompt => "prompt",
        }
    }

    /// Returns whether routes are identified by a URI, not by a name.
    pub(crate) fn has_uri(self) -> bool {
        matches!(self, Self::Resource | Self::Template)
    }

    /// Returns the event for a changed list.
    pub(super) fn change_event(self) -> ChangeEvent {
        match self {
            Self::Tool => ChangeEvent::Tools,
            Self::Prompt => ChangeEvent::Prompts,
            Self::Resource | Self::Template => ChangeEvent::Resources,
        }
    }
}

impl fmt::Display for ListKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A route that is listed under a name or a URI.
pub(crate) trait Listed: Clone + Send + Sync + 'static {
    /// The item in the list.
    type Item: Clone + PartialEq;
    /// The result of a list request.
    type Page: Send + Sync;

    const KIND: ListKind;

    fn item(&self) -> &Self::Item;

    /// Returns the name or URI.
    fn key(&self) -> &str;

    fn spec(&self) -> &RouteSpec;

    fn scope(&self) -> &RouteScope;

    fn page(items: Vec<Self::Item>, next: Option<Cursor>) -> Self::Page;

    fn body(listing: Arc<Listing<Self::Page>>) -> ResultBody;

    /// Returns false if lists leave the route out.
    fn is_listed(&self) -> bool {
        true
    }

    /// Returns true if clients see the same item wherever they saw `other`. False where functions decide who sees it,
    /// because functions cannot be compared.
    fn is_listed_as(&self, other: &Self) -> bool {
        self.item() == other.item()
            && self.is_listed() == other.is_listed()
            && self.scope().is_seen_as(other.scope())
            && [self, other]
                .iter()
                .all(|route| route.list_spec().is_none())
    }

    /// Returns the requirements of a function that computes a list.
    fn list_spec(&self) -> Option<&RouteSpec> {
        None
    }

    /// Returns why the route's schemas or variables cannot be used.
    fn schema_problems(&self, _: &Validation) -> Vec<String> {
        Vec::new()
    }

    /// Returns true if calls of the route can become tasks.
    fn can_be_task(&self) -> bool {
        false
    }

    /// Returns the completions of its arguments.
    fn completions(&self) -> &[CompletionRoute] {
        &[]
    }

    /// Returns whether the route has an argument with this name that can be completed.
    fn has_argument(&self, _: &str) -> bool {
        false
    }

    /// Returns why clients may refuse the route.
    fn lints(&self, _: &Validation) -> Vec<Lint> {
        Vec::new()
    }
}

macro_rules! listed {
    ($(
        $route:ident: $kind:ident, $item:ident ($get:ident by $key:ident), $page:ident as $body:ident
        { $($methods:item)* }
    )*) => {
        $(impl Listed for $route {
            type Item = $item;
            type Page = $page;

            const KIND: ListKind = ListKind::$kind;

            fn item(&self) -> &$item {
                self.$get()
            }

            fn key(&self) -> &str {
                &self.$get().$key
            }

            fn spec(&self) -> &RouteSpec {
                self.spec()
            }

            fn scope(&self) -> &RouteScope {
                &self.scope
            }

            fn page(items: Vec<$item>, next: Option<Cursor>) -> $page {
                let mut page = $page::from(items);
                page.next_cursor = next;
                page
            }

            fn body(listing: Arc<Listing<$page>>) -> ResultBody {
                ResultBody::$body(listing)
            }

            $($methods)*
        })*
    };
}

listed! {
    ToolRoute: Tool, Tool (tool by name), ListToolsResult as ListTools {
        fn schema_problems(&self, validation: &Validation) -> Vec<String> {
            self.schema_problems(validation)
        }

        fn can_be_task(&self) -> bool {
            self.can_be_task()
        }

        fn lints(&self, validation: &Validation) -> Vec<Lint> {
            self.lints(validation)
        }
    }
    ResourceRoute: Resource, Resource (resource by uri), ListResourcesResult as ListResources {
        fn is_listed(&self) -> bool {
            self.is_listed()
        }
    }
    TemplateRoute: Template, ResourceTemplate (template by uri_template),
        ListResourceTemplatesResult as ListResourceTemplates {
        fn list_spec(&self) -> Option<&RouteSpec> {
            self.has_list().then(|| self.list_spec())
        }

        fn completions(&self) -> &[CompletionRoute] {
            &self.completions
        }

        fn has_argument(&self, name: &str) -> bool {
            self.has_variable(name)
        }

        fn schema_problems(&self, _: &Validation) -> Vec<String> {
            self.slash_problems()
        }
    }
    PromptRoute: Prompt, Prompt (prompt by name), ListPromptsResult as ListPrompts {
        fn completions(&self) -> &[CompletionRoute] {
            &self.completions
        }

        fn has_argument(&self, name: &str) -> bool {
            self.prompt().arguments.iter().any(|known| known.name == name)
        }
    }
}
