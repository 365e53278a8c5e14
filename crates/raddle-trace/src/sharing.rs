//! Which sites touch memory that threads share: where a preemption can matter.
//!
//! A word of eight bytes is shared once two threads have touched it and one of them wrote it or
//! used an atomic operation. Freeing an object counts as writing all of it. The answer holds for
//! the trace seen: a site that shared nothing in it may share in another run.

use std::collections::{BTreeMap, HashMap};

use crate::action::Action;
use crate::allocations::{Allocations, Location};
use crate::event::{Event, EventKind, Footprint};
use crate::ids::{Address, SiteId, ThreadId};
use crate::wire::MAX_THREADS;

const WORD_BYTES: u64 = 8;

/// Of a longer range only this much is looked at.
pub const MAX_RANGE_BYTES: u64 = 8 << 20;

/// Finds shared memory, when shown each event in trace order.
#[derive(Clone, Debug, Default)]
pub struct Sharing {
    allocations: Allocations,
    words: HashMap<Location, Word>,
    shared_words: u64,
    shared_sites: SiteSet,
}

/// Sites that concern no other thread, whose events may be passed over: plain accesses, values, entries and exits, each of
/// one slot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Private {
    /// Which.
    pub sites: SiteSet,
    /// Those after which code may run that is not traced, and the thread may wait there: the event after them tells that
    /// it does no longer, so that one is kept.
    pub hidden: SiteSet,
}

/// A set of sites, one bit each: the form of `Control::visible`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteSet {
    bits: Vec<u8>,
}

#[derive(Clone, Debug)]
enum Word {
    /// Touched by one thread, or only read.
    Private {
        thread: ThreadId,
        several: bool,
        written: bool,
        /// In order, each once.
        sites: Vec<SiteId>,
    },
    Shared,
}

impl Sharing {
    /// Takes note of an event.
    pub fn observe(&mut self, event: &Event) {
        if let Some(Footprint {
            site,
            addr,
            len,
            writes,
            atomic,
            ..
        }) = event.footprint()
        {
            self.touch(event.thread, site, addr, len, writes || atomic);
        }
        if let EventKind::Action {
            action: Action::Free { addr, size, .. },
            ..
        } = event.kind
        {
            self.touch(event.thread, None, addr, size, true);
        }
        self.allocations.observe(event);
    }

    /// The sites that touched shared memory.
    #[must_use]
    pub fn shared_sites(&self) -> &SiteSet {
        &self.shared_sites
    }

    /// How many words are shared.
    #[must_use]
    pub fn shared_words(&self) -> u64 {
        self.shared_words
    }

    /// Without a site, only words that were touched before matter.
    fn touch(
        &mut self,
        thread: ThreadId,
        site: Option<SiteId>,
        addr: Address,
        len: u64,
        writes: bool,
    ) {
        if len == 0 {
            return;
        }
        let first = addr.0 / WORD_BYTES;
        let last = addr.0.saturating_add(len.min(MAX_RANGE_BYTES) - 1) / WORD_BYTES;
        for word in first..=last {
            // The object is the one that holds the first byte accessed in this word.
            let byte = Address((word * WORD_BYTES).max(addr.0));
            let location = match self.allocations.locate(byte) {
                Location::Heap { alloc, offset } => {
                    let base = byte.0 - offset;
                    Location::Heap {
                        alloc,
                        offset: word - base / WORD_BYTES,
                    }
                }
                Location::Other(_) => Location::Other(Address(word)),
            };
            self.touch_word(location, thread, site, writes);
        }
    }

    fn touch_word(
        &mut self,
        location: Location,
        thread: ThreadId,
        site: Option<SiteId>,
        writes: bool,
    ) {
        let word = match site {
            Some(_) => self.words.entry(location).or_insert_with(|| Word::Private {
                thread,
                several: false,
                written: false,
                sites: Vec::new(),
            }),
            None => match self.words.get_mut(&location) {
                Some(word) => word,
                None => return,
            },
        };
        let Word::Private {
            thread: first,
            several,
            written,
            sites,
        } = word
        else {
            site.into_iter()
                .for_each(|site| self.shared_sites.insert(site));
            return;
        };
        let place = site.map(|site| (site, sites.binary_search(&site)));
        if let Some((site, Err(at))) = place {
            sites.insert(at, site);
        }
        *several |= *first != thread;
        *written |= writes;
        if *several && *written {
            sites
                .iter()
                .for_each(|&site| self.shared_sites.insert(site));
            self.shared_words += 1;
            *word = Word::Shared;
        }
    }
}

impl SiteSet {
    /// Adds a site.
    #[inline]
    pub fn insert(&mut self, site: SiteId) {
        let (byte, bit) = (site.0 as usize / 8, site.0 % 8);
        if byte >= self.bits.len() {
            self.bits.resize(byte + 1, 0);
        }
        self.bits[byte] |= 1 << bit;
    }

    /// Whether a site is in it.
    #[must_use]
    pub fn contains(&self, site: SiteId) -> bool {
        self.bits
            .get(site.0 as usize / 8)
            .is_some_and(|byte| byte >> (site.0 % 8) & 1 == 1)
    }

    /// Adds another set's sites.
    pub fn extend(&mut self, other: &Self) {
        if other.bits.len() > self.bits.len() {
            self.bits.resize(other.bits.len(), 0);
        }
        self.bits
            .iter_mut()
            .zip(&other.bits)
            .for_each(|(byte, more)| *byte |= more);
    }

    /// The sites, by number.
    pub fn iter(&self) -> impl Iterator<Item = SiteId> {
        let all = (0..).take(self.bits.len() * 8).map(SiteId);
        all.filter(|site| self.contains(*site))
    }

    /// How many sites.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bits
            .iter()
            .map(|byte| byte.count_ones() as usize)
            .sum()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bits, lowest site in the lowest bit of the first byte, as the runtime reads them.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bits
    }
}

/// How many events of `visible` sites each thread has, in thread order. Threads that no program can have are
/// left out.
pub fn visible_events<E>(
    events: impl IntoIterator<Item = Result<Event, E>>,
    visible: &SiteSet,
) -> Result<Vec<u64>, E> {
    let mut counts = BTreeMap::<ThreadId, u64>::new();
    for event in events {
        let event = event?;
        if event.thread.0 as usize >= MAX_THREADS {
            continue;
        }
        let count = counts.entry(event.thread).or_default();
        *count += u64::from(event.site().is_some_and(|site| visible.contains(site)));
    }
    let threads = counts.last_key_value().map_or(0, |(last, _)| last.0 + 1);
    Ok((0..threads)
        .map(|id| counts.get(&ThreadId(id)).copied().unwrap_or_default())
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Access;
    use crate::ids::{AllocId, Tick};

    /// `(thread, site, address, writes)`.
    fn access((thread, site, addr, writes): (u32, u32, u64, bool)) -> Event {
        let access = Access {
            site: SiteId(site),
            addr: Address(addr),
            size: 4,
            value: 0,
        };
        let kind = if writes {
            EventKind::Write(access)
        } else {
            EventKind::Read(access)
        };
        Event {
            thread: ThreadId(thread),
            tick: Tick(0),
            kind,
        }
    }

    fn action(thread: u32, action: Action) -> Event {
        let kind = EventKind::Action {
            pc: Address(0),
            action,
        };
        Event {
            thread: ThreadId(thread),
            tick: Tick(0),
            kind,
        }
    }

    fn check(events: &[Event], sites: &[u32]) {
        let mut sharing = Sharing::default();
        events.iter().for_each(|event| sharing.observe(event));
        let shared: Vec<_> = sharing.shared_sites().iter().map(|site| site.0).collect();
        assert_eq!(shared, sites);
    }

    #[test]
    fn two_threads_and_a_write_share() {
        check(
            &[(1, 7, 0x40, true), (2, 9, 0x44, false)].map(access),
            &[7, 9],
        );
        check(&[(1, 7, 0x40, true), (2, 9, 0x48, false)].map(access), &[]);
        check(&[(1, 7, 0x40, false), (2, 9, 0x40, false)].map(access), &[]);
        check(&[(1, 7, 0x40, true), (1, 9, 0x40, true)].map(access), &[]);
        let late = [
            (1, 7, 0x40, false),
            (2, 9, 0x40, false),
            (1, 300, 0x40, true),
        ];
        check(&late.map(access), &[7, 9, 300]);
    }

    #[test]
    fn a_reused_address_is_not_shared() {
        let alloc = |id| Action::Alloc {
            addr: Address(0x40),
            size: 8,
            id: AllocId(id),
        };
        let free = Action::Free {
            addr: Address(0x40),
            size: 8,
            id: AllocId(1),
        };
        let first = [
            action(1, alloc(1)),
            access((1, 7, 0x40, true)),
            action(1, free),
        ];
        let second = [action(2, alloc(2)), access((2, 9, 0x40, true))];
        check(&[&first[..], &second].concat(), &[]);
    }

    #[test]
    fn freeing_another_threads_object_shares_it() {
        let alloc = Action::Alloc {
            addr: Address(0x40),
            size: 8,
            id: AllocId(1),
        };
        let free = Action::Free {
            addr: Address(0x40),
            size: 8,
            id: AllocId(1),
        };
        check(
            &[
                action(1, alloc),
                access((1, 7, 0x40, false)),
                action(2, free),
            ],
            &[7],
        );
    }

    #[test]
    fn visible_events_are_counted_by_thread() {
        let mut visible = SiteSet::default();
        visible.insert(SiteId(9));
        let events = [(3, 9, 0x40, true), (1, 9, 0x40, true), (3, 7, 0x40, true)].map(access);
        let counts = visible_events(events.map(Ok::<_, ()>), &visible);
        assert_eq!(counts, Ok(vec![0, 1, 0, 1]));
    }
}
