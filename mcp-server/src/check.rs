//! Mistakes of a server that can be found before its first call.

use std::collections::HashSet;

use mcp_core::extension;
use mcp_core::schema::{Lint, Severity};
use mcp_types::CompletionReference;
use mcp_types::ext::apps::ToolUi;

use crate::call::RouteSpec;
use crate::extension::RouteMethods;
use crate::registry::{Listed, RouteList, ServerConfig};
use crate::routes::{CompletionRoute, RouteScope};

/// The error of a server that cannot serve as it was built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the server {server:?} cannot serve:\n{}", problems.join("\n"))]
pub struct SetupError {
    server: String,
    problems: Vec<String>,
}

impl SetupError {
    /// The mistakes, one line each.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

/// Checks all routes of a server. `found` are mistakes that were found before.
///
/// # Errors
///
/// Returns a [`SetupError`] with all mistakes.
pub(crate) fn check_server(config: &ServerConfig) -> Result<(), SetupError> {
    let mut checker = SetupChecker::new(config);
    checker.check_listed(config.tools.iter());
    checker.check_listed(config.resources.iter());
    checker.check_listed(config.templates.iter());
    checker.check_listed(config.prompts.iter());
    checker.check_apps();
    checker.check_completions();
    checker.check_extensions();
    if config.revisions.is_empty() {
        checker.report("`revisions` is an empty range; offer at least one revision".to_owned());
    }
    checker.finish()
}

/// Checks routes that are added to a running server. If there are no mistakes, it logs their lints, unless the
/// server's first check will log them.
///
/// # Errors
///
/// Returns a [`SetupError`] with all mistakes.
pub(crate) fn check_added<R: Listed>(
    routes: &[R],
    config: &ServerConfig,
) -> Result<(), SetupError> {
    let mut checker = SetupChecker::new(config);
    checker.check_listed(routes.iter());
    checker.finish()?;
    if config.lints_logged.is_completed() {
        let validation = &config.context.validation;
        log_lints(routes.iter().flat_map(|route| route.lints(validation)));
    }
    Ok(())
}

/// Returns why clients may refuse a server's tools.
pub(crate) fn lints(config: &ServerConfig) -> Vec<Lint> {
    let validation = &config.context.validation;
    let tools = config.tools.iter();
    tools.flat_map(|tool| tool.lints(validation)).collect()
}

pub(crate) fn log_lints(lints: impl IntoIterator<Item = Lint>) {
    for lint in lints {
        match lint.severity {
            Severity::Warning => tracing::warn!("{}", mcp_types::escaped(&lint)),
            _ => tracing::debug!("{}", mcp_types::escaped(&lint)),
        }
    }
}

struct SetupChecker<'a> {
    config: &'a ServerConfig,
    problems: Vec<String>,
}

impl<'a> SetupChecker<'a> {
    fn new(config: &'a ServerConfig) -> Self {
        Self {
            config,
            problems: Vec::new(),
        }
    }

    fn report(&mut self, problem: String) {
        self.problems.push(problem);
    }

    fn finish(self) -> Result<(), SetupError> {
        if self.problems.is_empty() {
            return Ok(());
        }
        Err(SetupError {
            server: self.config.info.name.clone(),
            problems: self.problems,
        })
    }

    fn check_listed<'r, R: Listed>(&mut self, routes: impl Iterator<Item = &'r R>) {
        let kind = R::KIND;
        let mut keys = HashSet::new();
        for route in routes {
            let key = route.key();
            if key.is_empty() {
                self.report(format!("a {kind} has no name"));
            }
            if !keys.insert(key) {
                let (relation, fix) = if kind.has_uri() {
                    ("at", "move")
                } else {
                    ("named", "rename")
                };
                self.report(format!("two {kind}s are {relation} `{key}`; {fix} one"));
            }
            let description = format!("{kind} `{key}`");
            self.check_spec(&description, route.spec(), route.scope());
            if let Some(list) = route.list_spec() {
                self.check_spec(&format!("list of the {description}"), list, route.scope());
            }
            if let Some(scope) = route.scope().required_scopes.invalid() {
                self.report(format!(
                    "the {description}: {scope:?} cannot be demanded as a scope; use visible ASCII \
                     without blanks, quotes and backslashes, and not `offline_access`"
                ));
            }
            self.check_own_completions(&description, route);
            if route.can_be_task() && self.config.context.tasks.is_none() {
                self.report(format!(
                    "the {description} can become a task, and the server runs no tasks; add \
                     `.tasks(Tasks::in_memory())` (`mcp::tasks`, feature `tasks`)"
                ));
            }
            for problem in route.schema_problems(&self.config.context.validation) {
                self.report(format!("the {description}: {problem}"));
            }
        }
    }

    /// Checks that the user interface of each tool exists. A server behind a gateway may have one that it does not list.
    // spec: APP-05
    fn check_apps(&mut self) {
        let config = self.config;
        let own = config.tools.iter().filter(|route| !route.is_forwarded());
        for tool in own.map(Listed::item) {
            let Some(uri) = ToolUi::of(tool).and_then(|ui| ui.resource_uri) else {
                continue;
            };
            let has_resource = config.resources.iter().any(|route| route.key() == uri);
            if !has_resource && config.templates.len() == 0 {
                self.report(format!(
                    "the tool `{}` is linked to the app `{uri}`, which is missing; add it with \
                     `.extension(Apps::new().app(App::new({uri:?}, html)))`",
                    tool.name
                ));
            }
        }
    }

    fn check_extensions(&mut self) {
        let config = self.config;
        let capabilities = config.current_capabilities();
        let found = extension::find_problems(&config.extensions, &capabilities);
        self.problems.extend(found);
        for route in &config.methods {
            let id = &route.extension;
            let description = match route.methods {
                RouteMethods::Exact(name) => format!("method `{name}` of the extension `{id}`"),
                RouteMethods::Matching(_) => format!("method of the extension `{id}`"),
            };
            self.check_spec(&description, route.spec(), &RouteScope::default());
        }
    }

    fn check_spec(&mut self, description: &str, spec: &RouteSpec, scope: &RouteScope) {
        for (id, state) in &spec.states {
            if !scope.router_states.contains(*id) && !self.config.context.states.contains(*id) {
                self.report(format!(
                    "the {description} takes `State<{state}>`, which is missing; add `.state(…)`"
                ));
            }
        }
        for problem in &spec.problems {
            self.report(format!("the {description}: {problem}"));
        }
    }

    /// Checks the completions that were added to the server, and not to a prompt or template.
    fn check_completions(&mut self) {
        let config = self.config;
        let mut seen = HashSet::new();
        for route in &config.completions {
            let (argument, reference) = (route.argument(), route.reference());
            let (owner, (has_argument, has_own)) = match reference {
                CompletionReference::Prompt { name } => {
                    let found = completed(&config.prompts, name, argument);
                    (format!("prompt `{name}`"), found)
                }
                CompletionReference::Resource { uri } => {
                    let found = completed(&config.templates, uri, argument);
                    (format!("resource template `{uri}`"), found)
                }
                _ => continue,
            };
            let is_first = seen.insert((owner.clone(), argument)) && !has_own;
            self.check_completion(&owner, route, has_argument, is_first);
        }
    }

    /// Checks the completions of a prompt or template.
    fn check_own_completions<R: Listed>(&mut self, description: &str, owner: &R) {
        let mut seen = HashSet::new();
        for route in owner.completions() {
            let has_argument = owner.has_argument(route.argument());
            let is_first = seen.insert(route.argument());
            self.check_completion(description, route, Some(has_argument), is_first);
        }
    }

    /// Checks one completion. `has_argument` is `None` if there is no such owner.
    fn check_completion(
        &mut self,
        owner: &str,
        route: &CompletionRoute,
        has_argument: Option<bool>,
        is_first: bool,
    ) {
        let argument = route.argument();
        let description = format!("completion of `{argument}` of the {owner}");
        self.check_spec(&description, route.spec(), &route.scope);
        match has_argument {
            None => self.report(format!("the {description}: there is no such {owner}")),
            Some(false) => {
                self.report(format!(
                    "the {description}: it has no argument `{argument}`"
                ));
            }
            Some(true) if !is_first => {
                self.report(format!("two completions of `{argument}` of the {owner}"));
            }
            Some(true) => {}
        }
    }
}

/// Returns whether a prompt or template has an argument, `None` if there is no such owner, and whether it has a
/// completion of its own for it.
fn completed<R: Listed>(owners: &RouteList<R>, key: &str, argument: &str) -> (Option<bool>, bool) {
    let owner = owners.iter().find(|owner| owner.key() == key);
    let mut own = owner.into_iter().flat_map(Listed::completions);
    let has_own = own.any(|route| route.argument() == argument);
    (owner.map(|owner| owner.has_argument(argument)), has_own)
}
