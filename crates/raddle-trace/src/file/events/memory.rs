//! What writer and reader of a block remember of the events so far, to foresee the next one.

use crate::ids::{ThreadId, Tick};
use crate::parts::SiteParts;
use crate::sites::SiteShape;
use crate::wire::{Mark, Ordering, Role, SiteKind};

const SITES: usize = 1024;
const THREADS: usize = 256;
const MARKS: usize = 64;

/// Set in the stored kind of a compare-exchange that stored.
const STORED: u8 = 0x80;

/// Marks are stored in six bits, counted from the first action.
const FIRST_ACTION: u16 = Mark::Fork as u16;
const _: () = {
    let mut index = 0;
    while index < Mark::ALL.len() {
        assert!((Mark::ALL[index] as u16) < FIRST_ACTION + MARKS as u16);
        index += 1;
    }
};

/// How an address or a value is given, in two bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As last time at this site.
    Same = 0,
    /// Addresses: last time's step further. Values: the difference to zero follows.
    Usual = 1,
    /// The difference to last time follows.
    Delta = 2,
    /// As in the site's event before, whatever its site.
    Before = 3,
}

/// What a site did last time.
#[derive(Clone, Copy, Debug)]
pub struct SiteMemory {
    pub shape: Shape,
    /// The shape as it is stored.
    pub packed: u32,
    /// The site that came after this one.
    pub next: u32,
    pub addr: u64,
    pub step: u64,
    pub value: u64,
}

/// What an instruction does, and whether it stored if it is a compare-exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub shape: SiteShape,
    pub stored: bool,
}

/// All that is remembered.
#[derive(Debug)]
pub struct Memory {
    sites: Box<[SiteMemory; SITES]>,
    ticks: Box<[Tick; THREADS]>,
    pub actions: Box<[[u64; 4]; MARKS]>,
    /// The object of the last action.
    pub object: u64,
    pub thread: Option<ThreadId>,
    /// The tick of the next event.
    pub tick: Tick,
    /// Site, address and value of the last event that has a site.
    pub site: u32,
    pub addr: u64,
    pub value: u64,
}

impl Memory {
    pub fn new() -> Self {
        Self {
            sites: Box::new([SiteMemory::UNKNOWN; SITES]),
            ticks: Box::new([Tick(0); THREADS]),
            actions: Box::new([[0; 4]; MARKS]),
            object: 0,
            thread: None,
            tick: Tick(0),
            site: 0,
            addr: 0,
            value: 0,
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.sites.fill(SiteMemory::UNKNOWN);
        self.ticks.fill(Tick(0));
        self.actions.fill([0; 4]);
        (self.object, self.thread, self.tick) = (0, None, Tick(0));
        (self.site, self.addr, self.value) = (0, 0, 0);
    }

    #[inline]
    pub fn site(&mut self, site: u32) -> &mut SiteMemory {
        &mut self.sites[site as usize % SITES]
    }

    /// The site that followed the last one last time.
    #[inline]
    pub fn foreseen(&self) -> u32 {
        self.sites[self.site as usize % SITES].next
    }

    /// Turns to a thread and says at which tick it is expected to go on.
    pub fn resume(&mut self, thread: ThreadId) -> Tick {
        let place = |thread: ThreadId| thread.0 as usize % THREADS;
        if let Some(stopped) = self.thread.replace(thread) {
            self.ticks[place(stopped)] = self.tick;
        }
        self.ticks[place(thread)]
    }

    /// Takes note of a site's event.
    #[inline]
    pub fn learn(&mut self, event: &SiteParts, packed: u32) {
        let site = event.site.0;
        let previous = self.site as usize % SITES;
        self.sites[previous].next = site;
        let memory = &mut self.sites[site as usize % SITES];
        memory.shape = Shape {
            shape: event.shape,
            stored: event.stored,
        };
        memory.packed = packed;
        memory.step = event.addr.wrapping_sub(memory.addr);
        memory.addr = event.addr;
        memory.value = event.value;
        (self.site, self.addr, self.value) = (site, event.addr, event.value);
    }
}

impl SiteMemory {
    const UNKNOWN: Self = Self {
        shape: Shape {
            shape: SiteShape {
                kind: SiteKind::Read,
                order: Ordering::Plain,
                size: 0,
                role: Role::None,
            },
            stored: false,
        },
        packed: 0,
        next: 0,
        addr: 0,
        step: 0,
        value: 0,
    };
}

impl Shape {
    /// A site's shape as it is stored: kind, order, size and role, a byte each.
    #[inline]
    pub fn pack(event: &SiteParts) -> u32 {
        let SiteShape {
            kind,
            order,
            size,
            role,
        } = event.shape;
        let stored = if event.stored { STORED } else { 0 };
        u32::from_le_bytes([kind as u8 | stored, order as u8, size, role as u8])
    }

    /// Undoes [`Shape::pack`].
    pub fn unpack(packed: u32) -> Option<Self> {
        let [kind, order, size, role] = packed.to_le_bytes();
        let stored = kind & STORED != 0;
        let shape = SiteShape::from_raw(kind & !STORED, order, size, role)?;
        (!stored || shape.kind == SiteKind::Cas).then_some(Self { shape, stored })
    }
}

/// Where a mark's action is remembered.
pub fn mark_index(mark: Mark) -> u8 {
    (mark as u16 - FIRST_ACTION) as u8
}

/// The mark of an action, by where it is remembered.
pub fn mark_at(index: u8) -> Option<Mark> {
    Mark::from_u16(FIRST_ACTION + u16::from(index))
}
