//! The event buffer: a ring of chunks in the launcher's memory file.
//!
//! All threads write into one stream, because one runs at a time. A segment is a run of slots of
//! one thread; a `Switch` slot opens it, and every chunk opens with one, so that chunks can be
//! decoded alone. When the program is not recorded, one chunk is written over and over; otherwise a chunk is
//! zeroed before it is written again, here and not by the launcher, because these bytes are about to come
//! into this core's cache anyway.

use raddle_trace::wire::{Mark, Message, SLACK_SLOTS, SLOT_BYTES, Slot};

use crate::heap;
use crate::sys;

/// Most chunks a ring may have.
const MOST_CHUNKS: usize = 256;

/// Writes a slot, its head last: if the program is killed in between, the launcher finds no slot
/// instead of half of one.
///
/// # Safety
///
/// The place lies in a chunk.
pub unsafe fn put(place: *mut Slot, slot: Slot) {
    // SAFETY: the caller's promise. Volatile writes keep their order.
    unsafe {
        (&raw mut (*place).addr).write_volatile(slot.addr);
        (&raw mut (*place).value).write_volatile(slot.value);
        (&raw mut (*place).head).write_volatile(slot.head);
    }
}

/// The writing end of the event stream.
pub struct Recorder {
    ring: *mut Slot,
    chunk_slots: usize,
    chunk_count: u32,
    chunk: u32,
    free: [bool; MOST_CHUNKS],
    recording: bool,
    socket: i32,
    /// Slots in the chunks before this one, slack included.
    before: u64,
    /// Where the next segment starts, while nobody writes.
    pub end: *mut Slot,
}

impl Recorder {
    /// A recorder without a buffer.
    pub const fn new() -> Self {
        Recorder {
            ring: core::ptr::null_mut(),
            chunk_slots: 0,
            chunk_count: 0,
            chunk: 0,
            free: [true; MOST_CHUNKS],
            recording: false,
            socket: -1,
            before: 0,
            end: core::ptr::null_mut(),
        }
    }

    /// Takes the ring of slots that the launcher made.
    pub fn start(&mut self, ring: *mut [Slot], chunk_slots: u64, recording: bool, socket: i32) {
        self.ring = ring.cast();
        self.chunk_slots = chunk_slots as usize;
        self.chunk_count = (ring.len() / self.span()).min(MOST_CHUNKS) as u32;
        self.recording = recording;
        self.socket = socket;
        self.end = self.ring;
        assert!(
            self.chunk_count >= if recording { 2 } else { 1 },
            "the launcher's ring is too small"
        );
    }

    /// The chunk being written.
    pub fn chunk(&self) -> u32 {
        self.chunk
    }

    /// No event may start at or behind this slot without a look at the chunk.
    pub fn soft_end(&self) -> *mut Slot {
        // SAFETY: within the ring: a chunk is `chunk_slots + SLACK_SLOTS` long.
        unsafe { self.chunk_start().add(self.chunk_slots) }
    }

    /// Behind the last slot of the chunk.
    pub fn hard_end(&self) -> *mut Slot {
        // SAFETY: one past the chunk's end, within or right behind the ring.
        unsafe { self.chunk_start().add(self.span()) }
    }

    /// Where `slot` stands in the whole stream.
    pub fn position(&self, slot: *mut Slot) -> u64 {
        self.before + (slot as u64 - self.chunk_start() as u64) / SLOT_BYTES as u64
    }

    /// Opens a segment of `thread` at `self.end`; returns its first slot.
    pub fn open_segment(&mut self, thread: u32, tick: u64) -> *mut Slot {
        if self.end >= self.soft_end() {
            self.next_chunk();
        }
        let switch = Slot {
            head: Mark::Switch as u64,
            addr: u64::from(thread),
            value: tick,
        };
        // SAFETY: `end` is before the soft end, so the slot is within the chunk.
        unsafe {
            put(self.end, switch);
            self.end.add(1)
        }
    }

    /// Passes the chunk, written up to `self.end`, to the launcher and takes the next.
    fn next_chunk(&mut self) {
        let slots = (self.end as u64 - self.chunk_start() as u64) / SLOT_BYTES as u64;
        self.check_accesses();
        self.before += self.span() as u64;
        if self.recording {
            self.announce(slots as u32);
            self.chunk = (self.chunk + 1) % self.chunk_count;
            while !self.free[self.chunk as usize] {
                self.await_free_chunk();
            }
            // SAFETY: the chunk is within the ring, and free.
            unsafe { self.chunk_start().write_bytes(0, self.span()) };
        }
        self.end = self.chunk_start();
    }

    /// Looks through the chunk, written up to `self.end`, for accesses to freed memory.
    pub fn check_accesses(&self) {
        let start = self.chunk_start();
        let slots = (self.end as u64 - start as u64) as usize / SLOT_BYTES;
        // SAFETY: these slots of the chunk were written.
        heap::check_accesses(
            unsafe { core::slice::from_raw_parts(start, slots) },
            self.before,
        );
    }

    fn announce(&mut self, slots: u32) {
        self.free[self.chunk as usize] = false;
        let message = Message {
            chunk: self.chunk,
            slots,
        };
        if sys::write(self.socket, &message.to_bytes()) != 8 {
            self.give_up();
        }
    }

    fn await_free_chunk(&mut self) {
        let mut bytes = [0; 8];
        let mut got = 0;
        while got < 8 {
            match sys::read(self.socket, &mut bytes[got..]) {
                n if n > 0 => got += n as usize,
                n if n == -i64::from(libc::EINTR) => {}
                _ => self.give_up(),
            }
        }
        let chunk = Message::from_bytes(bytes).chunk;
        if let Some(free) = self.free.get_mut(chunk as usize) {
            *free = true;
        }
    }

    /// The launcher is gone: nobody is left to run for.
    fn give_up(&self) -> ! {
        sys::exit_process(1);
    }

    fn span(&self) -> usize {
        self.chunk_slots + SLACK_SLOTS
    }

    fn chunk_start(&self) -> *mut Slot {
        // SAFETY: `chunk` is below the number of chunks in the ring.
        unsafe { self.ring.add(self.chunk as usize * self.span()) }
    }
}
