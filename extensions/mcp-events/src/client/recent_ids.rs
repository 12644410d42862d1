//! The last ids of a sender, to find repeated messages.

use std::collections::{HashSet, VecDeque};

use hmac_sha256::Hash;

/// The digest of an id. An id may have any length; its digest has 32 bytes.
pub(super) type IdDigest = [u8; 32];

/// The digests of the last `N` ids.
#[derive(Debug, Default)]
pub(super) struct RecentIds<const N: usize> {
    digests: HashSet<IdDigest>,
    order: VecDeque<IdDigest>,
}

impl<const N: usize> RecentIds<N> {
    /// Returns the digest under which an id is kept.
    pub(super) fn digest(id: &str) -> IdDigest {
        Hash::hash(id.as_bytes())
    }

    pub(super) fn contains(&self, digest: &IdDigest) -> bool {
        self.digests.contains(digest)
    }

    /// Adds an id, and removes the oldest one if there are more than `N`. Returns true if it is new.
    pub(super) fn insert(&mut self, digest: IdDigest) -> bool {
        if !self.digests.insert(digest) {
            return false;
        }
        self.order.push_back(digest);
        if self.order.len() > N
            && let Some(oldest) = self.order.pop_front()
        {
            self.digests.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use allocation_counter::measure;

    use super::RecentIds;

    #[test]
    fn memory_for_ids_does_not_depend_on_their_length() {
        const ID: usize = 64 << 10;
        let mut ids = RecentIds::<100>::default();
        let kept = measure(|| {
            for number in 0..100 {
                let id = format!("{}{number}", "x".repeat(ID));
                assert!(ids.insert(RecentIds::<100>::digest(&id)));
            }
        });
        assert!(
            kept.bytes_current < 32 << 10,
            "{} bytes",
            kept.bytes_current
        );
    }

    #[test]
    fn oldest_id_is_forgotten() {
        let mut ids = RecentIds::<2>::default();
        let digest = RecentIds::<2>::digest;
        for id in ["a", "b", "c"] {
            assert!(ids.insert(digest(id)), "{id}");
        }
        assert!(!ids.contains(&digest("a")));
        assert!(!ids.insert(digest("b")));
        assert!(!ids.insert(digest("c")));
    }
}
