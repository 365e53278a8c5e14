//! Partial order sampling (Yuan, Yang, Gu: "Partial Order Aware Concurrency Sampling", CAV 2018).
//!
//! Every pending event has a random priority; the highest enabled one is executed. An executed
//! event redraws the priorities of the pending events that race with it, so that each order of
//! racing events stays likely however many independent events lie between them.
//!
//! A thread that waits has a low priority, or it would not wait: in a run of many events it may wait for very long. Then
//! it runs whatever its priority.
//!
//! Between two scheduling points of a run too long for a point at every visible event, a thread
//! executes a random number of events under one priority.

use raddle_trace::wire::{FIRST_SITE_ADDRESS, SiteKind, SiteRecord};

use super::{Strategy, View};
use crate::rng::Rng;
use crate::thread::{Thread, ThreadTable, Tid};

/// See the module's documentation.
pub struct Pos;

impl Strategy for Pos {
    fn choose(&mut self, view: &mut View<'_>) -> usize {
        view.threads.get_mut(view.current).priority = view.rng.next();
        let priority = |i: &usize| view.threads.get(view.enabled[*i]).priority;
        let highest = (0..view.enabled.len()).max_by_key(priority);
        let chosen = view.starved().or(highest).unwrap_or(0);
        let executed = view.enabled[chosen];
        for &other in view.enabled.iter().filter(|&&t| t != executed) {
            if race(view.threads.get(executed), view.threads.get(other)) {
                view.threads.get_mut(other).priority = view.rng.next();
            }
        }
        chosen
    }

    fn budget(&mut self, _slice: u64, rng: &mut Rng) -> u64 {
        1 + rng.below(512)
    }

    fn created(&mut self, thread: Tid, threads: &mut ThreadTable, rng: &mut Rng) {
        threads.get_mut(thread).priority = rng.next();
    }
}

/// Whether the threads' pending events touch the same object and one of them changes it.
fn race(a: &Thread, b: &Thread) -> bool {
    a.pending_addr != 0 && a.pending_addr == b.pending_addr && (changes(a) || changes(b))
}

/// A synchronisation call, which has no site, counts as a change of its object.
fn changes(thread: &Thread) -> bool {
    if thread.pending_site < FIRST_SITE_ADDRESS {
        return true;
    }
    // SAFETY: a pending site is the address of a record in a loaded image.
    let site = unsafe { *(thread.pending_site as *const SiteRecord) };
    let reads = [SiteKind::Read, SiteKind::AtomicLoad, SiteKind::RangeRead];
    !reads.iter().any(|&kind| kind as u8 == site.kind)
}
