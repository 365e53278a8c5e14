//! Passes over events that concern one thread only, in both forms in which events come: slots on their way into a block, and
//! events.
//!
//! Events of [`Private::sites`] are passed over, and outcomes of branches. An event after one of a hidden site
//! is kept, since it tells that its thread does no longer wait there. Of slots, what is not passed over quickly is kept,
//! and so is an event that no other of a site follows: it may be the last of the run.

use std::mem;

use crate::decode::EventSink;
use crate::event::{Event, EventKind};
use crate::file::BlockBuilder;
use crate::ids::{SiteId, ThreadId, Tick};
use crate::parts::SiteParts;
use crate::sharing::Private;
use crate::sites::Window;
use crate::wire::{FIRST_SITE_ADDRESS, Mark, SLOT_BYTES};

/// A block without private events. The event after a hidden site is kept where the two are taken together.
#[derive(Debug)]
pub struct SiftedBlock<'a> {
    /// Takes what is left.
    pub builder: &'a mut BlockBuilder,
    /// What is passed over.
    pub private: &'a Private,
}

/// Passes over private events, of each thread in its order.
#[derive(Clone, Debug)]
pub struct Sifter<'p> {
    private: &'p Private,
    /// By thread: whether its latest event may be followed by a wait that no event shows.
    may_wait: Vec<bool>,
}

impl Private {
    /// Whether an event concerns one thread only.
    #[must_use]
    pub fn has(&self, event: &Event) -> bool {
        match event.kind {
            EventKind::Branches(_) => true,
            _ => event.site().is_some_and(|it| self.sites.contains(it)),
        }
    }

    /// Whether the first slot is of a private site in this window, or has outcomes of branches.
    #[inline]
    fn has_slot(&self, window: &Window, slots: &[[u8; SLOT_BYTES]]) -> bool {
        let [slot, next, ..] = slots else {
            return false;
        };
        if has_outcomes(slot) {
            return word(slot, 2) != 0;
        }
        let is_private = |site| self.sites.contains(SiteId(site));
        word(next, 0) >= FIRST_SITE_ADDRESS && window.number(word(slot, 0)).is_some_and(is_private)
    }

    /// How many slots there are of private sites, from the first on.
    #[inline]
    fn leading(&self, window: &Window, slots: &[[u8; SLOT_BYTES]]) -> usize {
        let mut count = 0;
        while self.has_slot(window, &slots[count..]) {
            count += 1;
        }
        count
    }
}

impl SiftedBlock<'_> {
    /// How many slots there are, from the first on, that are not passed over, up to outcomes of branches.
    fn kept(&self, window: &Window, slots: &[[u8; SLOT_BYTES]]) -> usize {
        let is_hidden = |site| self.private.hidden.contains(SiteId(site));
        let has_event = |at: usize| slots.get(at).is_some_and(|it| !has_outcomes(it));
        let mut kept = 0;
        while has_event(kept) && !self.private.has_slot(window, &slots[kept..]) {
            let site = window.number(word(&slots[kept], 0));
            kept += 1;
            kept += usize::from(site.is_some_and(is_hidden) && has_event(kept));
        }
        kept
    }
}

impl EventSink for SiftedBlock<'_> {
    fn site(&mut self, thread: ThreadId, tick: Tick, parts: &SiteParts) {
        self.builder.site(thread, tick, parts);
    }

    fn other(&mut self, event: &Event) {
        if !matches!(event.kind, EventKind::Branches(_)) {
            self.builder.other(event);
        }
    }

    fn stretch(&mut self, thread: ThreadId, tick: Tick, window: &Window, slots: &[u8]) -> usize {
        let (slots, _) = slots.as_chunks();
        let mut done = 0;
        loop {
            done += self.private.leading(window, &slots[done..]);
            let kept = self.kept(window, &slots[done..]);
            let bytes = slots[done..done + kept].as_flattened();
            let at = tick.after(done as u64);
            let taken = self.builder.stretch(thread, at, window, bytes);
            done += taken;
            if kept == 0 || taken < kept {
                return done;
            }
        }
    }
}

impl<'p> Sifter<'p> {
    /// Keeps what `private` does not have.
    #[must_use]
    pub fn new(private: &'p Private) -> Self {
        Self {
            private,
            may_wait: Vec::new(),
        }
    }

    /// Whether an event is kept.
    pub fn keeps(&mut self, event: &Event) -> bool {
        let thread = event.thread.0 as usize;
        if thread >= self.may_wait.len() {
            self.may_wait.resize(thread + 1, false);
        }
        let site = event.site();
        let may_wait = site.is_some_and(|it| self.private.hidden.contains(it));
        let may_have_waited = mem::replace(&mut self.may_wait[thread], may_wait);
        may_have_waited || !self.private.has(event)
    }
}

/// Whether a slot is for outcomes of branches.
#[inline]
fn has_outcomes(slot: &[u8; SLOT_BYTES]) -> bool {
    word(slot, 0) == Mark::Branches as u64
}

/// A slot's head, address or value.
#[inline]
fn word(slot: &[u8; SLOT_BYTES], at: usize) -> u64 {
    let (words, _) = slot.as_chunks();
    u64::from_le_bytes(words[at])
}
