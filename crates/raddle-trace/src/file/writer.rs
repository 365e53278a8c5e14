//! Writing a trace file.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::block::{BlockKind, Payload};
use super::builder::{BlockBuilder, EventBlock};
use super::rows::Row;
use super::{FOOTER_MAGIC, Header, TRACE_MAGIC, TRACE_VERSION, Trailer};
use crate::event::Event;

/// Writes events to a file as they come.
#[derive(Debug)]
pub struct TraceWriter<W: Write> {
    out: W,
    /// Bytes written.
    offset: u64,
    /// Events written.
    events: u64,
    builder: BlockBuilder,
    /// Space for a block's bytes, kept for the next one.
    block: EventBlock,
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
        let head = (TRACE_MAGIC.len() + size_of_val(&TRACE_VERSION)) as u64;
        let mut writer = Self {
            out,
            offset: head,
            events: 0,
            builder: BlockBuilder::new(),
            block: EventBlock::default(),
        };
        let mut raw = Vec::new();
        header.put(&mut raw);
        writer.table(BlockKind::Header, &raw)?;
        // Whoever finds the file of a recording that was killed at its start learns what it was.
        writer.out.flush()?;
        Ok(writer)
    }

    /// Appends an event.
    pub fn push(&mut self, event: &Event) -> Result<(), WriteError> {
        self.builder.push(event);
        if self.builder.is_full() {
            self.flush_block()?;
        }
        Ok(())
    }

    /// Appends a block that was made elsewhere, behind what was pushed before.
    pub fn append(&mut self, block: &EventBlock) -> Result<(), WriteError> {
        self.flush_block()?;
        self.write_block(block)
    }

    /// Writes what is buffered, so that a reader of the file finds every event pushed so far.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        self.flush_block()?;
        Ok(self.out.flush()?)
    }

    /// Writes the trailer and the footer.
    pub fn finish(mut self, trailer: &Trailer) -> Result<Summary, WriteError> {
        self.flush_block()?;
        let (events, start) = (self.events, self.offset);
        let mut trailer = trailer.clone();
        trailer.sort();
        for (kind, raw) in trailer.blocks(events) {
            self.table(kind, &raw)?;
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
        if self.builder.is_empty() {
            return Ok(());
        }
        let mut block = std::mem::take(&mut self.block);
        self.builder.finish(&mut block)?;
        self.write_block(&block)?;
        self.block = block;
        Ok(())
    }

    fn write_block(&mut self, block: &EventBlock) -> Result<(), WriteError> {
        let (kind, first) = (BlockKind::Events, self.events);
        self.offset += block.payload.write(&mut self.out, kind, first)?;
        self.events += block.events;
        Ok(())
    }

    fn table(&mut self, kind: BlockKind, raw: &[u8]) -> Result<(), WriteError> {
        let mut payload = Payload::default();
        payload.pack(kind, raw)?;
        self.offset += payload.write(&mut self.out, kind, 0)?;
        Ok(())
    }
}

fn footer(trailer: u64) -> Vec<u8> {
    let mut footer = FOOTER_MAGIC.to_vec();
    footer.extend(trailer.to_le_bytes());
    footer.extend(xxh3_64(&footer).to_le_bytes());
    footer
}
