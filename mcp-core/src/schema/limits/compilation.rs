//! Limits how many nodes the compiler of a schema's `jsonschema` crate makes.
//!
//! The compiler makes one node per schema and one per reference target. For `unevaluatedProperties` and
//! `unevaluatedItems` it follows the references once more, and does not share nodes between paths: their
//! number can grow exponentially: 2.4 kB of schema need more than 4 GB. This module walks the paths of
//! `jsonschema` 0.60 and counts. Limits on references or keywords alone would refuse ordinary schemas, and a
//! thread with a deadline returns no memory.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use mcp_schema::Limit;

use super::graph::{Again, Node, Reference};
use crate::schema::SchemaError;

/// The maximum number of nodes. One takes about a kilobyte.
const MAX_NODES: usize = 10_000;
/// The maximum number of nested nodes on a path, which bounds the compiler's stack.
const MAX_NESTED: usize = 128;
/// The number of nested references that the compiler follows before it defers further targets.
const MAX_FOLLOWED: usize = 8;

/// Checks that compiling makes at most [`MAX_NODES`] nodes.
///
/// # Errors
///
/// Returns [`SchemaError`] when it makes more, and for a path with more than [`MAX_NESTED`] nodes.
pub(super) fn check(nodes: &[Node<'_>]) -> Result<(), SchemaError> {
    let mut compilation = Compilation {
        nodes,
        left: MAX_NODES,
        targets: HashSet::new(),
        waiting: vec![Path::default()],
        open: Vec::new(),
    };
    while let Some(path) = compilation.waiting.pop() {
        compilation.compile(path)?;
    }
    Ok(())
}

/// A path of the compiler.
#[derive(Clone, Copy, Default)]
struct Path {
    /// The schema at the end.
    index: usize,
    /// A hash of the resources that the path has left through references. The compiler compiles a target
    /// once per scope, because the scope decides where a `$dynamicRef` leads.
    scope: u64,
    nested: usize,
    /// The number of followed references.
    followed: usize,
}

struct Compilation<'g, 'a> {
    nodes: &'g [Node<'a>],
    /// The number of nodes that the limit still allows.
    left: usize,
    /// The references that were followed or deferred, with their scopes. The text counts: the compiler
    /// compiles a target again for each spelling.
    targets: HashSet<(&'a str, usize, u64)>,
    /// The deferred targets.
    waiting: Vec<Path>,
    /// The schemas that the current path visits, each with the number of the keyword.
    open: Vec<(usize, usize)>,
}

impl<'g, 'a> Compilation<'g, 'a> {
    /// Counts the node that a schema becomes, and checks both limits.
    fn node(&mut self, path: Path) -> Result<&'g Node<'a>, SchemaError> {
        let node = &self.nodes[path.index];
        if path.nested > MAX_NESTED {
            let limit = Limit::Nested(MAX_NESTED);
            return Err(SchemaError::too_large(limit.at(node.schema.pointer())));
        }
        let limit = MAX_NODES;
        let left = self.left.checked_sub(node.schema.weight());
        self.left = left.ok_or(SchemaError::TooManyNodes { limit })?;
        Ok(node)
    }

    /// Walks the compiler's paths through a schema.
    fn compile(&mut self, path: Path) -> Result<(), SchemaError> {
        let node = self.node(path)?;
        for part in &node.parts {
            self.compile(path.below(part.index))?;
        }
        for reference in &node.references {
            let target = path.behind(node, reference);
            if !self
                .targets
                .insert((reference.text, target.index, target.scope))
            {
                continue;
            }
            if path.followed < MAX_FOLLOWED {
                let followed = path.followed + 1;
                self.compile(Path { followed, ..target })?;
            } else {
                let (nested, followed) = (0, 0);
                self.waiting.push(Path {
                    nested,
                    followed,
                    ..target
                });
            }
        }
        for part in &node.parts {
            if let Again::Unevaluated(keyword) = part.again {
                self.visit(keyword, path.below(path.index), false)?;
            }
        }
        Ok(())
    }

    /// Walks the compiler's paths when an `unevaluated…` keyword collects what a schema evaluates. `is_new`:
    /// the path has just followed a reference, so the compiler compiles the subschemas again for this path.
    fn visit(&mut self, keyword: usize, path: Path, is_new: bool) -> Result<(), SchemaError> {
        let node = self.node(path)?;
        self.open.push((keyword, path.index));
        for part in &node.parts {
            let below = path.below(part.index);
            match part.again {
                Again::No => continue,
                Again::Condition => self.visit(keyword, below, is_new)?,
                _ if is_new => self.compile(below)?,
                _ => {}
            }
            if let Again::Branch = part.again {
                self.visit(keyword, below, false)?;
            }
        }
        for reference in &node.references {
            // A schema that refers to itself is visited once.
            if !self.open.contains(&(keyword, reference.target)) {
                self.visit(keyword, path.behind(node, reference), true)?;
            }
        }
        self.open.pop();
        Ok(())
    }
}

impl Path {
    fn below(self, index: usize) -> Self {
        let nested = self.nested + 1;
        Self {
            index,
            nested,
            ..self
        }
    }

    /// The path behind a reference. The scope stays the same within a resource, except that the first
    /// reference always opens one.
    fn behind(self, from: &Node<'_>, reference: &Reference<'_>) -> Self {
        let below = self.below(reference.target);
        let resource = from.schema.resource();
        if resource == reference.resource && self.scope != 0 {
            return below;
        }
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let scope = hasher.hash_one((self.scope, resource)) | 1;
        Self { scope, ..below }
    }
}
