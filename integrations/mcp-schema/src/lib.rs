//! Unstable: JSON Schemas of tools as a tree with resolved references, within limits.
//!
//! A [`Schema`] is the JSON with an index of its subschemas. It copies no keyword: a [`Node`] is a subschema in its document, with
//! its JSON, its place, and the targets of its references. It reads 2020-12, and what servers send of older drafts and of
//! OpenAPI 3.0 where its meaning is clear: a list of `items`, `definitions`, `dependencies`, flags such as `exclusiveMinimum: true`,
//! `nullable`, names of Python types. Unknown keywords stay. Values are not checked here, and patterns are text.
//!
//! Schemas come from others. [`limits`] has the limits for reading one, and for the steps of a [`Walk`] through it.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | [`limits`] | the limits |
//! | `error` | [`SchemaError`], [`Limit`] |
//! | `types` | [`Type`] |
//! | `keyword` | the keywords whose values are schemas, [`Place`], [`change_subschemas`], [`subschemas_mut`] |
//! | `index` | the subschemas of a document and their references, [`Id`] |
//! | `read` | reading a document: subschemas, references, limits |
//! | `schema` | [`Schema`], [`Node`], [`Subschema`], [`Reference`] |
//! | `walk` | [`Walk`]: the steps of a visitor |
//! | `keywords` | [`Keywords`]: what a schema says, [`compare`] |
//! | `parts` | [`Parts`]: the schemas that apply to the same value |

mod error;
mod index;
mod keyword;
mod keywords;
pub mod limits;
mod parts;
mod read;
mod schema;
mod types;
mod walk;

/// A JSON object.
type JsonObject = serde_json::Map<String, serde_json::Value>;

pub use error::{Limit, SchemaError};
pub use index::Id;
pub use keyword::{Place, change_subschemas, subschemas_mut};
pub use keywords::{Keywords, compare};
pub use parts::Parts;
pub use schema::{Node, Reference, Schema, Subschema};
pub use types::Type;
pub use walk::Walk;
