//! The subschemas of a schema as a graph.

use mcp_schema::{Id, Keywords as _, Node as Subschema, Place, Schema};

use crate::schema::SchemaError;

/// The maximum nesting depth of a schema.
const MAX_DEPTH: usize = 64;
/// The maximum number of references that lead from one schema to the next, all for the same value.
const MAX_STEPS: usize = 64;

/// The subschemas of a schema, and the order in which they are evaluated.
pub(super) struct Graph<'a> {
    pub(super) nodes: Vec<Node<'a>>,
}

pub(super) struct Node<'a> {
    pub(super) schema: Subschema<'a>,
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
    pub(super) resource: Id,
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
    /// Returns [`SchemaError`] when the schema is too deep, or when a reference cannot be resolved.
    pub(super) fn new(schema: &'a Schema<'a>) -> Result<Self, SchemaError> {
        let named = |node: Subschema<'a>| Some((node.text("$dynamicAnchor")?, node));
        let dynamic: Vec<_> = schema.nodes().filter_map(named).collect();
        let nodes = schema.nodes().map(|node| Node::new(node, &dynamic));
        let nodes = nodes.collect::<Result<_, _>>()?;
        Ok(Self { nodes })
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
                    return Err(SchemaError::Endless(node.location()));
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
                        location: node.location(),
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

impl<'a> Node<'a> {
    /// `dynamic`: all subschemas with a `$dynamicAnchor`.
    fn new(
        schema: Subschema<'a>,
        dynamic: &[(&'a str, Subschema<'a>)],
    ) -> Result<Self, SchemaError> {
        let mut node = Self {
            schema,
            children: Vec::new(),
            references: Vec::new(),
            same: Vec::new(),
            named: Vec::new(),
            indexed: Vec::new(),
            members: Vec::new(),
            elements: Vec::new(),
            unevaluated: Unevaluated {
                of_properties: schema.get("unevaluatedProperties").is_some(),
                of_items: schema.get("unevaluatedItems").is_some(),
                ..Unevaluated::default()
            },
        };
        if schema.depth() > MAX_DEPTH {
            return Err(SchemaError::TooDeep {
                location: node.location(),
                limit: MAX_DEPTH,
            });
        }
        for sub in schema.subschemas() {
            let is_indexed = matches!(sub.place, Place::Index(_));
            node.add_subschema(sub.keyword, is_indexed, sub.node.id().index());
        }
        for reference in schema.references() {
            let text = reference.text;
            // spec: JSCH-05
            let resource = reference.resource;
            let resource = resource.ok_or_else(|| SchemaError::External(text.to_owned()))?;
            let target = reference.target;
            let target = target.ok_or_else(|| SchemaError::Unresolved(text.to_owned()))?;
            let is_dynamic = reference.keyword == "$dynamicRef";
            let anchor = text.trim_start_matches('#');
            let others = dynamic.iter();
            let others = others.filter(|(own, _)| is_dynamic && *own == anchor);
            let others = others.map(|(_, target)| (*target, target.resource()));
            for (target, resource) in [(target, resource)].into_iter().chain(others) {
                let target = target.id().index();
                node.same.push(target);
                node.references.push(Reference {
                    text,
                    target,
                    resource,
                });
            }
        }
        Ok(node)
    }

    pub(super) fn location(&self) -> String {
        format!("#{}", self.schema.pointer())
    }

    fn add_subschema(&mut self, keyword: &str, is_indexed: bool, index: usize) {
        let list = match keyword {
            "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" | "dependentSchemas"
            | "dependencies" => &mut self.same,
            "properties" => &mut self.named,
            "patternProperties"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "propertyNames" => &mut self.members,
            // Evaluated only through a reference.
            "$defs" | "definitions" | "contentSchema" => return,
            _ if is_indexed => &mut self.indexed,
            _ => &mut self.elements,
        };
        list.push(index);
        self.children.push(index);
        let unevaluated = &mut self.unevaluated;
        match keyword {
            "allOf" | "anyOf" | "oneOf" | "if" => unevaluated.branches.push(index),
            "then" | "else" | "dependentSchemas" => unevaluated.visited.push(index),
            "unevaluatedProperties" => unevaluated.members.push(index),
            "unevaluatedItems" | "contains" => unevaluated.elements.push(index),
            "additionalProperties" | "patternProperties" => unevaluated.compiled.push(index),
            _ => {}
        }
    }
}
