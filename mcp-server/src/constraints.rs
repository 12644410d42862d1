//! Bounds, lengths, patterns and uniqueness of arguments, as their schema publishes them. That they
//! are there and have the right types is found when they are decoded.
//!
//! Made when a route is made, and only when its schema has such keywords: a tool without them has no
//! constraints and pays nothing.

mod compile;
mod limits;
pub(crate) mod range;

use std::borrow::Cow;
use std::collections::HashSet;

use mcp_core::Fault;
use mcp_core::schema::{Violation, Violations, property_path, summarize};
use mcp_types::{JsonObject, RawObject};
use serde_json::Value;

use limits::{Count, Numbers, Pattern};

use crate::rejection::ArgumentError;

/// What the values of a schema have to keep to.
#[derive(Debug)]
pub(crate) struct Constraints {
    /// The first one is that of the arguments as a whole.
    nodes: Vec<Node>,
    /// Where patterns are that the checker cannot read.
    unread: Vec<String>,
}

/// What one value has to keep to. Keywords of another type than its own say nothing about it.
#[derive(Debug, Default)]
struct Node {
    numbers: Option<Numbers>,
    length: Option<Count>,
    pattern: Option<Pattern>,
    elements: Option<Count>,
    unique: bool,
    members: Option<Count>,
    /// The schema takes no string, so that a text stands for another value.
    reads_text: bool,
    properties: Vec<(Box<str>, usize)>,
    /// All other members.
    additional: Option<usize>,
    /// The first elements.
    prefix: Vec<usize>,
    /// All other elements.
    items: Option<usize>,
    /// What the same value has to keep to as well.
    all: Vec<usize>,
    /// Of these, one has to let it pass.
    any: Vec<Alternative>,
}

/// One of several shapes of a value.
#[derive(Debug)]
struct Alternative {
    /// Members that tell it from the others: they are there and, where that is known, have this
    /// value.
    marks: Vec<(Box<str>, Option<Value>)>,
    node: usize,
}

/// How values look on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    /// As JSON: the arguments of tools.
    Json,
    /// All as strings: the arguments of prompts, the variables of URI templates.
    Texts,
}

impl Constraints {
    /// The constraints of a schema; `None` when it has none that the decoding of Rust types does not
    /// check by itself.
    pub(crate) fn of(schema: &JsonObject) -> Option<Self> {
        compile::compile(schema)
    }

    /// Where patterns are that are published and cannot be checked: JSON Pointers.
    pub(crate) fn unread(&self) -> &[String] {
        &self.unread
    }

    /// Why the arguments of a prompt or the variables of a URI template do not fit, if they do not.
    pub(crate) fn refuse(&self, arguments: Option<&RawObject>) -> Option<Fault> {
        let checked = self.check(arguments, Values::Texts);
        checked
            .err()
            .map(|error| Fault::bad_params(error.to_string()))
    }

    /// Checks arguments; none are an empty object.
    ///
    /// # Errors
    ///
    /// [`ArgumentError`] with the path of each value that does not fit, what is expected and what is
    /// there; several at once.
    // spec: TOOL-20, TOOL-22
    pub(crate) fn check(
        &self,
        arguments: Option<&RawObject>,
        values: Values,
    ) -> Result<(), ArgumentError> {
        // Arguments that are no JSON fail when they are decoded.
        let parsed = arguments.map_or_else(
            || Some(Value::Object(JsonObject::new())),
            |arguments| arguments.parse().ok(),
        );
        let Some(mut value) = parsed else {
            return Ok(());
        };
        // Arguments that have to be strings and are none fail when they are decoded, too.
        if let (Values::Texts, Value::Object(members)) = (values, &mut value) {
            members.retain(|_, member| member.is_string());
        }
        let mut walk = Walk {
            nodes: &self.nodes,
            values,
            steps: MAX_STEPS,
            found: Vec::new(),
        };
        walk.check(0, &value, "", 0);
        if walk.steps == 0 {
            return Err(ArgumentError::new("", "too large to be checked; send less"));
        }
        match Violations::gather(walk.found) {
            Some(violations) => Err(violations.into()),
            None => Ok(()),
        }
    }
}

impl From<Violations> for ArgumentError {
    fn from(violations: Violations) -> Self {
        Self::new("", violations.to_string())
    }
}

/// So often may a check look at a value: more than the largest body needs, and less than a second.
const MAX_STEPS: usize = 4_000_000;
/// So many references may lead from a value to itself.
const MAX_HOPS: usize = 16;

/// A check at work.
struct Walk<'a> {
    nodes: &'a [Node],
    values: Values,
    /// How many more may be made.
    steps: usize,
    found: Vec<Violation>,
}

impl<'a> Walk<'a> {
    fn tell(&mut self, path: &str, reason: impl Into<String>) {
        if self.found.len() < Violations::MAX {
            self.found.push(Violation::new(path, reason));
        }
    }

    /// Checks a value. `hops` counts the nodes that looked at the same one before.
    fn check(&mut self, node: usize, value: &Value, path: &str, hops: usize) {
        let Some(node) = self.nodes.get(node) else {
            return;
        };
        if hops > MAX_HOPS || self.steps == 0 || self.found.len() >= Violations::MAX {
            return;
        }
        self.steps -= 1;
        let value = self.read(node, value);
        match &*value {
            Value::Number(number) => {
                if let Some(Err(reason)) = node.numbers.as_ref().map(|it| it.check(number)) {
                    self.tell(path, reason);
                }
            }
            Value::String(text) => self.text(node, text, path),
            Value::Array(elements) => self.elements(node, elements, path),
            Value::Object(members) => self.members(node, members, path),
            Value::Null | Value::Bool(_) => {}
        }
        for &other in &node.all {
            self.check(other, &value, path, hops + 1);
        }
        self.any(node, &value, path, hops);
    }

    /// The value itself, also where it is written as a string.
    fn read<'v>(&self, node: &Node, value: &'v Value) -> Cow<'v, Value> {
        match value {
            Value::String(text) if self.values == Values::Texts && node.reads_text => {
                let read = serde_json::from_str(text);
                read.map_or(Cow::Borrowed(value), Cow::Owned)
            }
            _ => Cow::Borrowed(value),
        }
    }

    fn text(&mut self, node: &Node, text: &str, path: &str) {
        if let Some(count) = &node.length
            && let Err(reason) = count.check(text.chars().count(), "character")
        {
            self.tell(path, reason);
        } else if let Some(pattern) = &node.pattern
            && let Err(reason) = pattern.check(text)
        {
            self.tell(path, reason);
        }
    }

    fn elements(&mut self, node: &Node, elements: &[Value], path: &str) {
        if let Some(Err(reason)) = node.elements.map(|it| it.check(elements.len(), "element")) {
            self.tell(path, reason);
        }
        if node.unique {
            let mut seen = HashSet::with_capacity(elements.len());
            if let Some(again) = elements.iter().find(|element| !seen.insert(*element)) {
                self.tell(
                    path,
                    format!("{} comes twice, expected each once", summarize(again)),
                );
            }
        }
        for (index, element) in elements.iter().enumerate() {
            let inner = node.prefix.get(index).copied().or(node.items);
            if let Some(inner) = inner {
                self.check(inner, element, &format!("{path}[{index}]"), 0);
            }
        }
    }

    fn members(&mut self, node: &Node, members: &JsonObject, path: &str) {
        if let Some(Err(reason)) = node.members.map(|it| it.check(members.len(), "member")) {
            self.tell(path, reason);
        }
        if node.properties.is_empty() && node.additional.is_none() {
            return;
        }
        for (name, value) in members {
            let named = node.properties.iter().find(|(known, _)| **known == **name);
            if let Some(inner) = named.map(|(_, inner)| *inner).or(node.additional) {
                self.check(inner, value, &property_path(path, name), 0);
            }
        }
    }

    /// One of the alternatives whose marks the value has must let it pass. Which alternative it is
    /// meant to be, when it has the marks of none, is found when it is decoded.
    fn any(&mut self, node: &'a Node, value: &Value, path: &str, hops: usize) {
        let mut first = None;
        let meant = node
            .any
            .iter()
            .filter(|alternative| alternative.is_meant(value));
        for alternative in meant {
            let before = std::mem::take(&mut self.found);
            self.check(alternative.node, value, path, hops + 1);
            let told = std::mem::replace(&mut self.found, before);
            if told.is_empty() {
                return;
            }
            first.get_or_insert(told);
        }
        for violation in first.into_iter().flatten() {
            self.tell(&violation.path, violation.reason);
        }
    }
}

impl Alternative {
    fn is_meant(&self, value: &Value) -> bool {
        self.marks.iter().all(|(name, expected)| {
            let given = value.get(&**name);
            given.is_some_and(|given| expected.as_ref().is_none_or(|expected| expected == given))
        })
    }
}

#[cfg(test)]
mod tests;
