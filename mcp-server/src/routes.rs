//! Routes: tools, resources, URI templates, prompts and completions with their handlers.
//!
//! | file | content, lowest first |
//! |---|---|
//! | `required_scopes` | scopes that callers of a route need |
//! | `scope` | the part that all routes have: router state, visibility, required scopes, layers |
//! | `choices` | completion of arguments whose schema lists values |
//! | `tool_checks` | checks of a tool's arguments and results |
//! | `uri_template` | matching of URIs with templates |
//! | `resource_list` | computed lists of resources |
//! | `tool`, `resource`, `template`, `prompt`, `completion` | one kind of route each |
//! | `into_route` | functions with an attribute as routes |
//! | `router` | sets of routes |

mod choices;
mod completion;
mod into_route;
mod prompt;
mod required_scopes;
mod resource;
mod resource_list;
mod router;
mod scope;
mod template;
mod tool;
mod tool_checks;
mod uri_template;

pub(crate) use choices::Choices;
pub use completion::CompletionRoute;
pub use into_route::IntoRoute;
pub use prompt::{PromptExt, PromptRoute};
pub use required_scopes::ScopedCall;
pub(crate) use resource::ResourceHandler;
pub use resource::{ResourceExt, ResourceRoute};
pub use resource_list::PageCursor;
pub(crate) use resource_list::{ListPosition, ListTarget, PageCheck};
pub use router::Routes;
pub(crate) use scope::RouteScope;
pub use template::TemplateRoute;
pub use tool::{ToolExt, ToolRoute};
pub(crate) use uri_template::Variables;
