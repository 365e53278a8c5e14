//! A site's event taken apart into numbers, and put together again.
//!
//! Slots and files store the same numbers in different ways; what they mean is said here once.

use crate::event::{Access, Atomicity, EventKind};
use crate::ids::{Address, SiteId};
use crate::sites::SiteShape;
use crate::wire::{Ordering, Role, SiteKind};

/// The numbers of an event that has a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteParts {
    /// The instruction.
    pub site: SiteId,
    /// What it does.
    pub shape: SiteShape,
    /// Address, or frame.
    pub addr: u64,
    /// Value, length, or return address.
    pub value: u64,
    /// The value after, for kinds of two slots.
    pub new: u64,
    /// Whether a compare-exchange stored.
    pub stored: bool,
}

impl SiteShape {
    /// Whether its events take a second slot.
    #[must_use]
    #[inline]
    pub const fn has_second_slot(&self) -> bool {
        matches!(self.kind, SiteKind::Rmw | SiteKind::Cas)
    }

    /// Slots that its events take.
    #[must_use]
    pub const fn slots(&self) -> u64 {
        if self.has_second_slot() { 2 } else { 1 }
    }
}

impl SiteParts {
    /// Takes an event apart; `None` if it has no site.
    #[inline]
    pub fn split(kind: &EventKind) -> Option<Self> {
        let plain = Atomicity {
            order: Ordering::Plain,
            role: Role::None,
        };
        let whole = |kind, access: Access, atomicity: Atomicity, new, stored| {
            let Access {
                site,
                addr,
                size,
                value,
            } = access;
            let Atomicity { order, role } = atomicity;
            let shape = SiteShape {
                kind,
                order,
                size,
                role,
            };
            Some(Self {
                site,
                shape,
                addr: addr.0,
                value,
                new,
                stored,
            })
        };
        let part = |kind, site, addr, value| {
            whole(
                kind,
                Access {
                    site,
                    addr,
                    size: 0,
                    value,
                },
                plain,
                0,
                false,
            )
        };
        match *kind {
            EventKind::Read(access) => whole(SiteKind::Read, access, plain, 0, false),
            EventKind::Write(access) => whole(SiteKind::Write, access, plain, 0, false),
            EventKind::AtomicLoad(access, atomicity) => {
                whole(SiteKind::AtomicLoad, access, atomicity, 0, false)
            }
            EventKind::AtomicStore(access, atomicity) => {
                whole(SiteKind::AtomicStore, access, atomicity, 0, false)
            }
            EventKind::Rmw {
                access,
                atomicity,
                new,
            } => whole(SiteKind::Rmw, access, atomicity, new, false),
            EventKind::Cas {
                access,
                atomicity,
                new,
                success,
            } => whole(SiteKind::Cas, access, atomicity, new, success),
            EventKind::Fence { site, order } => {
                let access = Access {
                    site,
                    ..Access::default()
                };
                whole(
                    SiteKind::Fence,
                    access,
                    Atomicity {
                        order,
                        role: Role::None,
                    },
                    0,
                    false,
                )
            }
            EventKind::RangeRead { site, addr, len } => part(SiteKind::RangeRead, site, addr, len),
            EventKind::RangeWrite { site, addr, len } => {
                part(SiteKind::RangeWrite, site, addr, len)
            }
            EventKind::Value { site, addr, value } => part(SiteKind::Value, site, addr, value),
            EventKind::Enter {
                site,
                frame,
                return_address,
            } => part(SiteKind::Enter, site, frame, return_address.0),
            EventKind::Exit { site, frame } => part(SiteKind::Exit, site, frame, 0),
            EventKind::Branches(_) | EventKind::Action { .. } => None,
        }
    }

    /// Puts the event together.
    #[inline]
    pub fn join(&self) -> EventKind {
        let Self {
            site,
            shape,
            addr,
            value,
            new,
            stored,
        } = *self;
        let SiteShape {
            kind,
            order,
            size,
            role,
        } = shape;
        let addr = Address(addr);
        let access = Access {
            site,
            addr,
            size,
            value,
        };
        let atomicity = Atomicity { order, role };
        match kind {
            SiteKind::Read => EventKind::Read(access),
            SiteKind::Write => EventKind::Write(access),
            SiteKind::AtomicLoad => EventKind::AtomicLoad(access, atomicity),
            SiteKind::AtomicStore => EventKind::AtomicStore(access, atomicity),
            SiteKind::Rmw => EventKind::Rmw {
                access,
                atomicity,
                new,
            },
            SiteKind::Cas => EventKind::Cas {
                access,
                atomicity,
                new,
                success: stored,
            },
            SiteKind::Fence => EventKind::Fence { site, order },
            SiteKind::RangeRead => EventKind::RangeRead {
                site,
                addr,
                len: value,
            },
            SiteKind::RangeWrite => EventKind::RangeWrite {
                site,
                addr,
                len: value,
            },
            SiteKind::Value => EventKind::Value { site, addr, value },
            SiteKind::Enter => EventKind::Enter {
                site,
                frame: addr,
                return_address: Address(value),
            },
            SiteKind::Exit => EventKind::Exit { site, frame: addr },
        }
    }
}
