//! Checks of arguments against compiled constraints.

use std::borrow::Cow;
use std::collections::HashSet;

use mcp_core::Fault;
use mcp_core::schema::{Violation, Violations, property_path, summarize};
use mcp_types::{JsonObject, RawObject};
use serde_json::Value;

use super::node::{Constraints, Node};
use crate::rejection::ArgumentError;

/// Limit on checked values per call. The largest body needs fewer, and a check of so many values
/// takes less than a second.
const MAX_STEPS: usize = 4_000_000;

/// Limit on `$ref` and `allOf` steps that apply to the same value.
const MAX_HOPS: usize = 16;

/// Representation of argument values on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgumentFormat {
    /// Arguments of tools: any JSON.
    Json,
    /// Arguments of prompts and variables of URI templates: strings only.
    Strings,
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
        let Some(mut value) = parsed else {
            return Ok(());
        };
        // Decoding also reports values that are not strings.
        if let (ArgumentFormat::Strings, Value::Object(members)) = (format, &mut value) {
            members.retain(|_, member| member.is_string());
        }
        let mut checker = ValueChecker {
            nodes: &self.nodes,
            format,
            remaining_steps: MAX_STEPS,
            violations: Vec::new(),
        };
        checker.check(0, &value, "", 0);
        if checker.remaining_steps == 0 {
            return Err(ArgumentError::new("", "too large to be checked; send less"));
        }
        match Violations::gather(checker.violations) {
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

/// State of one check.
struct ValueChecker<'a> {
    nodes: &'a [Node],
    format: ArgumentFormat,
    remaining_steps: usize,
    violations: Vec<Violation>,
}

impl<'a> ValueChecker<'a> {
    fn report(&mut self, path: &str, reason: impl Into<String>) {
        if self.violations.len() < Violations::MAX {
            self.violations.push(Violation::new(path, reason));
        }
    }

    /// Checks a value. `hops` counts the nodes that have already checked the same value.
    fn check(&mut self, node: usize, value: &Value, path: &str, hops: usize) {
        let Some(node) = self.nodes.get(node) else {
            return;
        };
        let is_full = self.violations.len() >= Violations::MAX;
        if hops > MAX_HOPS || self.remaining_steps == 0 || is_full {
            return;
        }
        self.remaining_steps -= 1;
        let value = self.decode_string(node, value);
        match &*value {
            Value::Number(number) => {
                if let Some(Err(reason)) = node.number.as_ref().map(|it| it.check(number)) {
                    self.report(path, reason);
                }
            }
            Value::String(string) => self.check_string(node, string, path),
            Value::Array(elements) => self.check_array(node, elements, path),
            Value::Object(members) => self.check_object(node, members, path),
            Value::Null | Value::Bool(_) => {}
        }
        for &other in &node.all {
            self.check(other, &value, path, hops + 1);
        }
        self.check_alternatives(node, &value, path, hops);
    }

    /// Returns the JSON value that a string argument contains, where the schema excludes strings.
    fn decode_string<'v>(&self, node: &Node, value: &'v Value) -> Cow<'v, Value> {
        match value {
            Value::String(string)
                if self.format == ArgumentFormat::Strings && node.excludes_strings =>
            {
                let decoded = serde_json::from_str(string);
                decoded.map_or(Cow::Borrowed(value), Cow::Owned)
            }
            _ => Cow::Borrowed(value),
        }
    }

    fn check_string(&mut self, node: &Node, string: &str, path: &str) {
        if let Some(limits) = &node.length
            && let Err(reason) = limits.check(string.chars().count(), "character")
        {
            self.report(path, reason);
        } else if let Some(pattern) = &node.pattern
            && let Err(reason) = pattern.check(string)
        {
            self.report(path, reason);
        }
    }

    fn check_array(&mut self, node: &Node, elements: &[Value], path: &str) {
        if let Some(Err(reason)) = node.elements.map(|it| it.check(elements.len(), "element")) {
            self.report(path, reason);
        }
        if node.unique {
            let mut seen = HashSet::with_capacity(elements.len());
            if let Some(duplicate) = elements.iter().find(|element| !seen.insert(*element)) {
                let value = summarize(duplicate);
                self.report(path, format!("{value} comes twice, expected each once"));
            }
        }
        for (index, element) in elements.iter().enumerate() {
            if let Some(inner) = node.prefix.get(index).copied().or(node.items) {
                self.check(inner, element, &format!("{path}[{index}]"), 0);
            }
        }
    }

    fn check_object(&mut self, node: &Node, members: &JsonObject, path: &str) {
        if let Some(Err(reason)) = node.members.map(|it| it.check(members.len(), "member")) {
            self.report(path, reason);
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

    /// Checks that one of the alternatives that the value selects accepts it. Decoding reports a
    /// value that selects none.
    fn check_alternatives(&mut self, node: &'a Node, value: &Value, path: &str, hops: usize) {
        let mut first = None;
        let selected = node.any.iter().filter(|it| it.is_selected_by(value));
        for alternative in selected {
            let before = std::mem::take(&mut self.violations);
            self.check(alternative.node, value, path, hops + 1);
            let violations = std::mem::replace(&mut self.violations, before);
            if violations.is_empty() {
                return;
            }
            first.get_or_insert(violations);
        }
        for violation in first.into_iter().flatten() {
            self.report(&violation.path, violation.reason);
        }
    }
}
