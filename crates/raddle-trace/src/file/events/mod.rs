//! Event blocks: how events become few bytes, and how they are read back fast.
//!
//! A block is its first event's index, its number of events, the lengths of its columns, and the columns.
//! The first column has one byte an event, its *op*; what could not be foreseen of an event stands in the
//! others, so that like stands beside like when the block is packed. The lowest two bits of an op:
//!
//! - a site's event: bit 2 is set if the site is not the one that followed last time, bit 3 if the site
//!   is of another kind than last time, bits 4–5 say how the address is given and bits 6–7 how the value
//!   is (see [`memory::Form`]);
//! - an action: its mark in the bits above. Column *rest* has a byte that says which numbers changed since
//!   the last such action, then their differences;
//! - branch outcomes: their count in the bits above. *Rest* has the outcomes, eight a byte;
//! - a segment: the events that follow are another thread's, or its ticks jumped. *Rest* has the thread
//!   and by how much its tick differs from the one expected.
//!
//! What happened last time is kept in tables of fixed size, by the low bits of a number. Two sites that
//! share an entry cost bytes, never correctness, since writer and reader update it alike. The tables start
//! afresh in every block.

mod decoder;
mod encoder;
mod memory;

pub use decoder::BlockDecoder;
pub use encoder::BlockEncoder;

/// No block has more events than this: the tables' start is paid often enough, and a reader knows what to
/// expect.
pub const MOST_EVENTS: u64 = 1 << 16;

/// The columns, in the order in which they stand in a block.
const COLUMNS: usize = 5;
const OPS: usize = 0;
const SITES: usize = 1;
const ADDRS: usize = 2;
const VALUES: usize = 3;
const REST: usize = 4;

const SITE: u8 = 0;
const ACTION: u8 = 1;
const BRANCHES: u8 = 2;
const SEGMENT: u8 = 3;

const OTHER_SITE: u8 = 1 << 2;
const OTHER_SHAPE: u8 = 1 << 3;
const ADDR_SHIFT: u8 = 4;
const VALUE_SHIFT: u8 = 6;

/// In the byte of an action: its object is that of the action before, of whatever kind.
const SAME_OBJECT: u8 = 1 << 4;
