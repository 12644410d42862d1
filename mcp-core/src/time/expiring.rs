//! Values that expire.

use std::borrow::Borrow;
use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::time::Instant;

/// Values by key, each with the time at which it expires. `None`: never.
#[derive(Debug)]
pub(crate) struct Expiring<K, V> {
    by_key: HashMap<K, (V, Option<Instant>)>,
    by_expiry: BTreeSet<(Instant, K)>,
}

impl<K: Clone + Hash + Ord, V> Expiring<K, V> {
    /// Inserts a value under a new key.
    pub(crate) fn insert(&mut self, key: K, value: V, until: Option<Instant>) {
        let expiry = until.map(|until| (until, key.clone()));
        self.by_expiry.extend(expiry);
        self.by_key.insert(key, (value, until));
    }

    pub(crate) fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.by_key.get(key).map(|(value, _)| value)
    }

    pub(crate) fn get_mut<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.by_key.get_mut(key).map(|(value, _)| value)
    }

    /// Changes the time at which a value expires. Returns the value.
    pub(crate) fn renew<Q: Eq + Hash + ?Sized>(
        &mut self,
        key: &Q,
        until: impl FnOnce(&V) -> Option<Instant>,
    ) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let key = self.by_key.get_key_value(key)?.0.clone();
        let (value, expiry) = self.by_key.get_mut::<K>(&key)?;
        let until = until(value);
        if until != *expiry {
            if let Some(old) = *expiry {
                self.by_expiry.remove(&(old, key.clone()));
            }
            self.by_expiry.extend(until.map(|until| (until, key)));
            *expiry = until;
        }
        Some(value)
    }

    pub(crate) fn remove<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let (key, (value, until)) = self.by_key.remove_entry(key)?;
        if let Some(until) = until {
            self.by_expiry.remove(&(until, key));
        }
        Some(value)
    }

    /// Removes the value that expires next.
    pub(crate) fn pop_first(&mut self) -> Option<(K, V)> {
        let (_, key) = self.by_expiry.pop_first()?;
        let (value, _) = self.by_key.remove(&key)?;
        Some((key, value))
    }

    /// Removes one value that has expired. Call it until it returns `None`.
    pub(crate) fn pop_expired(&mut self, now: Instant) -> Option<(K, V)> {
        self.next_expiry().filter(|until| *until <= now)?;
        self.pop_first()
    }

    pub(crate) fn next_expiry(&self) -> Option<Instant> {
        self.by_expiry.first().map(|(until, _)| *until)
    }

    pub(crate) fn len(&self) -> usize {
        self.by_key.len()
    }

    /// Removes all values.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = (K, V)> + use<K, V> {
        let values = std::mem::take(self).by_key.into_iter();
        values.map(|(key, (value, _))| (key, value))
    }
}

impl<K, V> Default for Expiring<K, V> {
    fn default() -> Self {
        Self {
            by_key: HashMap::new(),
            by_expiry: BTreeSet::new(),
        }
    }
}
