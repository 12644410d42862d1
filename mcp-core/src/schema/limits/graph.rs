//! The subschemas of a schema as a graph.

use std::collections::HashMap;
use std::ptr;

use percent_encoding::percent_decode_str;
use serde_json::Value;

use crate::schema::SchemaError;
use crate::schema::walk::{Subschema, subschemas};

/// The maximum nesting depth of a schema.
const MAX_DEPTH: usize = 64;
/// The maximum number of subschemas.
pub(super) const MAX_SCHEMAS: usize = 4096;
/// The maximum size of all locations in bytes. A schema of 256 KiB could have a gigabyte.
const MAX_LOCATIONS: usize = 2 << 20;
/// The maximum number of references that lead from one schema to the next, all for the same value.
const MAX_STEPS: usize = 64;

/// The subschemas of a schema, and the order in which they are evaluated.
#[derive(Default)]
pub(super) struct Graph<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    by_address: HashMap<*const Value, usize>,
    /// Anchors, by the resource that they belong to.
    anchors: HashMap<(usize, &'a str), usize>,
    dynamic: HashMap<&'a str, Vec<usize>>,
    resources: HashMap<&'a str, usize>,
    /// The size of all locations in bytes.
    locations: usize,
}

pub(super) struct Node<'a> {
    pub(super) schema: &'a Value,
    pub(super) pointer: String,
    pub(super) depth: usize,
    /// The innermost enclosing schema with an `$id`, or the root.
    pub(super) resource: usize,
    /// The subschemas that are compiled and evaluated on the same value, or below it.
    pub(super) children: Vec<usize>,
    pub(super) references: Vec<Reference<'a>>,
    /// The subschemas and the targets of references that are evaluated on the same value.
    pub(super) same: Vec<usize>,
    /// The subschemas at most one of which evaluates each member of an object.
    pub(super) named: Vec<usize>,
    /// The subschemas at most one of which evaluates each element of an array.
    pub(super) indexed: Vec<usize>,
    /// The subschemas that may be evaluated on every member.
    pub(super) members: Vec<usize>,
    /// The subschemas that may be evaluated on every element.
    pub(super) elements: Vec<usize>,
    pub(super) unevaluated: Unevaluated,
}

/// The target of a reference.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reference<'a> {
    pub(super) text: &'a str,
    pub(super) target: usize,
    /// The resource that the reference names.
    pub(super) resource: usize,
}

/// The subschemas that `unevaluatedProperties` and `unevaluatedItems` visit in this schema, in order to
/// find what is evaluated: those of this schema itself, and those of schemas that contain it.
#[derive(Default)]
pub(super) struct Unevaluated {
    /// The schema has `unevaluatedProperties`.
    pub(super) of_properties: bool,
    /// The schema has `unevaluatedItems`.
    pub(super) of_items: bool,
    /// Evaluated on the same value once more, and visited: `allOf`, `anyOf`, `oneOf`, `if`.
    pub(super) branches: Vec<usize>,
    /// Only visited: `then`, `else`, `dependentSchemas`.
    pub(super) visited: Vec<usize>,
    /// Evaluated once more on members: `unevaluatedProperties`.
    pub(super) members: Vec<usize>,
    /// Evaluated once more on elements: `unevaluatedItems`, `contains`.
    pub(super) elements: Vec<usize>,
    /// Compiled, but not evaluated once more: `additionalProperties`, `patternProperties`.
    pub(super) compiled: Vec<usize>,
}

impl<'a> Graph<'a> {
    /// Creates the graph of a schema.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError`] when the schema exceeds a limit, or when a reference cannot be resolved.
    pub(super) fn new(schema: &'a Value) -> Result<Self, SchemaError> {
        let mut graph = Self::default();
        graph.add(schema, "#".to_owned(), 0, None)?;
        graph.connect()?;
        Ok(graph)
    }

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
        self.locations += pointer.len();
        if self.locations > MAX_LOCATIONS {
            let limit = MAX_LOCATIONS;
            return Err(SchemaError::NamesTooLong { limit });
        }
        let object = schema.as_object();
        let text = |keyword: &str| {
            object
                .and_then(|schema| schema.get(keyword))
                .and_then(Value::as_str)
        };
        let has = |keyword: &str| object.is_some_and(|schema| schema.contains_key(keyword));
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
            children: Vec::new(),
            references: Vec::new(),
            same: Vec::new(),
            named: Vec::new(),
            indexed: Vec::new(),
            members: Vec::new(),
            elements: Vec::new(),
            unevaluated: Unevaluated {
                of_properties: has("unevaluatedProperties"),
                of_items: has("unevaluatedItems"),
                ..Unevaluated::default()
            },
        });
        for sub in object.into_iter().flat_map(subschemas) {
            let added = self.add(sub.schema, sub.pointer(&pointer), depth + 1, Some(resource))?;
            self.nodes[index].add_subschema(&sub, added);
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
                let mut references = vec![target];
                if keyword == "$dynamicRef" {
                    let others = self.dynamic.get(anchor).into_iter().flatten();
                    references.extend(others.map(|&target| Reference {
                        text: reference,
                        target,
                        resource: self.nodes[target].resource,
                    }));
                }
                let node = &mut self.nodes[next];
                let targets = references.iter().map(|reference| reference.target);
                node.same.extend(targets);
                node.references.append(&mut references);
            }
            next += 1;
        }
        Ok(())
    }

    fn resolve(&mut self, from: usize, reference: &'a str) -> Result<Reference<'a>, SchemaError> {
        let unresolved = || SchemaError::Unresolved(reference.to_owned());
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = match document {
            "" => Some(self.nodes[from].resource),
            id => self.resources.get(id).copied(),
        };
        let Some(resource) = resource else {
            // spec: JSCH-05
            return Err(SchemaError::External(reference.to_owned()));
        };
        let to = |target| Reference {
            text: reference,
            target,
            resource,
        };
        if fragment.is_empty() {
            return Ok(to(resource));
        }
        if !fragment.starts_with('/') {
            let anchor = self.anchors.get(&(resource, fragment));
            return anchor.copied().map(to).ok_or_else(unresolved);
        }
        let pointer = percent_decode_str(fragment).decode_utf8();
        let pointer = pointer.map_err(|_| unresolved())?;
        let root = &self.nodes[resource];
        let target = root.schema.pointer(&pointer).ok_or_else(unresolved)?;
        let (location, depth) = (format!("{}{pointer}", root.pointer), root.depth);
        self.add(target, location, depth + 1, Some(resource))
            .map(to)
    }

    /// Sorts the schemas so that each comes after those that are evaluated on the same value.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError`] when a schema refers to itself without end, and when too many references
    /// are in a row.
    pub(super) fn order(&self) -> Result<Vec<usize>, SchemaError> {
        let mut is_open = vec![false; self.nodes.len()];
        // For each sorted schema, the number of references in a row that are followed for one value.
        let mut steps: Vec<Option<usize>> = vec![None; self.nodes.len()];
        let mut order = Vec::with_capacity(self.nodes.len());
        for start in 0..self.nodes.len() {
            // The schemas on the path, each with the number of its visited subschemas.
            let mut path = vec![(start, 0)];
            while let Some((index, tried)) = path.pop() {
                if steps[index].is_some() {
                    continue;
                }
                let node = &self.nodes[index];
                if tried == 0 && std::mem::replace(&mut is_open[index], true) {
                    return Err(SchemaError::Endless(node.pointer.clone()));
                }
                if let Some(&next) = node.same.get(tried) {
                    path.extend([(index, tried + 1), (next, 0)]);
                    continue;
                }
                let below = node.same.iter().filter_map(|&below| steps[below]);
                let references = node.references.iter();
                let targets = references.filter_map(|reference| Some(steps[reference.target]? + 1));
                let longest = below.chain(targets).max().unwrap_or(0);
                if longest > MAX_STEPS {
                    return Err(SchemaError::TooManySteps {
                        location: node.pointer.clone(),
                        limit: MAX_STEPS,
                    });
                }
                steps[index] = Some(longest);
                order.push(index);
            }
        }
        Ok(order)
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
        self.children.push(index);
        let unevaluated = &mut self.unevaluated;
        match sub.keyword {
            "allOf" | "anyOf" | "oneOf" | "if" => unevaluated.branches.push(index),
            "then" | "else" | "dependentSchemas" => unevaluated.visited.push(index),
            "unevaluatedProperties" => unevaluated.members.push(index),
            "unevaluatedItems" | "contains" => unevaluated.elements.push(index),
            "additionalProperties" | "patternProperties" => unevaluated.compiled.push(index),
            _ => {}
        }
    }
}
