//! The ring of chunks that a program writes its events into, as whoever reads it sees it.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;

use raddle_trace::wire::{Message, Region, SLACK_SLOTS, SLOT_BYTES};

/// Slots in a chunk of the ring, without the slack: a chunk fits in a core's own cache.
pub const CHUNK_SLOTS: u64 = (1 << 13) - SLACK_SLOTS as u64;

/// Bytes of one chunk, slack included.
pub const CHUNK_BYTES: u64 = (CHUNK_SLOTS + SLACK_SLOTS as u64) * SLOT_BYTES as u64;

/// Chunks in the ring while a run is recorded. Without recording one is enough.
pub const RING_CHUNKS: u64 = 32;

/// Bytes of a last chunk that are read first: whole slots, more than the stretch that ends it.
const LEAST_READ: usize = 512 * SLOT_BYTES;

/// The chunks of a run, and the way to say that one may be written again.
#[derive(Debug)]
pub struct Ring {
    /// The run's memory file.
    file: File,
    region: Region,
    socket: UnixStream,
}

impl Ring {
    /// The ring in this region of a memory file, whose program is at the other end of the socket.
    pub fn new(file: File, region: Region, socket: UnixStream) -> Self {
        Self {
            file,
            region,
            socket,
        }
    }

    /// Reads a full chunk in place of what `into` holds, and lets the program write it again. The chunk is emptied, so
    /// that it is not taken for the last one if the program ends before it has turned to another; the runtime
    /// zeroes the rest before it writes it again.
    ///
    /// # Errors
    /// If the memory file cannot be read or written.
    pub fn take(&self, full: Message, into: &mut Vec<u8>) -> io::Result<()> {
        let len = (u64::from(full.slots) * SLOT_BYTES as u64).min(CHUNK_BYTES) as usize;
        let Some(start) = self.start(full.chunk) else {
            into.clear();
            return Ok(());
        };
        into.resize(len, 0);
        self.file.read_exact_at(into, start)?;
        self.file.write_all_at(&[0; SLOT_BYTES], start)?;
        // A program that was just killed does not read the answer.
        let _ = (&self.socket).write_all(&full.to_bytes());
        Ok(())
    }

    /// Reads what a program that has ended wrote of its last chunk. A chunk is written from its start on and
    /// was zero before, so that a stretch of zeros is its end; a short run pays for what it wrote.
    ///
    /// # Errors
    /// If the memory file cannot be read.
    pub fn last(&self, chunk: u32, into: &mut Vec<u8>) -> io::Result<()> {
        into.clear();
        let Some(start) = self.start(chunk) else {
            return Ok(());
        };
        let is_over = |bytes: &[u8]| {
            let from = bytes.len().saturating_sub(SLACK_SLOTS * SLOT_BYTES);
            !bytes.is_empty() && bytes[from..].iter().all(|it| *it == 0)
        };
        while !is_over(into) && (into.len() as u64) < CHUNK_BYTES {
            let done = into.len();
            let more = done.max(LEAST_READ).min(CHUNK_BYTES as usize - done);
            into.resize(done + more, 0);
            self.file
                .read_exact_at(&mut into[done..], start + done as u64)?;
        }
        Ok(())
    }

    /// Where a chunk begins; `None` if the ring has no such chunk.
    fn start(&self, chunk: u32) -> Option<u64> {
        let offset = u64::from(chunk) * CHUNK_BYTES;
        (offset < self.region.len).then_some(self.region.offset + offset)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_chunk_is_read_to_its_last_slack_slot_and_empty_when_taken() {
        let file = tempfile::tempfile().unwrap();
        let region = Region {
            offset: 4096,
            len: 3 * CHUNK_BYTES,
        };
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let ring = Ring::new(file.try_clone().unwrap(), region, ours);
        let (start, end) = (4096 + 2 * CHUNK_BYTES, 4096 + 3 * CHUNK_BYTES);
        file.write_all_at(&[1; 8], start).unwrap();
        file.write_all_at(&[1; 8], end - 8).unwrap();
        let full = Message {
            chunk: 2,
            slots: u32::MAX,
        };
        let mut bytes = vec![7];
        ring.take(full, &mut bytes).unwrap();
        assert_eq!(bytes.len() as u64, CHUNK_BYTES);
        assert!(bytes.starts_with(&[1; 8]) && bytes.ends_with(&[1; 8]));
        let mut answer = [0; 8];
        theirs.read_exact(&mut answer).unwrap();
        assert_eq!(Message::from_bytes(answer), full);
        ring.last(2, &mut bytes).unwrap();
        assert_eq!(bytes[..SLOT_BYTES], [0; SLOT_BYTES]);

        let outside = Message { chunk: 3, slots: 9 };
        ring.take(outside, &mut bytes).unwrap();
        assert_eq!(bytes, []);
        ring.last(u32::MAX, &mut bytes).unwrap();
        assert_eq!(bytes, []);
    }
}
