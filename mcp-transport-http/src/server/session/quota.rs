//! Limits for the number of sessions.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcp_core::{ClientAddress, Principal};
use parking_lot::Mutex;

use super::super::config::Sessions;

/// Number of sessions at an endpoint, in total and per owner.
#[derive(Default)]
pub(super) struct SessionQuota(Arc<Mutex<Counts>>);

/// Open sessions and sessions that are being opened.
#[derive(Default)]
struct Counts {
    total: usize,
    by_owner: HashMap<SessionOwner, usize>,
}

/// The holder of a share in the sessions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::server) enum SessionOwner {
    /// Verified principal.
    Principal { issuer: String, subject: String },
    /// Anonymous clients with the same address.
    Address(AddressBlock),
}

/// Addresses that one client can have: an IPv4 address, or the first 64 bits of an IPv6 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::server) struct AddressBlock(IpAddr);

impl AddressBlock {
    /// Returns the block of `address`, or `None` for loopback addresses: they have no share, because
    /// most of them belong to a reverse proxy.
    fn new(address: IpAddr) -> Option<Self> {
        let address = ClientAddress {
            ip: address,
            port: None,
        };
        address.block().map(Self)
    }
}

impl SessionOwner {
    /// Returns the owner of a session. A session without a principal and without a known address has
    /// none.
    pub(in crate::server) fn new(
        principal: Option<&Principal>,
        peer: Option<IpAddr>,
    ) -> Option<Self> {
        match principal {
            Some(principal) => Some(Self::Principal {
                issuer: principal.issuer.clone(),
                subject: principal.subject.clone(),
            }),
            None => peer.and_then(AddressBlock::new).map(Self::Address),
        }
    }

    fn limit(&self, limits: &Sessions) -> usize {
        match self {
            Self::Principal { .. } => limits.max_per_principal,
            Self::Address(_) => limits.max_per_address,
        }
    }

    fn exceeded(&self) -> QuotaExceeded {
        match self {
            Self::Principal { .. } => QuotaExceeded::Principal,
            Self::Address(block) => QuotaExceeded::Address(*block),
        }
    }
}

/// Error: a limit is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum QuotaExceeded {
    #[error("this server has as many sessions as it may; come back later")]
    Total,
    #[error("you have as many sessions as you may; end one, or come back later")]
    Principal,
    #[error("your address has as many sessions as it may; end one, or come back later")]
    Address(AddressBlock),
}

impl SessionQuota {
    /// Reserves a session before any other work is done for it. A session cannot be created without a
    /// permit, so concurrent requests cannot exceed the limits.
    ///
    /// # Errors
    ///
    /// Returns [`QuotaExceeded`] when a limit is reached.
    // spec: SESS-13
    pub(super) fn reserve(
        &self,
        limits: &Sessions,
        owner: Option<&SessionOwner>,
    ) -> Result<SessionPermit, QuotaExceeded> {
        let mut counts = self.0.lock();
        // The share first: a client at its own limit makes no other one lose a session.
        if let Some(owner) = owner {
            let count = counts.by_owner.get(owner).copied().unwrap_or(0);
            if count >= owner.limit(limits) {
                return Err(owner.exceeded());
            }
        }
        if counts.total >= limits.max {
            return Err(QuotaExceeded::Total);
        }
        counts.total += 1;
        if let Some(owner) = owner {
            *counts.by_owner.entry(owner.clone()).or_default() += 1;
        }
        Ok(SessionPermit {
            counts: Arc::clone(&self.0),
            owner: owner.cloned().map(Box::new),
            is_released: AtomicBool::new(false),
        })
    }
}

/// Permission for one session. [`release`](Self::release) or dropping it makes room for another session.
pub(in crate::server) struct SessionPermit {
    counts: Arc<Mutex<Counts>>,
    owner: Option<Box<SessionOwner>>,
    is_released: AtomicBool,
}

impl SessionPermit {
    /// Returns true when the session has no verified principal.
    pub(super) fn is_anonymous(&self) -> bool {
        !matches!(self.owner.as_deref(), Some(SessionOwner::Principal { .. }))
    }

    /// Returns the addresses whose share contains the session.
    pub(super) fn address(&self) -> Option<AddressBlock> {
        match self.owner.as_deref() {
            Some(SessionOwner::Address(block)) => Some(*block),
            _ => None,
        }
    }

    /// Makes room for another session.
    pub(super) fn release(&self) {
        if self.is_released.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut counts = self.counts.lock();
        counts.total = counts.total.saturating_sub(1);
        if let Some(owner) = self.owner.as_deref()
            && let Entry::Occupied(mut count) = counts.by_owner.entry(owner.clone())
        {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

impl Drop for SessionPermit {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::AddressBlock;

    #[test]
    fn address_block_for_ipv6_is_its_network() {
        let block = |address: &str| AddressBlock::new(address.parse().unwrap());
        assert_eq!(block("127.0.0.1"), None);
        assert_eq!(block("::1"), None);
        assert_eq!(block("2001:db8::1"), block("2001:db8::ffff:1:2:3"));
        assert_ne!(block("2001:db8::1"), block("2001:db8:0:1::1"));
        assert_ne!(block("203.0.113.1"), block("203.0.113.2"));
        assert_eq!(block("203.0.113.1"), block("203.0.113.1"));
    }
}
