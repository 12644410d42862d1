//! [`Schema`]: a JSON document with its index, and [`Node`]: a subschema in it.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::JsonObject;
use crate::error::SchemaError;
use crate::index::{Entry, Id, Index, locate};
use crate::keyword::{Place, keyword, schemas};
use crate::read::read;

/// A parsed JSON Schema: the JSON itself, and an index of its subschemas with the targets of their references.
///
/// It has at most [`limits::NODES`](crate::limits::NODES) subschemas, and about 100 bytes for each in addition to the JSON. Clones of
/// a shared schema share the JSON and the index.
#[derive(Debug, Clone)]
pub struct Schema<'a> {
    json: Root<'a>,
    index: Arc<Index>,
}

#[derive(Debug, Clone)]
enum Root<'a> {
    Borrowed(&'a JsonObject),
    Shared(Arc<JsonObject>),
}

/// A subschema in its [`Schema`]. [`Keywords`](crate::Keywords) has its keywords.
#[derive(Clone, Copy)]
pub struct Node<'s> {
    schema: &'s Schema<'s>,
    id: Id,
    /// The JSON, except that of the root.
    value: Option<&'s Value>,
}

/// A schema directly inside another one.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Subschema<'s> {
    /// The keyword that contains it.
    pub keyword: &'static str,
    /// The place in the keyword's value.
    pub place: Place<'s>,
    /// The schema.
    pub node: Node<'s>,
}

/// A reference of a subschema.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Reference<'s> {
    /// `$ref`, `$dynamicRef` or `$recursiveRef`.
    pub keyword: &'static str,
    /// The reference as it is written.
    pub text: &'s str,
    /// The target in this document. A dynamic reference has its first target.
    pub target: Option<Node<'s>>,
    /// The schema with the `$id` that the reference names, or the resource around it. `None`: another document, which is not
    /// fetched; `$id`s are compared as they are written. A reference to nothing in this document has a resource and no target.
    pub resource: Option<Id>,
}

impl<'a> Schema<'a> {
    /// Reads a schema.
    ///
    /// References that lead to nothing, or to another document, are no error: see [`Node::references`].
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError`] if the schema exceeds a [limit](crate::limits) for reading.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp_schema::{Keywords as _, Schema, Type};
    /// use serde_json::json;
    ///
    /// let json = json!({
    ///     "type": "object",
    ///     "properties": {"from": {"$ref": "#/$defs/place"}, "to": {"$ref": "#/$defs/place"}},
    ///     "required": ["to"],
    ///     "$defs": {"place": {"type": ["string", "null"]}},
    /// });
    /// let schema = Schema::parse(json.as_object().unwrap())?;
    /// let to = schema.root().property("to").unwrap();
    /// let place = to.target().unwrap();
    /// assert_eq!(place.types(), [Type::String, Type::Null]);
    /// assert_eq!(place.pointer(), "/$defs/place");
    /// # Ok::<(), mcp_schema::SchemaError>(())
    /// ```
    pub fn parse(json: &'a JsonObject) -> Result<Self, SchemaError> {
        let index = Arc::new(read(json)?);
        let json = Root::Borrowed(json);
        Ok(Self { json, index })
    }

    /// Returns the JSON.
    pub fn json(&self) -> &JsonObject {
        match &self.json {
            Root::Borrowed(json) => json,
            Root::Shared(json) => json,
        }
    }

    /// Returns the schema as a whole.
    pub fn root(&self) -> Node<'_> {
        let (id, value) = (Id::ROOT, None);
        let schema = self;
        Node { schema, id, value }
    }

    /// Returns the subschema with an id of this schema. Finding it takes a look-up for each level above it.
    pub fn node(&self, id: Id) -> Option<Node<'_>> {
        if id == Id::ROOT {
            return Some(self.root());
        }
        let entry = self.index.entry(id)?;
        let parent = self.node(entry.parent)?.object()?;
        Some(Node {
            schema: self,
            id,
            value: Some(locate(parent, &entry.step)?),
        })
    }

    /// Iterates over all subschemas, by their ids: the schema first, each one after the schema around it. Below unknown keywords there
    /// are only those that references lead to.
    pub fn nodes(&self) -> impl Iterator<Item = Node<'_>> {
        let ids = (0..).map(Id).take(self.len());
        ids.filter_map(|id| self.node(id))
    }

    /// Returns the number of subschemas, with the schema itself.
    #[expect(clippy::len_without_is_empty, reason = "a schema is never empty")]
    pub fn len(&self) -> usize {
        self.index.entries.len()
    }
}

impl Schema<'static> {
    /// Reads a schema and keeps it, for routes and other values that own their schema.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError`] if the schema exceeds a [limit](crate::limits) for reading.
    pub fn shared(json: Arc<JsonObject>) -> Result<Self, SchemaError> {
        let index = Arc::new(read(&json)?);
        let json = Root::Shared(json);
        Ok(Self { json, index })
    }
}

impl<'s> Node<'s> {
    /// Returns the id, for tables beside the schema.
    pub fn id(self) -> Id {
        self.id
    }

    /// Returns the keywords. `None` for `true`, `false`, and what is not a schema.
    pub fn object(self) -> Option<&'s JsonObject> {
        match self.value {
            None => Some(self.schema.json()),
            Some(value) => value.as_object(),
        }
    }

    /// Returns a copy of the JSON.
    pub fn to_json(self) -> Value {
        let root = || Value::Object(self.schema.json().clone());
        self.value.cloned().unwrap_or_else(root)
    }

    /// Returns true for `false`, which accepts no value.
    pub fn is_false(self) -> bool {
        self.value == Some(&Value::Bool(false))
    }

    /// Returns true if it accepts each value: `true`, or no keywords.
    pub fn is_true(self) -> bool {
        let is_empty = self.object().is_some_and(JsonObject::is_empty);
        is_empty || self.value == Some(&Value::Bool(true))
    }

    /// Returns the subschema that a value is. `None` if it is not one of this document.
    pub fn find(self, value: &'s Value) -> Option<Self> {
        let id = self.schema.index.find(value).ok()?;
        let value = Some(value);
        Some(Self { id, value, ..self })
    }

    /// Returns the schemas directly inside it.
    pub fn subschemas(self) -> impl Iterator<Item = Subschema<'s>> {
        let keywords = self.object().into_iter().flatten();
        let keywords = keywords.filter_map(|(name, value)| Some((keyword(name)?, value)));
        keywords.flat_map(move |(keyword, value)| {
            schemas(keyword, value).filter_map(move |(place, value)| {
                Some(Subschema {
                    keyword: keyword.0,
                    place,
                    node: self.find(value)?,
                })
            })
        })
    }

    /// Returns the schema around it. `None` for the root.
    pub fn parent(self) -> Option<Self> {
        let parent = self.schema.node(self.entry().parent);
        parent.filter(|_| self.id != Id::ROOT)
    }

    fn entry(self) -> &'s Entry {
        &self.schema.index.entries[self.id.index()]
    }

    /// Returns the innermost schema with an `$id` around it, itself included, or else the root.
    pub fn resource(self) -> Id {
        self.entry().resource
    }

    /// Returns the JSON Pointer, such as `/properties/a`, cut to [`limits::LOCATION`](crate::limits::LOCATION) characters,
    /// with `…` at the end.
    pub fn pointer(self) -> String {
        self.schema.index.pointer(self.id)
    }

    /// Returns the number of schemas around it.
    pub fn depth(self) -> usize {
        self.entry().depth.into()
    }

    /// Returns the bytes of its location, which finding it reads.
    pub(crate) fn location(self) -> usize {
        self.schema.index.location(self.id)
    }

    /// Returns the steps of a visit: 1, and one more for each [`limits::BYTES_PER_STEP`](crate::limits::BYTES_PER_STEP) of its
    /// keywords, without its subschemas.
    pub fn weight(self) -> usize {
        self.entry().weight as usize
    }

    /// Returns the references. In all drafts the keywords beside a reference count as well. A target can be data that is not a schema:
    /// then [`object`](Self::object) is `None`.
    pub fn references(self) -> impl Iterator<Item = Reference<'s>> {
        self.schema.index.links(self.id).filter_map(move |link| {
            Some(Reference {
                keyword: link.keyword,
                text: self.object()?.get(link.keyword)?.as_str()?,
                target: link.target.and_then(|target| self.schema.node(target)),
                resource: link.resource,
            })
        })
    }

    /// Returns true if it has a reference, also one that leads to nothing. Faster than [`references`](Self::references), which finds
    /// each target.
    pub fn has_references(self) -> bool {
        self.schema.index.links(self.id).next().is_some()
    }

    /// Returns the target of `$ref`. It may be a schema around this one, or this one itself. See [`Walk::target`](crate::Walk::target).
    pub fn target(self) -> Option<Self> {
        self.schema.node(self.schema.index.target(self.id)?)
    }
}

impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Node").field(&self.pointer()).finish()
    }
}
