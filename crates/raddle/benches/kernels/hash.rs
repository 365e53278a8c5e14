//! A hash table in sixteen shards, each under a lock of its own.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Mutex;

const THREADS: u64 = 2;
const SHARDS: usize = 16;
const KEYS: u64 = 30_000;
const ROUNDS: usize = 6;

#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }
    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(31);
    }
}

type Shard = Mutex<HashMap<u64, u64, BuildHasherDefault<Mix>>>;

fn main() {
    let shards: Vec<Shard> = (0..SHARDS).map(|_| Shard::default()).collect();
    std::thread::scope(|scope| {
        for first in 0..THREADS {
            let shards = &shards;
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    for key in 1..=KEYS {
                        let mut shard = shards[key as usize % SHARDS].lock().unwrap();
                        *shard.entry(key).or_insert(0) += first + key;
                    }
                }
            });
        }
    });
    let sum = |shard: &Shard| shard.lock().unwrap().values().sum::<u64>();
    println!("{}", shards.iter().map(sum).sum::<u64>());
}
