//! What a run shows: instructions that were executed, and which of them meet in memory.
//!
//! Of each word of memory the latest access is remembered, in pages that are found by hashing. There is a limit to the
//! memory that this takes: of pages that a run touches when it is reached nothing is remembered.

use std::collections::BTreeMap;

use raddle_trace::event::Event;
use raddle_trace::ids::{SiteId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Memory is looked at in words of so many bytes.
const WORD_BYTES: u64 = 8;
/// Words that are kept together.
const PAGE_WORDS: u64 = 64;
/// What a page takes, with its place in the table while that grows.
const BYTES_A_PAGE: u64 = size_of::<Page>() as u64 + 64;

/// Something that a run can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Thing {
    /// An instruction was executed.
    Executed(SiteId),
    /// Two instructions of different threads touched the same memory, one after the other.
    InTurn(SiteId, SiteId),
}

/// Whose code an instruction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Whose {
    Packages,
    Users,
}

/// What a run shows at the sites of the user and of packages. Of two instructions that meet one in the user's lines makes
/// the meeting the user's.
pub(crate) struct Shows<F> {
    whose: F,
    /// By site, once it was executed.
    executed: Vec<Option<Option<Whose>>>,
    words: Words,
    met: FxHashSet<(SiteId, SiteId)>,
}

/// An access.
#[derive(Clone, Copy)]
struct Touch {
    thread: ThreadId,
    site: SiteId,
    writes: bool,
}

type Page = [Option<Touch>; PAGE_WORDS as usize];

/// By word: the latest access.
struct Words {
    numbers: FxHashMap<u64, u32>,
    pages: Vec<Page>,
    most_pages: u64,
    /// Whether there were more pages.
    is_full: bool,
    /// The page found last: one more than its number, and where it is.
    latest: (u64, u32),
}

impl Words {
    fn new(most_bytes: u64) -> Self {
        Self {
            numbers: FxHashMap::default(),
            pages: Vec::new(),
            most_pages: (most_bytes / BYTES_A_PAGE).min(u64::from(u32::MAX)),
            is_full: false,
            latest: (0, 0),
        }
    }

    /// Where a word's latest access is kept; none if there is no room.
    fn get(&mut self, word: u64) -> Option<&mut Option<Touch>> {
        let number = word / PAGE_WORDS;
        if self.latest.0 != number + 1 {
            self.latest = (number + 1, self.find(number)?);
        }
        let page = &mut self.pages[self.latest.1 as usize];
        Some(&mut page[(word % PAGE_WORDS) as usize])
    }

    fn find(&mut self, number: u64) -> Option<u32> {
        if let Some(known) = self.numbers.get(&number) {
            return Some(*known);
        }
        let next = self.pages.len() as u32;
        if u64::from(next) >= self.most_pages {
            self.is_full = true;
            return None;
        }
        self.numbers.insert(number, next);
        self.pages.push([None; PAGE_WORDS as usize]);
        Some(next)
    }
}

impl<F: Fn(SiteId) -> Option<Whose>> Shows<F> {
    /// Nothing yet; memory is looked at for as long as that takes no more than so many bytes.
    pub(crate) fn new(whose: F, most_bytes: u64) -> Self {
        Self {
            whose,
            executed: Vec::new(),
            words: Words::new(most_bytes),
            met: FxHashSet::default(),
        }
    }

    /// Whether the run touched more memory than was looked at.
    pub(crate) fn is_full(&self) -> bool {
        self.words.is_full
    }

    fn whose(&mut self, site: SiteId) -> Option<Whose> {
        let at = site.0 as usize;
        if at >= self.executed.len() {
            self.executed.resize(at + 1, None);
        }
        *self.executed[at].get_or_insert_with(|| (self.whose)(site))
    }

    /// Takes note of an event.
    pub(crate) fn observe(&mut self, event: &Event) {
        let Some(site) = event.site() else {
            return;
        };
        if self.whose(site).is_none() {
            return;
        }
        let Some(footprint) = event.footprint() else {
            return;
        };
        let now = Touch {
            thread: event.thread,
            site,
            writes: footprint.writes,
        };
        let Some(latest) = self.words.get(footprint.addr.0 / WORD_BYTES) else {
            return;
        };
        if let Some(last) = latest.replace(now)
            && last.thread != now.thread
            && (last.writes || now.writes)
        {
            self.met.insert((last.site, site));
        }
    }

    /// What was shown, and whose it is.
    pub(crate) fn finish(self) -> BTreeMap<Thing, Whose> {
        let whose = |site: SiteId| {
            self.executed
                .get(site.0 as usize)
                .copied()
                .flatten()
                .flatten()
        };
        let sites = (0..self.executed.len() as u32).map(SiteId);
        let executed = sites.filter_map(|it| Some((Thing::Executed(it), whose(it)?)));
        let met = self.met.iter().filter_map(|&(one, other)| {
            let whose = whose(one).max(whose(other))?;
            Some((Thing::InTurn(one, other), whose))
        });
        executed.chain(met).collect()
    }
}

#[cfg(test)]
mod tests {
    use raddle_trace::event::{Access, EventKind};
    use raddle_trace::ids::Address;

    use super::*;
    use crate::testing::event;

    #[test]
    fn what_there_is_no_room_for_is_not_looked_at() {
        let met = |most_bytes| {
            let mut shows = Shows::new(|_| Some(Whose::Users), most_bytes);
            for place in 0..1000 {
                for thread in 0..2 {
                    let access = Access {
                        site: SiteId(2 * place + thread),
                        addr: Address(u64::from(place) << 12),
                        size: 4,
                        value: 0,
                    };
                    shows.observe(&event(thread, 0, EventKind::Write(access)));
                }
            }
            let is_full = shows.is_full();
            let things = shows.finish().into_keys();
            let met = things.filter(|it| matches!(it, Thing::InTurn(..))).count();
            (met, is_full)
        };
        assert_eq!(met(1 << 30), (1000, false));
        assert_eq!(met(100 * BYTES_A_PAGE), (100, true));
    }
}
