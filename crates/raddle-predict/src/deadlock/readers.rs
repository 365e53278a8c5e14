//! Readers that ask again.
//!
//! Rust's `RwLock` lets no reader in while a writer waits. A thread that reads and asks to read once more
//! then waits for the writer, which waits for it. Read/write locks of libc let readers in, by default and
//! in the runtime, so only locks whose code was inlined are looked at.

use super::{is_over, together};
use crate::candidate::{Candidates, Flaw};
use crate::clocks::Clocks;
use crate::findings::source_number;
use crate::locksets::Exclusions;
use crate::table::Table;
use crate::view::{Kind, Pos, SyncId, View};
use raddle_trace::event::LockMode;

/// How many pairs are looked at for each lock.
const MOST_PAIRS: usize = 1 << 12;

/// Adds the candidates; false if there were too many pairs to look at.
pub(super) fn find(view: &View, clocks: &Clocks, into: &mut Candidates<'_>) -> bool {
    let again = again(view);
    if again.is_empty() {
        return true;
    }
    let mut is_cut = false;
    let mut writers: Table<SyncId, Vec<Pos>> = Table::default();
    for hold in view.holds() {
        if hold.mode == LockMode::Exclusive && view.kind(hold.acquire) == Kind::Acquire {
            writers.entry(hold.lock).or_default().push(hold.acquire);
        }
    }
    let mut exclusions = Exclusions::default();
    let mut looked_at: Table<SyncId, usize> = Table::default();
    for (lock, read) in again {
        for &write in writers.get(&lock).map_or(&[][..], Vec::as_slice) {
            let pairs = looked_at.entry(lock).or_insert(0);
            *pairs += 1;
            if *pairs > MOST_PAIRS {
                is_cut = true;
                break;
            }
            let is_kept_apart =
                exclusions.exclude(view, view.lockset_of(read), view.lockset_of(write));
            if view.lane(read) == view.lane(write)
                || is_kept_apart
                || is_over(view, clocks, read, write)
                || is_over(view, clocks, write, read)
            {
                continue;
            }
            let sources = [read, write].map(|pos| source_number(view.source(pos)));
            into.add(Flaw::Deadlock, sources.into(), || {
                together(&[read, write], &[write, read])
            });
        }
    }
    !is_cut
}

/// Acquisitions on the shared side of inlined locks that their threads hold so already.
fn again(view: &View) -> Vec<(SyncId, Pos)> {
    let is_inlined = |pos: &Pos| view.kind(*pos) == Kind::Acquire && view.reads(*pos);
    let shared = view
        .positions()
        .filter(|pos| is_inlined(pos) && view.is_shared_side(*pos));
    shared
        .filter_map(|pos| {
            let lock = view.sync_of(pos)?;
            let held = view.lockset(view.lockset_of(pos));
            held.contains(&(lock, LockMode::Shared))
                .then_some((lock, pos))
        })
        .collect()
}
