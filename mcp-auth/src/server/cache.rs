//! A bounded map of digests whose entries expire.

use std::collections::HashMap;

use parking_lot::Mutex;

/// The SHA-256 hash of a token or of a proof. Tokens themselves are never kept.
pub(super) type Digest = [u8; 32];

/// Returns the SHA-256 hash of bytes.
pub(super) fn digest(bytes: &[u8]) -> Digest {
    let hash = ring::digest::digest(&ring::digest::SHA256, bytes);
    let mut digest = Digest::default();
    digest.copy_from_slice(hash.as_ref());
    digest
}

/// A map with a maximum number of entries. It has two generations: when the young one is full, it replaces
/// the old one. So insertion takes constant time, and the entries that were not used for the longest time go
/// first.
pub(super) struct ExpiringCache<V> {
    generations: Mutex<Generations<V>>,
    /// Largest number of entries in one generation.
    half: usize,
}

struct Generations<V> {
    young: HashMap<Digest, Entry<V>>,
    old: HashMap<Digest, Entry<V>>,
}

struct Entry<V> {
    value: V,
    /// Seconds since 1970.
    expires_at: u64,
}

impl<V: Clone> ExpiringCache<V> {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            generations: Mutex::new(Generations {
                young: HashMap::new(),
                old: HashMap::new(),
            }),
            half: (capacity / 2).max(1),
        }
    }

    /// Returns a value that has not expired.
    pub(super) fn get(&self, key: &Digest, now: u64) -> Option<V> {
        let mut generations = self.generations.lock();
        let is_live = |entry: &Entry<V>| entry.expires_at > now;
        if let Some(entry) = generations.young.get(key) {
            return is_live(entry).then(|| entry.value.clone());
        }
        let entry = generations.old.remove(key).filter(is_live)?;
        let value = entry.value.clone();
        self.put(&mut generations, *key, entry);
        Some(value)
    }

    pub(super) fn insert(&self, key: Digest, value: V, expires_at: u64) {
        let mut generations = self.generations.lock();
        let entry = Entry { value, expires_at };
        self.put(&mut generations, key, entry);
    }

    pub(super) fn clear(&self) {
        let mut generations = self.generations.lock();
        generations.young.clear();
        generations.old.clear();
    }

    fn put(&self, generations: &mut Generations<V>, key: Digest, entry: Entry<V>) {
        if generations.young.len() >= self.half && !generations.young.contains_key(&key) {
            generations.old = std::mem::take(&mut generations.young);
        }
        generations.young.insert(key, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::{ExpiringCache, digest};

    #[test]
    fn full_cache_forgets_entries_that_were_not_used() {
        let cache = ExpiringCache::new(8);
        let key = |n: u32| digest(&n.to_be_bytes());
        cache.insert(key(0), 0, 100);
        for n in 1..100 {
            cache.insert(key(n), n, 100);
            assert_eq!(cache.get(&key(0), 1), Some(0), "{n}");
        }
        let kept = (1..100).filter(|&n| cache.get(&key(n), 1).is_some());
        assert!(kept.count() <= 8);
    }

    #[test]
    fn expired_entries_are_absent_and_may_come_again() {
        let cache = ExpiringCache::new(8);
        let key = digest(b"a");
        cache.insert(key, (), 10);
        assert_eq!(cache.get(&key, 9), Some(()));
        assert_eq!(cache.get(&key, 10), None);
        cache.insert(key, (), 20);
        assert_eq!(cache.get(&key, 10), Some(()));
        cache.clear();
        assert_eq!(cache.get(&key, 11), None);
    }
}
