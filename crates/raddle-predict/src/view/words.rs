//! Which bytes threads share, and where accesses begin and end: what the first pass gathers.
//!
//! One small record for each word of eight bytes, in pages that are found as hardware finds them: by
//! the number in a table of a larger chunk of memory, whose tables are found by hashing. A word
//! remembers two threads exactly and whether there were more; a byte that only the others touched
//! counts as shared although it might be one thread's: a few events too many are kept.

use super::ids::Lane;
use super::places::Segment;
use crate::table::{Table, spread};

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
    /// Bytes that were written while there was one thread.
    written_alone: u8,
    /// Bytes at which an access begins.
    pub(super) starts: u8,
    /// Bytes with which an access ends.
    pub(super) ends: u8,
}

/// What an access writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writes {
    Nothing,
    /// Memory, while there is one thread: what others do comes after it in every order.
    Alone,
    /// Memory, when other threads have been created.
    Among,
}

type Page = [Word; PAGE_WORDS as usize];

/// The words touched.
#[derive(Debug, Default)]
pub(super) struct Words {
    numbers: PageNumbers,
    pages: Vec<Page>,
}

/// Pages of a chunk.
const CHUNK_PAGES: u64 = 256;
/// Lines of the cache of chunks, as a power of 2.
const CACHE_BITS: u32 = 9;
const NO_PAGE: u32 = u32::MAX;

/// Where pages are kept, by their numbers in the space of places.
#[derive(Debug)]
pub(super) struct PageNumbers {
    chunks: Table<u64, u32>,
    /// Chunk by chunk, where its pages are kept.
    pages: Vec<u32>,
    /// Chunks found before: one more than the number, which is never 0, and where.
    cache: Box<[(u64, u32)]>,
}

impl Default for PageNumbers {
    fn default() -> Self {
        Self {
            chunks: Table::default(),
            pages: Vec::new(),
            cache: vec![(0, 0); 1 << CACHE_BITS].into(),
        }
    }
}

impl PageNumbers {
    /// Where a page is kept.
    #[inline]
    pub(super) fn get(&mut self, number: u64) -> Option<u32> {
        let chunk = number / CHUNK_PAGES;
        let line = self.cache[spread(chunk, CACHE_BITS)];
        let at = match line.0 == chunk + 1 {
            true => line.1,
            false => self.find(chunk)?,
        };
        let page = self.pages[slot(at, number)];
        (page != NO_PAGE).then_some(page)
    }

    /// A page is kept.
    #[cold]
    pub(super) fn insert(&mut self, number: u64, page: u32) {
        let next = self.chunks.len() as u32;
        let at = *self.chunks.entry(number / CHUNK_PAGES).or_insert(next);
        if at == next {
            self.pages.resize(slot(next + 1, 0), NO_PAGE);
        }
        self.pages[slot(at, number)] = page;
    }

    /// The numbers of all pages, in order, and where they are kept.
    fn into_sorted(self) -> impl Iterator<Item = (u64, u32)> {
        let mut chunks: Vec<(u64, u32)> = self.chunks.into_iter().collect();
        chunks.sort_unstable();
        chunks.into_iter().flat_map(move |(chunk, at)| {
            let first = chunk * CHUNK_PAGES;
            let pages = self.pages[slot(at, 0)..slot(at + 1, 0)].to_vec();
            let numbered = (first..).zip(pages);
            numbered.filter(|(_, page)| *page != NO_PAGE)
        })
    }

    #[cold]
    fn find(&mut self, chunk: u64) -> Option<u32> {
        let at = *self.chunks.get(&chunk)?;
        self.cache[spread(chunk, CACHE_BITS)] = (chunk + 1, at);
        Some(at)
    }
}

/// Where a page of a chunk stands among all.
#[inline]
fn slot(chunk_at: u32, page_number: u64) -> usize {
    chunk_at as usize * CHUNK_PAGES as usize + (page_number % CHUNK_PAGES) as usize
}

impl Word {
    fn touched(&self) -> u8 {
        self.by_first | self.by_second | self.by_others
    }

    /// Bytes that two threads touch and one writes while others are there.
    pub(super) fn shared(&self) -> u8 {
        self.written & (self.by_first & self.by_second | self.by_others)
    }

    #[inline]
    fn touch(&mut self, lane: Lane, mask: u8, writes: Writes) {
        if self.touched() == 0 || self.first == lane {
            self.first = lane;
            self.by_first |= mask;
        } else if self.by_second == 0 || self.second == lane {
            self.second = lane;
            self.by_second |= mask;
        } else {
            self.by_others |= mask;
        }
        match writes {
            Writes::Nothing => {}
            Writes::Alone => self.written_alone |= mask,
            Writes::Among => self.written |= mask,
        }
    }
}

impl Words {
    /// An access to a segment.
    #[inline]
    pub(super) fn touch(&mut self, lane: Lane, segment: Segment, writes: Writes) {
        let end = segment.place + segment.len;
        let mut at = segment.place;
        while at < end {
            let next = ((at / WORD_BYTES + 1) * WORD_BYTES).min(end);
            let word = self.word(at);
            word.touch(lane, mask(at, next), writes);
            if at == segment.place {
                word.starts |= bit(at);
            }
            if next == end {
                word.ends |= bit(end - 1);
            }
            at = next;
        }
    }

    /// A thread frees an object: as good as writing all of it that was ever touched.
    pub(super) fn free(&mut self, lane: Lane, place: u64, len: u64, writes: Writes) {
        let end = place + len;
        let mut at = place;
        while at < end {
            let page_end = (at / PAGE_BYTES + 1) * PAGE_BYTES;
            if let Some(page) = self.numbers.get(at / PAGE_BYTES) {
                for word in &mut self.pages[page as usize] {
                    let touched = word.touched();
                    if touched != 0 {
                        word.touch(lane, touched, writes);
                    }
                }
            }
            at = page_end;
        }
    }

    /// Bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        self.pages.capacity() * size_of::<Page>() + self.numbers.pages.capacity() * size_of::<u32>()
    }

    /// What was written while there was one thread counts like any other write: it need not come before what others do.
    pub(super) fn doubt_alone(&mut self) {
        for word in self.pages.iter_mut().flatten() {
            word.written |= word.written_alone;
        }
    }

    /// The pages, by place.
    pub(super) fn into_pages(self) -> impl Iterator<Item = (u64, Page)> {
        let Self { numbers, pages } = self;
        let numbered = numbers.into_sorted();
        numbered.map(move |(number, page)| (number, pages[page as usize]))
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
#[inline]
fn bit(place: u64) -> u8 {
    1 << (place % WORD_BYTES)
}

/// The bits of the bytes from one place to another in its word; `end` may be the next word's start.
#[inline]
pub(super) fn mask(start: u64, end: u64) -> u8 {
    let low = start % WORD_BYTES;
    let count = end - start;
    (((1u16 << count) - 1) << low) as u8
}
