//! [`Parts`]: the schemas that apply to the same value.

use std::collections::HashSet;

use serde_json::Value;

use crate::error::SchemaError;
use crate::keywords::Keywords;
use crate::schema::Node;
use crate::walk::Walk;

/// A schema with the target of its reference and the schemas in its `allOf`, and with theirs: all that apply to the same value
/// whatever it is. Each is there once, so circles end.
///
/// The schema itself comes first, then the target, then `allOf`: of two keywords the nearer one counts.
#[derive(Debug, Clone)]
pub struct Parts<'s> {
    nodes: Vec<Node<'s>>,
    /// The number of nodes before those around an alternative.
    own: usize,
}

/// Keywords of a schema that its alternatives do not have.
const NOT_SHARED: [&str; 8] = [
    "allOf",
    "anyOf",
    "oneOf",
    "nullable",
    "title",
    "description",
    "default",
    "examples",
];

fn is_shared(keyword: &str) -> bool {
    !keyword.starts_with('$') && !NOT_SHARED.contains(&keyword)
}

impl<'s> Parts<'s> {
    /// Collects the schemas that apply to a value together with `node`, and counts a visit for each. `nested` schemas are on the path to
    /// it: one more at each level. A visitor that shows circles, not an error, keeps the ids on its path.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError`] if the walk exceeds a limit.
    pub fn of(node: Node<'s>, walk: &Walk, nested: usize) -> Result<Self, SchemaError> {
        Self::of_all(&[node], walk, nested)
    }

    /// Collects the schemas that apply to a value together with each of `first`, such as those that parts of an `allOf` have for
    /// one property.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError`] if the walk exceeds a limit.
    pub fn of_all(first: &[Node<'s>], walk: &Walk, nested: usize) -> Result<Self, SchemaError> {
        let mut nodes = Vec::new();
        let mut known = HashSet::new();
        let mut waiting: Vec<_> = first.iter().rev().copied().collect();
        while let Some(node) = waiting.pop() {
            if known.insert(node.id()) {
                walk.visit(node, nested)?;
                nodes.push(node);
                let start = waiting.len();
                waiting.extend(walk.target(node).into_iter().chain(node.list("allOf")));
                waiting[start..].reverse();
            }
        }
        let own = nodes.len();
        Ok(Self { nodes, own })
    }

    /// Collects the same for an alternative of these schemas, whose constraints also apply to it. Their texts, defaults and
    /// alternatives do not.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError`] if the walk exceeds a limit.
    pub fn alternative(
        &self,
        node: Node<'s>,
        walk: &Walk,
        nested: usize,
    ) -> Result<Self, SchemaError> {
        let mut inner = Self::of(node, walk, nested)?;
        for around in &self.nodes {
            let mut keywords = around.object().into_iter().flat_map(|object| object.keys());
            if keywords.any(|keyword| is_shared(keyword)) {
                walk.visit(*around, nested)?;
                inner.nodes.push(*around);
            }
        }
        Ok(inner)
    }

    /// Returns the keywords, each once.
    pub fn keywords(&self) -> Vec<(&'s str, &'s Value)> {
        let nodes = self.nodes.iter().enumerate();
        let all = nodes.flat_map(|(index, node)| {
            let keywords = node.object().into_iter().flatten();
            keywords.filter(move |(name, _)| index < self.own || is_shared(name))
        });
        let all = all.map(|(name, value)| (name.as_str(), value));
        let mut known = HashSet::new();
        all.filter(|(name, _)| known.insert(*name)).collect()
    }
}

impl<'s> Keywords<'s> for Parts<'s> {
    fn nodes(&self) -> &[Node<'s>] {
        &self.nodes
    }

    fn all<'a>(&'a self, keyword: &'a str) -> impl Iterator<Item = &'s Value> + 'a
    where
        's: 'a,
    {
        let count = if is_shared(keyword) {
            self.nodes.len()
        } else {
            self.own
        };
        let nodes = self.nodes[..count].iter();
        nodes.filter_map(move |node| node.object()?.get(keyword))
    }
}
