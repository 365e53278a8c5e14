//! The latest accesses to each word of memory.
//!
//! As in ThreadSanitizer, memory is looked at in words of eight bytes, and an access to some of them is
//! remembered with a mask. Of a word all accesses of distinct instructions and threads are remembered until they
//! are many; then those go that a later access of the same thread stands for, since whatever does not know of
//! the earlier one does not know of the later one either, and after those the oldest.

use super::clock::{Clock, Lane};
use crate::table::{Table, spread};

pub(super) const WORD_BYTES: u64 = 8;
const PAGE_WORDS: u64 = 64;
const PAGE_BYTES: u64 = WORD_BYTES * PAGE_WORDS;
const NONE: u32 = u32::MAX;
/// Accesses to a word from which on some are forgotten.
const MANY: usize = 8;
/// Accesses to a word that are remembered at most.
const MOST: usize = 32;

/// What an access does.
pub(super) mod does {
    pub(crate) const READ: u8 = 1;
    pub(crate) const WRITE: u8 = 2;
    pub(crate) const ATOMIC: u8 = 4;
}

/// An access to a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) index: u32,
    /// The instruction, or the call.
    pub(super) source: u32,
    pub(super) lane: Lane,
    pub(super) mask: u8,
    pub(super) does: u8,
}

impl Entry {
    const NEVER: Self = Self {
        index: NONE,
        source: 0,
        lane: Lane(0),
        mask: 0,
        does: 0,
    };

    pub(super) fn writes(&self) -> bool {
        self.does & does::WRITE != 0
    }

    fn is_atomic(&self) -> bool {
        self.does & does::ATOMIC != 0
    }

    /// Whether two accesses make a race if nothing orders them.
    fn conflicts(&self, other: &Self) -> bool {
        self.lane != other.lane
            && self.mask & other.mask != 0
            && (self.does | other.does) & does::WRITE != 0
            && self.does & other.does & does::ATOMIC == 0
    }

    fn is_like(&self, other: &Self) -> bool {
        (self.lane, self.source, self.mask, self.does)
            == (other.lane, other.source, other.mask, other.does)
    }

    /// Whether whatever races with the other one, an earlier access, races with this one.
    fn stands_for(&self, other: &Self) -> bool {
        self.lane == other.lane
            && other.mask & !self.mask == 0
            && (self.writes() || !other.writes())
            && (!self.is_atomic() || other.is_atomic())
    }
}

/// A word, and the last value of its bytes as far as accesses have told it.
#[derive(Clone, Copy, Debug)]
struct Word {
    value: u64,
    first: Entry,
    /// Where further accesses are.
    more: u32,
    known: u8,
    /// Bytes that were accessed at all.
    touched: u8,
    /// Whether something was released here.
    has_releases: bool,
}

const EMPTY: Word = Word {
    value: 0,
    first: Entry::NEVER,
    more: NONE,
    known: 0,
    touched: 0,
    has_releases: false,
};

type Page = [Word; PAGE_WORDS as usize];

/// How the value that an atomic operation finds came to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// By an access of the trace.
    Traced,
    /// It is the first access: the value was there before, or something else wrote it.
    Unknown,
    /// Something wrote it that the trace does not show.
    Hidden,
}

/// Lines of the cache of pages, as a power of 2.
const CACHE_BITS: u32 = 8;

/// The memory of a run.
#[derive(Debug)]
pub(super) struct Shadow {
    numbers: Table<u64, u32>,
    pages: Vec<Page>,
    lists: Vec<Vec<Entry>>,
    free_lists: Vec<u32>,
    /// Pages found before: one more than the number, and where.
    cache: Box<[(u64, u32)]>,
}

/// What a list of accesses to a word takes, more or less.
const BYTES_A_LIST: usize = size_of::<Vec<Entry>>() + MANY * size_of::<Entry>();

impl Default for Shadow {
    fn default() -> Self {
        Self {
            numbers: Table::default(),
            pages: Vec::new(),
            lists: Vec::new(),
            free_lists: Vec::new(),
            cache: vec![(0, 0); 1 << CACHE_BITS].into(),
        }
    }
}

impl Shadow {
    /// How much memory it takes itself.
    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        (self.pages.len() * size_of::<Page>() + self.lists.len() * BYTES_A_LIST) as u64
    }

    /// An access by a thread with this clock: each earlier one that it races with is shown, and whether it
    /// reads what that one wrote.
    #[inline]
    pub(super) fn access(
        &mut self,
        word: u64,
        entry: Entry,
        clock: &Clock,
        race: impl FnMut(&Entry, bool),
    ) {
        let state = self.word(word);
        state.touched |= entry.mask;
        if state.more == NONE && (state.first.index == NONE || state.first.is_like(&entry)) {
            state.first = entry;
            return;
        }
        self.compare(word, entry, clock, race);
    }

    /// What frees these bytes: each earlier access that it races with is shown.
    pub(super) fn free(
        &mut self,
        word: u64,
        entry: Entry,
        clock: &Clock,
        race: impl FnMut(&Entry),
    ) {
        let Word { first, more, .. } = *self.word(word);
        let accesses = match more {
            NONE if first.index == NONE => return,
            NONE => std::slice::from_ref(&first),
            more => &self.lists[more as usize],
        };
        let unknown = |it: &&Entry| it.conflicts(&entry) && !clock.knows(it.lane, it.index);
        accesses.iter().filter(unknown).for_each(race);
    }

    fn compare(
        &mut self,
        word: u64,
        entry: Entry,
        clock: &Clock,
        mut race: impl FnMut(&Entry, bool),
    ) {
        let Word { first, more, .. } = *self.word(word);
        let more = match more {
            NONE => {
                let more = self.new_list(first);
                self.word(word).more = more;
                more
            }
            more => more,
        };
        let list = &mut self.lists[more as usize];
        let mut like = None;
        for (at, other) in list.iter().enumerate() {
            if other.is_like(&entry) {
                like = Some(at);
            } else if other.conflicts(&entry) && !clock.knows(other.lane, other.index) {
                let is_read = entry.does & does::READ != 0;
                race(other, is_read && is_source(list, other, entry.mask));
            }
        }
        match like {
            Some(at) => list[at] = entry,
            None => list.push(entry),
        }
        if list.len() > MANY {
            list.retain(|other| other.index == entry.index || !entry.stands_for(other));
        }
        if list.len() > MOST {
            let oldest = (0..list.len()).min_by_key(|at| list[*at].index);
            list.swap_remove(oldest.unwrap_or(0));
        }
    }

    /// How the value that is found in some bytes came there.
    pub(super) fn origin(&mut self, word: u64, mask: u8, value: u64) -> Origin {
        let state = self.word(word);
        let known = state.known & mask;
        if (state.value ^ value) & bytes(known) != 0 {
            return Origin::Hidden;
        }
        match state.touched & mask == mask {
            true => Origin::Traced,
            false => Origin::Unknown,
        }
    }

    /// From now on the bytes have this value, if it is known.
    #[inline]
    pub(super) fn set(&mut self, word: u64, mask: u8, value: Option<u64>) {
        let state = self.word(word);
        match value {
            Some(value) => {
                let bits = bytes(mask);
                state.value = state.value & !bits | value & bits;
                state.known |= mask;
            }
            None => state.known &= !mask,
        }
        state.touched |= mask;
    }

    /// Something is released at a word, or may be.
    pub(super) fn note_release(&mut self, word: u64) {
        self.word(word).has_releases = true;
    }

    /// Whether something was released at a word.
    #[inline]
    pub(super) fn has_releases(&mut self, word: u64) -> bool {
        self.word(word).has_releases
    }

    /// The memory from one address to another is another object's from now on; says of which words something
    /// was released at.
    pub(super) fn forget(&mut self, start: u64, end: u64, mut released: impl FnMut(u64)) {
        let (first, last) = (start / PAGE_BYTES, end.saturating_sub(1) / PAGE_BYTES);
        if start >= end {
            return;
        }
        let mut pages: Vec<(u64, u32)> = Vec::new();
        if last - first > self.numbers.len() as u64 {
            let all = self.numbers.iter().map(|(number, at)| (*number, *at));
            pages.extend(all.filter(|(number, _)| (first..=last).contains(number)));
        } else {
            let known = (first..=last).filter_map(|it| Some((it, *self.numbers.get(&it)?)));
            pages.extend(known);
        }
        for (number, at) in pages {
            for (offset, state) in (0..).zip(&mut self.pages[at as usize]) {
                let word = number * PAGE_WORDS + offset;
                let begin = word * WORD_BYTES;
                if begin + WORD_BYTES <= start || end <= begin {
                    continue;
                }
                if state.has_releases {
                    released(word);
                }
                if state.more != NONE {
                    self.lists[state.more as usize].clear();
                    self.free_lists.push(state.more);
                }
                *state = EMPTY;
            }
        }
    }

    fn new_list(&mut self, first: Entry) -> u32 {
        let free = self.free_lists.pop();
        let at = free.unwrap_or_else(|| {
            self.lists.push(Vec::new());
            self.lists.len() as u32 - 1
        });
        self.lists[at as usize].push(first);
        at
    }

    #[inline]
    fn word(&mut self, word: u64) -> &mut Word {
        let number = word / PAGE_WORDS;
        let line = self.cache[spread(number, CACHE_BITS)];
        let at = match line.0 == number + 1 {
            true => line.1,
            false => self.find(number),
        };
        &mut self.pages[at as usize][(word % PAGE_WORDS) as usize]
    }

    #[cold]
    fn find(&mut self, number: u64) -> u32 {
        let next = self.pages.len() as u32;
        let at = *self.numbers.entry(number).or_insert(next);
        if at == next {
            self.pages.push([EMPTY; PAGE_WORDS as usize]);
        }
        self.cache[spread(number, CACHE_BITS)] = (number + 1, at);
        at
    }
}

/// Whether a write left one of these bytes as a read finds it.
fn is_source(list: &[Entry], write: &Entry, mask: u8) -> bool {
    let later = list
        .iter()
        .filter(|it| it.writes() && it.index > write.index);
    let overwritten = later.fold(0, |bytes, it| bytes | it.mask);
    write.writes() && write.mask & mask & !overwritten != 0
}

/// The bits of the bytes of a mask.
#[inline]
fn bytes(mask: u8) -> u64 {
    BYTES[usize::from(mask)]
}

const BYTES: [u64; 256] = {
    let mut table = [0; 256];
    let mut mask = 0;
    while mask < 256 {
        let mut byte = 0;
        while byte < 8 {
            if mask >> byte & 1 == 1 {
                table[mask] |= 0xff << (8 * byte);
            }
            byte += 1;
        }
        mask += 1;
    }
    table
};

/// The words of a range of bytes, with masks and the first byte's offset in the range.
#[inline]
pub(super) fn words(addr: u64, len: u64) -> impl Iterator<Item = (u64, u8, u64)> {
    let end = addr.saturating_add(len);
    let mut at = addr;
    std::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let word = at / WORD_BYTES;
        let next = (word + 1).saturating_mul(WORD_BYTES).min(end);
        let count = next - at;
        let mask = (((1u16 << count) - 1) << (at % WORD_BYTES)) as u8;
        let offset = at - addr;
        at = next;
        Some((word, mask, offset))
    })
}
