//! What is judged: an order of events, and the bug that it is said to show.

use raddle_trace::ids::{EventIndex, ThreadId};

/// A proposed reordering of a prefix of a trace, with the bug that it shows at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// Events of the trace, in the new order.
    pub order: Vec<EventIndex>,
    /// Which events `order` lists.
    pub listing: Listing,
    /// How reads are justified.
    pub rule: ReadRule,
    /// The bug.
    pub claim: Claim,
}

/// Which events an order lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Listing {
    /// All that are executed.
    #[default]
    Every,
    /// Those that the predictor kept. An event that is left out is put right before the next listed
    /// event of its thread, or, if none follows, before the event that the claim says is next there.
    /// What was filled in is judged like the rest.
    Some,
}

/// How a read's value is justified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReadRule {
    /// Each byte was written last by the same event as in the trace.
    SameWrite,
    /// Each byte has the value that the trace shows, whoever wrote it.
    ///
    /// Bytes that nobody wrote, or that a memory intrinsic wrote, have the value that a read in the
    /// trace shows of them; without such a read they equal only themselves.
    #[default]
    SameValue,
    /// Values may differ. Each thread that reads another value is executed again on the program
    /// model: it must take the same branches, access the same addresses and call untraced code with
    /// the same arguments; what it writes is computed anew.
    Relaxed,
}

/// A bug, in terms of the trace's events.
///
/// An event that is *next* is the first of its thread that the witness does not execute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Nothing more than that the order is feasible.
    Feasible,
    /// Two accesses of different threads, both next, overlap; one writes, and one is not atomic.
    Race {
        /// One.
        a: EventIndex,
        /// The other.
        b: EventIndex,
    },
    /// Accesses that cannot be put in an order of whole regions with the same conflicts (Vaziri,
    /// Tip, Dolby, POPL 2006): the five patterns of one variable, the six of two, and all longer.
    Unserialisable {
        /// The accesses, in the order in which the witness executes them.
        events: Vec<EventIndex>,
        /// Regions meant to be atomic. An access of no region is one by itself.
        regions: Vec<Region>,
    },
    /// Accesses that the witness executes one after another, whatever comes between them: what that means,
    /// only the user knows who asked for it.
    Sequence {
        /// The accesses, in the order in which the witness executes them.
        events: Vec<EventIndex>,
    },
    /// Each thread's next event waits for the thread of the event after it in the list, and the
    /// last for the first.
    Deadlock {
        /// The events: acquisitions and joins.
        cycle: Vec<EventIndex>,
    },
    /// A conditional branch after the thread's last executed event and before its next one goes the
    /// other way.
    BranchFlip {
        /// Whose.
        thread: ThreadId,
        /// How many conditional branches it executed before, in the trace.
        branch: u64,
    },
    /// A next access goes to memory that the witness has freed.
    UseAfterFree {
        /// The event that freed it.
        free: EventIndex,
        /// The access.
        access: EventIndex,
    },
    /// A next `free` is of what the witness has freed.
    DoubleFree {
        /// The first.
        first: EventIndex,
        /// The second.
        second: EventIndex,
    },
    /// A next read finds null where the trace had a pointer that its thread then followed.
    NullDereference {
        /// The read.
        read: EventIndex,
        /// The access through the pointer.
        access: EventIndex,
    },
    /// A next read finds memory that was allocated and not written, where the trace had a value.
    UninitialisedRead {
        /// The read.
        read: EventIndex,
    },
}

/// Part of a thread's events that is meant to be atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Region {
    /// While a lock is held.
    Lock {
        /// Its acquisition.
        acquire: EventIndex,
        /// Its release.
        release: EventIndex,
    },
    /// A call of a function.
    Call {
        /// Its entry.
        enter: EventIndex,
        /// Its exit.
        exit: EventIndex,
    },
    /// Marked as atomic by somebody who knows: first and last event.
    Marked {
        /// The first.
        first: EventIndex,
        /// The last.
        last: EventIndex,
    },
}

impl Region {
    /// Its first and its last event.
    #[must_use]
    pub fn bounds(self) -> (EventIndex, EventIndex) {
        match self {
            Self::Lock { acquire, release } => (acquire, release),
            Self::Call { enter, exit } => (enter, exit),
            Self::Marked { first, last } => (first, last),
        }
    }

    fn bounds_mut(&mut self) -> [&mut EventIndex; 2] {
        match self {
            Self::Lock { acquire, release } => [acquire, release],
            Self::Call { enter, exit } => [enter, exit],
            Self::Marked { first, last } => [first, last],
        }
    }
}

impl Claim {
    /// The events by which a person knows the bug, in the order in which they happen; none if it names none.
    #[must_use]
    pub fn telling_events(&self) -> Vec<EventIndex> {
        match self {
            Self::Race { a, b } => vec![*a, *b],
            Self::Unserialisable { events, .. } | Self::Sequence { events } => events.clone(),
            Self::Deadlock { cycle } => cycle.clone(),
            Self::UseAfterFree { free, access } => vec![*free, *access],
            Self::DoubleFree { first, second } => vec![*first, *second],
            Self::NullDereference { read, access } => vec![*read, *access],
            Self::UninitialisedRead { read } => vec![*read],
            Self::Feasible | Self::BranchFlip { .. } => Vec::new(),
        }
    }

    /// The events that are said to be next in their threads.
    #[must_use]
    pub fn next_events(&self) -> Vec<EventIndex> {
        match self {
            Self::Race { a, b } => vec![*a, *b],
            Self::Deadlock { cycle } => cycle.clone(),
            Self::UseAfterFree { access, .. } => vec![*access],
            Self::DoubleFree { second, .. } => vec![*second],
            Self::NullDereference { read, .. } | Self::UninitialisedRead { read } => vec![*read],
            Self::Feasible
            | Self::Unserialisable { .. }
            | Self::Sequence { .. }
            | Self::BranchFlip { .. } => Vec::new(),
        }
    }

    /// All events that it names.
    #[must_use]
    pub fn events(&self) -> Vec<EventIndex> {
        let mut claim = self.clone();
        claim.events_mut().into_iter().map(|it| *it).collect()
    }

    /// The same claim about a trace in which its events have other indices.
    #[must_use]
    pub fn renumbered(mut self, number: impl Fn(EventIndex) -> EventIndex) -> Self {
        for event in self.events_mut() {
            *event = number(*event);
        }
        self
    }

    fn events_mut(&mut self) -> Vec<&mut EventIndex> {
        match self {
            Self::Feasible | Self::BranchFlip { .. } => Vec::new(),
            Self::Race { a, b } => vec![a, b],
            Self::Unserialisable { events, regions } => {
                let bounds = regions.iter_mut().flat_map(Region::bounds_mut);
                events.iter_mut().chain(bounds).collect()
            }
            Self::Sequence { events } | Self::Deadlock { cycle: events } => {
                events.iter_mut().collect()
            }
            Self::UseAfterFree { free, access } => vec![free, access],
            Self::DoubleFree { first, second } => vec![first, second],
            Self::NullDereference { read, access } => vec![read, access],
            Self::UninitialisedRead { read } => vec![read],
        }
    }
}
