//! The names that metrics may contain. Each name is a time series, so a peer must not invent them.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::Arc;

use mcp_types::ProtocolVersion;
use opentelemetry::KeyValue;
use parking_lot::RwLock;
use smallvec::SmallVec;

use crate::network::{Attributes, Network};

/// The kind of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameKind {
    Method,
    Tool,
    Prompt,
}

/// A name that metrics may contain, and the attributes of its time series.
#[derive(Debug)]
pub(crate) struct KnownName {
    text: Arc<str>,
    series: RwLock<SmallVec<[Series; 1]>>,
}

/// The attributes of the successful operations with one name, in one direction, revision and network.
#[derive(Debug)]
struct Series {
    is_sent: bool,
    version: ProtocolVersion,
    network: Network,
    attributes: Box<[KeyValue]>,
}

impl KnownName {
    /// Time series of a name whose attributes are kept. Those of further ones are made for each
    /// operation.
    const MAX_SERIES: usize = 4;

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn text(&self) -> Arc<str> {
        self.text.clone()
    }

    /// Calls `record` with the attributes of a time series. `make` makes them.
    pub(crate) fn with_series(
        &self,
        is_sent: bool,
        version: ProtocolVersion,
        network: &Network,
        make: impl FnOnce() -> Attributes,
        record: impl FnOnce(&[KeyValue]),
    ) {
        let fits = |it: &&Series| {
            it.is_sent == is_sent && it.version == version && it.network.is_same(network)
        };
        let series = self.series.read();
        if let Some(found) = series.iter().find(fits) {
            return record(&found.attributes);
        }
        drop(series);
        let attributes = make();
        record(&attributes);
        let mut series = self.series.write();
        if series.len() < Self::MAX_SERIES && !series.iter().any(|it| fits(&it)) {
            series.push(Series {
                is_sent,
                version,
                network: network.clone(),
                attributes: attributes.into_boxed_slice(),
            });
        }
    }
}

/// A member of the set, found by its text.
#[derive(Debug)]
struct Member(Arc<KnownName>);

impl Borrow<str> for Member {
    fn borrow(&self) -> &str {
        self.0.as_str()
    }
}

impl PartialEq for Member {
    fn eq(&self, other: &Self) -> bool {
        self.0.text == other.0.text
    }
}

impl Eq for Member {}

impl Hash for Member {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.as_str().hash(state);
    }
}

/// FNV-1a. The names are those of the server, so peers cannot make them collide; it takes a quarter of
/// the instructions of the hasher of the standard library for short names.
#[derive(Debug)]
struct NameHasher(u64);

impl Default for NameHasher {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

type Names = HashSet<Member, BuildHasherDefault<NameHasher>>;

/// The names that a server has confirmed: it has listed them, or a call of them was successful.
#[derive(Debug, Default)]
pub(crate) struct KnownNames {
    sets: [RwLock<Names>; 3],
}

impl KnownNames {
    /// Names of each kind that are kept. Further ones are left out of metrics.
    pub(crate) const MAX_NAMES: usize = 1000;
    /// Longer names are left out of metrics.
    const MAX_BYTES: usize = 256;

    fn set(&self, kind: NameKind) -> &RwLock<Names> {
        let [methods, tools, prompts] = &self.sets;
        match kind {
            NameKind::Method => methods,
            NameKind::Tool => tools,
            NameKind::Prompt => prompts,
        }
    }

    /// Returns the name if it is known.
    pub(crate) fn get(&self, kind: NameKind, name: &str) -> Option<Arc<KnownName>> {
        let set = self.set(kind).read();
        set.get(name).map(|member| member.0.clone())
    }

    /// Adds a name. Returns it if it is known now.
    pub(crate) fn add(&self, kind: NameKind, name: &str) -> Option<Arc<KnownName>> {
        if let Some(known) = self.get(kind, name) {
            return Some(known);
        }
        let mut set = self.set(kind).write();
        if set.len() >= Self::MAX_NAMES || name.len() > Self::MAX_BYTES {
            return None;
        }
        let known = Arc::new(KnownName {
            text: name.into(),
            series: RwLock::default(),
        });
        set.insert(Member(known.clone()));
        Some(known)
    }
}

#[cfg(test)]
mod tests {
    use super::{KnownNames, NameKind};

    #[test]
    fn further_and_long_names_are_not_known() {
        let names = KnownNames::default();
        assert!(names.get(NameKind::Tool, "add").is_none());
        assert_eq!(names.add(NameKind::Tool, "add").unwrap().as_str(), "add");
        assert_eq!(names.get(NameKind::Tool, "add").unwrap().as_str(), "add");
        assert!(names.get(NameKind::Prompt, "add").is_none());
        assert!(names.add(NameKind::Tool, &"x".repeat(257)).is_none());
        for n in 1..KnownNames::MAX_NAMES {
            assert!(names.add(NameKind::Tool, &n.to_string()).is_some());
        }
        assert!(names.add(NameKind::Tool, "one too many").is_none());
        assert_eq!(names.add(NameKind::Tool, "add").unwrap().as_str(), "add");
    }
}
