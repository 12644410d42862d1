//! Ids that differ on all nodes. They are not secret.

use std::hash::{BuildHasher as _, RandomState};

/// Returns 32 hexadecimal digits.
///
/// Each [`RandomState`] has other keys, which the standard library creates from random numbers.
pub(super) fn unique_id() -> String {
    let part = || RandomState::new().hash_one(());
    format!("{:016x}{:016x}", part(), part())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::unique_id;

    #[test]
    fn ids_are_different() {
        let ids: HashSet<String> = (0..1000).map(|_| unique_id()).collect();
        assert_eq!(ids.len(), 1000);
        assert!(ids.iter().all(|id| id.len() == 32));
    }
}
