//! Which write each read takes its value from.
//!
//! Only what threads share is in a view, so only writes of other threads are of interest. A read of
//! several cells may take from several writes.
//!
//! An inlined lock is taken from whoever had it before, by way of its word. That is no reason to
//! keep the order of critical sections: if the word is 0 whenever the lock is free, it is so whoever
//! had it last. Of such an acquisition only the plain write that made the word is kept.

use crate::view::{Kind, Pos, View};

const NOBODY: Pos = Pos(u32::MAX);

/// Pairs of a write and the read that takes its value, of different threads, by reads.
#[must_use]
pub fn reads_from(view: &View) -> Vec<(Pos, Pos)> {
    let mut latest = vec![(NOBODY, NOBODY); view.cells().len()];
    let mut pairs: Vec<(Pos, Pos)> = Vec::new();
    for pos in view.positions() {
        let (reads, writes) = (view.reads(pos), view.writes(pos));
        if !reads && !writes {
            continue;
        }
        let takes_plain_word = takes_plain_word(view, pos);
        let lane = view.lane(pos);
        let start = pairs.len();
        for cell in view.cells_of(pos) {
            let (any, plain) = &mut latest[cell.index()];
            if reads {
                let writer = if takes_plain_word { *plain } else { *any };
                let is_known = pairs[start..].iter().any(|(known, _)| *known == writer);
                if writer != NOBODY && view.lane(writer) != lane && !is_known {
                    pairs.push((writer, pos));
                }
            }
            if writes {
                *any = pos;
                if !view.is_atomic(pos) {
                    *plain = pos;
                }
            }
        }
    }
    pairs
}

/// Whether it takes an inlined lock whose word is 0 exactly while it is free.
pub(crate) fn takes_plain_word(view: &View, pos: Pos) -> bool {
    let lock = view.sync_of(pos).map(|lock| view.syncs()[lock.index()]);
    view.kind(pos) == Kind::Acquire
        && lock.is_some_and(|lock| lock.is_plain_word && !lock.is_irregular)
}
