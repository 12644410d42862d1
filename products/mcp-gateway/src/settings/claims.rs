//! Extensions that only a server and its clients know, and their methods.

use mcp_types::Method;
use mcp_types::meta::keys;

use crate::error::GatewayError;
use crate::patterns::{Piece, ToolPatterns, overlap};

/// The notification prefix.
const NOTIFICATIONS: &str = "notifications/";

/// Extensions that this library knows.
const KNOWN: [&str; 7] = [
    keys::TASKS_EXTENSION,
    keys::UI_EXTENSION,
    keys::EVENTS_EXTENSION,
    keys::SKILLS_EXTENSION,
    keys::CLIENT_CREDENTIALS_EXTENSION,
    keys::ENTERPRISE_EXTENSION,
    keys::WORKLOAD_EXTENSION,
];

/// The extensions whose messages a server receives and sends through the gateway.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ExtensionClaims(Vec<Claim>);

#[derive(Debug, Clone, PartialEq)]
struct Claim {
    id: String,
    methods: Vec<String>,
    patterns: ToolPatterns,
}

impl ExtensionClaims {
    /// Adds an extension, or methods to one that was added before.
    pub(crate) fn add(&mut self, id: String, methods: Vec<String>) {
        let former = self.0.iter().position(|claim| claim.id == id);
        let former = former.map(|index| self.0.remove(index).methods);
        let methods: Vec<_> = former.into_iter().flatten().chain(methods).collect();
        self.0.push(Claim {
            id,
            patterns: ToolPatterns::new(&methods),
            methods,
        });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the extension identifiers.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|claim| &*claim.id)
    }

    /// Returns the extension of a method. The pattern `budget/*` is also one of the notifications
    /// `notifications/budget/*`.
    pub(crate) fn find(&self, method: &str) -> Option<&str> {
        let short = method.strip_prefix(NOTIFICATIONS);
        let claim = self.0.iter().find(|claim| {
            claim.patterns.matches(method)
                || short.is_some_and(|short| claim.patterns.matches(short))
        });
        claim.map(|claim| &*claim.id)
    }

    /// Returns an extension that others have, or else a pattern that overlaps one of others.
    fn common<'p, P: Iterator<Item = &'p str>>(
        &self,
        has_id: impl Fn(&str) -> bool,
        patterns: impl Fn() -> P,
    ) -> Option<&str> {
        let has_pattern = |own: &&str| patterns().any(|other| overlaps(own, other));
        let id = self.ids().find(|id| has_id(id));
        id.or_else(|| self.patterns().find(has_pattern))
    }

    fn patterns(&self) -> impl Iterator<Item = &str> {
        self.0
            .iter()
            .flat_map(|claim| &claim.methods)
            .map(String::as_str)
    }
}

/// Checks the extensions of all servers.
///
/// # Errors
///
/// Returns a [`GatewayError`] when two servers claim the same extension or method, or when one claims what the
/// protocol or a known extension defines.
pub(crate) fn check_claims<'a>(
    servers: impl Iterator<Item = (&'a std::sync::Arc<str>, &'a ExtensionClaims)>,
) -> Result<(), GatewayError> {
    let servers: Vec<_> = servers.collect();
    for (index, (server, claims)) in servers.iter().enumerate() {
        let is_known = |id: &str| KNOWN.contains(&id);
        let methods = || Method::ALL.iter().map(|method| method.as_str());
        if let Some(claimed) = claims.common(is_known, methods) {
            return Err(GatewayError::ExtensionReserved {
                claimed: claimed.to_owned(),
                server: (*server).clone(),
            });
        }
        for (first, former) in &servers[..index] {
            let is_former = |id: &str| former.ids().any(|other| other == id);
            if let Some(claimed) = claims.common(is_former, || former.patterns()) {
                return Err(GatewayError::ExtensionTaken {
                    claimed: claimed.to_owned(),
                    first: (*first).clone(),
                    second: (*server).clone(),
                });
            }
        }
    }
    Ok(())
}

/// Returns whether a method may match both patterns.
fn overlaps(first: &str, second: &str) -> bool {
    let all = |pattern: &str| {
        let patterns = [Some(pattern), pattern.strip_prefix(NOTIFICATIONS)];
        patterns
            .into_iter()
            .flatten()
            .map(Piece::of_wildcards)
            .collect::<Vec<_>>()
    };
    let (first, second) = (all(first), all(second));
    first
        .iter()
        .any(|first| second.iter().any(|second| overlap(first, second)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{ExtensionClaims, check_claims};

    fn claims(id: &str, methods: &[&str]) -> ExtensionClaims {
        let mut claims = ExtensionClaims::default();
        let methods = methods.iter().map(|&method| method.to_owned());
        claims.add(id.to_owned(), methods.collect());
        claims
    }

    fn check(servers: &[(&str, ExtensionClaims)]) -> Result<(), String> {
        let named: Vec<(Arc<str>, _)> = servers
            .iter()
            .map(|(name, claims)| (Arc::from(*name), claims))
            .collect();
        let checked = check_claims(named.iter().map(|(name, claims)| (name, *claims)));
        checked.map_err(|error| error.to_string())
    }

    #[test]
    fn pattern_covers_requests_and_notifications() {
        let claims = claims("com.example/budget", &["budget/*"]);
        for method in ["budget/get", "notifications/budget/charged"] {
            assert_eq!(claims.find(method), Some("com.example/budget"));
        }
        assert_eq!(claims.find("tools/call"), None);
    }

    #[test]
    fn extension_of_two_servers_is_an_error_that_names_both() {
        let one = || claims("com.example/a", &["a/*"]);
        for other in [
            claims("com.example/a", &["b/*"]),
            claims("com.example/b", &["a/ge?"]),
            claims("com.example/b", &["notifications/a/x"]),
        ] {
            let error = check(&[("one", one()), ("two", other)]).unwrap_err();
            assert!(
                error.contains("\"one\"") && error.contains("\"two\""),
                "{error}"
            );
        }
        check(&[("one", one()), ("two", claims("com.example/b", &["b/*"]))]).unwrap();
    }

    #[test]
    fn protocol_methods_and_extensions_are_reserved() {
        for (id, method) in [
            ("com.example/a", "*"),
            ("com.example/a", "tools/*"),
            ("com.example/a", "tasks/get"),
            ("com.example/a", "notifications/cancelled"),
            ("io.modelcontextprotocol/tasks", "a/b"),
        ] {
            let error = check(&[("one", claims(id, &[method]))]).unwrap_err();
            assert!(error.contains("\"one\""), "{error}");
        }
    }
}
