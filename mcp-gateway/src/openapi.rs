//! HTTP services as servers: the operations of an OpenAPI document become tools ([`OpenApi`]).
//!
//! | module | content; each module uses only modules above it |
//! |---|---|
//! | `error` | [`OpenApiError`] |
//! | `document` | parsing; documents of 3.0 as those of 3.1 |
//! | `schema` | schemas of tools |
//! | `operation` | an operation, and the arguments of its tool |
//! | `request` | the HTTP request of a call |
//! | `response` | the result of a call |
//! | `builder` | [`OpenApi`] |

mod builder;
mod document;
mod error;
mod operation;
mod request;
mod response;
mod schema;

pub use builder::OpenApi;
pub use error::OpenApiError;
