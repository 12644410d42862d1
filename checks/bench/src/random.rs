//! Deterministic pseudo-random numbers.

use std::time::Duration;

/// A pseudo-random number generator (SplitMix64). Each connection has its own generator, so that its
/// numbers do not depend on the other connections.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator whose numbers depend on `seed` alone.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `limit`, which must not be 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    /// Returns a duration below `milliseconds`.
    pub fn pause(&mut self, milliseconds: usize) -> Duration {
        Duration::from_micros(self.below(milliseconds * 1000) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn same_seed_gives_same_numbers() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            [(); 64].map(|()| random.below(100))
        };
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(8));
        assert!(numbers(7).iter().all(|number| *number < 100));
    }
}
