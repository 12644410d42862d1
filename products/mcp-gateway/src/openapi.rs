//! HTTP services as servers: the operations of an OpenAPI document become tools ([`OpenApi`]).
//!
//! # Rules
//!
//! Requests go below the base URL only. The document's servers are not used, and redirects are not followed. The log names
//! operations that are left out: those with a required cookie, a body that is neither JSON nor a form, a parameter with the style
//! `label` or `matrix`, a path that could leave the base URL, or a reference to another file. Malformed operations and schemas
//! are left out, too, each with its place, and the rest of the document is used. A document that cannot be used at all
//! (Swagger 2) is a server that fails, with the reason in the log and the status; the gateway serves the others. Documents
//! have 32 MiB at most (`max_document_bytes`), and YAML is read by the rules of YAML 1.2: `NO` and `y` are text.
//!
//! | topic | rule |
//! |---|---|
//! | arguments | They are checked against the input schema before a request is made. If the validator refuses the schema (a pattern with look-around), the log says so, and only the types are checked. |
//! | objects and arrays | They are sent only for a parameter whose schema has this type. Object members cannot have the name of another parameter or a setting. |
//! | path | A value is one segment. `..`, `\` and control characters are refused. |
//! | headers and query in the settings | They are not arguments, and are sent once. The same holds for `Host`, `Authorization`, `Accept`, `Content-Type` and the other connection headers. |
//! | schemas | Components replace the references to them; recursive ones are in `$defs`. Input schemas have no `readOnly` properties. |
//! | output schema | The first alternative is the schema of the first 2xx response; the second one is any object. A response that the document does not describe is a result, too. |
//!
//! # Modules
//!
//! | module | content; each module uses only modules above it |
//! |---|---|
//! | `error` | [`OpenApiError`] |
//! | `usable` | schemas in the forms of 2020-12, without what is malformed |
//! | `document` | parsing, the operations of a document, references between its parts |
//! | `reference` | names in references and URLs |
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
