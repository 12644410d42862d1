//! Who completes what.

use mcp_core::{BoxFuture, Fault, Reply, ResultBody};
use mcp_types::{CompleteParams, CompleteResult, Completion, CompletionReference};

use super::{Choices, CompletionRoute};
use crate::caller::Caller;
use crate::extract::CallContext;
use crate::live::Catalogue;

#[derive(Debug)]
pub(crate) struct CompletionSet(Vec<CompletionRoute>);

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
    pub(crate) fn new(routes: &[CompletionRoute]) -> Self {
        Self(routes.to_vec())
    }
}

/// What completes an argument: its handler, else the values of its type, else nothing.
///
/// # Errors
///
/// There is no such prompt or template.
// spec: COMP-04
pub(crate) fn find<'a>(
    catalogue: &'a Catalogue,
    params: &CompleteParams,
    caller: &Caller<'_>,
) -> Result<Found<'a>, Fault> {
    let argument = &params.argument;
    let choices = choices(catalogue, &params.reference, caller)?;
    let mut routes = catalogue.completions.0.iter();
    let route = routes.find(|route| {
        *route.reference() == params.reference && *route.argument() == *argument.name
    });
    if let Some(route) = route {
        return Ok(Found::Route(route));
    }
    let found = choices.map(|choices| choices.complete(&argument.name, &argument.value));
    Ok(Found::Completion(found.unwrap_or_default()))
}

fn choices<'a>(
    catalogue: &'a Catalogue,
    reference: &CompletionReference,
    caller: &Caller<'_>,
) -> Result<Option<&'a Choices>, Fault> {
    match reference {
        CompletionReference::Prompt { name } => match catalogue.prompts.find(name, caller) {
            Some(route) => Ok(Some(route.choices())),
            None => Err(Fault::bad_params(format!(
                "`params.ref`: unknown prompt: {name}"
            ))),
        },
        CompletionReference::Resource { uri } => match catalogue.templates.find(uri, caller) {
            Some(route) => Ok(Some(route.choices())),
            // A resource without variables exists, and has nothing to complete.
            None if catalogue.resources.find(uri, caller).is_some() => Ok(None),
            None => Err(Fault::bad_params(format!(
                "`params.ref`: unknown resource template: {uri}"
            ))),
        },
        _ => Err(Fault::bad_params(
            "`params.ref`: expected a prompt or a resource template",
        )),
    }
}
