//! What happened in a run, one event after another.
//!
//! Two kinds of events: those of instrumented instructions, each with the [`SiteId`] of its
//! instruction, and those of the runtime ([`Action`]), each with the program counter that called
//! it. A lock is seen through either: a pthread call is an action, a Rust mutex inlined by the
//! optimiser is an atomic access whose site has a [`Role`]. [`Event::lock_action`] unites them.

use crate::action::Action;
use crate::ids::{Address, SiteId, ThreadId, Tick};
use crate::wire::{Ordering, Role};

/// One step of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Who did it.
    pub thread: ThreadId,
    /// Slots the thread had written before.
    pub tick: Tick,
    /// What was done.
    pub kind: EventKind,
}

/// An access of an instrumented instruction to at most eight bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// The instruction.
    pub site: SiteId,
    /// First byte accessed.
    pub addr: Address,
    /// Bytes accessed.
    pub size: u8,
    /// The value read or written; for read-modify-write operations, the value before.
    pub value: u64,
}

/// What an atomic operation means to other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomicity {
    /// Its memory ordering.
    pub order: Ordering,
    /// Its part in a lock that was inlined.
    pub role: Role,
}

/// Outcomes of conditional branches since the thread's last such event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcomes {
    sentinel: u64,
}

/// What an event did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// Plain load.
    Read(Access),
    /// Plain store.
    Write(Access),
    /// Atomic load.
    AtomicLoad(Access, Atomicity),
    /// Atomic store.
    AtomicStore(Access, Atomicity),
    /// Atomic read-modify-write.
    Rmw {
        /// The location and the value before.
        access: Access,
        /// Ordering and role.
        atomicity: Atomicity,
        /// The value after.
        new: u64,
    },
    /// Compare-exchange.
    Cas {
        /// The location and the value found.
        access: Access,
        /// Ordering and role.
        atomicity: Atomicity,
        /// The value that was stored, or would have been.
        new: u64,
        /// Whether it was stored.
        success: bool,
    },
    /// Memory fence.
    Fence {
        /// The instruction.
        site: SiteId,
        /// Its ordering.
        order: Ordering,
    },
    /// A memory intrinsic read a range.
    RangeRead {
        /// The instruction.
        site: SiteId,
        /// First byte.
        addr: Address,
        /// Length in bytes.
        len: u64,
    },
    /// A memory intrinsic wrote a range.
    RangeWrite {
        /// The instruction.
        site: SiteId,
        /// First byte.
        addr: Address,
        /// Length in bytes.
        len: u64,
    },
    /// What offline re-execution cannot compute: the result of an untraced call, an indirect
    /// callee, a switch operand.
    Value {
        /// The instruction.
        site: SiteId,
        /// The hook's address field, by the site's meaning.
        addr: Address,
        /// The value.
        value: u64,
    },
    /// Function entry.
    Enter {
        /// The function's first instruction.
        site: SiteId,
        /// Its frame.
        frame: Address,
        /// Where it returns to.
        return_address: Address,
    },
    /// Function exit.
    Exit {
        /// The return instruction.
        site: SiteId,
        /// The frame left.
        frame: Address,
    },
    /// Branch outcomes.
    Branches(Outcomes),
    /// The runtime's own events.
    Action {
        /// Program counter of the caller.
        pc: Address,
        /// What was done.
        action: Action,
    },
}

/// The bytes that an event touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// The instruction; none if libc or the kernel did it for the program.
    pub site: Option<SiteId>,
    /// First byte.
    pub addr: Address,
    /// Number of bytes.
    pub len: u64,
    /// Whether it reads them.
    pub reads: bool,
    /// Whether it writes them.
    pub writes: bool,
    /// Whether it is an atomic operation.
    pub atomic: bool,
}

/// Which other holders a lock tolerates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockMode {
    /// None.
    Exclusive,
    /// Other shared ones.
    Shared,
}

/// What happens to a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockChange {
    /// It is taken.
    Acquire(LockMode),
    /// It is given back.
    Release(LockMode),
    /// From exclusive to shared, without a gap.
    Downgrade,
}

/// An event seen as an operation on a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockAction {
    /// The lock's address.
    pub lock: Address,
    /// What happens to it.
    pub change: LockChange,
}

impl Outcomes {
    /// Outcomes as the hooks gather them: newest lowest, above them a sentinel bit. `None` if the
    /// sentinel is missing.
    #[must_use]
    pub const fn from_sentinel(sentinel: u64) -> Option<Self> {
        if sentinel == 0 {
            None
        } else {
            Some(Self { sentinel })
        }
    }

    /// Outcomes and sentinel in one number.
    #[must_use]
    pub const fn to_sentinel(self) -> u64 {
        self.sentinel
    }

    /// How many branches.
    #[must_use]
    pub const fn count(self) -> u32 {
        63 - self.sentinel.leading_zeros()
    }

    /// Whether each branch was taken, in the order of execution.
    pub fn iter(self) -> impl ExactSizeIterator<Item = bool> {
        let count = self.count();
        (0..count).map(move |index| self.sentinel >> (count - 1 - index) & 1 == 1)
    }
}

impl Event {
    /// The event seen as an operation on a lock, if it is one.
    #[must_use]
    pub fn lock_action(&self) -> Option<LockAction> {
        self.kind.lock_action()
    }

    /// The bytes it touches, if it is an access.
    #[must_use]
    pub fn footprint(&self) -> Option<Footprint> {
        self.kind.footprint()
    }

    /// Whether it changes memory.
    #[must_use]
    pub fn is_write(&self) -> bool {
        self.footprint().is_some_and(|footprint| footprint.writes)
    }

    /// Whether it reads memory.
    #[must_use]
    pub fn is_read(&self) -> bool {
        self.footprint().is_some_and(|footprint| footprint.reads)
    }

    /// The instruction, if it is not the runtime's own event.
    #[must_use]
    pub fn site(&self) -> Option<SiteId> {
        self.kind.site()
    }

    /// The tick of the thread's next event.
    #[must_use]
    pub fn next_tick(&self) -> Tick {
        self.tick.after(self.kind.slots())
    }
}

impl EventKind {
    /// Slots that the event takes in shared memory: how far it moves its thread's tick.
    #[must_use]
    pub const fn slots(&self) -> u64 {
        match self {
            Self::Rmw { .. } | Self::Cas { .. } | Self::Action { .. } => 2,
            _ => 1,
        }
    }

    /// The instruction, if it is not the runtime's own event.
    #[must_use]
    pub const fn site(&self) -> Option<SiteId> {
        match *self {
            Self::Read(access)
            | Self::Write(access)
            | Self::AtomicLoad(access, _)
            | Self::AtomicStore(access, _)
            | Self::Rmw { access, .. }
            | Self::Cas { access, .. } => Some(access.site),
            Self::Fence { site, .. }
            | Self::RangeRead { site, .. }
            | Self::RangeWrite { site, .. }
            | Self::Value { site, .. }
            | Self::Enter { site, .. }
            | Self::Exit { site, .. } => Some(site),
            Self::Branches(_) | Self::Action { .. } => None,
        }
    }

    /// See [`Event::footprint`].
    #[must_use]
    pub fn footprint(&self) -> Option<Footprint> {
        let (access, reads, writes, atomic) = match *self {
            Self::Read(access) => (access, true, false, false),
            Self::Write(access) => (access, false, true, false),
            Self::AtomicLoad(access, _) => (access, true, false, true),
            Self::AtomicStore(access, _) => (access, false, true, true),
            Self::Rmw { access, .. } => (access, true, true, true),
            Self::Cas {
                access, success, ..
            } => (access, true, success, true),
            Self::RangeRead { site, addr, len } => {
                return Some(Footprint {
                    site: Some(site),
                    addr,
                    len,
                    reads: true,
                    writes: false,
                    atomic: false,
                });
            }
            Self::RangeWrite { site, addr, len } => {
                return Some(Footprint {
                    site: Some(site),
                    addr,
                    len,
                    reads: false,
                    writes: true,
                    atomic: false,
                });
            }
            Self::Action { ref action, .. } => return action.footprint(),
            _ => return None,
        };
        let Access {
            site, addr, size, ..
        } = access;
        Some(Footprint {
            site: Some(site),
            addr,
            len: size.into(),
            reads,
            writes,
            atomic,
        })
    }

    /// The lock that an inlined operation has tried to take exclusively, and did not get.
    #[must_use]
    pub const fn refused_lock(&self) -> Option<Address> {
        let (access, role, refused) = match *self {
            Self::Rmw {
                access, atomicity, ..
            } => (access, atomicity.role, access.value != 0),
            Self::Cas {
                access,
                atomicity,
                success,
                ..
            } => (access, atomicity.role, !success),
            _ => return None,
        };
        match role {
            Role::Lock | Role::WriteLock if refused => Some(access.addr),
            _ => None,
        }
    }

    /// See [`Event::lock_action`].
    #[must_use]
    pub fn lock_action(&self) -> Option<LockAction> {
        let (access, role, stored, locked) = match *self {
            Self::Action { ref action, .. } => return action.lock_action(),
            Self::AtomicStore(access, Atomicity { role, .. }) => (access, role, true, false),
            Self::Rmw {
                access,
                atomicity: Atomicity { role, .. },
                ..
            } => (access, role, true, access.value == 0),
            Self::Cas {
                access,
                atomicity: Atomicity { role, .. },
                success,
                ..
            } => (access, role, success, success),
            _ => return None,
        };
        let change = match role {
            Role::None => return None,
            Role::Lock if locked => LockChange::Acquire(LockMode::Exclusive),
            Role::Lock => return None,
            _ if !stored => return None,
            Role::WriteLock => LockChange::Acquire(LockMode::Exclusive),
            Role::ReadLock => LockChange::Acquire(LockMode::Shared),
            Role::Unlock | Role::WriteUnlock => LockChange::Release(LockMode::Exclusive),
            Role::ReadUnlock => LockChange::Release(LockMode::Shared),
            Role::Downgrade => LockChange::Downgrade,
        };
        Some(LockAction {
            lock: access.addr,
            change,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cas(role: Role, success: bool) -> EventKind {
        let access = Access {
            site: SiteId(1),
            addr: Address(0x40),
            size: 4,
            value: 0,
        };
        let atomicity = Atomicity {
            order: Ordering::Acquire,
            role,
        };
        EventKind::Cas {
            access,
            atomicity,
            new: 1,
            success,
        }
    }

    fn swap(role: Role, old: u64) -> EventKind {
        let access = Access {
            site: SiteId(1),
            addr: Address(0x40),
            size: 4,
            value: old,
        };
        let atomicity = Atomicity {
            order: Ordering::Acquire,
            role,
        };
        EventKind::Rmw {
            access,
            atomicity,
            new: 2,
        }
    }

    fn change(kind: EventKind) -> Option<LockChange> {
        kind.lock_action().map(|action| {
            assert_eq!(action.lock, Address(0x40));
            action.change
        })
    }

    #[test]
    fn roles_decide_what_an_atomic_does_to_a_lock() {
        use LockChange::{Acquire, Downgrade, Release};
        use LockMode::{Exclusive, Shared};
        assert_eq!(change(cas(Role::Lock, true)), Some(Acquire(Exclusive)));
        assert_eq!(change(cas(Role::Lock, false)), None);
        assert_eq!(change(swap(Role::Lock, 0)), Some(Acquire(Exclusive)));
        assert_eq!(change(swap(Role::Lock, 2)), None);
        assert_eq!(change(swap(Role::Unlock, 1)), Some(Release(Exclusive)));
        assert_eq!(change(cas(Role::ReadLock, true)), Some(Acquire(Shared)));
        assert_eq!(change(cas(Role::ReadLock, false)), None);
        assert_eq!(change(swap(Role::ReadUnlock, 9)), Some(Release(Shared)));
        assert_eq!(change(cas(Role::WriteLock, true)), Some(Acquire(Exclusive)));
        assert_eq!(change(swap(Role::WriteUnlock, 9)), Some(Release(Exclusive)));
        assert_eq!(change(swap(Role::Downgrade, 9)), Some(Downgrade));
        assert_eq!(change(swap(Role::None, 0)), None);
    }

    #[test]
    fn a_failed_compare_exchange_only_reads() {
        let footprint = |success| cas(Role::None, success).footprint().unwrap();
        assert!(footprint(true).writes && footprint(true).reads);
        assert!(!footprint(false).writes && footprint(false).reads);
    }

    #[test]
    fn branch_outcomes_come_in_execution_order() {
        let outcomes = Outcomes::from_sentinel(0b1_110).unwrap();
        assert_eq!(outcomes.count(), 3);
        assert_eq!(outcomes.iter().collect::<Vec<_>>(), [true, true, false]);
        assert_eq!(Outcomes::from_sentinel(1).unwrap().count(), 0);
        assert_eq!(Outcomes::from_sentinel(u64::MAX).unwrap().count(), 63);
        assert_eq!(Outcomes::from_sentinel(0), None);
    }
}
