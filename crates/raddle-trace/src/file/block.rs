//! Blocks: the checked, packed pieces of a trace file.

use std::io::{self, Read, Write};

use xxhash_rust::xxh3::Xxh3Default;

use super::{MAX_BLOCK_BYTES, MAX_TABLE_FOLD, ReadError};

const BLOCK_MAGIC: [u8; 4] = *b"RBLK";

/// Bytes before a block's payload.
pub const HEAD_BYTES: u64 = 32;

/// Bytes of a head that its checksum is for.
const SIGNED_BYTES: usize = 24;

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    Header = 1,
    Events = 2,
    Sites = 3,
    Code = 4,
    Switches = 5,
    Outcome = 6,
    Threads = 7,
    Names = 8,
    End = 9,
    Packages = 10,
}

/// A block's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub kind: BlockKind,
    packed: bool,
    raw_len: u32,
    stored_len: u32,
    /// Index of the block's first event; 0 for other blocks.
    pub first: u64,
    checksum: u64,
}

impl BlockKind {
    fn from_u8(raw: u8) -> Option<Self> {
        use BlockKind::{
            Code, End, Events, Header, Names, Outcome, Packages, Sites, Switches, Threads,
        };
        let all = [
            Header, Events, Sites, Code, Switches, Outcome, Threads, Names, End, Packages,
        ];
        all.into_iter().find(|kind| *kind as u8 == raw)
    }
}

impl Head {
    /// Bytes of the block, head included.
    pub fn block_bytes(&self) -> u64 {
        HEAD_BYTES + u64::from(self.stored_len)
    }

    fn to_bytes(self) -> [u8; HEAD_BYTES as usize] {
        let mut bytes = [0; HEAD_BYTES as usize];
        bytes[..4].copy_from_slice(&BLOCK_MAGIC);
        bytes[4] = self.kind as u8;
        bytes[5] = self.packed.into();
        bytes[8..12].copy_from_slice(&self.raw_len.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.stored_len.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.first.to_le_bytes());
        bytes[24..].copy_from_slice(&self.checksum.to_le_bytes());
        bytes
    }

    fn expected_checksum(&self, payload: &[u8]) -> u64 {
        let mut hasher = Xxh3Default::new();
        hasher.update(&self.to_bytes()[..SIGNED_BYTES]);
        hasher.update(payload);
        hasher.digest()
    }

    /// Reads a head at `offset`, behind which the file has `remaining` bytes, the head included.
    pub fn read(input: &mut impl Read, offset: u64, remaining: u64) -> Result<Self, ReadError> {
        if remaining < HEAD_BYTES {
            return Err(ReadError::CutBlock { offset });
        }
        let mut bytes = [0; HEAD_BYTES as usize];
        input.read_exact(&mut bytes)?;
        let corrupt = |what| ReadError::Corrupt { offset, what };
        if bytes[..4] != BLOCK_MAGIC {
            return Err(corrupt("no block starts here"));
        }
        let word =
            |at| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let head = Self {
            kind: BlockKind::from_u8(bytes[4]).ok_or_else(|| corrupt("a block of unknown kind"))?,
            packed: bytes[5] == 1,
            raw_len: word(8),
            stored_len: word(12),
            first: u64::from(word(16)) | u64::from(word(20)) << 32,
            checksum: u64::from(word(24)) | u64::from(word(28)) << 32,
        };
        if bytes[5] > 1 || bytes[6..8] != [0; 2] {
            return Err(corrupt("a block packed in an unknown way"));
        }
        if head.raw_len.max(head.stored_len) as usize > MAX_BLOCK_BYTES {
            return Err(corrupt("a block longer than any block may be"));
        }
        if head.packed && folds_too_much(head.kind, head.raw_len as usize, head.stored_len as usize)
        {
            return Err(corrupt("a table packed more than any table may be"));
        }
        if head.block_bytes() > remaining {
            return Err(ReadError::CutBlock { offset });
        }
        Ok(head)
    }

    /// Reads the payload that follows the head, as it is stored.
    pub fn read_stored(&self, input: &mut impl Read, stored: &mut Vec<u8>) -> io::Result<()> {
        stored.resize(self.stored_len as usize, 0);
        input.read_exact(stored)
    }

    /// Reads the payload that follows the head; `offset` is the block's. Only what `unpacker` keeps for the
    /// next block stays reserved.
    pub fn read_payload(
        &self,
        input: &mut impl Read,
        offset: u64,
        unpacker: &mut Unpacker,
    ) -> Result<(), ReadError> {
        let Unpacker { stored, raw } = unpacker;
        self.read_stored(input, stored)?;
        let corrupt = |what| ReadError::Corrupt { offset, what };
        if self.expected_checksum(stored) != self.checksum {
            return Err(corrupt("a block's checksum does not fit its contents"));
        }
        let len = if self.packed {
            raw.resize(self.raw_len as usize, 0);
            lz4_flex::block::decompress_into(stored, raw)
                .map_err(|_| corrupt("a block does not unpack"))?
        } else {
            std::mem::swap(stored, raw);
            raw.len()
        };
        if len != self.raw_len as usize {
            return Err(corrupt("a block unpacks to another length"));
        }
        Ok(())
    }
}

fn folds_too_much(kind: BlockKind, raw_len: usize, stored_len: usize) -> bool {
    kind != BlockKind::Events && raw_len / MAX_TABLE_FOLD > stored_len
}

/// Space for reading blocks.
#[derive(Debug, Default)]
pub struct Unpacker {
    stored: Vec<u8>,
    /// The last block's payload.
    pub raw: Vec<u8>,
}

/// What a block holds, packed if that is shorter.
#[derive(Clone, Debug, Default)]
pub struct Payload {
    stored: Vec<u8>,
    packed: bool,
    raw_len: usize,
}

impl Payload {
    /// Packs a block's contents, in place of what it held.
    pub fn pack(&mut self, kind: BlockKind, raw: &[u8]) -> io::Result<()> {
        if raw.len() > MAX_BLOCK_BYTES {
            return Err(too_long());
        }
        let len = self.try_pack(raw)?;
        if len >= raw.len() || folds_too_much(kind, raw.len(), len) {
            return self.keep(raw);
        }
        (self.raw_len, self.packed) = (raw.len(), true);
        self.stored.truncate(len);
        Ok(())
    }

    /// Takes a block's contents as they are, in place of what it held.
    pub fn keep(&mut self, raw: &[u8]) -> io::Result<()> {
        if raw.len() > MAX_BLOCK_BYTES {
            return Err(too_long());
        }
        (self.raw_len, self.packed) = (raw.len(), false);
        self.stored.clear();
        self.stored.extend_from_slice(raw);
        Ok(())
    }

    /// How long these bytes are when they are packed, in place of what it held.
    pub fn try_pack(&mut self, raw: &[u8]) -> io::Result<usize> {
        let bound = lz4_flex::block::get_maximum_output_size(raw.len());
        if self.stored.len() < bound {
            self.stored.resize(bound, 0);
        }
        let len = lz4_flex::block::compress_into(raw, &mut self.stored);
        len.map_err(io::Error::other)
    }

    /// Writes the block and says how many bytes that took.
    pub fn write(&self, out: &mut impl Write, kind: BlockKind, first: u64) -> io::Result<u64> {
        let len = |len: usize| u32::try_from(len).map_err(|_| too_long());
        let mut head = Head {
            kind,
            packed: self.packed,
            raw_len: len(self.raw_len)?,
            stored_len: len(self.stored.len())?,
            first,
            checksum: 0,
        };
        head.checksum = head.expected_checksum(&self.stored);
        out.write_all(&head.to_bytes())?;
        out.write_all(&self.stored)?;
        Ok(head.block_bytes())
    }
}

fn too_long() -> io::Error {
    io::Error::other("a block of the trace would be longer than any block may be")
}
