//! Shares of callers in what the gateway keeps for calls that wait.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use mcp_core::{CallerKey, ClientAddress, Fault};
use parking_lot::Mutex;

/// Calls of one owner at one server that wait for a session or their turn, or have one.
const MAX_WAITING: usize = 64;

/// The time after which a refused call may be repeated.
pub(crate) const RETRY: Duration = Duration::from_secs(5);

/// The owner of a waiting call: a principal, or anonymous clients with the same address. It is made from the request's
/// caller when the call is counted; the call's permit holds it, or the parked call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Owner {
    /// The caller, whatever the address is.
    pub(crate) caller: CallerKey,
    address: Option<IpAddr>,
}

impl Owner {
    /// The owner of a client's calls. Anonymous clients without a known address are one owner.
    pub(crate) fn new(caller: CallerKey, address: Option<ClientAddress>) -> Self {
        let address = address.filter(|_| caller.principal().is_none());
        Self {
            address: address.and_then(ClientAddress::block),
            caller,
        }
    }
}

/// The calls of each owner that wait at one server.
#[derive(Debug, Clone)]
pub(crate) struct Quota {
    calls: Arc<Mutex<HashMap<Owner, usize>>>,
    /// Calls of one owner.
    max: usize,
    /// The name of what they wait for.
    cause: &'static str,
}

impl Default for Quota {
    /// The calls that wait for a session or their turn, or have one.
    fn default() -> Self {
        Self::new(MAX_WAITING, "the server")
    }
}

/// Counts one call of its owner, until this is dropped. [`Quota::enter`] makes it, and the call's session holds it.
#[derive(Debug)]
pub(crate) struct QuotaPermit {
    quota: Quota,
    pub(crate) owner: Owner,
}

impl Quota {
    /// Calls that wait for `cause`, of which one owner has `max` at most.
    pub(crate) fn new(max: usize, cause: &'static str) -> Self {
        Self {
            calls: Arc::default(),
            max,
            cause,
        }
    }

    /// Counts a call.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::RateLimited`] when too many calls of the owner wait.
    pub(crate) fn enter(&self, owner: &Owner) -> Result<QuotaPermit, Fault> {
        let mut calls = self.calls.lock();
        let count = calls.entry(owner.clone()).or_default();
        if *count >= self.max {
            let message = format!("{} calls of this caller wait for {}", self.max, self.cause);
            return Err(Fault::rate_limited(message, RETRY));
        }
        *count += 1;
        Ok(QuotaPermit {
            quota: self.clone(),
            owner: owner.clone(),
        })
    }
}

impl Drop for QuotaPermit {
    fn drop(&mut self) {
        let mut calls = self.quota.calls.lock();
        if let Some(count) = calls.get_mut(&self.owner) {
            *count -= 1;
            if *count == 0 {
                calls.remove(&self.owner);
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::net::IpAddr;

    use mcp_core::{CallerKey, ClientAddress, Fault, Principal};

    use super::{MAX_WAITING, Owner, Quota};

    pub(crate) fn principal(name: &str) -> Owner {
        Owner::new(CallerKey::new(Some(&Principal::new("issuer", name))), None)
    }

    pub(crate) fn address(ip: &str) -> Owner {
        let ip: IpAddr = ip.parse().unwrap();
        Owner::new(CallerKey::default(), Some(ClientAddress { ip, port: None }))
    }

    #[test]
    fn waiting_calls_by_one_owner_leave_room_for_others() {
        let owners = [
            (principal("ada"), principal("bob")),
            (address("203.0.113.7"), address("203.0.113.8")),
            (address("2001:db8::1"), address("2001:db8:0:1::1")),
        ];
        for (owner, other) in owners {
            let waiting = Quota::default();
            let places: Vec<_> = (0..MAX_WAITING).map(|_| waiting.enter(&owner)).collect();
            let refused = waiting.enter(&owner).unwrap_err();
            assert!(matches!(refused, Fault::RateLimited { .. }), "{refused}");
            assert!(waiting.enter(&other).is_ok());
            drop(places);
            assert!(waiting.enter(&owner).is_ok());
            assert!(waiting.calls.lock().is_empty());
        }
        assert_eq!(address("2001:db8::1"), address("2001:db8::2"));
        // A reverse proxy on this machine.
        assert_eq!(address("127.0.0.1"), Owner::default());
    }
}
