//! Hash tables over numbers: places, positions, pairs of small ids.
//!
//! A multiplication is hash enough for them. Nothing depends on the order of a table's entries.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A table.
pub(crate) type Table<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

/// Fibonacci hashing (Knuth, volume 3, section 6.4).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NumberHasher(u64);

/// 2^64 divided by the golden ratio.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// A number of a few bits for another, such that those at regular distances do not meet.
#[inline]
pub(crate) fn spread(number: u64, bits: u32) -> usize {
    (number.wrapping_mul(MULTIPLIER) >> (u64::BITS - bits)) as usize
}

/// A number for a number and all that came before it.
#[inline]
pub(crate) fn mix(before: u64, number: u64) -> u64 {
    (before.rotate_left(23) ^ number).wrapping_mul(MULTIPLIER)
}

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        // Tables take low bits; the good ones of a product are the high ones.
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(number.into());
    }

    fn write_u16(&mut self, number: u16) {
        self.write_u64(number.into());
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = mix(self.0, number);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
}
