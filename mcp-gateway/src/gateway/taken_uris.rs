//! URIs that servers answer for, so that no server answers for the resources of another one.

use std::sync::Arc;

use mcp_types::uri_template::{Part, parts};

use crate::patterns::{Piece, overlap};

/// Steps of all comparisons for one list. Items that would need more are refused.
const MAX_STEPS: usize = 50_000_000;

/// The URIs and URI templates of the servers so far.
#[derive(Debug)]
pub(super) struct TakenUris {
    taken: Vec<(Arc<str>, UriPattern)>,
    steps: usize,
}

impl Default for TakenUris {
    fn default() -> Self {
        Self {
            taken: Vec::new(),
            steps: MAX_STEPS,
        }
    }
}

impl TakenUris {
    /// Adds an item of a server.
    pub(super) fn add(&mut self, server: &Arc<str>, pattern: UriPattern) {
        self.taken.push((server.clone(), pattern));
    }

    /// Returns the items for whose URIs no other server may answer, and adds them. The log names the others.
    pub(super) fn take<T: Clone>(
        &mut self,
        server: &Arc<str>,
        items: &[T],
        uri: impl Fn(&T) -> &str,
        pattern: impl Fn(&str) -> UriPattern,
    ) -> Vec<T> {
        let free = items.iter().filter(|item| {
            let (uri, pattern) = (uri(item), pattern(uri(item)));
            let is_free = self.is_free(server, uri, &pattern);
            if is_free {
                self.add(server, pattern);
            }
            is_free
        });
        free.cloned().collect()
    }

    /// Returns true if no other server answers for the URIs of an item. The log names it otherwise.
    pub(super) fn is_free(&mut self, server: &Arc<str>, item: &str, pattern: &UriPattern) -> bool {
        let others = self.taken.iter().filter(|(owner, _)| owner != server);
        // Equal URIs are found by their names.
        let mut others = others.filter(|(_, taken)| pattern.is_template || taken.is_template);
        let steps = &mut self.steps;
        let Some((owner, _)) = others.find(|(_, taken)| taken.overlaps(pattern, steps)) else {
            return true;
        };
        tracing::warn!(server = %mcp_types::escaped(&server), item, owner = %mcp_types::escaped(&owner), "the gateway leaves out an item: another server answers for its URIs");
        false
    }
}

/// A URI, or the URIs of a template.
#[derive(Debug)]
pub(super) struct UriPattern {
    pieces: Vec<Piece>,
    is_template: bool,
}

impl UriPattern {
    /// The pattern of one URI.
    pub(super) fn uri(uri: &str) -> Self {
        Self {
            pieces: bytes(uri).collect(),
            is_template: false,
        }
    }

    /// Creates the pattern of a URI template.
    pub(super) fn template(template: &str) -> Self {
        let mut pieces = Vec::new();
        for part in parts(template) {
            match part {
                Part::Literal(text) => pieces.extend(bytes(text)),
                Part::Expression { operator: None, .. } => pieces.push(Piece::Segment),
                Part::Expression { .. } => pieces.push(Piece::Any),
            }
        }
        Self {
            pieces,
            is_template: true,
        }
    }

    /// Returns true if a URI may match both patterns, and if there are too few steps left to find out.
    fn overlaps(&self, other: &Self, steps: &mut usize) -> bool {
        let (first, second) = (&*self.pieces, &*other.pieces);
        let both = first.iter().zip(second);
        let fixed = both.take_while(|(one, two)| one.is_single() && two.is_single());
        let mut fixed = fixed.inspect(|_| *steps = steps.saturating_sub(1));
        if fixed.any(|(one, two)| one != two) {
            return false;
        }
        match steps.checked_sub(first.len() * second.len()) {
            Some(rest) => *steps = rest,
            None => return true,
        }
        overlap(first, second)
    }
}

fn bytes(text: &str) -> impl Iterator<Item = Piece> {
    text.bytes().map(|byte| Piece::Unit(byte.into()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{MAX_STEPS, TakenUris, UriPattern};

    fn overlaps(first: &str, second: &str) -> bool {
        let pattern = |text: &str| {
            if text.contains('{') {
                UriPattern::template(text)
            } else {
                UriPattern::uri(text)
            }
        };
        let (first, second) = (pattern(first), pattern(second));
        let found = first.overlaps(&second, &mut { MAX_STEPS });
        assert_eq!(found, second.overlaps(&first, &mut { MAX_STEPS }));
        found
    }

    #[test]
    fn patterns_overlap_if_a_uri_matches_both() {
        for (first, second) in [
            ("file:///{+path}", "file:///etc/passwd"),
            ("file:///{+path}", "file:///{name}"),
            ("{+any}", "shop://items/{id}"),
            ("shop://items/{id}", "shop://items/7"),
            ("shop://items/{id}", "shop://{kind}/7"),
            ("shop://items{/a,b}", "shop://items/7"),
            ("shop://items{?page}", "shop://items"),
            ("shop://items/{id}.json", "shop://items/a{rest}"),
        ] {
            assert!(overlaps(first, second), "{first} {second}");
        }
        for (first, second) in [
            ("file:///{+path}", "shop://{+path}"),
            ("shop://items/{id}", "shop://items/7/photo"),
            ("shop://items/{id}", "shop://{kind}"),
            ("shop://items/{id}.json", "shop://items/{id}.xml"),
            ("shop://items/{id}", "shop://items?id=7"),
            ("shop://items/7", "shop://items/8"),
        ] {
            assert!(!overlaps(first, second), "{first} {second}");
        }
    }

    #[test]
    fn work_is_limited() {
        let (one, two): (Arc<str>, Arc<str>) = (Arc::from("one"), Arc::from("two"));
        let template = |number: usize| {
            let long = "a".repeat(1000);
            UriPattern::template(&format!("x:{{+a}}{long}{number}"))
        };
        let mut taken = TakenUris::default();
        (0..100).for_each(|number| taken.add(&one, template(number)));
        let free = (0..100).filter(|number| taken.is_free(&two, "x", &template(100 + number)));
        assert!(free.count() < 50);
        assert!(taken.is_free(&two, "x", &UriPattern::uri("y:1")));
    }
}
