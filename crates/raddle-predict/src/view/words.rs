//! Which bytes threads share, and where accesses begin and end: what the first pass gathers.
//!
//! One small record for each word of eight bytes, in pages that are found by hashing. A word
//! remembers two threads exactly and whether there were more; a byte that only the others touched
//! counts as shared although it might be one thread's: a few events too many are kept.

use super::ids::Lane;
use super::places::Segment;
use crate::table::Table;

pub(super) const WORD_BYTES: u64 = 8;
pub(super) const PAGE_WORDS: u64 = 32;
pub(super) const PAGE_BYTES: u64 = WORD_BYTES * PAGE_WORDS;

/// A word; a mask has a bit for each byte.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Word {
    first: Lane,
    second: Lane,
    by_first: u8,
    by_second: u8,
    by_others: u8,
    written: u8,
    /// Bytes at which an access begins, or before which one ends.
    pub(super) starts: u8,
}

type Page = [Word; PAGE_WORDS as usize];

/// The words touched.
#[derive(Debug, Default)]
pub(super) struct Words {
    numbers: PageNumbers,
    pages: Vec<Page>,
}

/// Lines of the cache of page numbers.
const CACHE_LINES: usize = 1024;

/// Where pages are kept, by their numbers in the space of places.
#[derive(Debug)]
pub(super) struct PageNumbers {
    table: Table<u64, u32>,
    /// Found before: one more than the number, which is never 0, and where.
    cache: Box<[(u64, u32)]>,
}

impl Default for PageNumbers {
    fn default() -> Self {
        Self {
            table: Table::default(),
            cache: vec![(0, 0); CACHE_LINES].into(),
        }
    }
}

impl PageNumbers {
    /// Where a page is kept.
    #[inline]
    pub(super) fn get(&mut self, number: u64) -> Option<u32> {
        let line = &mut self.cache[number as usize % CACHE_LINES];
        if line.0 == number + 1 {
            return Some(line.1);
        }
        let page = *self.table.get(&number)?;
        *line = (number + 1, page);
        Some(page)
    }

    /// A page is kept.
    pub(super) fn insert(&mut self, number: u64, page: u32) {
        self.table.insert(number, page);
    }
}

impl Word {
    fn touched(&self) -> u8 {
        self.by_first | self.by_second | self.by_others
    }

    /// Bytes that two threads touch and one writes.
    pub(super) fn shared(&self) -> u8 {
        self.written & (self.by_first & self.by_second | self.by_others)
    }

    fn touch(&mut self, lane: Lane, mask: u8, writes: bool) {
        if self.touched() == 0 || self.first == lane {
            self.first = lane;
            self.by_first |= mask;
        } else if self.by_second == 0 || self.second == lane {
            self.second = lane;
            self.by_second |= mask;
        } else {
            self.by_others |= mask;
        }
        if writes {
            self.written |= mask;
        }
    }
}

impl Words {
    /// An access to a segment.
    pub(super) fn touch(&mut self, lane: Lane, segment: Segment, writes: bool) {
        let end = segment.place + segment.len;
        self.word(segment.place).starts |= bit(segment.place);
        self.word(end).starts |= bit(end);
        let mut at = segment.place;
        while at < end {
            let next = ((at / WORD_BYTES + 1) * WORD_BYTES).min(end);
            let mask = mask(at, next);
            self.word(at).touch(lane, mask, writes);
            at = next;
        }
    }

    /// A thread frees an object: as good as writing all of it that was ever touched.
    pub(super) fn free(&mut self, lane: Lane, place: u64, len: u64) {
        let end = place + len;
        let mut at = place;
        while at < end {
            let page_end = (at / PAGE_BYTES + 1) * PAGE_BYTES;
            if let Some(page) = self.numbers.get(at / PAGE_BYTES) {
                for word in &mut self.pages[page as usize] {
                    let touched = word.touched();
                    if touched != 0 {
                        word.touch(lane, touched, true);
                    }
                }
            }
            at = page_end;
        }
    }

    /// The pages, by place.
    pub(super) fn into_pages(self) -> Vec<(u64, Page)> {
        let Self { numbers, pages } = self;
        let mut numbered: Vec<(u64, u32)> = numbers.table.into_iter().collect();
        numbered.sort_unstable();
        numbered
            .into_iter()
            .map(|(number, page)| (number, pages[page as usize]))
            .collect()
    }

    #[inline]
    fn word(&mut self, place: u64) -> &mut Word {
        let number = place / PAGE_BYTES;
        let page = self.numbers.get(number).unwrap_or_else(|| {
            let page = self.pages.len() as u32;
            self.pages.push(Page::default());
            self.numbers.insert(number, page);
            page
        });
        &mut self.pages[page as usize][(place / WORD_BYTES % PAGE_WORDS) as usize]
    }
}

/// The bit of a byte in its word.
fn bit(place: u64) -> u8 {
    1 << (place % WORD_BYTES)
}

/// The bits of the bytes from one place to another in its word; `end` may be the next word's start.
pub(super) fn mask(start: u64, end: u64) -> u8 {
    let low = start % WORD_BYTES;
    let count = end - start;
    (((1u16 << count) - 1) << low) as u8
}
