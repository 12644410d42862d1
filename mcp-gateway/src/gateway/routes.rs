//! Tools, resources, templates, prompts and completions of the gateway: those of its servers.

use std::sync::Arc;

use mcp_client::group::Listed;
use mcp_server::{
    CompletionError, CompletionRoute, Prefix, PromptError, PromptExt as _, PromptRoute, RawArgs,
    ResourceError, ResourceExt as _, ResourceRoute, TemplateRoute, ToolError, ToolExt as _,
    ToolRoute,
};
use mcp_types::{
    CompleteParams, CompleteResult, CompletionReference, JsonObject, Prompt, RawObject, Resource,
    ResourceTemplate, Tool,
};

use super::forward::{Request, Upstream};

pub(super) fn tool(upstream: Upstream, listed: &Listed<Tool>) -> ToolRoute {
    let own: Arc<str> = listed.item.name.as_str().into();
    let mut tool = listed.item.clone();
    tool.name.clone_from(&listed.name);
    tool.handler(move |request: Request, RawArgs(arguments): RawArgs| {
        let (upstream, own) = (upstream.clone(), own.clone());
        async move {
            let call = upstream.call(request, |client| client.call(&*own, arguments.clone()));
            call.await.map_err(ToolError::fault)
        }
    })
}

pub(super) fn prompt(upstream: Upstream, listed: &Listed<Prompt>) -> PromptRoute {
    let own: Arc<str> = listed.item.name.as_str().into();
    let mut prompt = listed.item.clone();
    prompt.name.clone_from(&listed.name);
    prompt.handler(move |request: Request, RawArgs(arguments): RawArgs| {
        let (upstream, own) = (upstream.clone(), own.clone());
        async move {
            let call = upstream.call(request, |client| {
                client.get_prompt(&*own, arguments.clone())
            });
            call.await.map_err(PromptError::fault)
        }
    })
}

pub(super) fn resource(upstream: Upstream, listed: &Listed<Resource>) -> ResourceRoute {
    listed.item.clone().read(reader(upstream))
}

pub(super) fn template(upstream: Upstream, listed: &Listed<ResourceTemplate>) -> TemplateRoute {
    listed.item.clone().read(reader(upstream))
}

/// A handler that reads the resource of the request.
fn reader(upstream: Upstream) -> impl mcp_server::ReadHandler<(mcp_server::AsyncHandler, Request)> {
    move |request: Request| {
        let upstream = upstream.clone();
        async move {
            let uri = request.item.clone();
            let call = upstream.call(request, |client| client.read_resource(&*uri));
            call.await.map_err(ResourceError::fault)
        }
    }
}

/// Completions of all arguments of a prompt.
pub(super) fn prompt_completions(
    upstream: &Upstream,
    listed: &Listed<Prompt>,
) -> Vec<CompletionRoute> {
    let reference = CompletionReference::prompt(&*listed.item.name);
    let arguments = listed.item.arguments.iter();
    let routes = arguments.map(|argument| {
        let handler = completer(upstream.clone(), reference.clone(), &argument.name);
        CompletionRoute::prompt(&*listed.name, &*argument.name, handler)
    });
    routes.collect()
}

/// Completions of all variables of a template.
pub(super) fn template_completions(
    upstream: &Upstream,
    listed: &Listed<ResourceTemplate>,
) -> Vec<CompletionRoute> {
    let uri = &*listed.item.uri_template;
    let reference = CompletionReference::template(uri);
    let routes = variables(uri).map(|variable| {
        let handler = completer(upstream.clone(), reference.clone(), variable);
        CompletionRoute::template(uri, variable, handler)
    });
    routes.collect()
}

fn completer(
    upstream: Upstream,
    reference: CompletionReference,
    argument: &str,
) -> impl mcp_server::CompletionHandler<(mcp_server::AsyncHandler, Prefix, RawArgs)> {
    let argument: Arc<str> = argument.into();
    move |prefix: Prefix, RawArgs(known): RawArgs| {
        let (upstream, reference) = (upstream.clone(), reference.clone());
        let params = CompleteParams::new(reference, &*argument, prefix.0);
        async move { complete(&upstream, params, &known).await }
    }
}

async fn complete(
    upstream: &Upstream,
    params: CompleteParams,
    known: &RawObject,
) -> Result<CompleteResult, CompletionError> {
    let params = match known.parse::<JsonObject>() {
        Ok(known) if !known.is_empty() => params.context(known),
        _ => params,
    };
    let client = upstream.client().await.map_err(CompletionError::fault)?;
    let completed = client.complete(params).await;
    completed.map_err(|error| CompletionError::fault(upstream.fault(&error)))
}

/// Returns the names of the variables of a URI template.
fn variables(template: &str) -> impl Iterator<Item = &str> {
    let expressions = template.split('{').skip(1);
    let expressions = expressions.filter_map(|rest| Some(rest.split_once('}')?.0));
    expressions.flat_map(|expression| {
        let names = expression.trim_start_matches(['+', '#', '.', '/', ';', '?', '&']);
        names.split(',').map(|name| {
            let name = name.trim_end_matches('*');
            name.split_once(':').map_or(name, |(name, _)| name)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::variables;

    #[test]
    fn variables_of_all_operators_are_found() {
        let all = |template| variables(template).collect::<Vec<_>>();
        assert_eq!(all("file:///{+path}"), ["path"]);
        assert_eq!(all("db://{a}/{b*}{?c,d:3}"), ["a", "b", "c", "d"]);
        assert!(all("db://a").is_empty());
        assert!(all("db://{a").is_empty());
    }
}
