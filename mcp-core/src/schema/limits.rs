//! What a schema may cost: its size, its references, and the work of a check, known before it
//! starts.
//!
//! Whoever checks values of strangers by schemas of strangers has three things to fear: references
//! to elsewhere, references that go round in circles, and schemas that try the same part of a value
//! over and over, at each level twice as often. All three are seen in the schema alone: it is a
//! graph, and the number of ways through it bounds how often a part of a value is looked at.

use std::collections::HashMap;
use std::ptr;

use serde_json::Value;

use super::SchemaError;
use super::walk::{Subschema, subschemas};

/// The longest text of a schema, in bytes.
const MAX_BYTES: usize = 256 << 10;
/// So deep may schemas lie in each other.
const MAX_DEPTH: usize = 64;
/// So many schemas may one be made of.
const MAX_SCHEMAS: usize = 4096;
/// So many times may a check look at a part of a value by a part of a schema.
const MAX_WORK: u64 = 5_000_000;
/// Deeper values do not come out of a JSON text.
const MAX_LEVELS: usize = 128;

/// How much work a check by a schema is, by the depth of the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cost(Vec<u64>);

/// A value is too large or too deep for its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the value is too large or too deep to be checked; send less")]
pub(crate) struct TooMuchWork;

impl Cost {
    /// Looks at a schema without any value.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] when it is too large, or when one of its references cannot be followed.
    // spec: JSCH-05, JSCH-06, JSCH-07
    pub(crate) fn of(schema: &Value) -> Result<Self, SchemaError> {
        let bytes = schema.to_string().len();
        if bytes > MAX_BYTES {
            let limit = MAX_BYTES;
            return Err(SchemaError::TooLarge { bytes, limit });
        }
        let mut graph = Graph::default();
        graph.add(schema, "#".to_owned(), 0, None)?;
        graph.connect()?;
        let order = graph.order()?;
        Ok(Self(graph.costs(&order)))
    }

    /// Tells whether a value may be checked.
    ///
    /// # Errors
    ///
    /// [`TooMuchWork`] when it may not.
    // spec: JSCH-07
    pub(crate) fn admit(&self, value: &Value) -> Result<(), TooMuchWork> {
        let (count, depth) = measure(value, 0);
        let at = depth.min(self.0.len().saturating_sub(1));
        let each = self.0.get(at).copied().unwrap_or(u64::MAX);
        match each.saturating_mul(count) {
            0..=MAX_WORK => Ok(()),
            _ => Err(TooMuchWork),
        }
    }
}

/// How many values a value is made of, and how deep they lie.
fn measure(value: &Value, depth: usize) -> (u64, usize) {
    let inner = |children: &mut dyn Iterator<Item = &Value>| {
        children.fold((1, depth), |(count, deepest), child| {
            let (more, deep) = measure(child, depth + 1);
            (count + more, deepest.max(deep))
        })
    };
    match value {
        // Deeper ones are counted as one that is too deep.
        _ if depth > MAX_LEVELS => (1, depth),
        Value::Array(elements) => inner(&mut elements.iter()),
        Value::Object(members) => inner(&mut members.values()),
        _ => (1, depth),
    }
}

/// Schemas, and which of them is tried after which.
#[derive(Default)]
struct Graph<'a> {
    nodes: Vec<Node<'a>>,
    by_address: HashMap<*const Value, usize>,
    /// Names of places, by the resource that they belong to.
    anchors: HashMap<(usize, &'a str), usize>,
    dynamic: HashMap<&'a str, Vec<usize>>,
    resources: HashMap<&'a str, usize>,
}

struct Node<'a> {
    schema: &'a Value,
    pointer: String,
    depth: usize,
    /// The schema around it that has an `$id`, or the root.
    resource: usize,
    /// What is tried on the same value.
    same: Vec<usize>,
    /// Of these, a member of an object meets one at most.
    named: Vec<usize>,
    /// Of these, an element of an array meets one at most.
    placed: Vec<usize>,
    /// These may be tried on every member.
    members: Vec<usize>,
    /// These may be tried on every element.
    elements: Vec<usize>,
}

impl<'a> Graph<'a> {
    /// Adds a schema and those inside of it; one that is there already stays.
    fn add(
        &mut self,
        schema: &'a Value,
        pointer: String,
        depth: usize,
        resource: Option<usize>,
    ) -> Result<usize, SchemaError> {
        if let Some(&known) = self.by_address.get(&ptr::from_ref(schema)) {
            return Ok(known);
        }
        if depth > MAX_DEPTH {
            let limit = MAX_DEPTH;
            return Err(SchemaError::TooDeep {
                location: pointer,
                limit,
            });
        }
        let index = self.nodes.len();
        if index >= MAX_SCHEMAS {
            return Err(SchemaError::TooManySchemas { limit: MAX_SCHEMAS });
        }
        let object = schema.as_object();
        let text = |keyword: &str| {
            object
                .and_then(|it| it.get(keyword))
                .and_then(Value::as_str)
        };
        let id = text("$id");
        let resource = resource.filter(|_| id.is_none()).unwrap_or(index);
        if let Some(id) = id {
            self.resources.insert(id.trim_end_matches('#'), index);
        }
        if let Some(anchor) = text("$anchor") {
            self.anchors.insert((resource, anchor), index);
        }
        if let Some(anchor) = text("$dynamicAnchor") {
            self.anchors.insert((resource, anchor), index);
            self.dynamic.entry(anchor).or_default().push(index);
        }
        self.by_address.insert(ptr::from_ref(schema), index);
        self.nodes.push(Node {
            schema,
            pointer: pointer.clone(),
            depth,
            resource,
            same: Vec::new(),
            named: Vec::new(),
            placed: Vec::new(),
            members: Vec::new(),
            elements: Vec::new(),
        });
        for sub in object.into_iter().flat_map(subschemas) {
            let added = self.add(sub.schema, sub.pointer(&pointer), depth + 1, Some(resource))?;
            if let Some(node) = self.nodes.get_mut(index) {
                node.hold(&sub, added);
            }
        }
        Ok(index)
    }

    /// Follows the references, those of what they lead to included.
    fn connect(&mut self) -> Result<(), SchemaError> {
        let mut next = 0;
        while let Some(node) = self.nodes.get(next) {
            let object = node.schema.as_object();
            let references = ["$ref", "$dynamicRef", "$recursiveRef"].into_iter();
            let references: Vec<_> = references
                .filter_map(|keyword| Some((keyword, object?.get(keyword)?.as_str()?)))
                .collect();
            for (keyword, reference) in references {
                let target = self.resolve(next, reference)?;
                let anchor = reference.trim_start_matches('#');
                let mut targets = vec![target];
                if keyword == "$dynamicRef" {
                    targets.extend(self.dynamic.get(anchor).into_iter().flatten());
                }
                if let Some(node) = self.nodes.get_mut(next) {
                    node.same.append(&mut targets);
                }
            }
            next += 1;
        }
        Ok(())
    }

    fn resolve(&mut self, from: usize, reference: &'a str) -> Result<usize, SchemaError> {
        let unresolved = || SchemaError::Unresolved(reference.to_owned());
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = match document {
            "" => self.nodes.get(from).map(|node| node.resource),
            id => self.resources.get(id).copied(),
        };
        let Some(resource) = resource else {
            return Err(SchemaError::External(reference.to_owned()));
        };
        if fragment.is_empty() {
            return Ok(resource);
        }
        if !fragment.starts_with('/') {
            let anchor = self.anchors.get(&(resource, fragment));
            return anchor.copied().ok_or_else(unresolved);
        }
        let pointer = percent_decode(fragment).ok_or_else(unresolved)?;
        let root = self.nodes.get(resource).ok_or_else(unresolved)?;
        let target = root.schema.pointer(&pointer).ok_or_else(unresolved)?;
        let (place, depth) = (format!("{}{pointer}", root.pointer), root.depth);
        self.add(target, place, depth + 1, Some(resource))
    }

    /// The schemas so that each comes behind those that are tried on the same value.
    fn order(&self) -> Result<Vec<usize>, SchemaError> {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let mut states = vec![State::New; self.nodes.len()];
        let mut order = Vec::with_capacity(self.nodes.len());
        // Each open schema, and how many of those that it tries were looked at.
        let mut path: Vec<(usize, usize)> = Vec::new();
        for start in 0..self.nodes.len() {
            let mut entered = Some(start);
            loop {
                if let Some(index) = entered.take() {
                    match states.get(index).copied() {
                        Some(State::New) => {
                            states[index] = State::Open;
                            path.push((index, 0));
                        }
                        Some(State::Open) => {
                            let pointer = self.nodes.get(index).map(|node| node.pointer.clone());
                            return Err(SchemaError::Endless(pointer.unwrap_or_default()));
                        }
                        _ => {}
                    }
                }
                let Some((index, tried)) = path.last_mut() else {
                    break;
                };
                let next = self
                    .nodes
                    .get(*index)
                    .and_then(|node| node.same.get(*tried));
                if let Some(&next) = next {
                    *tried += 1;
                    entered = Some(next);
                } else {
                    states[*index] = State::Done;
                    order.push(*index);
                    path.pop();
                }
            }
        }
        Ok(order)
    }

    /// How often a part of a value is looked at, by the depth of the value, as far as a check may
    /// go.
    fn costs(&self, order: &[usize]) -> Vec<u64> {
        let mut costs = Vec::new();
        let mut above = vec![0; self.nodes.len()];
        for _ in 0..=MAX_LEVELS {
            let mut level = vec![0_u64; self.nodes.len()];
            for &index in order {
                if let Some(node) = self.nodes.get(index) {
                    level[index] = node.cost(&level, &above);
                }
            }
            let root = level.first().copied().unwrap_or(1);
            costs.push(root);
            if root > MAX_WORK || level == above {
                break;
            }
            above = level;
        }
        costs
    }
}

impl Node<'_> {
    fn hold(&mut self, sub: &Subschema<'_>, index: usize) {
        let list = match sub.keyword {
            "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" | "dependentSchemas"
            | "dependencies" => &mut self.same,
            "properties" => &mut self.named,
            "patternProperties"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "propertyNames" => &mut self.members,
            // Nobody tries these until something refers to them.
            "$defs" | "definitions" | "contentSchema" => return,
            _ if sub.index.is_some() => &mut self.placed,
            _ => &mut self.elements,
        };
        list.push(index);
    }

    /// `here` are the costs of what is tried on the same value, `below` those of what is tried on
    /// its members and elements.
    fn cost(&self, here: &[u64], below: &[u64]) -> u64 {
        let of = |costs: &[u64], index: &usize| costs.get(*index).copied().unwrap_or(0);
        let sum = |costs: &[u64], list: &[usize]| {
            list.iter()
                .fold(0_u64, |sum, index| sum.saturating_add(of(costs, index)))
        };
        let most = |list: &[usize]| list.iter().map(|index| of(below, index)).max().unwrap_or(0);
        let members = most(&self.named).saturating_add(sum(below, &self.members));
        let elements = most(&self.placed).saturating_add(sum(below, &self.elements));
        1_u64
            .saturating_add(sum(here, &self.same))
            .saturating_add(members.max(elements))
    }
}

/// Undoes the encoding of a fragment; `None` when it is not UTF-8.
fn percent_decode(text: &str) -> Option<String> {
    let hex = |digit: u8| {
        char::from(digit)
            .to_digit(16)
            .and_then(|it| u8::try_from(it).ok())
    };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if let (b'%', [high, low, tail @ ..]) = (first, tail)
            && let (Some(high), Some(low)) = (hex(*high), hex(*low))
        {
            bytes.push(high * 16 + low);
            rest = tail;
            continue;
        }
        bytes.push(*first);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests;
