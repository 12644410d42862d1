//! `anyOf` and `oneOf`.

use mcp_schema::Keywords;
use serde_json::Value;

use super::super::recorder::{join, pairs};
use super::comparison::{ANNOTATIONS, Comparison, Delta};
use super::view::View;

impl Comparison {
    /// Compares two schemas of which one has alternatives. Returns false when neither has some. A schema
    /// without alternatives is the only alternative of itself: `{"type": "integer"}` became
    /// `{"anyOf": [{"type": "integer"}, {"type": "null"}]}` is wider.
    pub(super) fn alternatives(&mut self, old: &View<'_>, new: &View<'_>, path: &str) -> bool {
        let (was, is) = (self.split(old), self.split(new));
        let name = match (&was, &is) {
            (None, None) => return false,
            (Some((name, _)), None) | (_, Some((name, _))) => *name,
        };
        for (name, path, was, is) in pairs(old.keywords(), new.keywords(), path) {
            if ANNOTATIONS.contains(&name) {
                self.annotation(name, (was, is), &path);
            }
        }
        let whole = |of| Vec::from_iter(View::alternative(of, None, "", &self.walk));
        let was = was.map_or_else(|| whole(old), |(_, schemas)| schemas);
        let is = is.map_or_else(|| whole(new), |(_, schemas)| schemas);
        let path = join(path, name);
        let lost = self.uncovered(&was, &is, Delta::Narrower);
        let gained = self.uncovered(&is, &was, Delta::Wider);
        for (index, schema) in is.iter().enumerate() {
            if !gained.contains(&index) {
                self.texts(&was, schema, index, &join(&path, &index.to_string()));
            }
        }
        // One alternative on each side: the details say more.
        if let ([lost], [gained]) = (&*lost, &*gained) {
            let path = join(&path, &gained.to_string());
            self.views(&was[*lost], &is[*gained], &path);
            return true;
        }
        for index in lost {
            let reason = format!("alternative {} removed", was[index].text(&self.walk));
            self.add(Delta::Narrower, &path, reason);
        }
        for index in gained {
            let reason = format!("alternative {} added", is[index].text(&self.walk));
            self.add(Delta::Wider, &path, reason);
        }
        true
    }

    /// Compares what a covered alternative says in addition to its values with the older alternative that is most like it.
    fn texts(&mut self, old: &[View<'_>], new: &View<'_>, index: usize, path: &str) {
        let start = self.found.len();
        let mut all = Vec::new();
        for old in first(index, old) {
            self.views(old, new, path);
            all.push(self.found.split_off(start));
            if all.last().is_some_and(Vec::is_empty) {
                return;
            }
        }
        let is_wider = |delta: Delta| matches!(delta, Delta::Wider | Delta::Unknown);
        let nearest = all.into_iter().min_by_key(|found| {
            let wider = found.iter().filter(|(delta, ..)| is_wider(*delta));
            (wider.count(), found.len())
        });
        let found = nearest.into_iter().flatten();
        self.found
            .extend(found.filter(|(delta, ..)| *delta != Delta::Narrower));
    }

    /// Returns the indices of schemas that no schema of `others` covers.
    fn uncovered(&mut self, all: &[View<'_>], others: &[View<'_>], lacking: Delta) -> Vec<usize> {
        let all = all.iter().enumerate();
        let uncovered = all.filter(|(index, schema)| {
            let mut differ = first(*index, others).map(|other| match lacking {
                Delta::Narrower => self.differs(schema, other, lacking),
                _ => self.differs(other, schema, lacking),
            });
            differ.all(|differs| differs)
        });
        uncovered.map(|(index, _)| index).collect()
    }

    /// Returns true if the change from `old` to `new` has the given effect, or an unknown one.
    fn differs(&mut self, old: &View<'_>, new: &View<'_>, delta: Delta) -> bool {
        let start = self.found.len();
        self.views(old, new, "");
        let mut found = self.found.drain(start..);
        found.any(|(found, ..)| found == delta || found == Delta::Unknown)
    }

    /// Returns the keyword and its alternatives, each with the keywords next to it. `None` without
    /// alternatives.
    fn split<'s>(&self, schema: &View<'s>) -> Option<(&'static str, Vec<View<'s>>)> {
        let is_list = |name: &&str| schema.get(name).is_some_and(Value::is_array);
        let name = ["anyOf", "oneOf"].into_iter().find(is_list)?;
        let all = schema.list(name).into_iter();
        let all = all.filter_map(|node| schema.alternative(Some(node), name, &self.walk));
        Some((name, all.collect()))
    }
}

/// Iterates over alternatives. The one at `index` comes first: it is most likely the same.
fn first<'v, 's>(index: usize, all: &'v [View<'s>]) -> impl Iterator<Item = &'v View<'s>> {
    all.get(index).into_iter().chain(all)
}
