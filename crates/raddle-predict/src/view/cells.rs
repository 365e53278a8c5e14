//! Cells: the finest pieces of shared memory that accesses tell apart.
//!
//! Bytes between two neighbouring boundaries are touched by the same accesses, so a cell behaves
//! like one variable, whatever sizes the accesses have. Cells are numbered by place; the cells of a
//! segment are neighbours.

use super::ids::{CellId, ObjectId};
use super::places::{Allocation, Segment};
use super::words::{PAGE_BYTES, PAGE_WORDS, PageNumbers, WORD_BYTES, Words, mask};
use raddle_trace::ids::Address;

/// A cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Its address in the program.
    pub addr: Address,
    /// Its bytes.
    pub len: u64,
    /// The heap object that it belongs to.
    pub object: Option<ObjectId>,
    /// First byte in the space of places.
    pub(crate) place: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// The cell of the first shared byte.
    first: CellId,
    shared: u8,
    starts: u8,
}

/// From places to cells.
#[derive(Debug, Default)]
pub(super) struct Cells {
    numbers: PageNumbers,
    pages: Vec<[Entry; PAGE_WORDS as usize]>,
    pub(super) cells: Vec<Cell>,
}

impl Cells {
    /// The cells of what the first pass saw.
    pub(super) fn new(words: Words, allocations: &[Allocation]) -> Self {
        let mut cells = Self::default();
        let mut previous_end = None;
        let mut previous_ends = 0;
        for (number, page) in words.into_pages() {
            if page.iter().all(|word| word.shared() == 0) {
                continue;
            }
            let mut entries = [Entry::default(); PAGE_WORDS as usize];
            for (index, word) in page.iter().enumerate() {
                let shared = word.shared();
                let behind_ends = word.ends << 1 | previous_ends >> (WORD_BYTES - 1);
                previous_ends = word.ends;
                let mut entry = Entry {
                    first: CellId(0),
                    shared,
                    starts: word.starts | behind_ends,
                };
                let base = number * PAGE_BYTES + index as u64 * WORD_BYTES;
                for byte in (0..WORD_BYTES).filter(|byte| shared >> byte & 1 == 1) {
                    let place = base + byte;
                    let begins = entry.starts >> byte & 1 == 1 || previous_end != Some(place);
                    if begins {
                        cells.add(place, allocations);
                    } else if let Some(cell) = cells.cells.last_mut() {
                        cell.len += 1;
                    }
                    if shared & ((1u8 << byte) - 1) == 0 {
                        entry.first = CellId(cells.cells.len() as u32 - 1);
                    } else if begins {
                        entry.starts |= 1 << byte;
                    }
                    previous_end = Some(place + 1);
                }
                entries[index] = entry;
            }
            cells.numbers.insert(number, cells.pages.len() as u32);
            cells.pages.push(entries);
        }
        cells
    }

    fn add(&mut self, place: u64, allocations: &[Allocation]) {
        let index = allocations.partition_point(|object| object.place <= place);
        let object = index
            .checked_sub(1)
            .filter(|&index| place < allocations[index].place + allocations[index].size);
        let addr = object.map_or(Address(place), |index| {
            let object = &allocations[index];
            object.addr.after(place - object.place)
        });
        self.cells.push(Cell {
            addr,
            len: 1,
            object: object.map(|index| ObjectId(index as u32)),
            place,
        });
    }

    /// The first and the last cell of a segment.
    #[inline]
    pub(super) fn of(&mut self, segment: Segment) -> Option<(CellId, CellId)> {
        let end = segment.place + segment.len;
        let mut words = segment.place / WORD_BYTES..=(end - 1) / WORD_BYTES;
        let within = |word: u64| {
            let base = word * WORD_BYTES;
            mask(
                segment.place.max(base) - base,
                end.min(base + WORD_BYTES) - base,
            )
        };
        let (first, last) = words.find_map(|word| self.cells_of_word(word, within(word)))?;
        let last = words
            .rev()
            .find_map(|word| self.cells_of_word(word, within(word)))
            .map_or(last, |(_, last)| last);
        Some((first, last))
    }

    /// The first and the last cell of some of a word's bytes.
    #[inline]
    fn cells_of_word(&mut self, word: u64, bytes: u8) -> Option<(CellId, CellId)> {
        let page = self.numbers.get(word / PAGE_WORDS)?;
        let entry = &self.pages[page as usize][(word % PAGE_WORDS) as usize];
        let bytes = entry.shared & bytes;
        (bytes != 0).then(|| {
            let first = entry.cell(bytes.trailing_zeros());
            (first, entry.cell(7 - bytes.leading_zeros()))
        })
    }
}

impl Entry {
    /// The cell of a shared byte.
    #[inline]
    fn cell(&self, byte: u32) -> CellId {
        // Cells that begin behind the first shared byte, up to this one.
        let up_to = ((1u16 << (byte + 1)) - 1) as u8;
        let behind = !(((1u16 << (self.shared.trailing_zeros() + 1)) - 1) as u8);
        let begun = (self.starts & self.shared & up_to & behind).count_ones();
        CellId(self.first.0 + begun)
    }
}
