//! Reading a trace file, event by event.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::block::{BlockKind, Head, Unpacker};
use super::bytes::Cursor;
use super::events::BlockDecoder;
use super::rows::{Malformed, Row};
use super::{FOOTER_BYTES, FOOTER_MAGIC, Header, TRACE_MAGIC, TRACE_VERSION, Trailer};
use crate::event::Event;
use crate::ids::EventIndex;

/// Bytes before the header block.
const PREFIX_BYTES: u64 = 12;

/// A trace could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be read.
    #[error("cannot read the trace: {0}")]
    Io(#[from] io::Error),
    /// Another kind of file.
    #[error("this is not a Raddle trace; STD text is read with `raddle trace import --std`")]
    NotATrace,
    /// Another version's trace.
    #[error(
        "this trace has format version {found} and this Raddle reads version {TRACE_VERSION}; \
         read it with the Raddle that wrote it, or record it again"
    )]
    Version {
        /// The version found.
        found: u32,
    },
    /// The file ends inside a block.
    #[error("the trace ends inside the block at byte {offset}; record it again")]
    CutBlock {
        /// Where the block starts.
        offset: u64,
    },
    /// A block is damaged.
    #[error("the trace is damaged at byte {offset}: {what}; record it again")]
    Corrupt {
        /// Where the block starts.
        offset: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// A block's contents make no sense.
    #[error("the trace's block at byte {offset} makes no sense: {malformed}")]
    Malformed {
        /// Where the block starts.
        offset: u64,
        /// What is wrong.
        malformed: Malformed,
    },
}

/// The file has no proper end: its recorder was stopped, or it was cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// Where its last whole block ends.
    pub offset: u64,
    /// Bytes behind that, which are not read.
    pub lost: u64,
    /// Whether the tables behind the events are there nevertheless.
    pub has_tables: bool,
}

impl std::fmt::Display for Truncation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            offset,
            lost,
            has_tables,
        } = self;
        write!(
            f,
            "the trace is incomplete: it is read up to byte {offset}, its last whole block"
        )?;
        if *lost > 0 {
            write!(f, ", and {lost} bytes behind that are left out")?;
        }
        if !has_tables {
            write!(
                f,
                "; source positions and outcome, which come last, are missing"
            )?;
        }
        Ok(())
    }
}

/// Reads a trace: header and tables at once, events one at a time through [`Iterator`].
#[derive(Debug)]
pub struct TraceReader<R: Read + Seek> {
    input: R,
    header: Header,
    trailer: Option<Arc<Trailer>>,
    truncated: Option<Truncation>,
    /// First event block.
    start: u64,
    /// Behind the last event block.
    end: u64,
    /// The next event block.
    offset: u64,
    /// The event block being read.
    block_offset: u64,
    block: BlockDecoder,
    /// Events decoded, of which those before `at` have been handed out.
    events: Vec<Event>,
    at: usize,
    index: EventIndex,
    unpacker: Unpacker,
}

impl TraceReader<BufReader<File>> {
    /// Opens a trace file.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        Self::new(BufReader::new(File::open(path)?))
    }
}

impl<R: Read + Seek> TraceReader<R> {
    /// Reads a trace from anywhere.
    pub fn new(mut input: R) -> Result<Self, ReadError> {
        let size = input.seek(SeekFrom::End(0))?;
        input.seek(SeekFrom::Start(0))?;
        read_prefix(&mut input, size)?;
        let head = Head::read(&mut input, PREFIX_BYTES, size - PREFIX_BYTES)?;
        let mut unpacker = Unpacker::default();
        head.read_payload(&mut input, PREFIX_BYTES, &mut unpacker)?;
        let malformed = |malformed| ReadError::Malformed {
            offset: PREFIX_BYTES,
            malformed,
        };
        if head.kind != BlockKind::Header {
            let what = "the first block is not a header";
            return Err(ReadError::Corrupt {
                offset: PREFIX_BYTES,
                what,
            });
        }
        let header = Header::get(&mut Cursor::new(&unpacker.raw, 0)).map_err(malformed)?;
        let start = PREFIX_BYTES + head.block_bytes();

        let layout = match read_footer(&mut input, start, size)? {
            Some(trailer) => Layout {
                trailer,
                end: size - FOOTER_BYTES,
                has_tables: true,
            },
            None => scan(&mut input, start, size)?,
        };
        let complete = layout.end + FOOTER_BYTES == size && layout.has_tables;
        let truncated = (!complete).then_some(Truncation {
            offset: layout.end,
            lost: size - layout.end,
            has_tables: layout.has_tables,
        });
        let trailer = read_trailer(&mut input, &layout, &mut unpacker)?.map(Arc::new);
        let mut reader = Self {
            input,
            header,
            trailer,
            truncated,
            start,
            end: layout.trailer,
            offset: start,
            block_offset: start,
            block: BlockDecoder::new(),
            events: Vec::new(),
            at: 0,
            index: EventIndex(0),
            unpacker,
        };
        reader.rewind()?;
        Ok(reader)
    }

    /// The run.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The tables behind the events; `None` if the file was cut before them.
    #[must_use]
    pub fn trailer(&self) -> Option<&Arc<Trailer>> {
        self.trailer.as_ref()
    }

    /// Whether and where the file was cut.
    #[must_use]
    pub fn truncated(&self) -> Option<&Truncation> {
        self.truncated.as_ref()
    }

    /// Index of the event that comes next.
    #[must_use]
    pub fn next_index(&self) -> EventIndex {
        self.index
    }

    /// Bytes of the file that hold events.
    #[must_use]
    pub fn event_bytes(&self) -> u64 {
        self.end - self.start
    }

    /// Goes back to the first event.
    pub fn rewind(&mut self) -> Result<(), ReadError> {
        self.input.seek(SeekFrom::Start(self.start))?;
        self.stop();
        self.offset = self.start;
        self.index = EventIndex(0);
        Ok(())
    }

    /// Passes over the blocks with which this trace and another one go on alike, without decoding them. Both must be at
    /// their first event. What comes next has the same index in both, if anything comes.
    ///
    /// # Errors
    /// If one of them cannot be read.
    pub fn pass_common(&mut self, other: &mut Self) -> Result<(), ReadError> {
        debug_assert!(self.offset == self.start && other.offset == other.start);
        let (mut stored, mut others) = (Vec::new(), Vec::new());
        let first = loop {
            let (mine, theirs) = (self.next_head()?, other.next_head()?);
            let (Some(mine), Some(theirs)) = (mine, theirs) else {
                break mine.or(theirs).map(|it| it.first);
            };
            if mine != theirs {
                break Some(mine.first);
            }
            mine.read_stored(&mut self.input, &mut stored)?;
            theirs.read_stored(&mut other.input, &mut others)?;
            if stored != others {
                break Some(mine.first);
            }
            self.offset += mine.block_bytes();
            other.offset += theirs.block_bytes();
        };
        for reader in [self, other] {
            reader.input.seek(SeekFrom::Start(reader.offset))?;
            reader.index = EventIndex(first.unwrap_or(0));
        }
        Ok(())
    }

    /// The head of the next block of events, which is read next; none after the last.
    fn next_head(&mut self) -> Result<Option<Head>, ReadError> {
        let offset = self.offset;
        (offset < self.end)
            .then(|| Head::read(&mut self.input, offset, self.end - offset))
            .transpose()
    }

    /// The next events, as many as are decoded together; none after the last. After an error there are no more.
    ///
    /// # Errors
    /// If the trace cannot be read.
    pub fn next_batch(&mut self) -> Result<&[Event], ReadError> {
        if self.at == self.events.len()
            && let Err(error) = self.refill()
        {
            self.stop();
            return Err(error);
        }
        let batch = &self.events[self.at..];
        self.at = self.events.len();
        self.index.0 += batch.len() as u64;
        Ok(batch)
    }

    /// Decodes more events; none behind the last.
    fn refill(&mut self) -> Result<(), ReadError> {
        self.at = 0;
        loop {
            let offset = self.block_offset;
            let decoded = self.block.next(&mut self.events);
            decoded.map_err(|malformed| ReadError::Malformed { offset, malformed })?;
            if !self.events.is_empty() || self.offset >= self.end {
                return Ok(());
            }
            self.next_block()?;
        }
    }

    fn next_block(&mut self) -> Result<(), ReadError> {
        let offset = self.offset;
        let head = Head::read(&mut self.input, offset, self.end - offset)?;
        if head.kind != BlockKind::Events {
            let what = "a block among the events is none of theirs";
            return Err(ReadError::Corrupt { offset, what });
        }
        if head.first != self.index.0 {
            return Err(ReadError::Corrupt {
                offset,
                what: "events before this block are missing",
            });
        }
        head.read_payload(&mut self.input, offset, &mut self.unpacker)?;
        self.block_offset = offset;
        self.offset += head.block_bytes();
        let started = self.block.start(&mut self.unpacker.raw);
        started.map_err(|malformed| ReadError::Malformed { offset, malformed })
    }

    /// Leaves no more events.
    fn stop(&mut self) {
        self.offset = self.end;
        self.block = BlockDecoder::new();
        self.events.clear();
        self.at = 0;
    }
}

impl<R: Read + Seek> Iterator for TraceReader<R> {
    type Item = Result<Event, ReadError>;

    /// After an error there are no more events.
    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.at == self.events.len()
            && let Err(error) = self.refill()
        {
            self.stop();
            return Some(Err(error));
        }
        let event = *self.events.get(self.at)?;
        self.at += 1;
        self.index.0 += 1;
        Some(Ok(event))
    }
}

/// Where a file's parts are.
struct Layout {
    /// The first trailer block, or where it would be.
    trailer: u64,
    /// Behind the last whole block.
    end: u64,
    /// Whether the last whole block is the trailer's last.
    has_tables: bool,
}

fn read_prefix(input: &mut impl Read, size: u64) -> Result<(), ReadError> {
    let mut prefix = [0; PREFIX_BYTES as usize];
    if size < PREFIX_BYTES {
        return Err(ReadError::NotATrace);
    }
    input.read_exact(&mut prefix)?;
    let (magic, version) = prefix.split_at(TRACE_MAGIC.len());
    if magic != TRACE_MAGIC {
        return Err(ReadError::NotATrace);
    }
    let found = u32::from_le_bytes([version[0], version[1], version[2], version[3]]);
    if found == TRACE_VERSION {
        Ok(())
    } else {
        Err(ReadError::Version { found })
    }
}

/// The offset of the first trailer block, if the file has a footer that says so.
fn read_footer<R: Read + Seek>(
    input: &mut R,
    start: u64,
    size: u64,
) -> Result<Option<u64>, ReadError> {
    let Some(at) = size.checked_sub(FOOTER_BYTES).filter(|at| *at >= start) else {
        return Ok(None);
    };
    input.seek(SeekFrom::Start(at))?;
    let mut footer = [0; FOOTER_BYTES as usize];
    input.read_exact(&mut footer)?;
    let (signed, checksum) = footer.split_at(16);
    if signed[..8] != FOOTER_MAGIC || xxh3_64(signed).to_le_bytes() != checksum {
        return Ok(None);
    }
    let trailer = u64::from_le_bytes(signed[8..].try_into().expect("eight of sixteen bytes"));
    Ok((start..=at).contains(&trailer).then_some(trailer))
}

/// Walks the blocks of a file without a footer, up to the last whole one.
fn scan<R: Read + Seek>(input: &mut R, start: u64, size: u64) -> Result<Layout, ReadError> {
    let mut offset = start;
    let mut trailer = None;
    let mut has_tables = false;
    while !has_tables {
        input.seek(SeekFrom::Start(offset))?;
        let head = match Head::read(input, offset, size - offset) {
            Ok(head) => head,
            Err(ReadError::Io(error)) => return Err(error.into()),
            Err(_) => break,
        };
        match head.kind {
            BlockKind::Events if trailer.is_none() => {}
            BlockKind::Events | BlockKind::Header => break,
            kind => {
                trailer.get_or_insert(offset);
                has_tables = kind == BlockKind::End;
            }
        }
        offset += head.block_bytes();
    }
    Ok(Layout {
        trailer: trailer.unwrap_or(offset),
        end: offset,
        has_tables,
    })
}

fn read_trailer<R: Read + Seek>(
    input: &mut R,
    layout: &Layout,
    unpacker: &mut Unpacker,
) -> Result<Option<Trailer>, ReadError> {
    if !layout.has_tables {
        return Ok(None);
    }
    let mut trailer = Trailer::default();
    let mut offset = layout.trailer;
    input.seek(SeekFrom::Start(offset))?;
    while offset < layout.end {
        let head = Head::read(input, offset, layout.end - offset)?;
        head.read_payload(input, offset, unpacker)?;
        let read = trailer.read_block(head.kind, &unpacker.raw);
        read.map_err(|malformed| ReadError::Malformed { offset, malformed })?;
        offset += head.block_bytes();
    }
    trailer.sort();
    Ok(Some(trailer))
}
