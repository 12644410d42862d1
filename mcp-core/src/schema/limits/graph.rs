//! The subschemas of a schema: what each is evaluated on, and where its references lead.

use mcp_schema::{Id, Keywords as _, Limit, Node as Subschema, Place, Schema};

use crate::schema::SchemaError;

/// The maximum nesting depth of a schema.
const MAX_DEPTH: usize = 64;
/// The maximum number of references that lead from one schema to the next, all for the same value.
const MAX_ROW: usize = 64;
/// The maximum number of references, each counted with all its dynamic targets.
const MAX_REFERENCES: usize = 16_384;

/// A schema of the document. Its index is that of its id.
pub(super) struct Node<'a> {
    pub(super) schema: Subschema<'a>,
    /// The subschemas that are compiled and evaluated with it.
    pub(super) parts: Vec<Part>,
    pub(super) references: Vec<Reference<'a>>,
}

pub(super) struct Part {
    pub(super) index: usize,
    pub(super) on: On,
    pub(super) again: Again,
}

/// The values that a subschema is evaluated on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum On {
    /// One value: that of the schema around it.
    Value,
    /// One member: at most one such subschema evaluates each.
    Member,
    Members,
    /// One element: at most one such subschema evaluates each.
    Element,
    Elements,
}

/// The part of a subschema when `unevaluatedProperties` and `unevaluatedItems`, in the schema or around it,
/// find what is evaluated.
#[derive(Clone, Copy)]
pub(super) enum Again {
    No,
    /// Evaluated once more, and visited.
    Branch,
    /// Visited.
    Condition,
    /// Evaluated once more on elements.
    Inner,
    /// Evaluated once more, and itself such a keyword: 0 on members, 1 on elements.
    Unevaluated(usize),
    /// Only compiled once more.
    Compiled,
}

/// A reference of a schema.
pub(super) struct Reference<'a> {
    pub(super) text: &'a str,
    pub(super) target: usize,
    /// The resource that the reference names.
    pub(super) resource: Id,
}

/// Returns the roles of the subschemas in a keyword's value. `None`: evaluated only through references.
fn roles(keyword: &str, place: Place<'_>) -> Option<(On, Again)> {
    Some(match keyword {
        "allOf" | "anyOf" | "oneOf" | "if" => (On::Value, Again::Branch),
        "then" | "else" | "dependentSchemas" => (On::Value, Again::Condition),
        "not" | "dependencies" => (On::Value, Again::No),
        "properties" => (On::Member, Again::No),
        "patternProperties" | "additionalProperties" => (On::Members, Again::Compiled),
        "propertyNames" => (On::Members, Again::No),
        "unevaluatedProperties" => (On::Members, Again::Unevaluated(0)),
        "unevaluatedItems" => (On::Elements, Again::Unevaluated(1)),
        "contains" => (On::Elements, Again::Inner),
        "$defs" | "definitions" | "contentSchema" => return None,
        _ if matches!(place, Place::Index(_)) => (On::Element, Again::No),
        _ => (On::Elements, Again::No),
    })
}

/// Returns all subschemas.
///
/// # Errors
///
/// Returns [`SchemaError`] when the schema is too deep, or when a reference cannot be resolved.
pub(super) fn nodes<'a>(schema: &'a Schema<'a>) -> Result<Vec<Node<'a>>, SchemaError> {
    // All that a reference may find in the resources that it came through, by anchor.
    let recursive = |node: Subschema<'a>| node.flag("$recursiveAnchor").then_some("");
    let named = |node: Subschema<'a>| {
        let name = node.text("$dynamicAnchor");
        Some((name.or_else(|| recursive(node))?, node))
    };
    let dynamic: Vec<_> = schema.nodes().filter_map(named).collect();
    let mut count = 0;
    let nodes = schema.nodes().map(|node| {
        let node = Node::new(node, &dynamic)?;
        count += node.references.len();
        if count > MAX_REFERENCES {
            let limit = Limit::Steps(MAX_REFERENCES);
            return Err(SchemaError::too_large(limit.at(node.schema.pointer())));
        }
        Ok(node)
    });
    nodes.collect()
}

impl<'a> Node<'a> {
    /// `dynamic`: all subschemas with a `$dynamicAnchor`, and with a `$recursiveAnchor`, whose name is empty.
    fn new(
        schema: Subschema<'a>,
        dynamic: &[(&'a str, Subschema<'a>)],
    ) -> Result<Self, SchemaError> {
        if schema.depth() > MAX_DEPTH {
            let limit = Limit::Depth(MAX_DEPTH);
            return Err(SchemaError::too_large(limit.at(schema.pointer())));
        }
        let parts = schema.subschemas().filter_map(|sub| {
            let (on, again) = roles(sub.keyword, sub.place)?;
            let index = sub.node.id().index();
            Some(Part { index, on, again })
        });
        let mut references = Vec::new();
        for reference in schema.references() {
            let text = reference.text;
            // spec: JSCH-05
            let resource = reference.resource;
            let resource = resource.ok_or_else(|| SchemaError::External(text.to_owned()))?;
            let target = reference.target;
            let target = target.ok_or_else(|| SchemaError::Unresolved(text.to_owned()))?;
            let is_recursive = reference.keyword == "$recursiveRef";
            if is_recursive && text != "#" {
                return Err(SchemaError::Unresolved(text.to_owned()));
            }
            // `$ref` to a dynamic anchor is dynamic as well.
            let anchor = text.split_once('#').map_or("", |(_, anchor)| anchor);
            let others = dynamic.iter();
            let others = others.filter(|(own, _)| *own == anchor && own.is_empty() == is_recursive);
            let others = others.map(|(_, target)| (*target, target.resource()));
            let targets = [(target, resource)].into_iter().chain(others);
            references.extend(targets.map(|(target, resource)| Reference {
                text,
                target: target.id().index(),
                resource,
            }));
        }
        Ok(Self {
            schema,
            parts: parts.collect(),
            references,
        })
    }

    /// Iterates over the schemas that are evaluated on the same value.
    fn same(&self) -> impl Iterator<Item = usize> {
        let parts = self.parts.iter().filter(|part| part.on == On::Value);
        let targets = self.references.iter().map(|reference| reference.target);
        parts.map(|part| part.index).chain(targets)
    }
}

/// Sorts the schemas so that each comes after those that are evaluated on the same value.
///
/// # Errors
///
/// Returns [`SchemaError`] when a schema refers to itself without end, and when too many references are in
/// a row.
pub(super) fn order(nodes: &[Node<'_>]) -> Result<Vec<usize>, SchemaError> {
    let mut is_open = vec![false; nodes.len()];
    // For each sorted schema, the number of references in a row that are followed for one value.
    let mut rows: Vec<Option<usize>> = vec![None; nodes.len()];
    let mut order = Vec::with_capacity(nodes.len());
    // Schemas to sort, and whether those that come before them are sorted.
    let mut waiting: Vec<_> = (0..nodes.len()).map(|index| (index, false)).collect();
    while let Some((index, is_next)) = waiting.pop() {
        let node = &nodes[index];
        if rows[index].is_some() {
            continue;
        }
        if !is_next {
            if std::mem::replace(&mut is_open[index], true) {
                return Err(SchemaError::Endless(format!("#{}", node.schema.pointer())));
            }
            waiting.push((index, true));
            waiting.extend(node.same().map(|next| (next, false)));
            continue;
        }
        let same = node.same().filter_map(|next| rows[next]);
        let targets = node.references.iter();
        let targets = targets.filter_map(|reference| Some(rows[reference.target]? + 1));
        let row = same.chain(targets).max().unwrap_or(0);
        if row > MAX_ROW {
            let limit = Limit::References(MAX_ROW);
            return Err(SchemaError::too_large(limit.at(node.schema.pointer())));
        }
        rows[index] = Some(row);
        order.push(index);
    }
    Ok(order)
}
