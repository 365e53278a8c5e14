//! What a thread does next, as far as it matters to other threads.

use crate::findings::source_number;
use crate::view::{Pos, View};

/// By event: the next one of its thread.
#[derive(Debug)]
pub(super) struct Following {
    next: Vec<u32>,
}

/// Steps that are looked at: out of a lock region, and a little further.
const STEPS: usize = 4;

/// No event follows.
const NOTHING: u32 = u32::MAX;

impl Following {
    pub(super) fn new(view: &View) -> Self {
        let mut latest = vec![NOTHING; view.threads().len()];
        let mut next = vec![NOTHING; view.len()];
        for pos in (0..view.len() as u32).rev().map(Pos) {
            let latest = &mut latest[view.lane(pos).index()];
            next[pos.index()] = *latest;
            *latest = pos.0;
        }
        Self { next }
    }

    /// The next few instructions of an event's thread.
    pub(super) fn sources(&self, view: &View, pos: Pos) -> [Option<u64>; STEPS] {
        let mut at = pos.0;
        [(); STEPS].map(|()| {
            at = self.next.get(at as usize).copied().unwrap_or(NOTHING);
            (at != NOTHING).then(|| source_number(view.source(Pos(at))))
        })
    }
}
