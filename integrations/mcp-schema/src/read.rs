//! Reading a document: its subschemas, the targets of its references, its limits.

use std::collections::{HashMap, HashSet};
use std::io;
use std::iter::successors;

use percent_encoding::percent_decode_str;
use serde_json::Value;

use crate::JsonObject;
use crate::error::{Limit, SchemaError};
use crate::index::{Entry, Id, Index, Link, inside, locate, step};
use crate::keyword::{Place, keyword, schemas};
use crate::limits;

/// Keywords with references.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// The size of a value without its text and its members, in bytes.
const VALUE: usize = 16;

/// Reads the index of a document.
pub(crate) fn read(root: &JsonObject) -> Result<Index, SchemaError> {
    if serde_json::to_writer(Free(limits::BYTES), root).is_err() {
        return Err(Limit::Bytes(limits::BYTES).at(String::new()));
    }
    let mut reader = Reader::default();
    reader.push(Some(root), Id::ROOT, Box::default())?;
    reader.add_subschemas(Id::ROOT)?;
    reader.add_references()?;
    reader.check_rows()?;
    Ok(reader.index)
}

#[derive(Default)]
struct Reader<'r> {
    index: Index,
    /// The keywords of each subschema that has some.
    objects: Vec<Option<&'r JsonObject>>,
    /// The length of each location, and their sum, in bytes.
    lengths: Vec<usize>,
    locations: usize,
    /// Anchors, by the resource that they belong to.
    anchors: HashMap<(Id, &'r str), Id>,
    resources: HashMap<&'r str, Id>,
}

impl<'r> Reader<'r> {
    fn push(
        &mut self,
        object: Option<&'r JsonObject>,
        parent: Id,
        step: Box<str>,
    ) -> Result<Id, SchemaError> {
        let index = self.objects.len();
        let id = Id(small(index));
        let text = |keyword| object.and_then(|object| object.get(keyword)?.as_str());
        let own = text("$id").map(|id| id.trim_end_matches('#'));
        // Drafts 6 and 7 have anchors of this form.
        let anchor = own.and_then(|id| id.strip_prefix('#'));
        let own = own.filter(|_| anchor.is_none());
        self.resources.extend(own.map(|own| (own, id)));
        let around = self.index.entry(parent);
        let resource = around.filter(|_| own.is_none());
        let resource = resource.map_or(id, |entry| entry.resource);
        let anchors = [anchor, text("$anchor"), text("$dynamicAnchor")];
        let anchors = anchors.into_iter().flatten();
        self.anchors
            .extend(anchors.map(|anchor| ((resource, anchor), id)));
        let depth = around.map_or(0, |entry| entry.depth.saturating_add(1));
        let length = self.lengths.get(parent.index()).unwrap_or(&0) + step.len();
        self.lengths.push(length);
        self.locations += length;
        self.objects.push(object);
        self.index.entries.push(Entry {
            parent,
            resource,
            depth,
            weight: 1,
            step,
        });
        let limit = if usize::from(depth) > limits::DEPTH {
            Limit::Depth(limits::DEPTH)
        } else if index >= limits::NODES {
            Limit::Nodes(limits::NODES)
        } else if self.locations > limits::LOCATIONS {
            Limit::Locations(limits::LOCATIONS)
        } else {
            return Ok(id);
        };
        Err(limit.at(self.index.pointer(id)))
    }

    /// Adds a subschema, unless it is known.
    fn add(
        &mut self,
        value: &'r Value,
        parent: Id,
        step: impl FnOnce() -> Box<str>,
    ) -> Result<Id, SchemaError> {
        let place = match self.index.find(value) {
            Ok(known) => return Ok(known),
            Err(place) => place,
        };
        let id = self.push(value.as_object(), parent, step())?;
        self.index.insert(place, value, id);
        Ok(id)
    }

    /// Adds the subschemas of the entries from `next`, and theirs. Sums up what visits of them cost.
    fn add_subschemas(&mut self, mut next: Id) -> Result<(), SchemaError> {
        while let Some(object) = self.objects.get(next.index()).copied() {
            let mut size = 0;
            for (name, value) in object.into_iter().flatten() {
                size += name.len();
                let Some(keyword) = keyword(name) else {
                    size += bytes(value);
                    continue;
                };
                for (place, schema) in schemas(keyword, value) {
                    if let Place::Name(name) = place {
                        size += name.len();
                    }
                    size += VALUE;
                    self.add(schema, next, || step(keyword, place))?;
                }
            }
            self.index.entries[next.index()].weight = small(1 + size / limits::BYTES_PER_STEP);
            next.0 += 1;
        }
        Ok(())
    }

    /// Resolves the references, also those of schemas that only references lead to.
    fn add_references(&mut self) -> Result<(), SchemaError> {
        let mut from = Id::ROOT;
        while let Some(object) = self.objects.get(from.index()).copied() {
            for keyword in REFERENCES {
                let text = object.and_then(|object| object.get(keyword)?.as_str());
                if let Some(text) = text {
                    let link = self.resolve(from, keyword, text)?;
                    self.index.links.push(link);
                }
            }
            from.0 += 1;
        }
        Ok(())
    }

    /// Finds the target of a reference.
    fn resolve(
        &mut self,
        from: Id,
        keyword: &'static str,
        text: &'r str,
    ) -> Result<Link, SchemaError> {
        let (document, fragment) = text.split_once('#').unwrap_or((text, ""));
        let resource = match document {
            "" => self.index.entry(from).map(|entry| entry.resource),
            id => self.resources.get(id).copied(),
        };
        let target = match resource {
            Some(resource) if fragment.starts_with('/') => self.at_pointer(resource, fragment)?,
            Some(resource) if !fragment.is_empty() => {
                self.anchors.get(&(resource, fragment)).copied()
            }
            resource => resource,
        };
        // Who follows the reference reads the names that lead to its target.
        self.locations += target.map_or(0, |target| self.lengths[target.index()]);
        if self.locations > limits::LOCATIONS {
            return Err(Limit::Locations(limits::LOCATIONS).at(self.index.pointer(from)));
        }
        Ok(Link {
            from,
            keyword,
            target,
            resource,
        })
    }

    /// Finds the schema at a JSON Pointer from a resource, also one that no keyword leads to.
    fn at_pointer(&mut self, resource: Id, fragment: &'r str) -> Result<Option<Id>, SchemaError> {
        let path = percent_decode_str(fragment).decode_utf8_lossy();
        let Some((found, around, rest)) = self.locate(resource, &path) else {
            return Ok(None);
        };
        let known = self.objects.len();
        let target = self.add(found, around, || rest.into())?;
        if self.objects.len() > known {
            self.add_subschemas(target)?;
        }
        Ok(Some(target))
    }

    /// Finds the value at a JSON Pointer, the innermost known schema around it, and the pointer from there: the value's own
    /// references belong to the resource of that schema.
    fn locate<'p>(&self, resource: Id, path: &'p str) -> Option<(&'r Value, Id, &'p str)> {
        let object = self.objects[resource.index()]?;
        let (mut around, mut start, mut found) = (resource, 0, None);
        let ends = path.match_indices('/').map(|(end, _)| end).skip(1);
        let mut last = 0;
        for end in ends.chain([path.len()]) {
            let value = match found {
                None => locate(object, &path[..end])?,
                Some(outer) => inside(outer, &path[last + 1..end])?,
            };
            if let Ok(known) = self.index.find(value)
                && end < path.len()
            {
                (around, start) = (known, end);
            }
            (found, last) = (Some(value), end);
        }
        Some((found?, around, &path[start..]))
    }

    /// Checks the references in a row. A circle is not a row: [`Parts`](crate::Parts) has each schema once.
    fn check_rows(&self) -> Result<(), SchemaError> {
        for link in &self.index.links {
            let row = successors(Some(link.from), |last| self.index.target(*last));
            let row = row.take(limits::REFERENCES + 1);
            if row.collect::<HashSet<_>>().len() > limits::REFERENCES {
                let location = self.index.pointer(link.from);
                return Err(Limit::References(limits::REFERENCES).at(location));
            }
        }
        Ok(())
    }
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Counts down the bytes that are written.
struct Free(usize);

impl io::Write for Free {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let rest = self.0.checked_sub(bytes.len());
        self.0 = rest.ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the memory of a value in bytes, about.
fn bytes(value: &Value) -> usize {
    VALUE
        + match value {
            Value::String(text) => text.len(),
            Value::Array(elements) => elements.iter().map(bytes).sum(),
            Value::Object(members) => members
                .iter()
                .map(|(name, member)| name.len() + bytes(member))
                .sum(),
            _ => 0,
        }
}
