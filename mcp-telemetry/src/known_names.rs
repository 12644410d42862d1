//! The names that metrics may contain. Each name is a time series, so a peer must not invent them.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use foldhash::fast::RandomState;
use http::Version;
use mcp_core::Transport;
use mcp_types::{Method, ProtocolVersion};
use opentelemetry::KeyValue;
use parking_lot::RwLock;

/// The kind of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameKind {
    Method,
    Tool,
    Prompt,
}

/// A name that a server has confirmed. Clones share its attributes.
#[derive(Debug, Clone)]
pub(crate) struct KnownName(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    text: Arc<str>,
    attributes: OnceLock<(OperationKind, Box<[KeyValue]>)>,
}

/// The facts that determine the attributes of a successful operation with a known name, on a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OperationKind {
    pub(crate) method: Method,
    pub(crate) version: ProtocolVersion,
    pub(crate) transport: Option<Transport>,
    pub(crate) http: Option<Version>,
}

impl KnownName {
    pub(crate) fn text(&self) -> &Arc<str> {
        &self.0.text
    }

    /// Returns the attributes of a successful operation. Those of the first kind of operation are made
    /// once; `None` for another kind.
    pub(crate) fn attributes(
        &self,
        kind: OperationKind,
        make: impl FnOnce() -> Box<[KeyValue]>,
    ) -> Option<&[KeyValue]> {
        let (first, attributes) = self.0.attributes.get_or_init(|| (kind, make()));
        (*first == kind).then_some(&**attributes)
    }
}

type NamesByText = HashMap<Arc<str>, KnownName, RandomState>;

/// The names that a server has confirmed: it has listed them, or a call of them was successful.
#[derive(Debug, Default)]
pub(crate) struct KnownNames {
    by_kind: [RwLock<NamesByText>; 3],
}

impl KnownNames {
    /// Most known names of each kind. Further ones are left out of metrics.
    pub(crate) const MAX_NAMES: usize = 1000;
    /// Longer names are left out of metrics.
    const MAX_BYTES: usize = 256;

    fn names(&self, kind: NameKind) -> &RwLock<NamesByText> {
        let [methods, tools, prompts] = &self.by_kind;
        match kind {
            NameKind::Method => methods,
            NameKind::Tool => tools,
            NameKind::Prompt => prompts,
        }
    }

    /// Returns the name if it is known.
    pub(crate) fn get(&self, kind: NameKind, name: &str) -> Option<KnownName> {
        self.names(kind).read().get(name).cloned()
    }

    /// Adds a name. Returns it if it is known now.
    pub(crate) fn add(&self, kind: NameKind, name: &str) -> Option<KnownName> {
        if let Some(known) = self.get(kind, name) {
            return Some(known);
        }
        let mut names = self.names(kind).write();
        if names.len() >= Self::MAX_NAMES || name.len() > Self::MAX_BYTES {
            return None;
        }
        let known = KnownName(Arc::new(Inner {
            text: name.into(),
            attributes: OnceLock::new(),
        }));
        names.insert(known.text().clone(), known.clone());
        Some(known)
    }
}

#[cfg(test)]
mod tests {
    use mcp_types::{Method, ProtocolVersion};
    use opentelemetry::KeyValue;

    use super::{KnownNames, NameKind, OperationKind};

    #[test]
    fn attributes_are_made_once_and_not_shared_with_another_kind() {
        let names = KnownNames::default();
        let known = names.add(NameKind::Tool, "add").unwrap();
        let kind = |version| OperationKind {
            method: Method::CallTool,
            version,
            transport: None,
            http: None,
        };
        let make = || [KeyValue::new("a", 1)].into();
        let first = kind(ProtocolVersion::LATEST);
        assert_eq!(known.attributes(first, make).unwrap().len(), 1);
        let again = names.get(NameKind::Tool, "add").unwrap();
        let attributes = again.attributes(first, || unreachable!());
        assert_eq!(attributes.unwrap(), [KeyValue::new("a", 1)]);
        let other = kind(ProtocolVersion::LATEST_LEGACY);
        assert_eq!(again.attributes(other, make), None);
    }

    #[test]
    fn further_and_long_names_are_not_known() {
        let names = KnownNames::default();
        assert!(names.get(NameKind::Tool, "add").is_none());
        assert_eq!(
            names.add(NameKind::Tool, "add").unwrap().text().as_ref(),
            "add"
        );
        assert_eq!(
            names.get(NameKind::Tool, "add").unwrap().text().as_ref(),
            "add"
        );
        assert!(names.get(NameKind::Prompt, "add").is_none());
        assert!(names.add(NameKind::Tool, &"x".repeat(257)).is_none());
        for n in 1..KnownNames::MAX_NAMES {
            assert!(names.add(NameKind::Tool, &n.to_string()).is_some());
        }
        assert!(names.add(NameKind::Tool, "one too many").is_none());
        assert_eq!(
            names.add(NameKind::Tool, "add").unwrap().text().as_ref(),
            "add"
        );
    }
}
