//! The index of a document: its subschemas, and the targets of their references.

use std::borrow::Cow;
use std::ptr;

use serde_json::Value;

use crate::JsonObject;
use crate::keyword::{Keyword, Place};
use crate::limits;

/// A subschema in its [`Schema`](crate::Schema): 0 is the schema itself. The numbers have no gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub(crate) u32);

impl Id {
    pub(crate) const ROOT: Self = Self(0);

    /// Returns the number: less than [`Schema::len`](crate::Schema::len).
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The subschemas of a document, without the document.
#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(crate) entries: Vec<Entry>,
    /// The subschemas by the address of their JSON, except the root.
    pub(crate) by_address: Vec<(usize, Id)>,
    /// The references, by the subschema that has them.
    pub(crate) links: Vec<Link>,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) parent: Id,
    /// The innermost schema around it with an `$id`, or the root.
    pub(crate) resource: Id,
    pub(crate) depth: u8,
    /// The steps of a visit.
    pub(crate) weight: u32,
    /// The JSON Pointer from the parent, such as `/properties/a`.
    pub(crate) step: Box<str>,
}

#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) from: Id,
    pub(crate) keyword: &'static str,
    /// The target. `None`: it is not in this document.
    pub(crate) target: Option<Id>,
    /// The resource that the reference names. `None`: another document, which is not fetched.
    pub(crate) resource: Option<Id>,
}

impl Index {
    /// Returns the subschema that a value is, or where it would be in the list of addresses.
    pub(crate) fn find(&self, value: &Value) -> Result<Id, usize> {
        let address = ptr::from_ref(value).addr();
        let found = self
            .by_address
            .binary_search_by_key(&address, |known| known.0);
        found.map(|place| self.by_address[place].1)
    }

    /// Adds a subschema at its place in the list of addresses.
    pub(crate) fn insert(&mut self, place: usize, value: &Value, id: Id) {
        self.by_address
            .insert(place, (ptr::from_ref(value).addr(), id));
    }

    pub(crate) fn entry(&self, id: Id) -> Option<&Entry> {
        self.entries.get(id.index())
    }

    /// Returns the bytes of the names that lead to a subschema.
    pub(crate) fn location(&self, mut id: Id) -> usize {
        let mut bytes = 0;
        while let Some(entry) = self.entry(id).filter(|_| id != Id::ROOT) {
            bytes += entry.step.len();
            id = entry.parent;
        }
        bytes
    }

    /// Returns the references of a subschema.
    pub(crate) fn links(&self, from: Id) -> impl Iterator<Item = &Link> {
        let start = self.links.partition_point(|link| link.from < from);
        let rest = self.links[start..].iter();
        rest.take_while(move |link| link.from == from)
    }

    /// Returns the target of `$ref`.
    pub(crate) fn target(&self, from: Id) -> Option<Id> {
        self.links(from).find(|link| link.keyword == "$ref")?.target
    }

    /// Returns the JSON Pointer of a subschema, cut to [`limits::LOCATION`] characters.
    pub(crate) fn pointer(&self, mut id: Id) -> String {
        let mut steps = Vec::new();
        while let Some(entry) = self.entry(id).filter(|_| id != Id::ROOT) {
            steps.push(&*entry.step);
            id = entry.parent;
        }
        let mut characters = steps.into_iter().rev().flat_map(str::chars);
        let mut text: String = characters.by_ref().take(limits::LOCATION).collect();
        text.extend(characters.next().map(|_| '…'));
        text
    }
}

/// Returns the JSON Pointer from a schema to one in a keyword of it.
pub(crate) fn step((keyword, _): Keyword, place: Place<'_>) -> Box<str> {
    let step = match place {
        Place::Value => ["/", keyword].concat(),
        Place::Index(index) => format!("/{keyword}/{index}"),
        Place::Name(name) if !name.contains(['~', '/']) => ["/", keyword, "/", name].concat(),
        Place::Name(name) => {
            let name = name.replace('~', "~0").replace('/', "~1");
            ["/", keyword, "/", &name].concat()
        }
    };
    step.into()
}

/// Returns the value at a JSON Pointer that begins with `/`.
pub(crate) fn locate<'s>(object: &'s JsonObject, pointer: &str) -> Option<&'s Value> {
    let mut tokens = pointer.strip_prefix('/')?.split('/');
    let first = object.get(&*unescape(tokens.next()?))?;
    tokens.try_fold(first, inside)
}

/// Returns the value at a token of a JSON Pointer.
pub(crate) fn inside<'s>(value: &'s Value, token: &str) -> Option<&'s Value> {
    match value {
        Value::Object(members) => members.get(&*unescape(token)),
        Value::Array(elements) => elements.get(token.parse::<usize>().ok()?),
        _ => None,
    }
}

fn unescape(token: &str) -> Cow<'_, str> {
    if token.contains('~') {
        token.replace("~1", "/").replace("~0", "~").into()
    } else {
        token.into()
    }
}
