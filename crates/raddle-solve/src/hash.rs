//! A fast hash for tables of small keys.
//!
//! The standard hasher withstands chosen keys and is slow for keys of a few words; ours are numbered by
//! ourselves. It is also the same in every run, though nothing may depend on a table's order anyway.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A hash table with [`Mixer`].
pub(crate) type Table<K, V> = HashMap<K, V, BuildHasherDefault<Mixer>>;

/// Multiplies each word into the state and folds the high half back onto the low one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mixer(u64);

impl Mixer {
    /// An odd number without pattern: the fraction of the golden ratio.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

    fn mix(&mut self, word: u64) {
        let product = (self.0 ^ word).wrapping_mul(Self::FACTOR);
        self.0 = product ^ (product >> 32);
    }
}

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        // The table takes its tag from the top bits and its place from the low ones.
        self.0.wrapping_mul(Self::FACTOR)
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.mix(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.mix(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.mix(value);
    }

    fn write_usize(&mut self, value: usize) {
        self.mix(value as u64);
    }
}
