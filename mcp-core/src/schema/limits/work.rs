//! The work of a validation per value, which follows from the schema.

use mcp_types::JsonObject;
use serde_json::Value;

use super::graph::{Again, Node, On};
use super::size::{MAX_LEVELS, Size};
use crate::connection::count_values;

/// The maximum work of one validation in units: evaluations of a subschema, or what costs as much. A
/// unit takes about 100 ns.
const MAX_WORK: u64 = 5_000_000;
/// The maximum number of nested evaluations in one validation, which bounds its stack.
const MAX_NESTED: u64 = 1024;

/// Bytes of strings that a keyword such as `maxLength` reads in one unit of work.
const BYTES_PER_UNIT: u64 = 256;
/// Values that are compared with a value (options of an `enum`), and names that are looked up
/// (`required`), in one unit of work.
const COMPARED_PER_UNIT: u64 = 8;
/// Reads of a string that a keyword which parses it costs: `contentEncoding`.
const PARSING: u64 = 8;

/// The work that one value of a validation causes at most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Work {
    /// Evaluations of subschemas, and comparisons with their options, in units.
    evaluations: u64,
    /// The number of times a string's bytes are read.
    reads: u64,
    /// Matches of patterns.
    pub(super) matches: u64,
    /// Evaluations of `uniqueItems`.
    unique: u64,
    /// Nested evaluations.
    nested: u64,
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

    /// Returns the units for a value of a size. `None`: beyond a limit.
    pub(super) fn units(self, size: Size) -> Option<u64> {
        let key_reads = self.evaluations.saturating_add(self.reads);
        let reads = size.string_bytes.saturating_mul(self.reads);
        let reads = reads.saturating_add(size.key_bytes.saturating_mul(key_reads));
        let units = (size.values.saturating_mul(self.evaluations))
            .saturating_add(reads / BYTES_PER_UNIT)
            .saturating_add(size.unique.saturating_mul(self.unique));
        (units <= MAX_WORK && self.nested <= MAX_NESTED).then_some(units)
    }
}

/// Returns true for a list that contains only strings and `null`.
fn texts(options: &Value) -> bool {
    let mut options = options.as_array().into_iter().flatten();
    options.all(|option| option.is_string() || option.is_null())
}

/// Returns the work per value, by depth, up to the limits.
pub(super) fn per_value(nodes: &[Node<'_>], order: &[usize]) -> Vec<Work> {
    let own = nodes.iter().map(|node| Work::of(node.schema.object()));
    let own: Vec<_> = own.collect();
    let mut works = Vec::new();
    let mut below = vec![Level::default(); nodes.len()];
    for _ in 0..=MAX_LEVELS {
        let mut here = vec![Level::default(); nodes.len()];
        for &index in order {
            here[index] = Level::of(&nodes[index], own[index], &here, &below);
        }
        let root = here[0].evaluation;
        works.push(root);
        if root.evaluations > MAX_WORK || root.nested > MAX_NESTED || here == below {
            break;
        }
        below = here;
    }
    works
}

/// The work of a subschema on values of one depth.
#[derive(Clone, Copy, Default, PartialEq)]
struct Level {
    evaluation: Work,
    /// The work of a visit by `unevaluatedProperties` or `unevaluatedItems`, which find what is evaluated.
    visit: Work,
}

impl Level {
    /// `here` is the work of schemas on the same value, `below` that on its members and elements.
    fn of(node: &Node<'_>, own: Work, here: &[Self], below: &[Self]) -> Self {
        let mut evaluation = own;
        let mut visit = Work {
            evaluations: 1,
            matches: own.matches,
            ..Work::default()
        };
        let [mut member, mut members, mut element, mut elements] = [Work::default(); 4];
        // Evaluated by visits on members, and on elements.
        let (mut again, mut visits) = ([Work::default(); 2], 0);
        for part in &node.parts {
            let (same, inner) = (here[part.index], below[part.index].evaluation);
            match part.on {
                On::Value => evaluation = evaluation.and(same.evaluation),
                On::Member => member = member.or(inner),
                On::Members => members = members.and(inner),
                On::Element => element = element.or(inner),
                On::Elements => elements = elements.and(inner),
            }
            match part.again {
                Again::Branch => visit = visit.and(same.evaluation).and(same.visit),
                Again::Condition => visit = visit.and(same.visit),
                Again::Inner => again[1] = again[1].and(inner),
                Again::Unevaluated(keyword) => {
                    again[keyword] = again[keyword].and(inner);
                    visits += 1;
                }
                Again::Compiled | Again::No => {}
            }
        }
        for reference in &node.references {
            evaluation = evaluation.and(here[reference.target].evaluation);
            visit = visit.and(here[reference.target].visit);
        }
        visit = visit.and(again[0].or(again[1]));
        visit.nested = visit.nested.saturating_add(1);
        evaluation = evaluation.and(member.and(members).or(element.and(elements)));
        evaluation = (0..visits).fold(evaluation, |work, _| work.and(visit));
        evaluation.nested = evaluation.nested.saturating_add(1);
        Self { evaluation, visit }
    }
}
