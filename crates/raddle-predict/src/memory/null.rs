//! Pointers that may be null, or not written yet, when they are read to be followed.

use std::ops::Range;

use raddle_judge::Claim;
use raddle_trace::action::Action;
use raddle_trace::event::EventKind;
use raddle_trace::ids::EventIndex;

use super::Scene;
use super::stores::stored_in;
use crate::candidate::{Candidates, Flaw, Way};
use crate::goal::{Goal, Sees};
use crate::table::Table;
use crate::view::{CellId, Lane, Pos};

/// What is written to the cell of a pointer.
#[derive(Debug, Default)]
struct Writes {
    /// By thread: where it writes null.
    null: Vec<(Lane, Vec<Pos>)>,
    /// By thread: its first write.
    first: Vec<Pos>,
    /// By thread: all writes.
    all: Vec<Vec<Pos>>,
    /// Whether it is known to hold something else than null at first.
    is_set: bool,
}

pub(super) fn find(scene: &mut Scene<'_>, into: &mut Candidates<'_>) {
    let stacks = stacks(scene);
    let mut known: Table<CellId, Writes> = Table::default();
    for number in 0..scene.pointers.reads.len() {
        let pointer = scene.pointers.reads[number];
        let Some(access) = pointer.access else {
            continue;
        };
        let mut cells = scene.view.cells_of(pointer.read);
        let (Some(cell), None) = (cells.next(), cells.next()) else {
            continue;
        };
        if scene.view.cells()[cell.index()].len != 8 {
            continue;
        }
        let writes = known
            .entry(cell)
            .or_insert_with(|| Writes::new(scene, cell));
        let read = Read {
            pos: pointer.read,
            cell,
            access,
        };
        read.find_null(scene, writes, into);
        read.find_unwritten(scene, writes, &stacks, into);
    }
}

/// A read of a pointer that is followed.
#[derive(Clone, Copy)]
struct Read {
    pos: Pos,
    cell: CellId,
    access: EventIndex,
}

impl Read {
    /// Nulls that it may see: of each thread, the nearest before and after it.
    fn find_null(self, scene: &mut Scene<'_>, writes: &Writes, into: &mut Candidates<'_>) {
        let latest = writes.latest(self.pos);
        for (lane, nulls) in &writes.null {
            let after = nulls.partition_point(|null| *null < self.pos);
            let before = after.checked_sub(1).map(|at| nulls[at]);
            let own = *lane == scene.view.lane(self.pos);
            let after = nulls.get(after).copied().filter(|_| !own);
            for null in after.into_iter().chain(before) {
                let is_hidden = latest.is_some_and(|latest| {
                    scene.is_before(null, latest) && scene.is_before(latest, self.pos)
                });
                if !is_hidden && !scene.is_before(self.pos, null) && !self.is_checked(scene, null) {
                    into.add(Flaw::NullDereference, scene.sources(self.pos, null), || {
                        self.way(Some(null), self.null_claim(scene))
                    });
                }
            }
        }
    }

    /// What was there before anybody wrote.
    fn find_unwritten(
        self,
        scene: &Scene<'_>,
        writes: &Writes,
        stacks: &[Range<u64>],
        into: &mut Candidates<'_>,
    ) {
        let cell = scene.view.cells()[self.cell.index()];
        let Some(latest) = writes.latest(self.pos) else {
            return;
        };
        if writes
            .first
            .iter()
            .any(|first| scene.is_before(*first, self.pos))
        {
            return;
        }
        let sources = scene.sources(self.pos, latest);
        if cell.object.is_some() {
            into.add(Flaw::UninitialisedRead, sources, || {
                let read = scene.view.event_index(self.pos);
                self.way(None, Claim::UninitialisedRead { read })
            });
        } else if !writes.is_set && !stacks.iter().any(|stack| stack.contains(&cell.addr.0)) {
            into.add(Flaw::NullDereference, sources, || {
                self.way(None, self.null_claim(scene))
            });
        }
    }

    fn null_claim(self, scene: &Scene<'_>) -> Claim {
        Claim::NullDereference {
            read: scene.view.event_index(self.pos),
            access: self.access,
        }
    }

    fn way(self, write: Option<Pos>, claim: Claim) -> Way {
        Way {
            goal: Goal {
                in_order: write.into_iter().collect(),
                next: vec![self.pos],
                sees: Some(Sees {
                    read: self.pos,
                    write,
                }),
            },
            then: vec![self.pos],
            claim,
        }
    }

    /// Whether the thread has looked at the pointer before, under a lock that the null needs: it would
    /// have seen it then.
    fn is_checked(self, scene: &mut Scene<'_>, null: Pos) -> bool {
        let Some((own, _)) = scene.regions.exclusive(self.pos, null) else {
            return false;
        };
        scene
            .regions
            .touches(own.first, self.pos, self.cell, |_, _| true)
    }
}

impl Writes {
    fn new(scene: &Scene<'_>, cell: CellId) -> Self {
        let view = scene.view;
        let bytes = &view.cells()[cell.index()];
        let mut writes = Self::default();
        for (lane, accesses) in view.accesses(cell) {
            let of_lane: Vec<Pos> = accesses
                .iter()
                .copied()
                .filter(|pos| view.writes(*pos))
                .collect();
            let is_null = |pos: &Pos| stored_in(scene.event(*pos), bytes) == Some(0);
            let nulls: Vec<Pos> = of_lane.iter().copied().filter(is_null).collect();
            if !nulls.is_empty() {
                writes.null.push((lane, nulls));
            }
            writes.first.extend(of_lane.first());
            writes.all.push(of_lane);
        }
        let first_write = writes.first.iter().min();
        let shows = |pos: &Pos| match scene.event(*pos).kind {
            EventKind::Read(access) | EventKind::AtomicLoad(access, _) => access.value != 0,
            _ => false,
        };
        writes.is_set = view
            .accesses(cell)
            .filter_map(|(_, accesses)| accesses.first())
            .any(|pos| first_write.is_none_or(|write| pos < write) && shows(pos));
        writes
    }

    /// The last write before an event.
    fn latest(&self, pos: Pos) -> Option<Pos> {
        let of_thread = |writes: &Vec<Pos>| {
            let before = writes.partition_point(|write| *write < pos);
            before.checked_sub(1).map(|at| writes[at])
        };
        self.all.iter().filter_map(of_thread).max()
    }
}

/// The threads' stacks: what lies there has no value at first.
fn stacks(scene: &Scene<'_>) -> Vec<Range<u64>> {
    let begins = scene.events.iter().filter_map(|event| match event.kind {
        EventKind::Action {
            action:
                Action::Begin {
                    stack_low,
                    stack_size,
                    ..
                },
            ..
        } => Some(stack_low.0..stack_low.0.saturating_add(stack_size)),
        _ => None,
    });
    begins.collect()
}
