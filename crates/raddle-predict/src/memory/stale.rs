//! Pointers that may be read after what they point to was freed.
//!
//! In a run that went well, whoever frees through a pointer overwrites it, and others find null or
//! another object. If `free` comes before the overwriting, a thread that looks in between finds the old
//! pointer. What it would do with it shows elsewhere in the trace: the same instruction reads a pointer
//! that is then freed, or followed.

use std::collections::VecDeque;

use raddle_judge::Claim;

use super::Scene;
use super::stores::stored_in;
use crate::candidate::{Candidates, Flaw, Way};
use crate::findings::source_number;
use crate::goal::{Goal, Sees};
use crate::table::Table;
use crate::view::{CellId, Kind, ObjectId, Pos};

/// How many old pointers of a cell are remembered.
const RECENT: usize = 4;

/// A pointer to a freed object that was overwritten.
#[derive(Clone, Copy, Debug)]
struct Stale {
    write: Pos,
    overwrite: Pos,
    free: Pos,
}

pub(super) fn find(scene: &mut Scene<'_>, into: &mut Candidates<'_>) {
    let freed = Freed::new(scene);
    if freed.by_address.is_empty() {
        return;
    }
    let view = scene.view;
    for (number, cell) in (0..).map(CellId).zip(view.cells()) {
        if cell.len != 8 {
            continue;
        }
        let mut accesses: Vec<Pos> = view
            .accesses(number)
            .flat_map(|(_, accesses)| accesses.iter().copied())
            .collect();
        accesses.sort_unstable();
        let mut current: Option<(Pos, u64)> = None;
        let mut stale: VecDeque<Stale> = VecDeque::new();
        for pos in accesses {
            if view.writes(pos) {
                let free = current.and_then(|(write, value)| freed.of(scene, value, write));
                if let (Some((write, _)), Some(free)) = (current, free) {
                    stale.truncate(RECENT - 1);
                    stale.push_front(Stale {
                        write,
                        overwrite: pos,
                        free,
                    });
                }
                current = stored_in(scene.event(pos), cell).map(|value| (pos, value));
            } else if view.kind(pos) == Kind::Access {
                for stale in &stale {
                    look(scene, *stale, pos, into);
                }
            }
        }
    }
}

/// Whether a read may come between a `free` and the overwriting of the pointer.
fn look(scene: &mut Scene<'_>, stale: Stale, read: Pos, into: &mut Candidates<'_>) {
    let view = scene.view;
    let Stale {
        write,
        overwrite,
        free,
    } = stale;
    let source = source_number(view.source(read));
    let flaw = match () {
        () if scene.pointers.is_freeing(source) => Flaw::DoubleFree,
        () if scene.pointers.is_following(source) => Flaw::UseAfterFree,
        () => return,
    };
    let is_overwritten_first = view.lane(overwrite) == view.lane(free) && overwrite < free;
    if view.lane(read) == view.lane(free)
        || is_overwritten_first
        || scene.is_before(overwrite, read)
        || scene.is_before(overwrite, free)
    {
        return;
    }
    let is_one_step = view.region_of(free).is_some()
        && view.region_of(free) == view.region_of(overwrite)
        && scene.regions.exclusive(read, free).is_some();
    if is_one_step {
        return;
    }
    into.add(flaw, scene.sources(read, free), || Way {
        goal: Goal {
            in_order: vec![free],
            next: vec![read],
            sees: Some(Sees {
                read,
                write: Some(write),
            }),
        },
        then: vec![read],
        claim: Claim::Feasible,
    });
}

/// Objects that were freed, by address.
struct Freed {
    by_address: Table<u64, Vec<(ObjectId, Pos)>>,
}

impl Freed {
    fn new(scene: &Scene<'_>) -> Self {
        let view = scene.view;
        let mut by_address: Table<u64, Vec<(ObjectId, Pos)>> = Table::default();
        for (number, object) in (0..).map(ObjectId).zip(view.objects()) {
            if let Some(free) = object.free.and_then(|free| view.position(free)) {
                let at = by_address.entry(object.addr.0).or_default();
                at.push((number, free));
            }
        }
        Self { by_address }
    }

    /// Where the object is freed that an address meant when it was written.
    fn of(&self, scene: &Scene<'_>, address: u64, written: Pos) -> Option<Pos> {
        let list = self.by_address.get(&address)?;
        // Objects at one address live one after another.
        let at = list.partition_point(|(_, free)| *free < written);
        let &(object, free) = list.get(at)?;
        let made = scene.view.objects()[object.index()].alloc;
        (made < scene.view.event_index(written)).then_some(free)
    }
}
