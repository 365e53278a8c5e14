//! The program's heap: at fixed addresses, reusing memory late, remembering what was freed.
//!
//! Addresses depend on the order of calls alone, so they are the same in every run of a schedule.
//! Threads that do not have the turn allocate from an arena of their own, and what they free is not
//! used again, because their order is not the scheduler's.
//!
//! An arena is an array of 64 KiB units. A span is one or more units cut into blocks of one size
//! class; a table leads from any address to its span and so to its block's [`Header`]. Freed blocks
//! wait in their class's queue until enough younger ones are behind them. Until then an access to
//! them can be told from one to live memory: [`check_accesses`] does, over recorded events.

use raddle_trace::wire::{FIRST_SITE_ADDRESS, Mark, OutcomeKind, SiteKind, SiteRecord, Slot};

use crate::control;
use crate::lock::Lock;
use crate::sys;

const UNIT: u64 = 1 << 16;
/// Where the two arenas are, and how long each is.
const BASES: [u64; 2] = [0x2000_0000_0000, 0x2800_0000_0000];
const ARENA_BYTES: u64 = 1 << 38;
/// The parts of a limited address space that they get.
const SHARES: [u64; 2] = [3, 32];
/// Addresses of both arenas have the same bits above these.
const BOTH_SHIFT: u32 = 44;
const UNITS: usize = (ARENA_BYTES / UNIT) as usize;
const _: () = assert!((BASES[1] + ARENA_BYTES) >> BOTH_SHIFT == BASES[0] >> BOTH_SHIFT);

/// How many units without freed blocks are remembered while accesses are looked through.
const CLEAN_UNITS: usize = 64;

/// Classes of 16 bytes each up to this size, then four a doubling.
const FINE_LIMIT: u64 = 1024;
const FINE_CLASSES: usize = (FINE_LIMIT / 16) as usize;
const CLASSES: usize = FINE_CLASSES + 1 + 4 * 28;
/// A class reuses a block only while more bytes than this wait in its queue.
const QUARANTINE_BYTES: u64 = 256 << 10;
/// Bytes of a freed block that are overwritten, so that stale pointers in it lead nowhere.
const POISON_BYTES: u64 = 256;
const POISON: u8 = 0xdb;
/// Freed blocks of this size or more give their memory back at once.
const DISCARD_BYTES: u64 = 1 << 20;

/// What precedes a block's payload.
#[repr(C)]
struct Header {
    /// Bytes asked for.
    size: u64,
    /// Distance of the payload from the block's start.
    payload: u32,
    /// One of `FRESH`, `LIVE`, `FREED`.
    state: u32,
    /// Number of the allocation, from 1.
    serial: u64,
    /// Position in the event stream at which it was freed.
    freed_at: u64,
    /// The next block in the class's queue.
    next: u64,
    _padding: u64,
}

const HEADER: u64 = size_of::<Header>() as u64;
const FRESH: u32 = 0;
const LIVE: u32 = 0x11fe;
const FREED: u32 = 0xdead;

/// A span, found from any of its units: its first unit and its class. 0 for an unused unit.
#[derive(Clone, Copy)]
struct Span(u64);

impl Span {
    fn new(first_unit: u64, class: usize) -> Self {
        Span(1 << 63 | first_unit << 16 | class as u64)
    }
    fn first_unit(self) -> u64 {
        (self.0 & !(1 << 63)) >> 16
    }
    fn class(self) -> usize {
        (self.0 & 0xffff) as usize
    }
}

#[derive(Clone, Copy)]
struct Class {
    /// Unused part of the newest span.
    bump: u64,
    bump_end: u64,
    /// Queue of freed blocks, oldest first.
    first: u64,
    last: u64,
    queued_bytes: u64,
}

struct Arena {
    base: u64,
    /// The part of a limited address space that it gets.
    share: u64,
    /// Units that were reserved.
    units: usize,
    used_units: u64,
    spans: *mut Span,
    /// Of each unit in which a span begins: the span's freed blocks.
    freed: *mut u32,
    classes: [Class; CLASSES],
}

/// Both arenas and the number of allocations so far.
struct Heap {
    arenas: [Arena; 2],
    serial: u64,
    /// Freed blocks of both.
    freed: u64,
}

const EMPTY_CLASS: Class = Class {
    bump: 0,
    bump_end: 0,
    first: 0,
    last: 0,
    queued_bytes: 0,
};

const fn empty_arena(base: u64, share: u64) -> Arena {
    Arena {
        base,
        share,
        units: 0,
        used_units: 0,
        spans: core::ptr::null_mut(),
        freed: core::ptr::null_mut(),
        classes: [EMPTY_CLASS; CLASSES],
    }
}

impl Heap {
    /// Whether an address is near a freed block.
    fn is_suspect(&self, address: u64) -> bool {
        let freed = self.arenas.iter().find_map(|a| a.freed_beside(address));
        // SAFETY: an entry of a table that stays mapped.
        freed.is_some_and(|count| unsafe { *count } != 0)
    }
}

static HEAP: Lock<Heap> = Lock::new(Heap {
    arenas: [
        empty_arena(BASES[0], SHARES[0]),
        empty_arena(BASES[1], SHARES[1]),
    ],
    serial: 0,
    freed: 0,
});

/// A block just allocated.
#[derive(Clone, Copy)]
pub struct Allocated {
    /// The payload, or null if there is no memory.
    pub address: *mut u8,
    /// Number of the allocation.
    pub serial: u64,
}

/// What freeing found.
pub enum Freed {
    /// A live block of so many bytes, with its number.
    Live(u64, u64),
    /// It was freed before.
    Twice,
    /// Not the start of an allocation.
    Wild,
    /// Memory that another allocator handed out.
    Foreign,
}

fn class_of(total: u64) -> usize {
    if total <= FINE_LIMIT {
        return total.div_ceil(16) as usize;
    }
    let doubling = 63 - (total - 1).leading_zeros() as u64;
    let quarter = (total - 1 - (1 << doubling)) >> (doubling - 2);
    FINE_CLASSES + 1 + ((doubling - 10) * 4 + quarter) as usize
}

fn class_bytes(class: usize) -> u64 {
    if class <= FINE_CLASSES {
        return class as u64 * 16;
    }
    let step = (class - FINE_CLASSES - 1) as u64;
    let (doubling, quarter) = (step / 4 + 10, step % 4);
    (1 << doubling) + (quarter + 1) * (1 << (doubling - 2))
}

fn span_units(block: u64) -> u64 {
    match block {
        0..=8192 => 1,
        8193..=32768 => 4,
        _ => block.div_ceil(UNIT),
    }
}

impl Arena {
    fn owns(&self, address: u64) -> bool {
        address.wrapping_sub(self.base) < self.used_units * UNIT
    }

    /// The header of the block in which `address` lies.
    fn block(&self, address: u64) -> Option<*mut Header> {
        if !self.owns(address) {
            return None;
        }
        // SAFETY: every used unit has an entry.
        let span = unsafe { *self.spans.add(((address - self.base) / UNIT) as usize) };
        let start = self.base + span.first_unit() * UNIT;
        let block = class_bytes(span.class());
        let offset = (address - start) / block * block;
        let whole = offset + block <= span_units(block) * UNIT;
        whole.then_some((start + offset) as *mut Header)
    }

    /// The number of freed blocks in the span in which `address` lies, to be counted.
    fn freed_beside(&self, address: u64) -> Option<*mut u32> {
        if !self.owns(address) {
            return None;
        }
        // SAFETY: every used unit has an entry in both tables.
        unsafe {
            let span = *self.spans.add(((address - self.base) / UNIT) as usize);
            Some(self.freed.add(span.first_unit() as usize))
        }
    }

    /// Reserves the arena, or as much of it as a limit of the address space leaves room for, and its tables.
    fn reserve(&mut self) {
        let bytes = sys::within_limit(ARENA_BYTES, self.share);
        if sys::map_anonymous(self.base, bytes).is_null() {
            control::no_room(bytes);
        }
        self.units = (bytes / UNIT) as usize;
        let table =
            |entry: usize| sys::map_own_within((self.units * entry) as u64, (UNITS * entry) as u64);
        self.spans = table(size_of::<Span>()).cast();
        self.freed = table(size_of::<u32>()).cast();
    }

    /// Whether `bytes` more would be within a limit of the address space that the arena got a part of only.
    fn is_cut_short(&self, bytes: u64) -> bool {
        let wanted = self.used_units * UNIT + bytes;
        self.units < UNITS && sys::address_space_limit().is_some_and(|limit| wanted < limit)
    }

    fn new_span(&mut self, class: usize) -> bool {
        if self.spans.is_null() {
            self.reserve();
        }
        let block = class_bytes(class);
        let units = span_units(block);
        if self.used_units + units > self.units as u64 {
            return false;
        }
        for unit in self.used_units..self.used_units + units {
            // SAFETY: below the table's length.
            unsafe {
                self.spans
                    .add(unit as usize)
                    .write(Span::new(self.used_units, class))
            };
        }
        let start = self.base + self.used_units * UNIT;
        self.classes[class].bump = start;
        self.classes[class].bump_end = start + units * UNIT;
        self.used_units += units;
        true
    }

    fn take_block(&mut self, class: usize) -> *mut Header {
        let block = class_bytes(class);
        let this = &mut self.classes[class];
        if this.queued_bytes > QUARANTINE_BYTES.max(4 * block) {
            let header = this.first as *mut Header;
            // SAFETY: queued blocks are this arena's.
            this.first = unsafe { (*header).next };
            this.queued_bytes -= block;
            return header;
        }
        if this.bump + block > this.bump_end && !self.new_span(class) {
            return core::ptr::null_mut();
        }
        let this = &mut self.classes[class];
        let header = this.bump as *mut Header;
        this.bump += block;
        header
    }

    fn queue(&mut self, header: *mut Header) {
        // SAFETY: a block of this arena.
        let span = unsafe {
            *self
                .spans
                .add(((header as u64 - self.base) / UNIT) as usize)
        };
        let this = &mut self.classes[span.class()];
        // SAFETY: a freed block's header is the heap's own.
        unsafe {
            (*header).next = 0;
            if this.queued_bytes == 0 {
                this.first = header as u64;
            } else {
                (*(this.last as *mut Header)).next = header as u64;
            }
        }
        this.last = header as u64;
        this.queued_bytes += class_bytes(span.class());
    }
}

/// Allocates `size` bytes at a multiple of `align`, a power of two. `scheduled`: the caller has
/// the turn. The memory is zero if `zero` says so.
pub fn allocate(size: u64, align: u64, zero: bool, scheduled: bool) -> Allocated {
    let align = align.max(16);
    let slack = if align > 16 { align } else { 0 };
    let total = HEADER
        .checked_add(slack)
        .and_then(|t| t.checked_add(size.max(1)));
    let none = Allocated {
        address: core::ptr::null_mut(),
        serial: 0,
    };
    let Some(total) = total.filter(|&t| t < ARENA_BYTES / 2) else {
        return none;
    };
    let mut heap = HEAP.lock();
    let arena = &mut heap.arenas[usize::from(!scheduled)];
    let header = arena.take_block(class_of(total));
    if header.is_null() {
        // Without the runtime there might have been room: that the program gets none is not to be put down to it.
        if arena.is_cut_short(total) {
            control::no_room(total);
        }
        return none;
    }
    // Threads that are not scheduled must not disturb the numbers of those that are.
    heap.serial += u64::from(scheduled);
    let serial = if scheduled { heap.serial } else { 0 };
    let start = header as u64;
    let payload = (start + HEADER).next_multiple_of(align);
    // SAFETY: the block is at least `total` bytes long and nobody else's.
    unsafe {
        let reused = (*header).state != FRESH;
        if reused && let Some(freed) = heap.arenas[usize::from(!scheduled)].freed_beside(start) {
            *freed -= 1;
            heap.freed -= 1;
        }
        header.write(Header {
            size,
            payload: (payload - start) as u32,
            state: LIVE,
            serial,
            freed_at: 0,
            next: 0,
            _padding: 0,
        });
        if zero && reused {
            core::ptr::write_bytes(payload as *mut u8, 0, size as usize);
        }
    }
    Allocated {
        address: payload as *mut u8,
        serial,
    }
}

/// Frees a payload at position `at` of the event stream; None: the caller does not have the turn.
pub fn release(address: u64, at: Option<u64>) -> Freed {
    let mut heap = HEAP.lock();
    let Some(arena) = heap.arenas.iter_mut().find(|a| a.owns(address)) else {
        return Freed::Foreign;
    };
    let Some(header) = arena.block(address) else {
        return Freed::Wild;
    };
    // SAFETY: the header of a block in a used span.
    unsafe {
        if address != header as u64 + u64::from((*header).payload) {
            return Freed::Wild;
        }
        match (*header).state {
            LIVE => {}
            FREED => return Freed::Twice,
            _ => return Freed::Wild,
        }
        let (size, serial) = ((*header).size, (*header).serial);
        (*header).state = FREED;
        if let Some(freed) = arena.freed_beside(address) {
            *freed += 1;
        }
        (*header).freed_at = at.unwrap_or(u64::MAX);
        if size >= DISCARD_BYTES {
            let page = 4096;
            let start = (address).next_multiple_of(page);
            sys::discard(start, (address + size).saturating_sub(start) / page * page);
        }
        core::ptr::write_bytes(address as *mut u8, POISON, size.min(POISON_BYTES) as usize);
        if at.is_some() {
            arena.queue(header);
        }
        heap.freed += 1;
        Freed::Live(size, serial)
    }
}

/// Bytes asked for, of a live payload.
pub fn size_of_payload(address: u64) -> Option<u64> {
    let heap = HEAP.lock();
    let header = heap.arenas.iter().find_map(|a| a.block(address))?;
    // SAFETY: the header of a block in a used span.
    unsafe { ((*header).state == LIVE).then_some((*header).size) }
}

/// In a forked child, where no other thread can hold the heap.
pub fn reset_lock() {
    HEAP.reset();
}

/// Looks through recorded events, the first of which stands at position `first` of the stream, for
/// an access to memory that was freed before; notes the first as the run's failure.
pub fn check_accesses(slots: &[Slot], first: u64) {
    let heap = HEAP.lock();
    if heap.freed == 0 {
        return;
    }
    // Units without freed blocks that were met, by their lowest bits. None has the number 0.
    let mut clean = [0; CLEAN_UNITS];
    for (at, slot) in slots.iter().enumerate() {
        // This loop sees every event of a run, and few are near freed blocks.
        let unit = slot.addr / UNIT;
        let known = &mut clean[unit as usize % CLEAN_UNITS];
        if slot.addr >> BOTH_SHIFT != BASES[0] >> BOTH_SHIFT || *known == unit {
            continue;
        }
        if !heap.is_suspect(slot.addr) {
            *known = unit;
            continue;
        }
        let arena = heap.arenas.iter().find(|a| a.owns(slot.addr));
        if slot.head >= FIRST_SITE_ADDRESS
            && is_access(slot)
            && let Some(header) = arena.and_then(|a| a.block(slot.addr))
        {
            // SAFETY: the header of a block in a used span.
            let (state, freed_at, serial) =
                unsafe { ((*header).state, (*header).freed_at, (*header).serial) };
            if state == FREED && freed_at < first + at as u64 {
                let kind = OutcomeKind::UseAfterFree;
                let (thread, tick) = author(&slots[..at]);
                control::set_outcome(kind, thread, tick, slot.addr, serial, 0, b"");
                return;
            }
        }
    }
}

/// The thread that wrote the slot behind these, and its tick.
fn author(slots: &[Slot]) -> (u32, u64) {
    slots.iter().fold((0, 0), |(thread, tick), slot| {
        if slot.head == Mark::Switch as u64 {
            (slot.addr as u32, slot.value)
        } else {
            (thread, tick + 1)
        }
    })
}

fn is_access(slot: &Slot) -> bool {
    // SAFETY: a head at or above FIRST_SITE_ADDRESS is the address of a record in a loaded image.
    let kind = unsafe { (*(slot.head as *const SiteRecord)).kind };
    let range = kind == SiteKind::RangeRead as u8 || kind == SiteKind::RangeWrite as u8;
    kind <= SiteKind::Cas as u8 || (range && slot.value != 0)
}
