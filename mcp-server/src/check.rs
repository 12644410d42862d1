//! The mistakes of a server that can be found before its first call.

use std::any::Any;
use std::fmt::Display;

use mcp_core::schema::{Lint, Severity};
use mcp_types::CompletionReference;

use crate::checking::Checking;
use crate::listing::{Kind, Listed};
use crate::live::Book;
use crate::names::Names;
use crate::spec::RouteSpec;
use crate::standing::Standing;
use crate::state::States;
use crate::tools::ToolRoute;

/// A server cannot serve as it was built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the server {server:?} cannot serve:\n{}", problems.join("\n"))]
pub struct SetupError {
    server: String,
    problems: Vec<String>,
}

impl SetupError {
    /// The problems of a server, if there are any.
    pub(crate) fn of(book: &Book, problems: Vec<String>) -> Result<(), Self> {
        if problems.is_empty() {
            return Ok(());
        }
        Err(Self {
            server: book.info.name.clone(),
            problems,
        })
    }

    /// What is wrong, a line each.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

/// All mistakes in what an author has given, and how to mend them.
pub(crate) fn book(book: &Book) -> Vec<String> {
    let mut problems = Problems::new(book);
    problems.kind(&mut book.tools.iter());
    problems.kind(&mut book.resources.iter());
    problems.kind(&mut book.templates.iter());
    problems.kind(&mut book.prompts.iter());
    problems.completions(book);
    problems.found
}

/// The mistakes in routes that come to a server. Where there are none, what clients are known to
/// refuse is told.
pub(crate) fn routes<R: Listed>(routes: &[R], book: &Book) -> Vec<String> {
    let mut problems = Problems::new(book);
    problems.kind(&mut routes.iter());
    if problems.found.is_empty() {
        let tools = routes.iter().filter_map(as_tool);
        tell(tools.flat_map(|tool| tool.lints(&book.checking)));
    }
    problems.found
}

/// What clients are known to refuse in the tools of a server.
pub(crate) fn lints(book: &Book) -> Vec<Lint> {
    let tools = book.tools.iter();
    tools.flat_map(|tool| tool.lints(&book.checking)).collect()
}

/// Tells the author.
pub(crate) fn tell(lints: impl IntoIterator<Item = Lint>) {
    for lint in lints {
        match lint.severity {
            Severity::Warning => tracing::warn!("{lint}"),
            _ => tracing::debug!("{lint}"),
        }
    }
}

/// The tool that a route is, if it is one.
fn as_tool<R: Listed>(route: &R) -> Option<&ToolRoute> {
    (route as &dyn Any).downcast_ref()
}

struct Problems<'a> {
    states: &'a States,
    checking: &'a Checking,
    found: Vec<String>,
}

/// What of a route is looked at, whatever its kind.
struct Seen<'a> {
    key: &'a str,
    spec: &'a RouteSpec,
    standing: &'a Standing,
    tool: Option<&'a ToolRoute>,
}

impl<'a> Problems<'a> {
    fn new(book: &'a Book) -> Self {
        Self {
            states: &book.states,
            checking: &book.checking,
            found: Vec::new(),
        }
    }

    fn add(&mut self, problem: String) {
        self.found.push(problem);
    }

    /// Looks at routes of a kind.
    fn kind<R: Listed>(&mut self, routes: &mut dyn Iterator<Item = &R>) {
        let routes = &mut routes.map(|route| Seen {
            key: route.key(),
            spec: route.spec(),
            standing: route.standing(),
            tool: as_tool(route),
        });
        self.routes(R::KIND, routes);
    }

    fn routes(&mut self, kind: Kind, routes: &mut dyn Iterator<Item = Seen<'_>>) {
        let mut keys = Names::default();
        for route in routes {
            let key = route.key;
            if key.is_empty() {
                self.add(format!("a {kind} has no name"));
            }
            if keys.insert(key.into(), 0).is_some() {
                let relation = kind.relation();
                let mend = if relation == "named" {
                    "rename"
                } else {
                    "move"
                };
                self.add(format!("two {kind}s are {relation} `{key}`; {mend} one"));
            }
            let what = format_args!("{kind} `{key}`");
            self.route(&what, route.spec, route.standing);
            let schemas = route.tool.map(|tool| tool.schema_problems(self.checking));
            for problem in schemas.unwrap_or_default() {
                self.add(format!("the {what}: {problem}"));
            }
        }
    }

    fn route(&mut self, what: &dyn Display, spec: &RouteSpec, standing: &Standing) {
        for (id, state) in &spec.states {
            if !standing.has_state(*id) && !self.states.has(*id) {
                self.add(format!(
                    "the {what} takes `State<{state}>`, which nobody gave; add `.state(…)`"
                ));
            }
        }
        for problem in &spec.problems {
            self.add(format!("the {what}: {problem}"));
        }
    }

    fn completions(&mut self, book: &Book) {
        let mut seen = Vec::new();
        for route in &book.completions {
            let (reference, argument) = (route.reference(), route.argument());
            let (owner, has_argument) = match reference {
                CompletionReference::Prompt { name } => {
                    let mut prompts = book.prompts.iter().map(Listed::item);
                    let prompt = prompts.find(|prompt| prompt.name == *name);
                    let has = prompt
                        .map(|prompt| prompt.arguments.iter().any(|known| known.name == argument));
                    (format!("prompt `{name}`"), has)
                }
                CompletionReference::Resource { uri } => {
                    let mut templates = book.templates.iter();
                    let route = templates.find(|route| route.key() == uri);
                    let has = route.map(|route| route.has_variable(argument));
                    (format!("resource template `{uri}`"), has)
                }
                _ => continue,
            };
            let what = format!("completion of `{argument}` of the {owner}");
            self.route(&what, route.spec(), &route.standing);
            match has_argument {
                None => self.add(format!("the {what}: there is no such {owner}")),
                Some(false) => self.add(format!("the {what}: it has no argument `{argument}`")),
                Some(true) if seen.contains(&(reference, argument)) => {
                    self.add(format!("two completions of `{argument}` of the {owner}"));
                }
                Some(true) => seen.push((reference, argument)),
            }
        }
    }
}
