//! Limit of the nodes that compiling a schema makes.
//!
//! The compiler makes a node for each schema, and one for each target of a reference. Below
//! `unevaluatedProperties` and `unevaluatedItems` it follows references again, and there each path makes
//! nodes of its own, with all that is unevaluated inside of them. This module takes the same paths and
//! counts.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use super::graph::{Graph, Node, Reference};
use super::size::own_bytes;
use crate::schema::SchemaError;

/// The maximum number of nodes. One takes about a kilobyte.
const MAX_NODES: usize = 10_000;
/// The maximum number of nested nodes on a path, which bounds the compiler's stack.
const MAX_NESTED: usize = 128;
/// The number of references that the compiler follows at once before it defers their targets.
const MAX_FOLLOWED: usize = 8;
/// Bytes of keywords, such as the options of an `enum`, that count as a node.
const BYTES_PER_NODE: usize = 256;

/// Checks that compiling makes at most [`MAX_NODES`] nodes.
///
/// # Errors
///
/// Returns [`SchemaError::TooManyNodes`] and [`SchemaError::TooManySteps`].
pub(super) fn check(graph: &Graph<'_>) -> Result<(), SchemaError> {
    let mut compilation = Compilation {
        graph,
        bytes: graph
            .nodes
            .iter()
            .map(|node| own_bytes(node.schema))
            .collect(),
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

/// The resources that the references on a path have left. Targets are compiled once per scope.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Scope(u64);

/// The depth of a path.
#[derive(Clone, Copy, Default)]
struct Depth {
    nodes: usize,
    /// Targets of references that are being compiled.
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

/// A keyword that needs to know what other keywords evaluate.
#[derive(Clone, Copy)]
enum Kind {
    Properties,
    Items,
}

struct Compilation<'g, 'a> {
    graph: &'g Graph<'a>,
    /// The keyword size of each schema, without its subschemas.
    bytes: Vec<usize>,
    left: usize,
    /// The references whose targets are or will be compiled: another spelling compiles them again.
    targets: HashSet<(&'a str, usize, Scope)>,
    waiting: Vec<(usize, Scope)>,
    /// The visits of each schema on the current path, by [`Kind`].
    open: [Vec<u32>; 2],
}

impl<'g, 'a> Compilation<'g, 'a> {
    /// Counts one node.
    fn node(&mut self, index: usize, depth: Depth) -> Result<&'g Node<'a>, SchemaError> {
        let limit = MAX_NODES;
        let too_many = SchemaError::TooManyNodes { limit };
        let Some(node) = self.graph.nodes.get(index) else {
            return Err(too_many);
        };
        if depth.nodes > MAX_NESTED {
            return Err(SchemaError::TooManySteps {
                location: node.pointer.clone(),
                limit: MAX_NESTED,
            });
        }
        let nodes = 1 + self.bytes.get(index).copied().unwrap_or(0) / BYTES_PER_NODE;
        self.left = self.left.checked_sub(nodes).ok_or(too_many)?;
        Ok(node)
    }

    /// Takes the paths of the compiler through a schema.
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

    /// Takes the paths through what a schema evaluates. `is_new` says that its subschemas are not
    /// compiled yet at this location: the visit has passed a reference.
    fn visit(
        &mut self,
        kind: Kind,
        index: usize,
        scope: Scope,
        is_new: bool,
        depth: Depth,
    ) -> Result<(), SchemaError> {
        let node = self.node(index, depth)?;
        self.count_open(kind, index, 1);
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
            if self.count_open(kind, target, 0) == 0 {
                let scope = scope.after(node, reference);
                self.visit(kind, target, scope, true, depth.below())?;
            }
        }
        self.count_open(kind, index, -1);
        Ok(())
    }

    /// Changes and returns how often the current path visits a schema.
    fn count_open(&mut self, kind: Kind, index: usize, change: i32) -> u32 {
        let Some(count) = self.open[kind as usize].get_mut(index) else {
            return 0;
        };
        *count = count.saturating_add_signed(change);
        *count
    }
}

impl Scope {
    /// Returns the scope after a reference: resources that are left become part of it.
    fn after(self, from: &Node<'_>, reference: &Reference<'_>) -> Self {
        if from.resource == reference.resource && self.0 != 0 {
            return self;
        }
        let mut hasher = DefaultHasher::new();
        (self.0, from.resource).hash(&mut hasher);
        Self(hasher.finish() | 1)
    }
}
