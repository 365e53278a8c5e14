//! A bounded queue between two producers and two consumers, which check what they get.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex};

const ITEMS: u64 = 15_000;
const ROOM: usize = 64;
const WORDS: usize = 32;

type Item = [u64; WORDS];

struct Queue {
    items: Mutex<VecDeque<Item>>,
    filled: Condvar,
    emptied: Condvar,
}

impl Queue {
    fn push(&self, item: Item) {
        let items = self.items.lock().unwrap();
        let mut items = self
            .emptied
            .wait_while(items, |it| it.len() == ROOM)
            .unwrap();
        items.push_back(item);
        self.filled.notify_one();
    }

    fn pop(&self) -> Item {
        let items = self.items.lock().unwrap();
        let mut items = self.filled.wait_while(items, |it| it.is_empty()).unwrap();
        let item = items.pop_front().unwrap();
        self.emptied.notify_one();
        item
    }
}

fn item(mut seed: u64) -> Item {
    std::array::from_fn(|_| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        seed >> 33
    })
}

fn digest(item: &Item) -> u64 {
    item.iter()
        .fold(0, |sum: u64, word| sum.wrapping_mul(31).wrapping_add(*word))
}

fn main() {
    let queue = Queue {
        items: Mutex::default(),
        filled: Condvar::new(),
        emptied: Condvar::new(),
    };
    let total = std::thread::scope(|scope| {
        for first in 0..2 {
            let queue = &queue;
            scope.spawn(move || (0..ITEMS).for_each(|i| queue.push(item(i + first))));
        }
        let consume = || (0..ITEMS).fold(0, |sum: u64, _| sum.wrapping_add(digest(&queue.pop())));
        let consumers = [scope.spawn(consume), scope.spawn(consume)];
        consumers
            .map(|it| it.join().unwrap())
            .iter()
            .fold(0, |sum: u64, it| sum.wrapping_add(*it))
    });
    println!("{total}");
}
