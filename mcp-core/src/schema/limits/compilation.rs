//! Limits how many nodes the compiler of a schema's `jsonschema` crate makes.
//!
//! The compiler makes one node per schema and one per reference target. For `unevaluatedProperties` and
//! `unevaluatedItems` it follows the references once more, and does not share nodes between paths: their
//! number can grow exponentially: 2.4 kB of schema need more than 4 GB. This module walks the paths of
//! `jsonschema` 0.60 and counts. Limits on references or keywords alone would refuse ordinary schemas, and a
//! thread with a deadline returns no memory.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use super::graph::{Graph, Node, Reference};
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
/// Returns [`SchemaError::TooManyNodes`], or [`SchemaError::TooManySteps`] for a path with more than
/// [`MAX_NESTED`] nodes.
pub(super) fn check(graph: &Graph<'_>) -> Result<(), SchemaError> {
    let mut compilation = Compilation {
        graph,
        left: MAX_NODES,
        targets: HashSet::new(),
        waiting: vec![(0, Scope(0))],
        open: [vec![0; graph.nodes.len()], vec![0; graph.nodes.len()]],
    };
    while let Some((index, scope)) = compilation.waiting.pop() {
        compilation.compile(index, scope, Depth::default())?;
    }
    Ok(())
}

/// A hash of the resources that the path has left through references. The compiler compiles a target once
/// per scope, because the scope decides where a `$dynamicRef` leads.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Scope(u64);

/// The depth of a path.
#[derive(Clone, Copy, Default)]
struct Depth {
    nodes: usize,
    /// The number of followed references.
    followed: usize,
}

impl Depth {
    fn below(self) -> Self {
        Self {
            nodes: self.nodes + 1,
            ..self
        }
    }
}

/// The subject of an `unevaluated…` keyword: the members or the elements that other keywords evaluate.
#[derive(Clone, Copy)]
enum Kind {
    Properties,
    Items,
}

struct Compilation<'g, 'a> {
    graph: &'g Graph<'a>,
    /// The number of nodes that the limit still allows.
    left: usize,
    /// The references that were followed or deferred. The text counts: the compiler compiles a target again
    /// for each spelling.
    targets: HashSet<(&'a str, usize, Scope)>,
    /// The deferred targets.
    waiting: Vec<(usize, Scope)>,
    /// For each [`Kind`], how often the current path visits each schema.
    open: [Vec<u32>; 2],
}

impl<'g, 'a> Compilation<'g, 'a> {
    /// Counts the node that a schema becomes, and checks both limits.
    fn node(&mut self, index: usize, depth: Depth) -> Result<&'g Node<'a>, SchemaError> {
        let node = &self.graph.nodes[index];
        if depth.nodes > MAX_NESTED {
            return Err(SchemaError::TooManySteps {
                location: node.location(),
                limit: MAX_NESTED,
            });
        }
        let limit = MAX_NODES;
        let left = self.left.checked_sub(node.schema.weight());
        self.left = left.ok_or(SchemaError::TooManyNodes { limit })?;
        Ok(node)
    }

    /// Walks the compiler's paths through a schema.
    fn compile(&mut self, index: usize, scope: Scope, depth: Depth) -> Result<(), SchemaError> {
        let node = self.node(index, depth)?;
        for &child in &node.children {
            self.compile(child, scope, depth.below())?;
        }
        for reference in &node.references {
            let (target, scope) = (reference.target, scope.after(node, reference));
            if !self.targets.insert((reference.text, target, scope)) {
                continue;
            }
            if depth.followed < MAX_FOLLOWED {
                let depth = Depth {
                    nodes: depth.nodes + 1,
                    followed: depth.followed + 1,
                };
                self.compile(target, scope, depth)?;
            } else {
                self.waiting.push((target, scope));
            }
        }
        if node.unevaluated.of_properties {
            self.visit(Kind::Properties, index, scope, false, depth.below())?;
        }
        if node.unevaluated.of_items {
            self.visit(Kind::Items, index, scope, false, depth.below())?;
        }
        Ok(())
    }

    /// Walks the compiler's paths when it collects what a schema evaluates. `is_new`: the path has just
    /// followed a reference, so the compiler compiles the subschemas again for this path.
    fn visit(
        &mut self,
        kind: Kind,
        index: usize,
        scope: Scope,
        is_new: bool,
        depth: Depth,
    ) -> Result<(), SchemaError> {
        let node = self.node(index, depth)?;
        self.open[kind as usize][index] += 1;
        let unevaluated = &node.unevaluated;
        for &branch in &unevaluated.branches {
            if is_new {
                self.compile(branch, scope, depth.below())?;
            }
            self.visit(kind, branch, scope, false, depth.below())?;
        }
        for &visited in &unevaluated.visited {
            self.visit(kind, visited, scope, is_new, depth.below())?;
        }
        if is_new {
            let lists = [
                &unevaluated.members,
                &unevaluated.elements,
                &unevaluated.compiled,
            ];
            for &compiled in lists.into_iter().flatten() {
                self.compile(compiled, scope, depth.below())?;
            }
        }
        for reference in &node.references {
            let target = reference.target;
            // A schema that refers to itself is visited once.
            if self.open[kind as usize][target] == 0 {
                let scope = scope.after(node, reference);
                self.visit(kind, target, scope, true, depth.below())?;
            }
        }
        self.open[kind as usize][index] -= 1;
        Ok(())
    }
}

impl Scope {
    /// Returns the scope behind a reference. It stays the same within a resource, except that the first
    /// reference always opens a scope.
    fn after(self, from: &Node<'_>, reference: &Reference<'_>) -> Self {
        if from.schema.resource() == reference.resource && self.0 != 0 {
            return self;
        }
        let mut hasher = DefaultHasher::new();
        (self.0, from.schema.resource()).hash(&mut hasher);
        Self(hasher.finish() | 1)
    }
}
