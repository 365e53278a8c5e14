//! What writer and reader of a block remember of the events so far, to foresee the next one.

use super::forms::Before;
use crate::ids::{Address, ThreadId, Tick};
use crate::parts::SiteParts;
use crate::sites::SiteShape;
use crate::wire::{Mark, Ordering, Role, SiteKind};

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

/// A number that no site has.
const NOBODY: u32 = u32::MAX;

/// What a site did last time. Lies in one line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Known {
    pub addr: u64,
    /// From the address before to that one.
    pub step: u64,
    pub value: u64,
    /// From the value before to that one.
    pub difference: u64,
    pub site: u32,
    /// Its shape as it is stored.
    pub packed: u32,
    pub shape: Shape,
    /// The place of the site that came behind it.
    pub next: u16,
    /// What its slots are, once one of them was met.
    pub takes: Takes,
    /// The address of its record, if one of its slots was met.
    pub head: u64,
    /// Of an entry: the return address that was taken note of last.
    pub caller: u64,
}

const _: () = assert!(size_of::<Known>() == 64);

/// How the events of a site stand in slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// That is not known yet.
    Unmet,
    /// In one slot.
    One,
    /// In one slot, whose value is a return address.
    Entry,
    /// In two.
    Pair,
    /// In two, of which the second says whether the site stored.
    PairIfStored,
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
    /// By place. The first stands for what comes before any site.
    pub known: Vec<Known>,
    /// The place of the last event that has a site.
    pub place: u16,
    /// Address and value of that event.
    pub before: Before,
    /// The site that came up last.
    pub newest: u32,
    ticks: Box<[Tick; THREADS]>,
    pub actions: Box<[[u64; 4]; MARKS]>,
    /// The object of the last action.
    pub object: u64,
    pub thread: Option<ThreadId>,
    /// The tick of the next event.
    pub tick: Tick,
}

impl Memory {
    pub fn new() -> Self {
        Self {
            known: vec![Known::nothing()],
            place: 0,
            before: Before::default(),
            newest: 0,
            ticks: Box::new([Tick(0); THREADS]),
            actions: Box::new([[0; 4]; MARKS]),
            object: 0,
            thread: None,
            tick: Tick(0),
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.known.clear();
        self.known.push(Known::nothing());
        (self.place, self.before, self.newest) = (0, Before::default(), 0);
        self.ticks.fill(Tick(0));
        self.actions.fill([0; 4]);
        (self.object, self.thread, self.tick) = (0, None, Tick(0));
    }

    /// Turns to a thread and says at which tick it is expected to go on.
    pub fn resume(&mut self, thread: ThreadId) -> Tick {
        let place = |thread: ThreadId| thread.0 as usize % THREADS;
        if let Some(stopped) = self.thread.replace(thread) {
            self.ticks[place(stopped)] = self.tick;
        }
        self.ticks[place(thread)]
    }
}

impl Known {
    /// A site that comes up.
    pub fn new(site: u32, shape: Shape, packed: u32) -> Self {
        Self {
            addr: 0,
            step: 0,
            value: 0,
            difference: 0,
            site,
            packed,
            shape,
            next: 0,
            takes: Takes::Unmet,
            head: 0,
            caller: 0,
        }
    }

    /// Takes note of the address of its record.
    pub fn meet(&mut self, head: u64) {
        self.head = head;
        self.takes = match self.shape.shape.kind {
            SiteKind::Enter => Takes::Entry,
            SiteKind::Rmw => Takes::Pair,
            SiteKind::Cas => Takes::PairIfStored,
            _ => Takes::One,
        };
    }

    /// Takes note of an entry's return address.
    pub fn enter(&mut self, caller: u64, pcs: &mut Vec<Address>) {
        if std::mem::replace(&mut self.caller, caller) != caller {
            pcs.push(Address(caller));
        }
    }

    /// The address and value of its latest event.
    pub fn latest(&self) -> Before {
        Before {
            addr: self.addr,
            value: self.value,
        }
    }

    /// Whether its record was met at this address.
    pub fn is_met(&self, head: u64) -> bool {
        self.takes != Takes::Unmet && self.head == head
    }

    /// What comes before any site.
    pub fn nothing() -> Self {
        let shape = SiteShape {
            kind: SiteKind::Read,
            order: Ordering::Plain,
            size: 0,
            role: Role::None,
        };
        let shape = Shape {
            shape,
            stored: false,
        };
        Self::new(NOBODY, shape, 0)
    }
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
    Mark::from_u16(FIRST_ACTION + u16::from(index)).filter(|_| usize::from(index) < MARKS)
}
