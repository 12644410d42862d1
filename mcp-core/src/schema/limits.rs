//! Limits of schemas and of the work of a validation, computed before it starts.
//!
//! Untrusted schemas have three risks: external references, circular references, and subschemas that
//! evaluate the same value exponentially often. All three follow from the schema alone: it is a graph,
//! and the number of paths through it bounds the evaluations of a value.

use std::collections::HashMap;
use std::ptr;

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::SchemaError;
use super::walk::{Subschema, subschemas};

/// The maximum size of a schema in bytes: 256 KiB.
const MAX_BYTES: usize = 256 << 10;
/// The maximum nesting depth of a schema.
const MAX_DEPTH: usize = 64;
/// The maximum number of subschemas.
const MAX_SCHEMAS: usize = 4096;
/// The maximum number of evaluations of a subschema in one validation.
const MAX_WORK: u64 = 5_000_000;
/// The maximum depth of a JSON value, which the parser enforces.
const MAX_LEVELS: usize = 128;

/// The number of evaluations per value, by the depth of the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cost(Vec<u64>);

/// A value that is too large or too deep for its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the value is too large or too deep to be checked; send less")]
pub(crate) struct TooMuchWork;

impl Cost {
    /// Computes the cost of a schema. Returns the subschemas as well, including the targets of
    /// references.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError`] when the schema exceeds a limit, or when a reference cannot be
    /// resolved.
    // spec: JSCH-05, JSCH-06, JSCH-07
    pub(crate) fn new(schema: &Value) -> Result<(Self, Vec<&Value>), SchemaError> {
        let bytes = schema.to_string().len();
        if bytes > MAX_BYTES {
            let limit = MAX_BYTES;
            return Err(SchemaError::TooLarge { bytes, limit });
        }
        let mut graph = Graph::default();
        graph.add(schema, "#".to_owned(), 0, None)?;
        graph.connect()?;
        let order = graph.order()?;
        let subschemas = graph.nodes.iter().map(|node| node.schema).collect();
        Ok((Self(graph.costs(&order)), subschemas))
    }

    /// Checks that the validation of a value stays within the limit. Returns the number of evaluations
    /// per value.
    ///
    /// # Errors
    ///
    /// Returns [`TooMuchWork`] when it does not.
    // spec: JSCH-07
    pub(crate) fn check(&self, value: &Value) -> Result<u64, TooMuchWork> {
        let (count, depth) = measure(value, 0);
        let index = depth.min(self.0.len().saturating_sub(1));
        let each = self.0.get(index).copied().unwrap_or(u64::MAX);
        match each.saturating_mul(count) {
            0..=MAX_WORK => Ok(each),
            _ => Err(TooMuchWork),
        }
    }
}

/// Returns the number of values inside a value, itself included, and their maximum depth.
fn measure(value: &Value, depth: usize) -> (u64, usize) {
    let inner = |children: &mut dyn Iterator<Item = &Value>| {
        children.fold((1, depth), |(count, deepest), child| {
            let (more, deep) = measure(child, depth + 1);
            (count + more, deepest.max(deep))
        })
    };
    match value {
        // A deeper value is not traversed.
        _ if depth > MAX_LEVELS => (1, depth),
        Value::Array(elements) => inner(&mut elements.iter()),
        Value::Object(members) => inner(&mut members.values()),
        _ => (1, depth),
    }
}

/// The subschemas of a schema, and the order of their evaluation.
#[derive(Default)]
struct Graph<'a> {
    nodes: Vec<Node<'a>>,
    by_address: HashMap<*const Value, usize>,
    /// Anchors, by the resource that they belong to.
    anchors: HashMap<(usize, &'a str), usize>,
    dynamic: HashMap<&'a str, Vec<usize>>,
    resources: HashMap<&'a str, usize>,
}

struct Node<'a> {
    schema: &'a Value,
    pointer: String,
    depth: usize,
    /// The innermost enclosing schema with an `$id`, or the root.
    resource: usize,
    /// The subschemas that are evaluated on the same value.
    same: Vec<usize>,
    /// The subschemas of which each member of an object is evaluated by at most one.
    named: Vec<usize>,
    /// The subschemas of which each element of an array is evaluated by at most one.
    indexed: Vec<usize>,
    /// The subschemas that may be evaluated on every member.
    members: Vec<usize>,
    /// The subschemas that may be evaluated on every element.
    elements: Vec<usize>,
}

impl<'a> Graph<'a> {
    /// Adds a schema and its subschemas. Returns the index of a schema that is in the graph already.
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
            indexed: Vec::new(),
            members: Vec::new(),
            elements: Vec::new(),
        });
        for sub in object.into_iter().flat_map(subschemas) {
            let added = self.add(sub.schema, sub.pointer(&pointer), depth + 1, Some(resource))?;
            if let Some(node) = self.nodes.get_mut(index) {
                node.add_subschema(&sub, added);
            }
        }
        Ok(index)
    }

    /// Resolves the references, including those of their targets.
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
        let pointer = percent_decode_str(fragment).decode_utf8();
        let pointer = pointer.map_err(|_| unresolved())?;
        let root = self.nodes.get(resource).ok_or_else(unresolved)?;
        let target = root.schema.pointer(&pointer).ok_or_else(unresolved)?;
        let (location, depth) = (format!("{}{pointer}", root.pointer), root.depth);
        self.add(target, location, depth + 1, Some(resource))
    }

    /// Sorts the schemas so that each comes after those that are evaluated on the same value.
    fn order(&self) -> Result<Vec<usize>, SchemaError> {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let mut states = vec![State::New; self.nodes.len()];
        let mut order = Vec::with_capacity(self.nodes.len());
        // The open schemas, each with the number of its visited subschemas.
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

    /// Returns the number of evaluations per value, by depth, up to the limit.
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
    fn add_subschema(&mut self, sub: &Subschema<'_>, index: usize) {
        let list = match sub.keyword {
            "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" | "dependentSchemas"
            | "dependencies" => &mut self.same,
            "properties" => &mut self.named,
            "patternProperties"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "propertyNames" => &mut self.members,
            // Evaluated only through a reference.
            "$defs" | "definitions" | "contentSchema" => return,
            _ if sub.index.is_some() => &mut self.indexed,
            _ => &mut self.elements,
        };
        list.push(index);
    }

    /// Returns the cost of this schema. `here` are the costs of schemas on the same value, `below` those
    /// on its members and elements.
    fn cost(&self, here: &[u64], below: &[u64]) -> u64 {
        let cost_at = |costs: &[u64], index: &usize| costs.get(*index).copied().unwrap_or(0);
        let sum = |costs: &[u64], list: &[usize]| {
            list.iter().fold(0_u64, |sum, index| {
                sum.saturating_add(cost_at(costs, index))
            })
        };
        let max = |list: &[usize]| {
            list.iter()
                .map(|index| cost_at(below, index))
                .max()
                .unwrap_or(0)
        };
        let members = max(&self.named).saturating_add(sum(below, &self.members));
        let elements = max(&self.indexed).saturating_add(sum(below, &self.elements));
        1_u64
            .saturating_add(sum(here, &self.same))
            .saturating_add(members.max(elements))
    }
}

#[cfg(test)]
mod tests {
    //! Limits of schemas, and of values for a schema.

    use serde_json::{Value, json};

    use super::{Cost, MAX_SCHEMAS};
    use crate::schema::SchemaError;

    fn cost_of(schema: &Value) -> Result<Cost, SchemaError> {
        Cost::new(schema).map(|(cost, _)| cost)
    }

    fn refused(schema: &Value) -> String {
        cost_of(schema).unwrap_err().to_string()
    }

    fn nested(depth: usize, name: &str) -> Value {
        (0..depth).fold(json!(1), |inner, _| json!({name: inner}))
    }

    // spec: JSCH-05, JSCH-06
    #[test]
    fn external_reference_is_refused() {
        for good in [
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}),
            json!({"$ref": "#a", "$defs": {"x": {"$anchor": "a"}}}),
            json!({"$ref": "#/$defs/a~1b%20c", "$defs": {"a/b c": {}}}),
            json!({"$ref": "urn:x", "$defs": {"a": {"$id": "urn:x"}}}),
            json!({"$ref": "urn:x#/$defs/b", "$defs": {"a": {"$id": "urn:x", "$defs": {"b": {}}}}}),
            json!({"properties": {"a": {"$ref": "#"}}}),
            json!({"$dynamicRef": "#a", "$defs": {"x": {"$dynamicAnchor": "a"}}}),
            // Data that resembles a reference.
            json!({"const": {"$ref": "https://example.com"}, "default": {"$ref": "#/nowhere"}}),
        ] {
            cost_of(&good).unwrap_or_else(|error| panic!("{good}: {error}"));
        }
        for external in [
            "https://example.com/x.json",
            "other.json#/a",
            "file:///etc/passwd",
            "//host",
        ] {
            let schema = json!({"properties": {"a": {"$ref": external}}});
            assert!(
                refused(&schema).contains("nothing is fetched"),
                "{external}"
            );
        }
        for missing in ["#/$defs/a", "#a", "#/%ff"] {
            let schema = json!({"$ref": missing});
            assert_eq!(
                cost_of(&schema),
                Err(SchemaError::Unresolved(missing.to_owned()))
            );
        }
        // Anchors belong to their resource.
        let schema =
            json!({"$ref": "#/$defs/b", "$defs": {"a": {"$id": "urn:x", "$defs": {"b": {}}}}});
        assert!(refused(&schema).contains("names nothing"));
    }

    #[test]
    fn circular_reference_without_a_step_is_refused() {
        for endless in [
            json!({"$ref": "#"}),
            json!({"allOf": [{"$ref": "#"}]}),
            json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"not": {"$ref": "#/$defs/a"}}}}),
        ] {
            assert!(refused(&endless).contains("without end"), "{endless}");
        }
        cost_of(&json!({"items": {"$ref": "#"}, "additionalProperties": {"$ref": "#"}})).unwrap();
    }

    #[test]
    fn schema_beyond_a_limit_is_refused() {
        let deep = (0..70).fold(json!({}), |inner, _| json!({"items": inner}));
        assert!(refused(&deep).contains("deeper than 64"));
        let wide: Vec<_> = (0..MAX_SCHEMAS).map(|_| json!({})).collect();
        assert!(refused(&json!({"anyOf": wide})).contains("more than 4096"));
        let long = json!({"description": "x".repeat(300_000)});
        assert!(refused(&long).contains("bytes"));
    }

    // spec: JSCH-07
    #[test]
    fn costly_validation_is_refused_before_it_starts() {
        let tree = json!({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}});
        let cost = cost_of(&tree).unwrap();
        assert!(cost.check(&nested(120, "left")).is_ok());
        let numbers: Vec<_> = (0..200_000).collect();
        assert!(
            cost_of(&json!({"items": {"type": "integer"}}))
                .unwrap()
                .check(&json!(numbers))
                .is_ok()
        );

        // Two recursive alternatives: the work doubles with each level.
        let doubling = json!({"anyOf": [
            {"properties": {"left": {"$ref": "#"}, "kind": {"const": "a"}}},
            {"properties": {"left": {"$ref": "#"}, "kind": {"const": "b"}}},
        ]});
        let cost = cost_of(&doubling).unwrap();
        assert!(cost.check(&nested(8, "left")).is_ok());
        assert!(cost.check(&nested(100, "left")).is_err());

        // The same growth without recursion.
        let mut bomb = json!({"$defs": {"a0": {}}, "$ref": "#/$defs/a30"});
        for level in 1..=30 {
            let below = json!({"$ref": format!("#/$defs/a{}", level - 1)});
            bomb["$defs"][format!("a{level}")] = json!({"allOf": [below, below]});
        }
        assert!(cost_of(&bomb).unwrap().check(&json!(1)).is_err());
    }
}
