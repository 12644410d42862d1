//! URIs that servers answer for, so that no server answers for the resources of another one.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use mcp_types::uri_template::{Part, parts};
use mcp_types::{escaped, shorten};

use crate::patterns::{Piece, overlap};

/// Steps of all comparisons for one list. Items that would need more are refused.
const MAX_STEPS: usize = 50_000_000;
/// Length of a URI in the log, in characters.
const MAX_LOGGED: usize = 500;

/// The URIs and URI templates of the servers so far. An item that is added precedes those of other servers that follow.
#[derive(Debug)]
pub(crate) struct TakenUris {
    taken: Vec<(Arc<str>, UriPattern)>,
    uris: HashMap<String, Arc<str>>,
    steps: usize,
    left_out: LeftOut,
}

/// The owners of the URIs of items that are left out, by server and item. `None`: a template without a scheme, which could
/// match each URI.
pub(crate) type LeftOut = HashMap<(Arc<str>, String), Option<Arc<str>>>;

impl Default for TakenUris {
    fn default() -> Self {
        Self {
            taken: Vec::new(),
            uris: HashMap::new(),
            steps: MAX_STEPS,
            left_out: LeftOut::new(),
        }
    }
}

impl TakenUris {
    /// Adds an item of a server.
    pub(crate) fn add(&mut self, server: &Arc<str>, item: &str, pattern: UriPattern) {
        if !pattern.is_template {
            self.uris
                .entry(item.to_owned())
                .or_insert_with(|| server.clone());
        }
        self.taken.push((server.clone(), pattern));
    }

    /// Adds an item, unless another server answers for its URIs, or it is a template without a scheme. Returns whether it was
    /// added.
    pub(crate) fn take(&mut self, server: &Arc<str>, item: &str, pattern: UriPattern) -> bool {
        let owner = self.owner(server, item, &pattern);
        if owner.is_none() && pattern.has_scheme() {
            self.add(server, item, pattern);
            return true;
        }
        let left_out = (server.clone(), item.to_owned());
        self.left_out.insert(left_out, owner);
        false
    }

    /// Returns the other server that answers for a URI of an item.
    pub(crate) fn owner(
        &mut self,
        server: &Arc<str>,
        item: &str,
        pattern: &UriPattern,
    ) -> Option<Arc<str>> {
        if !pattern.is_template
            && let Some(owner) = self.uris.get(item)
        {
            return Some(owner.clone()).filter(|owner| owner != server);
        }
        let others = self.taken.iter().filter(|(owner, _)| owner != server);
        // Equal URIs are found by their names.
        let mut others = others.filter(|(_, taken)| pattern.is_template || taken.is_template);
        let steps = &mut self.steps;
        let found = others.find(|(_, taken)| taken.overlaps(pattern, steps));
        found.map(|(owner, _)| owner.clone())
    }

    /// Returns the items that were not taken. For each server with some that are not among the `former` ones, the log has a
    /// line, if `is_logged` permits it.
    pub(super) fn into_left_out(
        self,
        former: &LeftOut,
        mut is_logged: impl FnMut(&str) -> bool,
    ) -> LeftOut {
        let mut new = BTreeMap::<&Arc<str>, (usize, &str, Option<&Arc<str>>)>::new();
        for (left_out, owner) in &self.left_out {
            if !former.contains_key(left_out) {
                let (server, item) = left_out;
                new.entry(server).or_insert((0, item, owner.as_ref())).0 += 1;
            }
        }
        for (server, (count, item, owner)) in new.into_iter().filter(|(new, _)| is_logged(new)) {
            let owner = owner.map(|owner| escaped(&owner).to_string());
            let item = &*shorten(item, MAX_LOGGED);
            tracing::warn!(server = %escaped(&server), count, item, owner, "the gateway leaves out items of a server, such as this one: another server answers for its URIs, or it is a template without a scheme");
        }
        self.left_out
    }
}

/// A URI, or the URIs of a template.
#[derive(Debug)]
pub(crate) struct UriPattern {
    pieces: Vec<Piece>,
    is_template: bool,
}

impl UriPattern {
    /// The pattern of one URI.
    pub(crate) fn uri(uri: &str) -> Self {
        Self {
            pieces: bytes(uri).collect(),
            is_template: false,
        }
    }

    /// Creates the pattern of a URI template.
    pub(crate) fn template(template: &str) -> Self {
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

    /// Returns false for a template such as `{+path}`, whose start could be each scheme.
    fn has_scheme(&self) -> bool {
        let mut start = self.pieces.iter().take_while(|piece| piece.is_single());
        !self.is_template || start.any(|piece| bytes(":").any(|colon| colon == *piece))
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

    use super::{LeftOut, MAX_STEPS, TakenUris, UriPattern};

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
    fn template_without_a_scheme_takes_nothing() {
        let (one, two): (Arc<str>, Arc<str>) = (Arc::from("one"), Arc::from("two"));
        for template in ["{+any}", "{scheme}://x", "b{+rest}"] {
            let mut taken = TakenUris::default();
            assert!(!taken.take(&one, template, UriPattern::template(template)));
            assert!(taken.take(&two, "bank://a", UriPattern::uri("bank://a")));
            let mut logged = Vec::new();
            let log = |server: &str| {
                logged.push(server.to_owned());
                true
            };
            assert_eq!(taken.into_left_out(&LeftOut::new(), log).len(), 1);
            assert_eq!(logged, ["one"]);
        }
        let mut taken = TakenUris::default();
        assert!(taken.take(&one, "b:{+rest}", UriPattern::template("b:{+rest}")));
        assert!(!taken.take(&two, "b:1", UriPattern::uri("b:1")));
    }

    #[test]
    fn work_is_limited() {
        let (one, two): (Arc<str>, Arc<str>) = (Arc::from("one"), Arc::from("two"));
        let template = |number: usize| {
            let long = "a".repeat(1000);
            UriPattern::template(&format!("x:{{+a}}{long}{number}"))
        };
        let mut taken = TakenUris::default();
        (0..100).for_each(|number| taken.add(&one, "x", template(number)));
        let is_free = |number: &u32| {
            let template = template(100 + *number as usize);
            taken.owner(&two, "x", &template).is_none()
        };
        assert!((0..100).filter(is_free).count() < 50);
        let other = UriPattern::uri("y:1");
        assert_eq!(taken.owner(&two, "y:1", &other), None);
    }
}
