//! `anyOf` and `oneOf`.

use serde_json::Value;

use super::super::recorder::{brief, join};
use super::comparison::{ANNOTATIONS, Comparison, Delta};
use super::view::Keywords;

pub(super) const KEYWORDS: [&str; 2] = ["anyOf", "oneOf"];

impl Comparison<'_> {
    /// Compares two schemas of which one has alternatives. Returns false when neither has some. A schema
    /// without alternatives is the only alternative of itself: `{"type": "integer"}` became
    /// `{"anyOf": [{"type": "integer"}, {"type": "null"}]}` is wider.
    pub(super) fn alternatives(&mut self, old: &Keywords, new: &Keywords, path: &str) -> bool {
        let (was, is) = (split(old), split(new));
        let name = match (&was, &is) {
            (None, None) => return false,
            (Some((name, _)), None) | (_, Some((name, _))) => *name,
        };
        self.annotations(old, new, path);
        let whole = |of: &Keywords| vec![Value::Object(siblings(of))];
        let was = was.map_or_else(|| whole(old), |(_, schemas)| schemas);
        let is = is.map_or_else(|| whole(new), |(_, schemas)| schemas);
        let path = join(path, name);
        let lost = self.uncovered(&was, &is, Delta::Narrower);
        let gained = self.uncovered(&is, &was, Delta::Wider);
        for (index, schema) in is.iter().enumerate() {
            if !gained.contains(&index) {
                self.texts(&was, schema, &join(&path, &index.to_string()));
            }
        }
        // One alternative on each side: the details say more.
        if let ([lost], [gained]) = (&*lost, &*gained) {
            let path = join(&path, &gained.to_string());
            self.schema(&was[*lost], &is[*gained], &path);
            return true;
        }
        for index in lost {
            let reason = format!("alternative {} removed", brief(&was[index]));
            self.add(Delta::Narrower, &path, reason);
        }
        for index in gained {
            let reason = format!("alternative {} added", brief(&is[index]));
            self.add(Delta::Wider, &path, reason);
        }
        true
    }

    /// Compares what a covered alternative says in addition to its values with the older alternative that is most like it.
    fn texts(&mut self, old: &[Value], new: &Value, path: &str) {
        let start = self.found.len();
        let all = old.iter().map(|old| {
            self.schema(old, new, path);
            self.found.split_off(start)
        });
        let is_wider = |delta: Delta| matches!(delta, Delta::Wider | Delta::Unknown);
        let nearest = all.min_by_key(|found| {
            let wider = found.iter().filter(|(delta, ..)| is_wider(*delta));
            (wider.count(), found.len())
        });
        let found = nearest.into_iter().flatten();
        self.found
            .extend(found.filter(|(delta, ..)| *delta != Delta::Narrower));
    }

    /// Returns the indices of schemas that no schema of `others` covers.
    fn uncovered(&mut self, schemas: &[Value], others: &[Value], lacking: Delta) -> Vec<usize> {
        let mut uncovered = Vec::new();
        for (index, schema) in schemas.iter().enumerate() {
            let is_covered = others.iter().any(|other| match lacking {
                Delta::Narrower => !self.differs(schema, other, lacking),
                _ => !self.differs(other, schema, lacking),
            });
            if !is_covered {
                uncovered.push(index);
            }
        }
        uncovered
    }

    /// Returns true if the change from `old` to `new` has the given effect, or an unknown one.
    fn differs(&mut self, old: &Value, new: &Value, delta: Delta) -> bool {
        let start = self.found.len();
        self.schema(old, new, "");
        let found = self.found.drain(start..);
        let mut deltas = found.map(|(delta, ..)| delta);
        deltas.any(|other| other == delta || other == Delta::Unknown)
    }

    /// Compares the annotations next to alternatives.
    fn annotations(&mut self, old: &Keywords, new: &Keywords, path: &str) {
        for name in ANNOTATIONS {
            if old.get(name) != new.get(name) {
                self.add(Delta::Annotation, &join(path, name), "changed");
            }
        }
        if old.get("default") != new.get("default") {
            self.add(Delta::Compatible, &join(path, "default"), "changed");
        }
    }
}

/// Returns the keywords of a schema without those that [`Comparison::annotations`] compares.
fn siblings(schema: &Keywords) -> Keywords {
    let mut siblings = schema.clone();
    siblings.retain(|key, _| key != "default" && !ANNOTATIONS.contains(&&**key));
    siblings
}

/// Returns the keyword and its alternatives, each with the keywords next to it. `None` without
/// alternatives.
fn split(schema: &Keywords) -> Option<(&'static str, Vec<Value>)> {
    let name = KEYWORDS
        .into_iter()
        .find(|name| schema.contains_key(*name))?;
    let Some(Value::Array(alternatives)) = schema.get(name) else {
        return None;
    };
    let mut siblings = siblings(schema);
    siblings.remove(name);
    let merged = alternatives.iter().map(|alternative| match alternative {
        Value::Object(map) => {
            let mut merged = siblings.clone();
            merged.extend(map.clone());
            Value::Object(merged)
        }
        Value::Bool(true) => Value::Object(siblings.clone()),
        other => other.clone(),
    });
    Some((name, merged.collect()))
}
