//! Server routes, and their changes while the server runs.
//!
//! | file | content, lowest first |
//! |---|---|
//! | `listed` | the properties of the four kinds of routes that are listed |
//! | `cursor` | cursors of lists |
//! | `route_list` | routes of one kind, as the author edits them |
//! | `route_index` | routes of one kind, as they are looked up and listed |
//! | `config` | [`ServerConfig`]: all that the author edits |
//! | `methods` | the extension methods, as they are looked up |
//! | `snapshot` | [`Registry`]: an immutable version of the routes |
//! | `resource_listing` | the list of resources, with computed lists |
//! | `lookup` | the route of a URI and the source of a completion |
//! | `shared` | [`SharedRegistry`]: the config and its current registry |

mod config;
mod cursor;
mod listed;
mod lookup;
mod methods;
mod resource_listing;
mod route_index;
mod route_list;
mod shared;
mod snapshot;

pub(crate) use config::{ConfigList, ServerConfig};
pub(crate) use listed::Listed;
pub(crate) use lookup::{CompletionSource, ResourceMatch};
pub(crate) use resource_listing::ResourcePage;
pub(crate) use route_list::RouteList;
pub(crate) use shared::{Edit, SharedRegistry};
pub(crate) use snapshot::Registry;
