//! The compiled constraints of a schema.

use serde_json::Value;

use super::limits::{CountLimits, NumberLimits, Pattern};

/// The compiled constraints of a schema.
#[derive(Debug)]
pub(crate) struct Constraints {
    /// Nodes that refer to each other by index. Node 0 constrains the arguments as a whole.
    pub(super) nodes: Vec<Node>,
    /// JSON Pointers to patterns that the checker does not support.
    pub(crate) unsupported_patterns: Vec<String>,
}

/// Constraints of one value.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// The node's own constraints.
    pub(super) checks: Vec<Check>,
    /// The schema excludes strings, so a string argument contains a value as JSON.
    pub(super) excludes_strings: bool,
    /// Sorted by name. `None`: the property is not checked.
    pub(super) properties: Vec<(Box<str>, Option<usize>)>,
    /// Node for members that are not in `properties`.
    pub(super) additional: Option<usize>,
    /// Nodes for the first elements. `None`: the element is not checked.
    pub(super) prefix: Vec<Option<usize>>,
    /// Node for elements behind `prefix`.
    pub(super) items: Option<usize>,
    /// Nodes that the same value has to satisfy as well.
    pub(super) all: Vec<usize>,
    /// Alternatives of which one has to accept the value.
    pub(super) any: Vec<Alternative>,
}

/// A constraint. It applies only to values of its own JSON type.
#[derive(Debug)]
pub(super) enum Check {
    Number(NumberLimits),
    /// Number of characters in a string.
    Length(CountLimits),
    Pattern(Pattern),
    /// Number of elements in an array.
    Elements(CountLimits),
    /// No element of an array comes twice.
    Unique,
    /// Number of members in an object.
    Members(CountLimits),
}

impl Node {
    /// Removes the links to nodes that accept every value. Returns whether it accepts every value itself.
    pub(super) fn leave_out(&mut self, accepts_all: &[bool]) -> bool {
        let is_needed = |index: &usize| !accepts_all[*index];
        let properties = self.properties.iter_mut().map(|(_, link)| link);
        let alternatives = self.any.iter_mut().map(|alternative| &mut alternative.node);
        let own = [&mut self.additional, &mut self.items];
        let links = properties.chain(&mut self.prefix).chain(alternatives);
        let mut is_linked = false;
        for link in links.chain(own) {
            *link = link.filter(is_needed);
            is_linked |= link.is_some();
        }
        self.all.retain(is_needed);
        !is_linked && self.all.is_empty() && self.checks.is_empty()
    }

    /// Returns the node that checks a member.
    pub(super) fn member(&self, name: &str) -> Option<usize> {
        let found = self
            .properties
            .binary_search_by(|(known, _)| (**known).cmp(name));
        match found {
            Ok(index) => self.properties[index].1,
            Err(_) => self.additional,
        }
    }

    /// Returns the node that checks an element.
    pub(super) fn element(&self, index: usize) -> Option<usize> {
        self.prefix.get(index).copied().unwrap_or(self.items)
    }
}

/// One schema of `anyOf` or `oneOf`.
#[derive(Debug)]
pub(super) struct Alternative {
    /// Required members that identify the alternative, with their value where it is constant.
    pub(super) discriminators: Vec<(Box<str>, Option<Value>)>,
    /// `None`: the alternative accepts every value that selects it.
    pub(super) node: Option<usize>,
}

impl Alternative {
    /// Returns whether `value` has the alternative's discriminators.
    pub(super) fn is_selected_by(&self, value: &Value) -> bool {
        self.discriminators.iter().all(|(name, expected)| {
            let actual = value.get(&**name);
            actual.is_some_and(|actual| expected.as_ref().is_none_or(|expected| expected == actual))
        })
    }
}
