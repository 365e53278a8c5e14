//! Accesses that may come after another thread's `free`.

use raddle_judge::Claim;

use super::Scene;
use crate::candidate::{Candidates, Flaw, Way};
use crate::goal::Goal;
use crate::table::Table;
use crate::view::{CellId, Object, Pos};

/// Accesses of one thread to one object by one instruction.
struct Accesses {
    first: Pos,
    last: Pos,
}

pub(super) fn find(scene: &mut Scene<'_>, into: &mut Candidates<'_>) {
    let view = scene.view;
    let cells: Vec<CellId> = (0..view.cells().len() as u32).map(CellId).collect();
    let object = |cell: &CellId| view.cells()[cell.index()].object;
    for of_object in cells.chunk_by(|a, b| object(a) == object(b)) {
        let Some(object) = object(&of_object[0]) else {
            continue;
        };
        let object = &view.objects()[object.index()];
        let Some(free) = object.free.and_then(|free| view.position(free)) else {
            continue;
        };
        for accesses in unordered(scene, of_object, free) {
            let Accesses { first, last } = accesses;
            let latest = if first == last {
                &[last][..]
            } else {
                &[last, first]
            };
            for &access in latest {
                if !is_checked(scene, object, access, free) {
                    add(scene, access, free, into);
                }
            }
        }
    }
}

fn add(scene: &Scene<'_>, access: Pos, free: Pos, into: &mut Candidates<'_>) {
    let view = scene.view;
    into.add(Flaw::UseAfterFree, scene.sources(access, free), || Way {
        goal: Goal {
            in_order: vec![free],
            next: vec![access],
            sees: None,
        },
        then: vec![access],
        claim: Claim::UseAfterFree {
            free: view.event_index(free),
            access: view.event_index(access),
        },
    });
}

/// By thread and instruction: the accesses that need not come before the `free`.
fn unordered(scene: &Scene<'_>, cells: &[CellId], free: Pos) -> Vec<Accesses> {
    let (view, freeing) = (scene.view, scene.view.lane(free));
    let mut numbers: Table<(u16, u64), usize> = Table::default();
    let mut found: Vec<Accesses> = Vec::new();
    for (lane, accesses) in cells.iter().flat_map(|cell| view.accesses(*cell)) {
        if lane == freeing {
            continue;
        }
        let ordered = scene.clocks.bound(freeing, free, lane);
        let start = accesses.partition_point(|pos| pos.0 < ordered);
        let end = accesses.partition_point(|pos| *pos < free).max(start);
        for &pos in &accesses[start..end] {
            let key = (lane.0, scene.sources(pos, free).0);
            let number = *numbers.entry(key).or_insert_with(|| {
                found.push(Accesses {
                    first: pos,
                    last: pos,
                });
                found.len() - 1
            });
            let accesses = &mut found[number];
            accesses.first = accesses.first.min(pos);
            accesses.last = accesses.last.max(pos);
        }
    }
    found
}

/// Whether the thread has read the pointer under the lock under which it uses it, and the other one
/// overwrites the pointer under the lock under which it frees: then whoever comes second sees it.
fn is_checked(scene: &mut Scene<'_>, object: &Object, access: Pos, free: Pos) -> bool {
    let Some((using, freeing)) = scene.regions.exclusive(access, free) else {
        return false;
    };
    let view = scene.view;
    let inside = object.addr.0..object.addr.0.saturating_add(object.size);
    let reads = &scene.pointers.reads;
    let start = reads.partition_point(|read| read.read < using.first);
    let in_region = reads[start..].iter().take_while(|read| read.read < access);
    let mut of_pointer = in_region
        .filter(|read| view.lane(read.read) == using.lane && inside.contains(&read.value))
        .flat_map(|read| view.cells_of(read.read));
    let end = Pos(freeing.last.0 + 1);
    let regions = &scene.regions;
    of_pointer.any(|cell| regions.touches(freeing.first, end, cell, |view, pos| view.writes(pos)))
}
