//! Checks of arguments against compiled constraints.

use std::borrow::Cow;
use std::collections::HashSet;

use mcp_core::Fault;
use mcp_core::schema::{Violation, Violations, property_path, summarize};
use mcp_schema::limits::{HOPS, VALUE_STEPS};
use mcp_types::{JsonObject, RawObject};
use serde_json::Value;

use super::node::{Check, Constraints, Node};
use crate::rejection::ArgumentError;

/// Bytes of a string that are copied or counted in one step.
const BYTES_PER_STEP: usize = 64;

/// Alternatives and their discriminators that are compared in one step.
const COMPARED_PER_STEP: usize = 8;

/// Limit on the schemas on a path through a value, which bounds the stack. A value has 128 levels.
const MAX_NESTED: usize = 1024;

/// Representation of argument values on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgumentFormat {
    /// Tool arguments: any JSON.
    Json,
    /// Arguments of prompts and variables of URI templates: strings only.
    Strings,
}

impl ArgumentFormat {
    /// Decodes a string that stands for a JSON value, if `is_needed` returns true for it.
    pub(crate) fn decode(
        self,
        value: &Value,
        is_needed: impl FnOnce(&str) -> bool,
    ) -> Cow<'_, Value> {
        match value {
            Value::String(string) if self == Self::Strings && is_needed(string) => {
                let decoded = serde_json::from_str(string);
                decoded.map_or(Cow::Borrowed(value), Cow::Owned)
            }
            _ => Cow::Borrowed(value),
        }
    }
}

impl Constraints {
    /// Returns the fault for arguments of a prompt or variables of a URI template that violate the
    /// constraints.
    pub(crate) fn check_strings(&self, arguments: Option<&RawObject>) -> Result<(), Fault> {
        self.check(arguments, ArgumentFormat::Strings)
            .map_err(|error| Fault::bad_params(error.to_string()))
    }

    /// Checks arguments; `None` counts as an empty object.
    ///
    /// # Errors
    ///
    /// Returns an [`ArgumentError`] that lists up to [`Violations::MAX`] violations, each with its
    /// path, the expected and the actual value.
    // spec: TOOL-20, TOOL-22
    pub(crate) fn check(
        &self,
        arguments: Option<&RawObject>,
        format: ArgumentFormat,
    ) -> Result<(), ArgumentError> {
        let parsed = arguments.map_or_else(
            || Some(Value::Object(JsonObject::new())),
            |arguments| arguments.parse().ok(),
        );
        // Decoding reports invalid JSON.
        let Some(value) = parsed else {
            return Ok(());
        };
        match Violations::gather(self.find_violations(&value, format)) {
            Some(violations) => Err(violations.into()),
            None => Ok(()),
        }
    }

    /// Returns up to [`Violations::MAX`] violations.
    pub(crate) fn find_violations(&self, value: &Value, format: ArgumentFormat) -> Vec<Violation> {
        let mut checker = ValueChecker {
            nodes: &self.nodes,
            format,
            remaining_steps: VALUE_STEPS,
            nested: 0,
            violations: Vec::new(),
        };
        checker.check(0, value, Path::Root, 0);
        if checker.remaining_steps == 0 {
            let text = format!(
                "too large to be checked in {VALUE_STEPS} steps; send fewer elements or levels, or shorter strings"
            );
            return vec![Violation::new("", text)];
        }
        checker.violations
    }
}

/// State of one check.
struct ValueChecker<'a> {
    nodes: &'a [Node],
    format: ArgumentFormat,
    remaining_steps: usize,
    /// The schemas on the path.
    nested: usize,
    violations: Vec<Violation>,
}

/// The path of a value, which is written only for violations.
#[derive(Clone, Copy)]
pub(crate) enum Path<'p> {
    Root,
    Element(&'p Self, usize),
    Member(&'p Self, &'p str),
}

impl Path<'_> {
    pub(crate) fn to_text(self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Element(parent, index) => format!("{}[{index}]", parent.to_text()),
            Self::Member(parent, name) => property_path(&parent.to_text(), name),
        }
    }
}

impl<'a> ValueChecker<'a> {
    fn report(&mut self, path: Path<'_>, reason: impl Into<String>) {
        if self.violations.len() < Violations::MAX {
            self.violations.push(Violation::new(path.to_text(), reason));
        }
    }

    /// Subtracts steps. Returns false if too few remain; the check then ends with an error.
    fn spend(&mut self, steps: usize) -> bool {
        self.remaining_steps = self.remaining_steps.saturating_sub(steps);
        self.remaining_steps > 0
    }

    /// Checks a value. `hops` counts the nodes that have already checked the same value.
    fn check(&mut self, node: usize, value: &Value, path: Path<'_>, hops: usize) {
        let Some(node) = self.nodes.get(node) else {
            return;
        };
        let is_full = self.violations.len() >= Violations::MAX;
        if hops > HOPS || is_full || !self.spend(1) {
            return;
        }
        if self.nested >= MAX_NESTED {
            self.remaining_steps = 0;
            return;
        }
        self.nested += 1;
        let format = self.format;
        let decoded = format.decode(value, |string| {
            node.excludes_strings && self.spend(string.len())
        });
        let value = &*decoded;
        for check in &node.checks {
            if let Err(reason) = self.check_own(check, value) {
                self.report(path, reason);
                // Whoever corrects the length of a string writes another string.
                if value.is_string() {
                    break;
                }
            }
        }
        match value {
            Value::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    if let Some(inner) = node.element(index) {
                        self.check(inner, element, Path::Element(&path, index), 0);
                    }
                }
            }
            Value::Object(members) => self.check_members(node, members, path),
            _ => {}
        }
        for &other in &node.all {
            self.check(other, value, path, hops + 1);
        }
        self.check_alternatives(node, value, path, hops);
        self.nested -= 1;
    }

    /// Checks a value against one constraint. Too few steps end the check as a whole.
    fn check_own(&mut self, check: &Check, value: &Value) -> Result<(), String> {
        match (check, value) {
            (Check::Number(limits), Value::Number(number)) => limits.check(number),
            (Check::Length(limits), Value::String(text))
                if self.spend(text.len() / BYTES_PER_STEP) =>
            {
                limits.check(text.chars().count(), "character")
            }
            (Check::Pattern(pattern), Value::String(text)) if self.spend(pattern.steps(text)) => {
                pattern.check(text)
            }
            (Check::Elements(limits), Value::Array(elements)) => {
                limits.check(elements.len(), "element")
            }
            (Check::Unique, Value::Array(elements))
                if elements.iter().all(|element| self.spend_on_hash(element)) =>
            {
                let mut seen = HashSet::with_capacity(elements.len());
                match elements.iter().find(|element| !seen.insert(*element)) {
                    Some(twice) => {
                        let twice = summarize(twice);
                        Err(format!("{twice} comes twice, expected each once"))
                    }
                    None => Ok(()),
                }
            }
            (Check::Members(limits), Value::Object(members)) => {
                limits.check(members.len(), "member")
            }
            _ => Ok(()),
        }
    }

    /// Subtracts the steps that the hash of a value takes.
    fn spend_on_hash(&mut self, value: &Value) -> bool {
        match value {
            Value::String(string) => self.spend(1 + string.len() / BYTES_PER_STEP),
            Value::Array(elements) => {
                self.spend(1) && elements.iter().all(|element| self.spend_on_hash(element))
            }
            // The hash of an object sorts its members.
            Value::Object(members) => {
                self.spend(1 + 2 * members.len())
                    && members.values().all(|member| self.spend_on_hash(member))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => self.spend(1),
        }
    }

    fn check_members(&mut self, node: &Node, members: &JsonObject, path: Path<'_>) {
        if node.properties.is_empty() && node.additional.is_none() {
            return;
        }
        for (name, value) in members {
            if let Some(inner) = node.member(name) {
                self.check(inner, value, Path::Member(&path, name), 0);
            } else if !self.spend(1) {
                return;
            }
        }
    }

    /// Checks that an alternative accepts the value. Only the alternatives of the value's type or tag are
    /// tried. If there is none, decoding reports the error.
    fn check_alternatives(&mut self, node: &'a Node, value: &Value, path: Path<'_>, hops: usize) {
        let mut first = None;
        let parts = node.any.iter();
        let parts = parts.map(|alternative| 1 + alternative.discriminators.len());
        if !self.spend(parts.sum::<usize>() / COMPARED_PER_STEP) {
            return;
        }
        let selected = node
            .any
            .iter()
            .filter(|alternative| alternative.is_selected_by(value));
        for alternative in selected {
            let Some(alternative) = alternative.node else {
                return;
            };
            let before = std::mem::take(&mut self.violations);
            self.check(alternative, value, path, hops + 1);
            let violations = std::mem::replace(&mut self.violations, before);
            if violations.is_empty() {
                return;
            }
            first.get_or_insert(violations);
        }
        let remaining = Violations::MAX.saturating_sub(self.violations.len());
        let first = first.into_iter().flatten().take(remaining);
        self.violations.extend(first);
    }
}
