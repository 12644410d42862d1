//! What a server has beside tools, as it is served: resources, templates, prompts, completions.
//!
//! Many servers have tools alone, and compile nothing of this: all of it, with the routes that it serves, is
//! `#[inline]`, which leaves it to the crates that make such routes. Those name [`Others::of`], and nobody
//! else does.

use std::fmt;
use std::sync::Arc;

use mcp_core::{BoxFuture, Call, Exchange, Fault, ItemKind, Reply};

use super::answer::{missing, now};
use super::{Book, Catalogue};
use crate::caller::Caller;
use crate::completion::CompletionSet;
use crate::listing::{Kind, Set};
use crate::prompts::PromptRoute;
use crate::resources::{ResourceRoute, TemplateRoute};

/// The routes beside tools, as they are seen by what serves them.
pub(crate) trait AnyOthers: fmt::Debug + Send + Sync {
    /// The answer to a call that is for none of the tools.
    fn answer(&self, catalogue: &Arc<Catalogue>, exchange: Exchange) -> BoxFuture<'static, Reply>;

    /// The caller may hear of a URI.
    fn shows(&self, uri: &str, caller: &Caller<'_>) -> bool;

    /// The same, where a kind of routes has changed.
    fn renewed(&self, kind: Kind, book: &Book) -> Arc<dyn AnyOthers>;
}

/// See [`Others::of`].
pub(crate) type MakeOthers = fn(&Book) -> Arc<dyn AnyOthers>;

#[derive(Debug, Clone)]
pub(crate) struct Others {
    pub(super) resources: Arc<Set<ResourceRoute>>,
    pub(super) templates: Arc<Set<TemplateRoute>>,
    pub(super) prompts: Arc<Set<PromptRoute>>,
    pub(super) completions: Arc<CompletionSet>,
}

impl Others {
    /// What the book has of them.
    #[inline]
    pub(crate) fn of(book: &Book) -> Arc<dyn AnyOthers> {
        Arc::new(Self {
            resources: Arc::new(Set::of(&book.resources, book.page_size)),
            templates: Arc::new(Set::of(&book.templates, book.page_size)),
            prompts: Arc::new(Set::of(&book.prompts, book.page_size)),
            completions: Arc::new(CompletionSet::new(&book.completions)),
        })
    }
}

impl AnyOthers for Others {
    // spec: RSRC-05, RSRC-06, PROMPT-05
    #[inline]
    fn answer(&self, catalogue: &Arc<Catalogue>, exchange: Exchange) -> BoxFuture<'static, Reply> {
        let offers = &catalogue.profile.capabilities;
        let caller = Caller::of(&exchange);
        let context = |exchange| catalogue.context(exchange);
        match &exchange.call {
            Call::ReadResource(params) if offers.resources.is_some() => {
                match self.reads(&params.uri, &caller) {
                    Some(found) => found.call(context(exchange)),
                    None => missing(ItemKind::Resource, &params.uri),
                }
            }
            Call::ListResources(page) if offers.resources.is_some() => {
                now(self.resources.list(page, &caller))
            }
            Call::ListResourceTemplates(page) if offers.resources.is_some() => {
                now(self.templates.list(page, &caller))
            }
            Call::GetPrompt(params) if offers.prompts.is_some() => {
                match self.prompts.find(&params.name, &caller) {
                    Some(route) => route.call(context(exchange)),
                    None => missing(ItemKind::Prompt, &params.name),
                }
            }
            Call::ListPrompts(page) if offers.prompts.is_some() => {
                now(self.prompts.list(page, &caller))
            }
            Call::Complete(params) if offers.completions.is_some() => {
                match self.completes(params, &caller) {
                    Ok(found) => found.call(context(exchange)),
                    Err(fault) => now(fault.into()),
                }
            }
            other => now(Fault::no_such_method(other.method_name()).into()),
        }
    }

    #[inline]
    fn shows(&self, uri: &str, caller: &Caller<'_>) -> bool {
        self.shows_uri(uri, caller)
    }

    #[inline]
    fn renewed(&self, kind: Kind, book: &Book) -> Arc<dyn AnyOthers> {
        let mut renewed = self.clone();
        match kind {
            Kind::Resource => {
                renewed.resources = Arc::new(Set::of(&book.resources, book.page_size));
            }
            Kind::Template => {
                renewed.templates = Arc::new(Set::of(&book.templates, book.page_size));
            }
            Kind::Prompt => renewed.prompts = Arc::new(Set::of(&book.prompts, book.page_size)),
            Kind::Tool => {}
        }
        Arc::new(renewed)
    }
}
