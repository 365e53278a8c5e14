//! Sequences of accesses that no order of whole regions explains.
//!
//! The conflict graph has the regions as its nodes and an edge from the earlier of two conflicting
//! accesses' regions to the later's; a schedule is conflict-serialisable exactly if it has no cycle.
//! The eleven problematic patterns of Vaziri, Tip and Dolby ("Associating synchronization constraints
//! with data in an object-oriented language", POPL 2006), which PECAN searches for, are the shortest
//! sequences of two regions on one or two variables with a cycle, so the graph stands for all.

use raddle_trace::event::{EventKind, LockChange};
use raddle_trace::ids::EventIndex;

use super::{at, is_executed};
use crate::objection::Objection;
use crate::simulation::Simulation;
use crate::witness::Region;

pub(super) fn check(
    simulation: &Simulation<'_, '_>,
    events: &[EventIndex],
    regions: &[Region],
) -> Result<(), Objection> {
    in_order(simulation, events)?;
    for &region in regions {
        check_region(simulation, region)?;
    }
    let units = units(simulation, events, regions);
    match has_cycle(&conflicts(simulation, events, &units)) {
        true => Ok(()),
        false => Err(Objection::Serialisable),
    }
}

/// Whether accesses are executed in this order.
pub(super) fn in_order(
    simulation: &Simulation<'_, '_>,
    events: &[EventIndex],
) -> Result<(), Objection> {
    let recording = simulation.recording;
    let mut last = None;
    for &index in events {
        let event = at(index);
        let position = is_executed(simulation, event)?;
        if recording.event(event).footprint().is_none() {
            return Err(Objection::NotAnAccess {
                event: recording.name(event),
            });
        }
        if let Some((earlier, before)) = last
            && before >= position
        {
            return Err(Objection::OtherOrder {
                first: recording.name(earlier),
                second: recording.name(event),
            });
        }
        last = Some((event, position));
    }
    Ok(())
}

/// Whether a region's bounds bound what it says.
fn check_region(simulation: &Simulation<'_, '_>, region: Region) -> Result<(), Objection> {
    let recording = simulation.recording;
    let (first, last) = region.bounds();
    let (first, last) = (at(first), at(last));
    let wrong = |why| {
        Err(Objection::NotARegion {
            first: recording.name(first),
            last: recording.name(last),
            why,
        })
    };
    let lines = &recording.lines;
    if lines.line(first) != lines.line(last) {
        return wrong("they are of different threads");
    }
    if lines.rank(first) > lines.rank(last) {
        return wrong("the second comes first");
    }
    match region {
        Region::Marked { .. } => Ok(()),
        Region::Call { .. } => match (recording.event(first).kind, recording.event(last).kind) {
            (EventKind::Enter { frame, .. }, EventKind::Exit { frame: left, .. })
                if frame == left =>
            {
                Ok(())
            }
            _ => wrong("they are not entry and exit of one call"),
        },
        Region::Lock { .. } => match is_held_between(simulation, first, last) {
            true => Ok(()),
            false => wrong("they are not acquisition and release of one lock"),
        },
    }
}

/// Whether one lock is acquired by the first event, released by the last, and held in between.
fn is_held_between(simulation: &Simulation<'_, '_>, first: usize, last: usize) -> bool {
    let recording = simulation.recording;
    let lock = recording.objects.of(first);
    let change = |event: usize| {
        let action = recording.event(event).lock_action();
        action
            .filter(|_| recording.objects.of(event) == lock)
            .map(|action| action.change)
    };
    if !matches!(change(first), Some(LockChange::Acquire(_))) {
        return false;
    }
    let lines = &recording.lines;
    let ranks = lines.rank(first) as usize..=lines.rank(last) as usize;
    let mut depth = 0u32;
    for &event in &lines.events(lines.line(first))[ranks] {
        match change(event as usize) {
            Some(LockChange::Acquire(_)) => depth += 1,
            Some(LockChange::Release(_)) => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return event as usize == last;
        }
    }
    false
}

/// The region of each event, as a number; an event of no region is one by itself.
fn units(simulation: &Simulation<'_, '_>, events: &[EventIndex], regions: &[Region]) -> Vec<usize> {
    let lines = &simulation.recording.lines;
    let contains = |region: &Region, event: usize| {
        let (first, last) = region.bounds();
        let ranks = lines.rank(at(first))..=lines.rank(at(last));
        lines.line(at(first)) == lines.line(event) && ranks.contains(&lines.rank(event))
    };
    let numbered = events.iter().enumerate();
    numbered
        .map(|(number, &index)| {
            let found = regions
                .iter()
                .position(|region| contains(region, at(index)));
            found.unwrap_or(regions.len() + number)
        })
        .collect()
}

/// Edges between regions.
fn conflicts(
    simulation: &Simulation<'_, '_>,
    events: &[EventIndex],
    units: &[usize],
) -> Vec<(usize, usize)> {
    let recording = simulation.recording;
    let mut edges = Vec::new();
    for (later, &b) in events.iter().enumerate() {
        for (earlier, &a) in events[..later].iter().enumerate() {
            let (a, b) = (at(a), at(b));
            let writes = |event: usize| recording.event(event).is_write();
            let of_one_thread = recording.lines.line(a) == recording.lines.line(b);
            let conflict = recording.places.overlap(a, b) && (writes(a) || writes(b));
            // Program order joins the regions of one thread as a conflict would.
            if units[earlier] != units[later] && (of_one_thread || conflict) {
                edges.push((units[earlier], units[later]));
            }
        }
    }
    edges
}

/// Takes away what nothing leads to until all that is left lies on or behind a cycle.
fn has_cycle(edges: &[(usize, usize)]) -> bool {
    let mut left = edges.to_vec();
    loop {
        let before = left.len();
        let targets: Vec<usize> = left.iter().map(|&(_, to)| to).collect();
        left.retain(|(from, _)| targets.contains(from));
        if left.is_empty() {
            return false;
        }
        if left.len() == before {
            return true;
        }
    }
}
