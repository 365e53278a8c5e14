//! Writing a trace file.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::block::{BlockKind, Packer};
use super::events::BlockEncoder;
use super::rows::Row;
use super::{FOOTER_MAGIC, Header, TRACE_MAGIC, TRACE_VERSION, Trailer};
use crate::event::Event;
use crate::ids::{EventIndex, ThreadId, Tick};
use crate::parts::SiteParts;

/// Writes events to a file as they come.
#[derive(Debug)]
pub struct TraceWriter<W: Write> {
    out: W,
    /// Bytes written.
    offset: u64,
    block: BlockEncoder,
    /// Space for a block's bytes, kept for the next one.
    raw: Vec<u8>,
    packer: Packer,
}

/// A trace could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the trace: {0}")]
pub struct WriteError(#[from] io::Error);

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Number of events.
    pub events: u64,
    /// Size of the file.
    pub bytes: u64,
}

impl TraceWriter<BufWriter<File>> {
    /// Starts a trace file, in place of any that is there.
    pub fn create(path: &Path, header: &Header) -> Result<Self, WriteError> {
        Self::new(BufWriter::new(File::create(path)?), header)
    }
}

impl<W: Write> TraceWriter<W> {
    /// Starts a trace anywhere.
    pub fn new(mut out: W, header: &Header) -> Result<Self, WriteError> {
        out.write_all(&TRACE_MAGIC)?;
        out.write_all(&TRACE_VERSION.to_le_bytes())?;
        let mut raw = Vec::new();
        header.put(&mut raw);
        let head = (TRACE_MAGIC.len() + size_of_val(&TRACE_VERSION)) as u64;
        let mut packer = Packer::default();
        let offset = head + packer.write(&mut out, BlockKind::Header, &raw)?;
        // Whoever finds the file of a recording that was killed at its start learns what it was.
        out.flush()?;
        Ok(Self {
            out,
            offset,
            block: BlockEncoder::new(EventIndex(0)),
            raw,
            packer,
        })
    }

    /// Appends an event.
    pub fn push(&mut self, event: &Event) -> Result<(), WriteError> {
        self.block.push(event);
        if self.block.is_full() {
            self.flush_block()?;
        }
        Ok(())
    }

    /// Appends an event that has a site, given in parts.
    #[inline(always)]
    pub fn push_site(
        &mut self,
        thread: ThreadId,
        tick: Tick,
        parts: &SiteParts,
    ) -> Result<(), WriteError> {
        self.block.push_site(thread, tick, parts);
        if self.block.is_full() {
            self.flush_block()?;
        }
        Ok(())
    }

    /// Writes what is buffered, so that a reader of the file finds every event pushed so far.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        self.flush_block()?;
        Ok(self.out.flush()?)
    }

    /// Writes the trailer and the footer.
    pub fn finish(mut self, trailer: &Trailer) -> Result<Summary, WriteError> {
        self.flush_block()?;
        let events = self.block.next_index().0;
        let start = self.offset;
        let mut trailer = trailer.clone();
        trailer.sort();
        for (kind, raw) in trailer.blocks(events) {
            self.offset += self.packer.write(&mut self.out, kind, &raw)?;
        }
        let footer = footer(start);
        self.out.write_all(&footer)?;
        self.out.flush()?;
        Ok(Summary {
            events,
            bytes: self.offset + footer.len() as u64,
        })
    }

    fn flush_block(&mut self) -> Result<(), WriteError> {
        if !self.block.is_empty() {
            self.block.take(&mut self.raw);
            let written = self
                .packer
                .write(&mut self.out, BlockKind::Events, &self.raw);
            self.offset += written?;
        }
        Ok(())
    }
}

fn footer(trailer: u64) -> Vec<u8> {
    let mut footer = FOOTER_MAGIC.to_vec();
    footer.extend(trailer.to_le_bytes());
    footer.extend(xxh3_64(&footer).to_le_bytes());
    footer
}
