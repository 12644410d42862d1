//! HTTP services as servers: the operations of an OpenAPI document become tools ([`OpenApi`]).
//!
//! | module | content; each module uses only modules above it |
//! |---|---|
//! | `error` | [`OpenApiError`] |
//! | `usable` | the parts of a document that can be read |
//! | `document` | parsing; documents of 3.0 as those of 3.1 |
//! | `reference` | references to components, and names in URLs |
//! | `schema` | schemas of tools |
//! | `path` | paths that stay below that of the base URL |
//! | `target` | the parts of all requests |
//! | `operation` | an operation, and the arguments of its tool |
//! | `arguments` | the check of arguments |
//! | `request` | the HTTP request of a call |
//! | `response` | the result of a call |
//! | `builder` | [`OpenApi`] |

mod arguments;
mod builder;
mod document;
mod error;
mod operation;
mod path;
mod reference;
mod request;
mod response;
mod schema;
mod target;
mod usable;

pub use builder::OpenApi;
pub use error::OpenApiError;
