//! Which route a URI or an argument goes to.

use mcp_core::{BoxFuture, Fault, Reply, ResultBody};
use mcp_types::{CompleteParams, CompleteResult, Completion, CompletionReference};

use super::others::Others;
use crate::caller::Caller;
use crate::completion::{Choices, CompletionRoute};
use crate::context::CallContext;
use crate::resources::template::Variables;
use crate::resources::{ResourceRoute, TemplateRoute};

/// What reads a URI.
pub(super) enum Reads<'a> {
    Resource(&'a ResourceRoute),
    Template(&'a TemplateRoute, Variables),
}

impl Reads<'_> {
    #[inline]
    pub(super) fn call(self, call: CallContext) -> BoxFuture<'static, Reply> {
        match self {
            Self::Resource(route) => route.call(call),
            Self::Template(route, variables) => route.call(call, variables),
        }
    }
}

/// What completes an argument.
pub(super) enum Completes<'a> {
    Route(&'a CompletionRoute),
    Completion(Completion),
}

impl Completes<'_> {
    #[inline]
    pub(super) fn call(self, call: CallContext) -> BoxFuture<'static, Reply> {
        match self {
            Self::Route(route) => route.call(call),
            Self::Completion(found) => {
                let reply = ResultBody::Complete(CompleteResult::new(found)).into();
                Box::pin(std::future::ready(reply))
            }
        }
    }
}

impl Others {
    /// What reads a URI: exact URIs come first, then templates in their order. The first that fits
    /// decides: where the caller may not see it, nothing reads the URI.
    #[inline]
    pub(super) fn reads(&self, uri: &str, caller: &Caller<'_>) -> Option<Reads<'_>> {
        let found = self.fitting(uri)?;
        let shown = match &found {
            Reads::Resource(route) => self.resources.shows(route, caller),
            Reads::Template(route, _) => self.templates.shows(route, caller),
        };
        shown.then_some(found)
    }

    /// The caller may hear of a URI. Those that nothing reads are no secret.
    // spec: GAP-10
    #[inline]
    pub(super) fn shows_uri(&self, uri: &str, caller: &Caller<'_>) -> bool {
        let same_for_all = !self.resources.is_by_caller() && !self.templates.is_by_caller();
        same_for_all || self.reads(uri, caller).is_some() || self.fitting(uri).is_none()
    }

    #[inline]
    fn fitting(&self, uri: &str) -> Option<Reads<'_>> {
        if let Some(route) = self.resources.get(uri) {
            return Some(Reads::Resource(route));
        }
        let mut templates = self.templates.iter();
        templates.find_map(|route| Some(Reads::Template(route, route.matches(uri)?)))
    }

    /// What completes an argument: its handler, else the values of its type, else nothing.
    ///
    /// # Errors
    ///
    /// There is no such prompt or template.
    // spec: COMP-04
    #[inline]
    pub(super) fn completes(
        &self,
        params: &CompleteParams,
        caller: &Caller<'_>,
    ) -> Result<Completes<'_>, Fault> {
        let (argument, reference) = (&params.argument, &params.reference);
        let choices = self.choices(reference, caller)?;
        if let Some(route) = self.completions.get(reference, &argument.name) {
            return Ok(Completes::Route(route));
        }
        let found = choices.map(|choices| choices.complete(&argument.name, &argument.value));
        Ok(Completes::Completion(found.unwrap_or_default()))
    }

    #[inline]
    fn choices(
        &self,
        reference: &CompletionReference,
        caller: &Caller<'_>,
    ) -> Result<Option<&Choices>, Fault> {
        match reference {
            CompletionReference::Prompt { name } => match self.prompts.find(name, caller) {
                Some(route) => Ok(Some(route.choices())),
                None => Err(Fault::bad_params(format!(
                    "`params.ref`: unknown prompt: {name}"
                ))),
            },
            CompletionReference::Resource { uri } => match self.templates.find(uri, caller) {
                Some(route) => Ok(Some(route.choices())),
                // A resource without variables exists, and has nothing to complete.
                None if self.resources.find(uri, caller).is_some() => Ok(None),
                None => Err(Fault::bad_params(format!(
                    "`params.ref`: unknown resource template: {uri}"
                ))),
            },
            _ => Err(Fault::bad_params(
                "`params.ref`: expected a prompt or a resource template",
            )),
        }
    }
}
