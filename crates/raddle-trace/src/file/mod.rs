//! The trace file: one run on disk, complete in itself.
//!
//! ```text
//! file    magic (8 bytes), version (u32)
//!         header block
//!         event block …
//!         trailer block …            sites, positions, switches, outcome, threads, names, end
//!         footer                     leads to the first trailer block
//! block   "RBLK", kind, packing, 0, 0, raw length (u32), stored length (u32), first event (u64),
//!         xxh3 (u64), payload
//! footer  magic (8 bytes), offset of the first trailer block (u64), xxh3 of both (u64)
//! ```
//!
//! Numbers are little-endian. An event block names its first event, its threads and their ticks,
//! and its deltas start afresh, so each can be written and read alone. The trailer comes last because only the
//! end of a run knows which sites it used; a file without one, because the recorder was killed, is
//! read up to its last whole block.
//!
//! A reader never trusts a length it read: every length is held against [`MAX_BLOCK_BYTES`] and
//! against what is left of the file before memory is reserved for it. The same events give the
//! same bytes.

mod block;
mod builder;
mod bytes;
mod columns;
mod events;
mod reader;
mod rows;
mod trailer;
mod writer;

pub use builder::{BLOCK_EVENTS, BlockBuilder, EventBlock};
pub use reader::{ReadError, TraceReader, Truncation};
pub use rows::Malformed;
pub use trailer::Trailer;
pub use writer::{Summary, TraceWriter, WriteError};

use crate::run::RunSpec;

/// Version of the file's layout. A change of layout and of this number travel together.
pub const TRACE_VERSION: u32 = 5;

/// First bytes of a trace file.
pub const TRACE_MAGIC: [u8; 8] = *b"RDTRACE\n";

/// First bytes of the footer.
const FOOTER_MAGIC: [u8; 8] = *b"RDTREND\n";

/// Bytes of the footer.
const FOOTER_BYTES: u64 = 24;

/// No block is longer than this, packed or not.
pub const MAX_BLOCK_BYTES: usize = 16 << 20;

/// Tables are packed no more than this many-fold: they are kept in memory, and a small file shall not ask for
/// much of it. Events are not kept, and may be packed as well as they can be.
const MAX_TABLE_FOLD: usize = 32;

/// Site numbers in a trace are below this: far more than the site records of a program can be, and few enough
/// for a bit each.
pub const MAX_SITES: u32 = 1 << 26;

/// A block of a table is closed when it has grown to this many bytes.
const TARGET_BLOCK_BYTES: usize = 256 << 10;

/// What stands at the head of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The version of Raddle that wrote it.
    pub raddle_version: String,
    /// The run.
    pub run: RunSpec,
}

impl Header {
    /// A header written by this version.
    #[must_use]
    pub fn new(run: RunSpec) -> Self {
        Self {
            raddle_version: env!("CARGO_PKG_VERSION").to_owned(),
            run,
        }
    }
}
