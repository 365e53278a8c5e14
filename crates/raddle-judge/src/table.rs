//! Hash tables over numbers that the judge hands out itself.
//!
//! Most of judging is looking things up by small numbers and places, for which a multiplication is
//! hash enough. Nothing depends on the order of a table's entries.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A table.
pub(crate) type Table<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;
/// A set.
pub(crate) type Set<K> = HashSet<K, BuildHasherDefault<NumberHasher>>;

/// Multiplicative hashing (Knuth, volume 3, section 6.4), with the golden ratio.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NumberHasher(u64);

const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        // Tables take the low bits, the product's best bits are the high ones.
        self.0.rotate_left(32)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(GOLDEN_RATIO);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
}
