//! Event blocks: how events become few bytes in little time, and how they are read back fast.
//!
//! A block is its number of events, the lengths of its columns, and the columns. The first column has one
//! byte an event, its *op*; what could not be foreseen of an event stands in the others, so that like stands
//! beside like when the block is packed. An op's lowest three bits say how the address of a site's event is
//! given, the next four how its value is (see [`forms`]), and the highest is set if the site is not the one
//! that came behind the last one last time. Then column *sites* has the site's *place*, its number in the
//! order in which the block's sites come up, in a byte, or in two behind the byte 255. A place that is new is
//! followed by the site and what it does. If the lowest three bits are all set the op is none of a site, and
//! the others say which:
//!
//! - an action: column *rest* has its mark, a byte that says which numbers changed since the last such action,
//!   then their differences;
//! - branch outcomes: *rest* has their count and the outcomes, eight a byte;
//! - a segment: the events that follow are another thread's, or its ticks jumped. *Rest* has the thread
//!   and by how much its tick differs from the one expected.
//!
//! Nothing is known at the start of a block, so that blocks can be written and read in any order.

mod decoder;
mod encoder;
mod forms;
mod lookup;
mod memory;
mod stretch;

pub use decoder::BlockDecoder;
pub use encoder::BlockEncoder;

/// Most events of a block.
pub const MOST_EVENTS: u64 = 1 << 15;

/// The columns, in the order in which they stand in a block.
const COLUMNS: usize = 5;
const OPS: usize = 0;
const SITES: usize = 1;
const ADDRS: usize = 2;
const VALUES: usize = 3;
const REST: usize = 4;

const OTHER_SITE: u8 = 1 << 7;

/// The lowest bits of an op that is none of a site.
const OTHER: u8 = 7;
const ACTION: u8 = OTHER;
const BRANCHES: u8 = OTHER | 1 << 3;
const SEGMENT: u8 = OTHER | 2 << 3;

/// A place from here on takes more than a byte.
const WIDE_PLACE: u8 = 255;

/// In the byte of an action: its object is that of the action before, of whatever kind.
const SAME_OBJECT: u8 = 1 << 4;
