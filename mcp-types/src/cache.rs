//! How long a result stays fresh, and for whom.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching>

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Who may share a cached result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "lowercase")]
pub enum CacheScope {
    /// Everybody.
    Public,
    /// Only the authorization context that asked.
    #[default]
    Private,
}

/// How long a result stays fresh, and for whom. The default is the safe one: private and stale at
/// once.
// spec: CACHE-01, CACHE-12
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheHint {
    /// How long the result stays fresh after it was received.
    pub ttl: Duration,
    /// Who may share it.
    pub scope: CacheScope,
}

impl CacheHint {
    /// Fresh for `ttl`, for the one who asked.
    pub const fn private(ttl: Duration) -> Self {
        Self {
            ttl,
            scope: CacheScope::Private,
        }
    }

    /// Fresh for `ttl`, for everybody.
    pub const fn public(ttl: Duration) -> Self {
        Self {
            ttl,
            scope: CacheScope::Public,
        }
    }

    /// The time as the wire has it.
    pub fn ttl_ms(&self) -> u64 {
        u64::try_from(self.ttl.as_millis()).unwrap_or(u64::MAX)
    }
}
