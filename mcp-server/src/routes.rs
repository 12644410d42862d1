//! Routes that belong together, and the mistakes in them.

use std::collections::HashSet;
use std::fmt::Display;

use mcp_types::CompletionReference;

use crate::completion::CompletionRoute;
use crate::extract::RouteSpec;
use crate::prompts::PromptRoute;
use crate::resources::{ResourceRoute, TemplateRoute};
use crate::state::States;
use crate::tools::ToolRoute;

/// Routes that belong together. The macros make them,
/// [`Server::merge`](crate::Server::merge) takes them.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Routes {
    /// Tools.
    pub tools: Vec<ToolRoute>,
    /// Resources.
    pub resources: Vec<ResourceRoute>,
    /// URI templates.
    pub templates: Vec<TemplateRoute>,
    /// Prompts.
    pub prompts: Vec<PromptRoute>,
    /// Completions of arguments.
    pub completions: Vec<CompletionRoute>,
}

impl Routes {
    /// No routes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: ToolRoute) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds a resource.
    #[must_use]
    pub fn resource(mut self, resource: ResourceRoute) -> Self {
        self.resources.push(resource);
        self
    }

    /// Adds a URI template.
    #[must_use]
    pub fn template(mut self, template: TemplateRoute) -> Self {
        self.templates.push(template);
        self
    }

    /// Adds a prompt.
    #[must_use]
    pub fn prompt(mut self, prompt: PromptRoute) -> Self {
        self.prompts.push(prompt);
        self
    }

    /// Adds a completion.
    #[must_use]
    pub fn completion(mut self, completion: CompletionRoute) -> Self {
        self.completions.push(completion);
        self
    }

    /// Adds all routes of another source.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.tools.extend(other.tools);
        self.resources.extend(other.resources);
        self.templates.extend(other.templates);
        self.prompts.extend(other.prompts);
        self.completions.extend(other.completions);
        self
    }

    /// What the extractors of all handlers need.
    pub(crate) fn specs(&self) -> impl Iterator<Item = &RouteSpec> {
        let tools = self.tools.iter().map(ToolRoute::spec);
        let resources = self.resources.iter().map(ResourceRoute::spec);
        let templates = self.templates.iter().map(TemplateRoute::spec);
        let prompts = self.prompts.iter().map(PromptRoute::spec);
        let completions = self.completions.iter().map(CompletionRoute::spec);
        tools
            .chain(resources)
            .chain(templates)
            .chain(prompts)
            .chain(completions)
    }

    /// Some argument completes by itself.
    pub(crate) fn have_choices(&self) -> bool {
        self.prompts.iter().any(|route| !route.choices().is_empty())
            || self
                .templates
                .iter()
                .any(|route| !route.choices().is_empty())
    }

    /// All mistakes, and how to mend them.
    pub(crate) fn problems(&self, states: &States) -> Vec<String> {
        let mut problems = Problems {
            states,
            found: Vec::new(),
        };
        let tools = self.tools.iter();
        problems.kind(
            "tool",
            "named",
            tools.map(|route| (&*route.tool().name, route.spec())),
        );
        let resources = self.resources.iter();
        problems.kind(
            "resource",
            "at",
            resources.map(|route| (&*route.resource().uri, route.spec())),
        );
        let templates = self.templates.iter();
        problems.kind(
            "resource template",
            "at",
            templates.map(|route| (&*route.template().uri_template, route.spec())),
        );
        let prompts = self.prompts.iter();
        problems.kind(
            "prompt",
            "named",
            prompts.map(|route| (&*route.prompt().name, route.spec())),
        );
        self.check_completions(&mut problems);
        problems.found
    }

    fn check_completions(&self, problems: &mut Problems<'_>) {
        let mut seen = Vec::new();
        for route in &self.completions {
            let (reference, argument) = (route.reference(), route.argument());
            let (owner, has_argument) = match reference {
                CompletionReference::Prompt { name } => {
                    let mut prompts = self.prompts.iter().map(PromptRoute::prompt);
                    let prompt = prompts.find(|prompt| prompt.name == *name);
                    let has = prompt
                        .map(|prompt| prompt.arguments.iter().any(|known| known.name == argument));
                    (format!("prompt `{name}`"), has)
                }
                CompletionReference::Resource { uri } => {
                    let mut templates = self.templates.iter();
                    let route = templates.find(|route| route.template().uri_template == *uri);
                    let has = route.map(|route| route.has_variable(argument));
                    (format!("resource template `{uri}`"), has)
                }
                _ => continue,
            };
            let what = format!("completion of `{argument}` of the {owner}");
            problems.route(&what, route.spec());
            match has_argument {
                None => problems.add(format!("the {what}: there is no such {owner}")),
                Some(false) => problems.add(format!("the {what}: it has no argument `{argument}`")),
                Some(true) if seen.contains(&(reference, argument)) => {
                    problems.add(format!("two completions of `{argument}` of the {owner}"));
                }
                Some(true) => seen.push((reference, argument)),
            }
        }
    }
}

struct Problems<'a> {
    states: &'a States,
    found: Vec<String>,
}

impl Problems<'_> {
    fn add(&mut self, problem: String) {
        self.found.push(problem);
    }

    /// Looks at all routes of a kind.
    fn kind<'r>(
        &mut self,
        kind: &str,
        relation: &str,
        routes: impl Iterator<Item = (&'r str, &'r RouteSpec)>,
    ) {
        let mut names = HashSet::new();
        for (name, spec) in routes {
            if name.is_empty() {
                self.add(format!("a {kind} has no name"));
            }
            if !names.insert(name) {
                let mend = if relation == "named" {
                    "rename"
                } else {
                    "move"
                };
                self.add(format!("two {kind}s are {relation} `{name}`; {mend} one"));
            }
            self.route(&format_args!("{kind} `{name}`"), spec);
        }
    }

    fn route(&mut self, what: &dyn Display, spec: &RouteSpec) {
        for (id, state) in &spec.states {
            if !self.states.has(*id) {
                self.add(format!(
                    "the {what} takes `State<{state}>`, which nobody gave; add `.state(…)`"
                ));
            }
        }
        let own = spec.problems.iter();
        self.found
            .extend(own.map(|problem| format!("the {what}: {problem}")));
    }
}
