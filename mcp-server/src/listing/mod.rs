//! Lists: what an author keeps of a kind of routes, and what is served of it.

mod cursor;
mod kinds;
mod set;
mod shelf;

use std::fmt;
use std::sync::Arc;

use mcp_core::{ChangeEvent, Listing, ResultBody};
use mcp_types::Cursor;

use crate::caller::Caller;
use crate::spec::RouteSpec;
use crate::standing::Standing;

pub(crate) use set::Set;
pub(crate) use shelf::Shelf;

/// Who sees which items of a kind.
pub(crate) type Sight<R> =
    Arc<dyn Fn(&Caller<'_>, &<R as Listed>::Item) -> bool + Send + Sync + 'static>;

/// A route that is listed under a name or a URI.
pub(crate) trait Listed: Clone + Send + Sync + 'static {
    /// What is listed of it.
    type Item: Clone;
    /// A page of the list.
    type Page: Send + Sync;

    const KIND: Kind;

    fn item(&self) -> &Self::Item;

    /// Its name or its URI.
    fn key(&self) -> &str;

    fn spec(&self) -> &RouteSpec;

    fn standing(&self) -> &Standing;

    fn page(items: Vec<Self::Item>, next: Option<Cursor>) -> Self::Page;

    fn body(listing: Arc<Listing<Self::Page>>) -> ResultBody;
}

/// What is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Tool,
    Resource,
    Template,
    Prompt,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Template => "resource template",
            Self::Prompt => "prompt",
        }
    }

    /// How an item is found.
    pub(crate) fn relation(self) -> &'static str {
        match self {
            Self::Tool | Self::Prompt => "named",
            Self::Resource | Self::Template => "at",
        }
    }

    /// What is told when the list changes.
    pub(crate) fn event(self) -> ChangeEvent {
        match self {
            Self::Tool => ChangeEvent::Tools,
            Self::Prompt => ChangeEvent::Prompts,
            Self::Resource | Self::Template => ChangeEvent::Resources,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
