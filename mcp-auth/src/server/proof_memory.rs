//! The proofs that were used, so that none is used twice.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use parking_lot::Mutex;

use super::cache::Digest;

/// Seconds between two searches for the expired proofs of all owners.
const SWEEP_INTERVAL: u64 = 60;

/// A bounded set of proofs, divided fairly between their owners: a full set forgets the oldest proof of the owner that
/// has the most, so that the proofs of other owners are still known.
pub(super) struct ProofMemory {
    state: Mutex<State>,
    capacity: usize,
}

#[derive(Default)]
struct State {
    seen: HashSet<Digest>,
    /// The proofs of each owner and their expiry, oldest first.
    owners: HashMap<Digest, VecDeque<(Digest, u64)>>,
    /// The owners, ordered by their number of proofs.
    sizes: BTreeSet<(usize, Digest)>,
    swept_at: u64,
}

impl ProofMemory {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            state: Mutex::default(),
            capacity: capacity.max(1),
        }
    }

    /// Adds a proof for `owner`. Returns false if it was used before. The proofs of an owner expire in the order in
    /// which they are added.
    pub(super) fn insert(&self, owner: Digest, proof: Digest, expires_at: u64, now: u64) -> bool {
        let mut state = self.state.lock();
        state.remove_expired(owner, now);
        if state.seen.contains(&proof) {
            return false;
        }
        if state.seen.len() >= self.capacity {
            state.sweep(now);
        }
        if state.seen.len() >= self.capacity {
            let largest = state.sizes.last().map(|(_, owner)| *owner);
            largest.inspect(|largest| state.change(*largest, |proofs| proofs.pop_front()));
        }
        state.seen.insert(proof);
        state.change(owner, |proofs| {
            proofs.push_back((proof, expires_at));
            None
        });
        true
    }
}

impl State {
    /// Changes the proofs of `owner`. The proof that `change` returns is forgotten.
    fn change(
        &mut self,
        owner: Digest,
        change: impl FnOnce(&mut VecDeque<(Digest, u64)>) -> Option<(Digest, u64)>,
    ) {
        let proofs = self.owners.entry(owner).or_default();
        self.sizes.remove(&(proofs.len(), owner));
        if let Some((forgotten, _)) = change(proofs) {
            self.seen.remove(&forgotten);
        }
        match proofs.len() {
            0 => drop(self.owners.remove(&owner)),
            size => drop(self.sizes.insert((size, owner))),
        }
    }

    fn remove_expired(&mut self, owner: Digest, now: u64) {
        let oldest = |state: &Self| state.owners.get(&owner)?.front().copied();
        while oldest(self).is_some_and(|(_, expires_at)| expires_at <= now) {
            self.change(owner, VecDeque::pop_front);
        }
    }

    fn sweep(&mut self, now: u64) {
        if now < self.swept_at.saturating_add(SWEEP_INTERVAL) {
            return;
        }
        self.swept_at = now;
        let owners: Vec<Digest> = self.owners.keys().copied().collect();
        for owner in owners {
            self.remove_expired(owner, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cache::{Digest, digest};
    use super::ProofMemory;

    fn id(n: u32) -> Digest {
        digest(&n.to_be_bytes())
    }

    #[test]
    fn owner_that_fills_the_memory_forgets_its_own_proofs_only() {
        let (ada, eve, bob) = (digest(b"ada"), digest(b"eve"), digest(b"bob"));
        let memory = ProofMemory::new(100);
        for n in 0..10 {
            assert!(memory.insert(ada, id(n), 1000, 0));
        }
        for n in 1000..2000 {
            assert!(memory.insert(eve, id(n), 1000, 0));
        }
        for n in 10..30 {
            assert!(memory.insert(bob, id(n), 1000, 0));
        }
        for n in 0..10 {
            assert!(!memory.insert(ada, id(n), 1000, 0), "{n}");
        }
        for n in 10..30 {
            assert!(!memory.insert(bob, id(n), 1000, 0), "{n}");
        }
        assert!(memory.insert(eve, id(1000), 1000, 0));
        assert!(!memory.insert(eve, id(1999), 1000, 0));
        assert_eq!(memory.state.lock().seen.len(), 100);
    }

    #[test]
    fn expired_proofs_make_room() {
        let (ada, eve) = (digest(b"ada"), digest(b"eve"));
        let memory = ProofMemory::new(10);
        for n in 0..9 {
            assert!(memory.insert(eve, id(n), 100, 0));
        }
        assert!(memory.insert(ada, id(9), 200, 0));
        // The first proof of a full memory after the expiry.
        assert!(memory.insert(ada, id(10), 300, 100));
        assert!(!memory.insert(ada, id(9), 300, 100));
        let state = memory.state.lock();
        assert_eq!(
            (state.seen.len(), state.owners.len(), state.sizes.len()),
            (2, 1, 1)
        );
    }
}
