//! Who completes what.

use mcp_core::{BoxFuture, Fault, Reply, ResultBody};
use mcp_types::{CompleteParams, CompleteResult, Completion, CompletionReference};

use super::{Choices, CompletionRoute};
use crate::extract::CallContext;
use crate::prompts::PromptSet;
use crate::resources::ResourceSet;

#[derive(Debug)]
pub(crate) struct CompletionSet {
    routes: Vec<CompletionRoute>,
    /// Some argument completes by itself.
    choices: bool,
}

/// What answers.
pub(crate) enum Found<'a> {
    Route(&'a CompletionRoute),
    Completion(Completion),
}

impl Found<'_> {
    pub(crate) fn call(self, call: CallContext) -> BoxFuture<'static, Reply> {
        match self {
            Self::Route(route) => route.call(call),
            Self::Completion(found) => {
                let reply = ResultBody::Complete(CompleteResult::new(found)).into();
                Box::pin(std::future::ready(reply))
            }
        }
    }
}

impl CompletionSet {
    pub(crate) fn new(routes: &[CompletionRoute], choices: bool) -> Self {
        Self {
            routes: routes.to_vec(),
            choices,
        }
    }

    /// Nothing can be completed.
    pub(crate) fn is_empty(&self) -> bool {
        self.routes.is_empty() && !self.choices
    }

    /// What completes an argument: its handler, else the values of its type, else nothing.
    ///
    /// # Errors
    ///
    /// There is no such prompt or template.
    // spec: COMP-04
    pub(crate) fn find(
        &self,
        params: &CompleteParams,
        prompts: &PromptSet,
        resources: &ResourceSet,
    ) -> Result<Found<'_>, Fault> {
        let argument = &params.argument;
        let choices = choices(&params.reference, prompts, resources)?;
        let mut routes = self.routes.iter();
        let route = routes.find(|route| {
            *route.reference() == params.reference && *route.argument() == *argument.name
        });
        if let Some(route) = route {
            return Ok(Found::Route(route));
        }
        let found = choices.map(|choices| choices.complete(&argument.name, &argument.value));
        Ok(Found::Completion(found.unwrap_or_default()))
    }
}

fn choices<'a>(
    reference: &CompletionReference,
    prompts: &'a PromptSet,
    resources: &'a ResourceSet,
) -> Result<Option<&'a Choices>, Fault> {
    match reference {
        CompletionReference::Prompt { name } => match prompts.find(name) {
            Some(route) => Ok(Some(route.choices())),
            None => Err(Fault::bad_params(format!(
                "`params.ref`: unknown prompt: {name}"
            ))),
        },
        CompletionReference::Resource { uri } => match resources.template(uri) {
            Some(route) => Ok(Some(route.choices())),
            // A resource without variables exists, and has nothing to complete.
            None if resources.has_resource(uri) => Ok(None),
            None => Err(Fault::bad_params(format!(
                "`params.ref`: unknown resource template: {uri}"
            ))),
        },
        _ => Err(Fault::bad_params(
            "`params.ref`: expected a prompt or a resource template",
        )),
    }
}
