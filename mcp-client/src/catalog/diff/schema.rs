//! Differences of two JSON Schemas.
//!
//! Each keyword says whether the newer schema accepts more values or fewer. The direction turns that
//! into an impact: arguments may be accepted more widely, results may be promised more narrowly.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `comparison` | a comparison's state, and the changes that it finds |
//! | `view` | a schema with its references resolved |
//! | `values` | keywords that limit a single value |
//! | `objects` | properties, and the keywords of objects and arrays |
//! | `alternatives` | `anyOf`, `oneOf` |

mod alternatives;
mod comparison;
mod objects;
mod values;
mod view;

use std::collections::{BTreeMap, HashMap};

use mcp_schema::{Keywords, Node, Schema, Walk, limits};
use serde_json::{Map, Value, json};

use super::recorder::{Recorder, join, pairs};
use crate::catalog::difference::Impact;
use comparison::{Comparison, DEFINITIONS, Delta, OPAQUE, TOO_LARGE};
use values::{implies, narrowing};
use view::View;

pub(super) use comparison::Direction;

/// A keyword whose change cannot be decided costs a step for this many schemas in the documents: all can be part of it.
const NODES_PER_STEP: usize = 64;

pub(super) fn compare_schemas(
    old: &Value,
    new: &Value,
    direction: Direction,
    path: &str,
    recorder: &mut Recorder,
) {
    // Equal documents resolve references equally.
    if old == new {
        return;
    }
    let is_same = |name: &&str| old.get(name) == new.get(name);
    let mut comparison = Comparison {
        direction,
        has_same_definitions: DEFINITIONS.iter().all(is_same),
        size: 0,
        found: Vec::new(),
        pairs: HashMap::new(),
        assumed: Vec::new(),
        walk: Walk::of_schema(limits::STEPS),
        depth: 0,
    };
    let read = |schema: &Value| match schema {
        Value::Object(keywords) => keywords.clone(),
        other => Map::from_iter([("allOf".to_owned(), json!([other]))]),
    };
    let (was, is) = (read(old), read(new));
    if let (Ok(was), Ok(is)) = (Schema::parse(&was), Schema::parse(&is)) {
        comparison.size = was.len() + is.len();
        comparison.schema(was.root(), is.root(), "");
    } else {
        // A schema beyond the limits for reading is as one beyond the steps.
        comparison.walk.spend(usize::MAX);
    }
    if comparison.walk.taken() == limits::STEPS {
        comparison.add(Delta::Unknown, "", TOO_LARGE);
    }
    for (delta, inner, reason) in comparison.found {
        let (impact, effect) = judge(delta, direction);
        let path = format!("{path}{inner}");
        recorder.add(impact, &path, format!("{reason}{effect}"));
    }
}

fn judge(delta: Delta, direction: Direction) -> (Impact, &'static str) {
    use Direction::{Input, Output};
    let effect = match (delta, direction) {
        (Delta::Narrower, Input) => "; the server refuses arguments that it accepted",
        (Delta::Wider, Output) => "; results need not match the schema that clients know",
        (Delta::Unknown, Input) => "; the server may refuse arguments that it accepted",
        (Delta::Unknown, Output) => "; results may not match the schema that clients know",
        (Delta::Narrower | Delta::Wider | Delta::Compatible, _) => return (Impact::Compatible, ""),
        (Delta::Annotation, _) => return (Impact::Cosmetic, ""),
    };
    (Impact::Breaking, effect)
}

impl Comparison {
    /// Compares two schemas at the same position, unless they are the same or are being compared.
    fn schema(&mut self, old: Node<'_>, new: Node<'_>, path: &str) {
        let pair = (old.id(), new.id());
        let known = self.pairs.get(&pair).copied();
        if known.unwrap_or_else(|| self.is_equal(old, new)) {
            return;
        }
        self.pairs.insert(pair, true);
        let (assumed, found) = (self.assumed.len(), self.found.len());
        self.assumed.push(pair);
        let (old, new) = (View::new(old, &self.walk), View::new(new, &self.walk));
        self.views(&old, &new, path);
        if self.found.len() > found {
            let differing = self.assumed.drain(assumed..);
            self.pairs.extend(differing.map(|pair| (pair, false)));
        }
    }

    /// Compares two schemas with what applies to the same value. Without steps nothing is compared.
    fn views(&mut self, old: &View<'_>, new: &View<'_>, path: &str) {
        let steps = 1 + old.steps() + new.steps() + path.len() / limits::BYTES_PER_STEP;
        let [was, is] = [old, new].map(|of| of.nodes().iter().any(|node| node.is_false()));
        match (was, is) {
            _ if self.depth > limits::NESTED => self.add(Delta::Unknown, path, TOO_LARGE),
            _ if !self.walk.spend(steps) => {}
            (true, true) => {}
            (false, true) => self.add(Delta::Narrower, path, "no value is accepted"),
            (true, false) => self.add(Delta::Wider, path, "values are accepted"),
            (false, false) => {
                self.depth += 1;
                if !self.alternatives(old, new, path) {
                    self.keywords(old, new, path);
                }
                self.depth -= 1;
            }
        }
    }

    /// Compares all keywords except `anyOf` and `oneOf`.
    fn keywords(&mut self, old: &View<'_>, new: &View<'_>, path: &str) {
        self.enums(old, new, path);
        self.items(old, new, path);
        self.hidden(old, new, path);
        for (name, path, was, is) in pairs(old.keywords(), new.keywords(), path) {
            if let Some(narrows) = narrowing(name) {
                self.bound((was, is), &path, narrows);
                continue;
            }
            match name {
                "enum" | "const" | "items" | "prefixItems" | "additionalItems" | "nullable"
                | "anyOf" | "oneOf" => {}
                "type" => self.types(old, new, &path),
                "required" => self.required(old, new, &path),
                "properties" => self.properties(old, new, &path),
                "patternProperties" => self.patterns(old, new, &path),
                "allOf" => {
                    let all = [old, new].map(|of| of.inner(name).map(|(_, schema)| schema));
                    let [was, is] = all.map(Iterator::collect::<Vec<_>>);
                    self.list(&was, &is, &path);
                }
                "uniqueItems" => match (old.flag(name), new.flag(name)) {
                    (false, true) => self.add(Delta::Narrower, &path, "items must be unique"),
                    (true, false) => self.add(Delta::Wider, &path, "items may repeat"),
                    _ => {}
                },
                _ if OPAQUE.contains(&name) => self.opaque(name, old, new, &path),
                _ if old.refers(name) || new.refers(name) => {
                    match (old.reference(name), new.reference(name)) {
                        (Some(was), Some(is)) if was.text == is.text => {
                            self.either(was.target, is.target, &path)
                        }
                        _ => self.opaque(name, old, new, &path),
                    }
                }
                _ => match (old.subschema(name), new.subschema(name)) {
                    (None, None) => self.annotation(name, (was, is), &path),
                    (was, is) => self.subschema(was, is, &path),
                },
            }
        }
    }

    /// Compares the constraints that nearer ones hide. They apply to the same value.
    fn hidden(&mut self, old: &View<'_>, new: &View<'_>, path: &str) {
        let mut all = BTreeMap::<_, (Option<_>, Option<_>)>::new();
        for (place, was) in old.hidden() {
            all.entry(place).or_default().0 = Some(was);
        }
        for (place, is) in new.hidden() {
            all.entry(place).or_default().1 = Some(is);
        }
        for ((keyword, name, _), (was, is)) in all {
            let mut path = join(path, keyword);
            if !name.is_empty() {
                path = join(&path, name);
            }
            let near = (old.get(keyword), new.get(keyword));
            let is_number = near.0.or(near.1).is_some_and(Value::is_number);
            if let Some(narrows) = narrowing(keyword).filter(|_| is_number) {
                let farther = |near, far: Option<(_, _)>| match far {
                    Some((far, _)) if !implies(near, far, narrows) => Some(far),
                    _ => near,
                };
                let change = (farther(near.0, was), farther(near.1, is));
                if change != near {
                    self.bound(change, &path, narrows);
                }
                continue;
            }
            match (was, is) {
                (Some((_, Some(was))), Some((_, Some(is)))) if !OPAQUE.contains(&keyword) => {
                    self.schema(was, is, &path);
                }
                (Some((was, _)), Some((is, _))) if was != is => {
                    self.add(Delta::Unknown, &path, "changed, and cannot be compared");
                }
                (None, Some((is, _))) if !old.has_constraint(keyword, name, is) => {
                    self.add(Delta::Narrower, &path, "added");
                }
                (Some((was, _)), None) if !new.has_constraint(keyword, name, was) => {
                    self.add(Delta::Wider, &path, "removed");
                }
                _ => {}
            }
        }
    }

    /// Compares a keyword whose change cannot be decided. Equal schemas may have references whose targets differ.
    fn opaque(&mut self, name: &str, old: &View<'_>, new: &View<'_>, path: &str) {
        let mut inner = old.inner(name).chain(new.inner(name));
        self.walk.spend(self.size / NODES_PER_STEP);
        if old.get(name) != new.get(name) || inner.any(|(_, schema)| self.refers(schema)) {
            self.add(Delta::Unknown, path, "changed, and cannot be compared");
        }
    }

    /// Returns true if both schemas are the same, together with the targets of their references.
    fn is_equal(&self, old: Node<'_>, new: Node<'_>) -> bool {
        let is_equal = old.object() == new.object() && old.is_false() == new.is_false();
        is_equal && !self.refers(old) && !self.refers(new)
    }

    /// Returns true if the schema has references whose targets may differ between the documents.
    fn refers(&self, schema: Node<'_>) -> bool {
        let is_shared = |target: Node<'_>| {
            let pointer = target.pointer();
            let first = pointer.split('/').nth(1).unwrap_or_default();
            self.has_same_definitions && DEFINITIONS.contains(&first)
        };
        let mut inner = schema.subschemas();
        let mut targets = schema.references().filter_map(|reference| reference.target);
        targets.any(|target| !is_shared(target)) || inner.any(|inner| self.refers(inner.node))
    }
}
