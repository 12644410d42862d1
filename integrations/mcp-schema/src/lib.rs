//! Unstable: JSON Schemas of tools as a tree with resolved references, within limits.
//!
//! A [`Schema`] is the JSON with an index of its subschemas. It copies no keyword: a [`Node`] is a subschema in its document, with
//! its JSON, its place, and the targets of its references. It reads 2020-12, and what servers send of older drafts and of
//! OpenAPI 3.0 where its meaning is clear: a list of `items`, `definitions`, `dependencies`, flags such as `exclusiveMinimum: true`,
//! `nullable`, names of Python types. Unknown keywords stay. Values are not checked here, and patterns are text.
//!
//! Schemas come from others. [`limits`] has the limits for reading one, and for the steps of a [`Walk`] through it.
//!
//! | limit | value | beyond it |
//! |---|---|---|
//! | bytes as JSON; subschemas; levels | 256 KiB; 4,096; 128 | [`Schema::parse`] refuses the schema |
//! | names in a list of types | 32 | further ones do not count |
//! | references in a row | 64 | the same; a circle is not a row |
//! | locations of all subschemas together | 2 MiB | the same |
//! | visits in a [`Walk`] through a schema; subschemas on a path | 10,000; 128 | [`Walk::visit`] is an error |
//! | visits in a walk through a value and its schema | 2,000,000 | [`Walk::step`] is false |
//!
//! # Examples
//!
//! ```
//! use mcp_schema::{Keywords as _, Parts, Schema, SchemaError, Walk};
//!
//! /// Returns the names of all arguments, also of those in `allOf` and behind references.
//! fn names(json: &serde_json::Map<String, serde_json::Value>) -> Result<Vec<String>, SchemaError> {
//!     let schema = Schema::parse(json)?;
//!     let walk = Walk::of_schema(1_000);
//!     let parts = Parts::of(schema.root(), &walk, 0)?;
//!     Ok(parts.properties().into_iter().map(|(name, _)| name.to_owned()).collect())
//! }
//!
//! let json = serde_json::json!({
//!     "properties": {"a": {}},
//!     "allOf": [{"$ref": "#/$defs/more"}],
//!     "$defs": {"more": {"properties": {"b": {"type": "string"}}}},
//! });
//! assert_eq!(names(json.as_object().unwrap())?, ["a", "b"]);
//! # Ok::<(), SchemaError>(())
//! ```
//!
//! # Modules
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
