//! A schema with its references resolved.

use std::collections::{BTreeMap, HashMap};
use std::iter;

use mcp_schema::{Keywords, Node, Place, Reference, Walk, limits};
use mcp_types::shorten;
use serde_json::Value;

use super::comparison::{ANNOTATIONS, DEFINITIONS};

/// Keywords that narrow each other where several schemas have them. `required` and `allOf` are compared as a whole.
const CONSTRAINTS: [&str; 39] = [
    "additionalItems",
    "additionalProperties",
    "anyOf",
    "const",
    "contains",
    "contentSchema",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "then",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
];

/// This many schemas in a view cost one step.
const NODES_PER_STEP: usize = 4;

/// A schema and the targets of its references; for an alternative, also the schemas around it. Of two keywords the nearer one
/// counts.
///
/// Unlike [`Parts`](mcp_schema::Parts) it leaves out the schemas in `allOf`: a change in the farther one must be seen, too.
#[derive(Default)]
pub(super) struct View<'s> {
    nodes: Vec<Node<'s>>,
    /// The keywords with the alternatives, each with the number of nodes inside of it.
    splits: Vec<(usize, &'static str)>,
}

impl<'s> View<'s> {
    pub(super) fn new(node: Node<'s>, walk: &Walk) -> Self {
        let view = Self::default().alternative(Some(node), "", walk);
        view.unwrap_or_default()
    }

    /// Returns an alternative in the keyword `split` of this schema. Without a node it is the schema itself, without annotations.
    /// `None` for a reference back to this schema, which accepts nothing more.
    pub(super) fn alternative(
        &self,
        node: Option<Node<'s>>,
        split: &'static str,
        walk: &Walk,
    ) -> Option<Self> {
        let mut nodes = Vec::new();
        let mut next = node;
        while let Some(node) = next.filter(|node| !has(&nodes, *node)) {
            if has(&self.nodes, node) {
                return None;
            }
            nodes.push(node);
            next = walk.target(node);
        }
        let inside = nodes.len();
        nodes.extend(&self.nodes);
        walk.spend(nodes.len() / NODES_PER_STEP);
        let around = self.splits.iter();
        let around = around.map(|(count, split)| (inside + count, *split));
        let splits = iter::once((inside, split)).chain(around).collect();
        Some(Self { nodes, splits })
    }

    /// Returns the steps of a comparison with it, in addition to one for the pair. Each alternative repeats what is around it.
    pub(super) fn steps(&self) -> usize {
        let inside = self.splits.first().map_or(0, |(inside, _)| *inside);
        let (own, around) = self.nodes.split_at(inside);
        let sizes = own.iter().map(|node| node.weight() - 1).sum::<usize>();
        let others = around.iter().map(|node| node.weight()).sum::<usize>();
        sizes + (own.len() + others) / NODES_PER_STEP
    }

    /// Returns the keywords that count, the nearest last.
    pub(super) fn keywords(&self) -> impl Iterator<Item = (&'s String, &'s Value)> {
        let nodes = self.nodes.iter().enumerate().rev();
        nodes.flat_map(move |(index, node)| {
            let keywords = node.object().into_iter().flatten();
            keywords.filter(move |(name, _)| self.counts(index, *node, name))
        })
    }

    /// Returns the constraints that a nearer one hides, each with the schema that it is: by their keyword, their name in a map of
    /// properties, and their number.
    pub(super) fn hidden(
        &self,
    ) -> BTreeMap<(&'s str, &'s str, usize), (&'s Value, Option<Node<'s>>)> {
        let has_values = usize::from(self.get("enum").is_some());
        let mut counts = HashMap::from([(("const", ""), has_values)]);
        let mut hidden = BTreeMap::new();
        for (keyword, name, value, node) in self.constraints() {
            let count = counts.entry((keyword, name)).or_insert(0);
            if *count > 0 {
                hidden.insert((keyword, name, *count), (value, node.find(value)));
            }
            *count += 1;
        }
        hidden
    }

    /// Returns true if one of the schemas has a constraint.
    pub(super) fn has_constraint(&self, keyword: &str, name: &str, value: &Value) -> bool {
        self.all(keyword).any(|own| {
            let member = own.get(name).filter(|_| is_map(keyword));
            member.unwrap_or(own) == value
        })
    }

    /// Returns the constraints of which the nearest one counts, with their keyword and their name in a map of properties.
    fn constraints(&self) -> impl Iterator<Item = (&'s str, &'s str, &'s Value, Node<'s>)> {
        let nodes = self.nodes.iter().enumerate();
        nodes.flat_map(move |(index, node)| {
            let keywords = node.object().into_iter().flatten();
            let keywords = keywords.filter(move |(name, _)| {
                CONSTRAINTS.contains(&name.as_str()) && self.counts(index, *node, name)
            });
            keywords.flat_map(move |(keyword, value)| {
                let is_map = is_map(keyword);
                let members = value.as_object().filter(|_| is_map).into_iter().flatten();
                let members = members.map(|(name, value)| (name.as_str(), value));
                let one = (!is_map).then_some(("", value));
                let all = members.chain(one);
                all.map(move |(name, value)| (keyword.as_str(), name, value, *node))
            })
        })
    }

    /// Returns the reference in a keyword, unless the view contains its target.
    pub(super) fn reference(&self, keyword: &str) -> Option<Reference<'s>> {
        let mut references = self.nodes.iter().flat_map(|node| node.references());
        references.find(|reference| {
            let target = reference.target;
            reference.keyword == keyword && target.is_some_and(|target| !has(&self.nodes, target))
        })
    }

    /// Returns true if a keyword is a reference.
    pub(super) fn refers(&self, keyword: &str) -> bool {
        let mut references = self.nodes.iter().flat_map(|node| node.references());
        references.any(|reference| reference.keyword == keyword)
    }

    /// Returns the schemas in a keyword with the names that they have in a map, the nearest last.
    pub(super) fn inner(&self, keyword: &str) -> impl Iterator<Item = (&'s str, Node<'s>)> {
        let all = self.nodes.iter().rev().flat_map(|node| node.subschemas());
        let all = all.filter(move |inner| inner.keyword == keyword);
        all.map(|inner| match inner.place {
            Place::Name(name) => (name, inner.node),
            _ => ("", inner.node),
        })
    }

    /// Returns the schema as it is written, shortened for messages. Writing it takes steps.
    pub(super) fn text(&self, walk: &Walk) -> String {
        let first = self.nodes.first();
        let mut json = first.map(|node| node.to_json()).unwrap_or_default();
        if let Value::Object(keywords) = &mut json {
            keywords.retain(|name, _| !self.is_hidden(0, name));
        }
        let text = json.to_string();
        walk.spend(text.len() / limits::BYTES_PER_STEP);
        shorten(&text, 60).into_owned()
    }

    /// Returns true if a keyword of a node counts. References that are followed do not.
    fn counts(&self, index: usize, node: Node<'_>, keyword: &str) -> bool {
        let mut own = node.references().filter(|own| own.keyword == keyword);
        let is_followed = |target| has(&self.nodes, target);
        !self.is_hidden(index, keyword) && !own.any(|own| own.target.is_some_and(is_followed))
    }

    /// Returns true if a keyword of a node is compared elsewhere. An alternative has the constraints around it, not the annotations.
    fn is_hidden(&self, index: usize, keyword: &str) -> bool {
        let mut splits = self.splits.iter().filter(|(inside, _)| index >= *inside);
        let is_outside = |split| split == keyword || ANNOTATIONS.contains(&keyword);
        DEFINITIONS.contains(&keyword) || splits.any(|(_, split)| is_outside(*split))
    }
}

impl<'s> Keywords<'s> for View<'s> {
    fn nodes(&self) -> &[Node<'s>] {
        &self.nodes
    }

    fn all<'a>(&'a self, keyword: &'a str) -> impl Iterator<Item = &'s Value> + 'a
    where
        's: 'a,
    {
        let nodes = self.nodes.iter().enumerate();
        nodes.filter_map(move |(index, node)| {
            let value = node.object()?.get(keyword)?;
            self.counts(index, *node, keyword).then_some(value)
        })
    }
}

/// Returns true if a keyword has schemas with names, each of which is a constraint.
fn is_map(keyword: &str) -> bool {
    matches!(keyword, "properties" | "patternProperties")
}

fn has(nodes: &[Node<'_>], node: Node<'_>) -> bool {
    nodes.iter().any(|known| known.id() == node.id())
}
