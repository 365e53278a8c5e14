//! Which places the addresses of a block of memory have, remembered.

use super::ids::ObjectId;
use super::places::Extent;
use crate::table::spread;

/// A run of addresses of one block that belong to one extent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Line {
    start: u64,
    /// One past the last.
    pub(super) end: u64,
    /// What to add to an address.
    pub(super) shift: u64,
    pub(super) object: Option<ObjectId>,
}

/// A cache of blocks of `1 << BLOCK_BITS` bytes, with `1 << LINE_BITS` lines.
#[derive(Debug)]
pub(super) struct BlockCache<const BLOCK_BITS: u32, const LINE_BITS: u32> {
    lines: Box<[Line]>,
}

impl<const BLOCK_BITS: u32, const LINE_BITS: u32> BlockCache<BLOCK_BITS, LINE_BITS> {
    pub(super) fn new() -> Self {
        Self {
            lines: vec![Line::default(); 1 << LINE_BITS].into(),
        }
    }

    /// The line that an address is in.
    #[inline]
    pub(super) fn get(&self, address: u64) -> Option<&Line> {
        let line = &self.lines[Self::number(address >> BLOCK_BITS)];
        (line.start <= address && address < line.end).then_some(line)
    }

    /// Whether all of an address's block is in an extent.
    pub(super) fn covers(&self, extent: &Extent, address: u64) -> bool {
        let (start, end) = Self::block(address);
        extent.start <= start && end <= extent.end
    }

    /// Remembers what an extent has of an address's block.
    pub(super) fn put(&mut self, extent: &Extent, address: u64) -> Line {
        let (start, end) = Self::block(address);
        let line = Line {
            start: extent.start.max(start),
            end: extent.end.min(end),
            shift: extent.place.wrapping_sub(extent.start),
            object: extent.object,
        };
        self.lines[Self::number(address >> BLOCK_BITS)] = line;
        line
    }

    /// Forgets the blocks from one address to another.
    pub(super) fn forget(&mut self, start: u64, end: u64) {
        let blocks = start >> BLOCK_BITS..=end >> BLOCK_BITS;
        if blocks.end() - blocks.start() >= 1 << LINE_BITS {
            self.lines.fill(Line::default());
            return;
        }
        for block in blocks {
            self.lines[Self::number(block)] = Line::default();
        }
    }

    /// The first address of a block, and one past the last.
    fn block(address: u64) -> (u64, u64) {
        let start = address >> BLOCK_BITS << BLOCK_BITS;
        (start, start.saturating_add(1 << BLOCK_BITS))
    }

    #[inline]
    fn number(block: u64) -> usize {
        spread(block, LINE_BITS)
    }
}
