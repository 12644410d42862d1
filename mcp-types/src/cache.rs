//! Cache hints: freshness and scope of results.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching>

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The scope of a cached result. An unknown scope is read as [`Private`](Self::Private).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum CacheScope {
    /// The result may be shared by all users.
    Public,
    /// The result belongs to the request's authorization context.
    #[default]
    #[serde(other)]
    Private,
}

/// The freshness and scope of a result. The default is private and stale at once.
// spec: CACHE-12
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheHint {
    /// Freshness after receipt (`ttlMs`).
    pub ttl: Duration,
    /// Scope of the cached result (`cacheScope`).
    pub scope: CacheScope,
}

impl CacheHint {
    /// Creates a hint with private scope.
    pub const fn private(ttl: Duration) -> Self {
        Self {
            ttl,
            scope: CacheScope::Private,
        }
    }

    /// Creates a hint with public scope.
    pub const fn public(ttl: Duration) -> Self {
        Self {
            ttl,
            scope: CacheScope::Public,
        }
    }

    /// Returns the freshness in milliseconds, the unit of `ttlMs`.
    pub fn ttl_ms(&self) -> u64 {
        u64::try_from(self.ttl.as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::CacheScope;

    #[test]
    fn unknown_scope_is_read_as_private() {
        for (text, scope) in [
            (r#""public""#, CacheScope::Public),
            (r#""private""#, CacheScope::Private),
            (r#""tenant""#, CacheScope::Private),
            (r#""Public""#, CacheScope::Private),
        ] {
            assert_eq!(
                serde_json::from_str::<CacheScope>(text).unwrap(),
                scope,
                "{text}"
            );
        }
        assert_eq!(
            serde_json::to_string(&CacheScope::Public).unwrap(),
            r#""public""#
        );
        assert!(serde_json::from_str::<CacheScope>("true").is_err());
    }
}
