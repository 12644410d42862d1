//! The work of a validation per value, which follows from the schema.

use mcp_types::JsonObject;
use serde_json::Value;

use super::graph::{Graph, Node, Unevaluated};
use super::size::MAX_LEVELS;
use crate::connection::count_values;

/// The maximum work of one validation in units: evaluations of a subschema, or what costs as much. A
/// unit takes about 100 ns.
pub(super) const MAX_WORK: u64 = 5_000_000;
/// The maximum number of nested evaluations in one validation, which bounds its stack.
pub(super) const MAX_NESTED: u64 = 1024;

/// Values that are compared with a value (options of an `enum`), and names that are looked up
/// (`required`), in one unit of work.
const COMPARED_PER_UNIT: u64 = 8;
/// Reads of a string that a keyword which parses it costs: `contentEncoding`.
const PARSING: u64 = 8;

/// The work that one value of a validation causes at most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Work {
    /// Evaluations of subschemas, and comparisons with their options, in units.
    pub(super) evaluations: u64,
    /// The number of times a string's bytes are read.
    pub(super) reads: u64,
    /// Matches of patterns.
    pub(super) matches: u64,
    /// Evaluations of `uniqueItems`.
    pub(super) unique: u64,
    /// Nested evaluations.
    pub(super) nested: u64,
}

impl Work {
    /// The work of both, one after the other.
    fn and(self, other: Self) -> Self {
        self.combine(other, u64::saturating_add)
    }

    /// The work of the more expensive one.
    fn or(self, other: Self) -> Self {
        self.combine(other, u64::max)
    }

    fn combine(self, other: Self, both: fn(u64, u64) -> u64) -> Self {
        Self {
            evaluations: both(self.evaluations, other.evaluations),
            reads: both(self.reads, other.reads),
            matches: both(self.matches, other.matches),
            unique: both(self.unique, other.unique),
            nested: self.nested.max(other.nested),
        }
    }

    /// The work of one schema's keywords, without its subschemas.
    fn of(schema: Option<&JsonObject>) -> Self {
        let mut work = Self {
            evaluations: 1,
            ..Self::default()
        };
        for (keyword, value) in schema.into_iter().flatten() {
            let compared = || count_values(value) as u64 / COMPARED_PER_UNIT;
            match keyword.as_str() {
                // Options that are all text are found by their hash.
                "enum" if texts(value) => work.reads += 1,
                "enum" | "const" => {
                    work.evaluations += compared();
                    work.reads += 1;
                }
                "required" | "dependentRequired" | "dependencies" => {
                    work.evaluations += compared();
                }
                "minLength" | "maxLength" => work.reads += 1,
                "contentEncoding" | "contentMediaType" => work.reads += PARSING,
                "pattern" => work.matches += 1,
                "patternProperties" => {
                    let patterns = value.as_object().map_or(0, serde_json::Map::len);
                    work.matches += patterns as u64;
                }
                "uniqueItems" if *value == Value::Bool(true) => work.unique += 1,
                _ => {}
            }
        }
        work
    }
}

/// Returns true for a list that contains only strings and `null`.
fn texts(options: &Value) -> bool {
    let mut options = options.as_array().into_iter().flatten();
    options.all(|option| option.is_string() || option.is_null())
}

/// Returns the work per value, by depth, up to the limits.
pub(super) fn per_value(graph: &Graph<'_>, order: &[usize]) -> Vec<Work> {
    let own = graph
        .nodes
        .iter()
        .map(|node| Work::of(node.schema.object()));
    let own: Vec<_> = own.collect();
    let mut costs = Vec::new();
    let mut above = Level::new(graph.nodes.len());
    for _ in 0..=MAX_LEVELS {
        let mut level = Level::new(graph.nodes.len());
        for &index in order {
            let (node, own) = (&graph.nodes[index], own[index]);
            level.visits[index] = visit(node, own, &level, &above);
            level.evaluations[index] = evaluate(node, index, own, &level, &above);
        }
        let root = level.evaluations.first().copied().unwrap_or_default();
        costs.push(root);
        if root.evaluations > MAX_WORK || root.nested > MAX_NESTED || level == above {
            break;
        }
        above = level;
    }
    costs
}

/// The work of each subschema on values of one depth.
#[derive(PartialEq)]
struct Level {
    /// Work of an evaluation.
    evaluations: Vec<Work>,
    /// Work of a visit that finds what is evaluated.
    visits: Vec<Work>,
}

impl Level {
    fn new(len: usize) -> Self {
        Self {
            evaluations: vec![Work::default(); len],
            visits: vec![Work::default(); len],
        }
    }
}

fn all_of(works: &[Work], list: &[usize]) -> Work {
    let works = list.iter().map(|&index| works[index]);
    works.fold(Work::default(), Work::and)
}

fn one_of(works: &[Work], list: &[usize]) -> Work {
    let works = list.iter().map(|&index| works[index]);
    works.fold(Work::default(), Work::or)
}

/// Returns the work of an evaluation. `here` is the work of schemas on the same value, `below` that
/// on its members and elements.
fn evaluate(node: &Node<'_>, index: usize, own: Work, here: &Level, below: &Level) -> Work {
    let members = one_of(&below.evaluations, &node.named);
    let members = members.and(all_of(&below.evaluations, &node.members));
    let elements = one_of(&below.evaluations, &node.indexed);
    let elements = elements.and(all_of(&below.evaluations, &node.elements));
    let mut work = own.and(all_of(&here.evaluations, &node.same));
    work = work.and(members.or(elements));
    for has in [node.unevaluated.of_properties, node.unevaluated.of_items] {
        if has {
            work = work.and(here.visits[index]);
        }
    }
    work.nested = work.nested.saturating_add(1);
    work
}

/// Returns the work of a visit by `unevaluatedProperties` or `unevaluatedItems`.
fn visit(node: &Node<'_>, own: Work, here: &Level, below: &Level) -> Work {
    let Unevaluated {
        branches,
        visited,
        members,
        elements,
        ..
    } = &node.unevaluated;
    let own = Work {
        evaluations: 1,
        matches: own.matches,
        ..Work::default()
    };
    let mut work = own.and(all_of(&here.evaluations, branches));
    for list in [branches, visited] {
        work = work.and(all_of(&here.visits, list));
    }
    for reference in &node.references {
        work = work.and(here.visits[reference.target]);
    }
    let members = all_of(&below.evaluations, members);
    work = work.and(members.or(all_of(&below.evaluations, elements)));
    work.nested = work.nested.saturating_add(1);
    work
}
