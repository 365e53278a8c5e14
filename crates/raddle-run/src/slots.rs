//! The slots of a recording, and where its blocks begin and end.
//!
//! A block of a trace holds a fixed number of events, so that the same events make the same file whatever the
//! chunks were. To find its end, the slots' heads are looked at once, quickly, as they come in.

use raddle_trace::file::BLOCK_EVENTS;
use raddle_trace::ids::{ThreadId, Tick};
use raddle_trace::wire::{Mark, SLOT_BYTES};

/// Slots as they stand in shared memory. The place of those that were recorded is used again.
#[derive(Debug, Default)]
pub struct Slots {
    bytes: Vec<u8>,
    len: usize,
}

impl Slots {
    /// The slots' bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Appends so many bytes, to be written by the caller.
    pub fn append(&mut self, len: usize) -> &mut [u8] {
        let start = self.len;
        self.len += len;
        if self.bytes.len() < self.len {
            self.bytes.resize(self.len, 0);
        }
        &mut self.bytes[start..self.len]
    }

    /// Takes away what stands from byte `at` on, and puts it into `spare`.
    pub fn split_off(&mut self, at: usize, mut spare: Slots) -> Slots {
        let rest = &self.bytes[at..self.len];
        spare.len = 0;
        spare.append(rest.len()).copy_from_slice(rest);
        self.len = at;
        spare
    }
}

/// Where in the run a slot stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The thread whose slot it is.
    pub thread: ThreadId,
    /// Its tick.
    pub tick: Tick,
    /// Slots before it.
    pub position: u64,
}

/// Follows the slots of a run as they come in.
#[derive(Debug, Default)]
pub struct Stream {
    /// Where the block begins.
    start: Place,
    /// Behind the last slot that was looked at.
    end: Place,
    /// Bytes of the block that were looked at, and the events in them.
    seen: usize,
    events: u64,
}

impl Stream {
    /// Looks at slots that were appended; what stands behind an empty one is dropped. Returns where the block
    /// ends if it does.
    pub fn block_end(&mut self, slots: &mut Slots) -> Option<usize> {
        let (rest, _) = slots.bytes()[self.seen..].as_chunks::<SLOT_BYTES>();
        let mut taken = 0;
        for slot in rest {
            let head = head(slot);
            if head <= Mark::Switch as u64 {
                if head == Mark::Empty as u64 {
                    break;
                }
                self.step(head, slot);
            } else if self.events == BLOCK_EVENTS {
                self.seen += taken * SLOT_BYTES;
                return Some(self.seen);
            } else {
                self.events += 1;
                self.end.tick.0 = self.end.tick.0.wrapping_add(1);
            }
            self.end.position += 1;
            taken += 1;
        }
        self.seen += taken * SLOT_BYTES;
        slots.len = self.seen;
        None
    }

    /// A slot that is no event of its own.
    fn step(&mut self, head: u64, slot: &[u8; SLOT_BYTES]) {
        if head == Mark::Extra as u64 {
            self.end.tick.0 = self.end.tick.0.wrapping_add(1);
        } else {
            let (words, _) = slot.as_chunks::<8>();
            // A number that is too wide is told by whoever decodes the slot.
            self.end.thread = ThreadId(u64::from_le_bytes(words[1]) as u32);
            self.end.tick = Tick(u64::from_le_bytes(words[2]));
        }
    }

    /// Turns to the next block, and says where the one before begins.
    pub fn next_block(&mut self) -> Place {
        (self.seen, self.events) = (0, 0);
        std::mem::replace(&mut self.start, self.end)
    }
}

fn head(slot: &[u8; SLOT_BYTES]) -> u64 {
    let (words, _) = slot.as_chunks::<8>();
    u64::from_le_bytes(words[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn append(slots: &mut Slots, all: &[[u64; 3]]) {
        let bytes = all.as_flattened().iter().flat_map(|it| it.to_le_bytes());
        let bytes: Vec<u8> = bytes.collect();
        slots.append(bytes.len()).copy_from_slice(&bytes);
    }

    #[test]
    fn blocks_end_before_the_first_event_too_many() {
        let (mut slots, mut stream) = (Slots::default(), Stream::default());
        append(&mut slots, &[[Mark::Switch as u64, 3, 40]]);
        let access = [0x5555_0000, 8, 1];
        let extra = [Mark::Extra as u64, 0, 1];
        let pair = [access, extra];
        for _ in 0..BLOCK_EVENTS - 1 {
            append(&mut slots, &[access]);
        }
        append(&mut slots, &pair);
        assert_eq!(stream.block_end(&mut slots), None);
        append(
            &mut slots,
            &[[Mark::Switch as u64, 1, 7], extra, [0; 3], access],
        );
        assert_eq!(stream.block_end(&mut slots), None);
        append(&mut slots, &pair);
        let end = slots.bytes().len() - 2 * SLOT_BYTES;
        assert_eq!(stream.block_end(&mut slots), Some(end));

        let rest = slots.split_off(end, Slots::default());
        assert_eq!((slots.bytes().len(), rest.bytes().len()), (end, 48));
        assert_eq!(stream.next_block(), Place::default());
        slots = rest;
        assert_eq!(stream.block_end(&mut slots), None);
        let second = Place {
            thread: ThreadId(1),
            tick: Tick(8),
            position: (end / SLOT_BYTES) as u64,
        };
        assert_eq!(stream.next_block(), second);
    }
}
