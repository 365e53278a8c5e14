//! What a thread does next, as far as it matters to other threads.

use crate::findings::source_number;
use crate::table::mix;
use crate::view::{Pos, View};

/// By event: a number for the next few instructions of its thread, the same for the same ones.
#[derive(Debug)]
pub(super) struct Following {
    numbers: Vec<u64>,
}

/// Steps that are looked at: out of a lock region, and a little further.
const STEPS: usize = 4;

/// No event follows.
const NOTHING: u64 = u64::MAX;

impl Following {
    pub(super) fn new(view: &View) -> Self {
        let mut next = vec![[NOTHING; STEPS]; view.threads().len()];
        let mut numbers = vec![0; view.len()];
        for pos in (0..view.len() as u32).rev().map(Pos) {
            let next = &mut next[view.lane(pos).index()];
            numbers[pos.index()] = next.iter().fold(0, |number, &source| mix(number, source));
            next.rotate_right(1);
            next[0] = source_number(view.source(pos));
        }
        Self { numbers }
    }

    /// A number for what an event's thread does next. That two differ is certain, that they are the same very likely.
    pub(super) fn number(&self, pos: Pos) -> u64 {
        self.numbers[pos.index()]
    }
}
