//! How long a result stays fresh, and for whom.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching>

use std::time::Duration;

use crate::text::as_text;

/// Who may share a cached result. A scope that this library does not know is read as the narrowest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheScope {
    /// Everybody.
    Public,
    /// Only the authorization context that asked.
    #[default]
    Private,
}

as_text!(
    CacheScope,
    Self::Private,
    |scope| match scope {
        Self::Public => "public",
        Self::Private => "private",
    },
    |text| Ok(match &*text {
        "public" => Self::Public,
        _ => Self::Private,
    })
);

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

#[cfg(test)]
mod tests {
    use super::CacheScope;

    #[test]
    fn only_public_is_public() {
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
