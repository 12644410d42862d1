//! [`Walk`]: the steps of a visitor.

use std::cell::Cell;

use crate::error::{Limit, SchemaError};
use crate::limits;
use crate::schema::Node;

/// Levels above the target of a reference that are looked up in the time of a step.
const LEVELS_PER_STEP: usize = 2;

/// The steps that a visitor may take through a schema.
///
/// A schema of a kilobyte can have more paths through its references than there is memory. Each visitor that follows references
/// counts its steps here.
///
/// # Examples
///
/// ```
/// use mcp_schema::{Keywords as _, Node, Schema, SchemaError, Walk};
///
/// fn count(node: Node<'_>, walk: &Walk, nested: usize) -> Result<usize, SchemaError> {
///     walk.visit(node, nested)?;
///     let inner = node.properties().into_iter().map(|(_, inner)| inner).chain(node.target());
///     inner.map(|inner| count(inner, walk, nested + 1)).sum::<Result<usize, _>>().map(|sum| sum + 1)
/// }
///
/// let json = serde_json::json!({"properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}});
/// let schema = Schema::parse(json.as_object().unwrap())?;
/// assert!(count(schema.root(), &Walk::of_schema(usize::MAX), 0).is_err());
/// # Ok::<(), SchemaError>(())
/// ```
#[derive(Debug)]
pub struct Walk {
    max: usize,
    left: Cell<usize>,
}

impl Walk {
    /// A walk through a schema, with at most `max` steps, and never more than [`limits::STEPS`].
    pub fn of_schema(max: usize) -> Self {
        Self::new(max.min(limits::STEPS))
    }

    /// A walk through a value and its schema, with at most [`limits::VALUE_STEPS`] steps.
    pub fn of_value() -> Self {
        Self::new(limits::VALUE_STEPS)
    }

    fn new(max: usize) -> Self {
        let left = Cell::new(max);
        Self { max, left }
    }

    /// Counts a visit of a schema on a path with `nested` schemas: one step, and one more for each
    /// [`limits::BYTES_PER_STEP`] of its keywords.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError`] on a path with more than [`limits::NESTED`] schemas, and if no steps are left.
    pub fn visit(&self, node: Node<'_>, nested: usize) -> Result<(), SchemaError> {
        let limit = if nested > limits::NESTED {
            Limit::Nested(limits::NESTED)
        } else if !self.spend(node.weight()) {
            Limit::Steps(self.max)
        } else {
            return Ok(());
        };
        Err(limit.at(node.pointer()))
    }

    /// Counts a visit of a schema with a value, after `hops` other schemas for the same value. Returns false if no steps are
    /// left, or after more than [`limits::HOPS`] schemas.
    pub fn step(&self, hops: usize) -> bool {
        self.spend(1) && hops <= limits::HOPS
    }

    /// Returns the target of `$ref`, and counts the look-ups that find it: one for each level, and more for long names.
    pub fn target<'s>(&self, node: Node<'s>) -> Option<Node<'s>> {
        let target = node.target()?;
        let names = target.location() / limits::BYTES_PER_STEP;
        self.spend(target.depth() / LEVELS_PER_STEP + names);
        Some(target)
    }

    /// Counts steps. Returns false if fewer are left: then none is.
    pub fn spend(&self, steps: usize) -> bool {
        let left = self.left.get().checked_sub(steps);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Returns the number of steps so far.
    pub fn taken(&self) -> usize {
        self.max - self.left.get()
    }
}
