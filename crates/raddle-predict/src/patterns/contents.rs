//! The spots of each unit, and which of them another thread can get at meanwhile.

use super::exposure::Exposure;
use super::search::Limits;
use super::spots::{SpotId, Spots};
use super::stretches::{Mutations, Stretches};
use super::units::{Span, Units};
use crate::view::{LocksetId, Pos, View};

/// Different spots of a unit that are looked at.
const MAX_ENTRIES: usize = 256;
/// Units after which the time is looked at.
const LOOK_AT_CLOCK: usize = 1024;
/// Different locksets in a unit that are looked at.
const MAX_LOCKSETS: usize = 8;

/// A spot in a unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) spot: SpotId,
    pub(super) first: Pos,
    pub(super) last: Pos,
    pub(super) may_begin: bool,
    pub(super) may_end: bool,
    pub(super) is_exposed: bool,
}

/// The spots of all units.
#[derive(Debug)]
pub(super) struct Contents {
    entries: Vec<Entry>,
    /// By unit: where its entries begin; one more at the end.
    starts: Vec<u32>,
    pub(super) exposure: Exposure,
    /// Units of which not everything was looked at.
    pub(super) cut: u64,
}

impl Contents {
    pub(super) fn new(
        mutations: &mut Mutations<'_>,
        stretches: &Stretches,
        spots: &Spots,
        units: &Units,
        limits: Limits,
    ) -> Self {
        let view = mutations.view;
        let mut contents = Self {
            entries: Vec::new(),
            starts: Vec::with_capacity(units.iter().len() + 1),
            exposure: Exposure::new(view, spots),
            cut: 0,
        };
        let mut seen = vec![u32::MAX; spots.len()];
        let mut locksets: Vec<LocksetId> = Vec::new();
        for (number, unit) in units.iter().enumerate() {
            if number % LOOK_AT_CLOCK == 0 && limits.is_late() {
                break;
            }
            let start = contents.entries.len();
            contents.starts.push(start as u32);
            let [first, last] = unit.spans;
            let mut is_complete =
                contents.gather(view, spots, first, &mut seen, (true, first == last));
            if first != last {
                is_complete &= contents.gather(view, spots, last, &mut seen, (false, true));
            }
            stretches.locksets(view, first.first, last.last, &mut locksets);
            is_complete &= locksets.len() <= MAX_LOCKSETS;
            locksets.truncate(MAX_LOCKSETS);
            for entry in &mut contents.entries[start..] {
                for &lockset in &locksets {
                    let exposure = &mut contents.exposure;
                    entry.is_exposed |= exposure.is_exposed(mutations, spots, entry.spot, lockset);
                }
            }
            contents.cut += u64::from(!is_complete);
        }
        let end = contents.entries.len() as u32;
        contents.starts.resize(units.iter().len() + 1, end);
        contents
    }

    /// Lists the spots of a span; false if there are too many.
    fn gather(
        &mut self,
        view: &View,
        spots: &Spots,
        span: Span,
        seen: &mut [u32],
        (may_begin, may_end): (bool, bool),
    ) -> bool {
        let base = self.entries.len();
        let events = view.lane_events(view.lane(span.first));
        let start = events.partition_point(|pos| *pos < span.first);
        let inside = events[start..].iter().take_while(|pos| **pos <= span.last);
        for &pos in inside {
            for &spot in spots.of(pos) {
                let known = seen[spot.index()] as usize;
                let listed = self.entries.get_mut(known).filter(|_| known >= base);
                if let Some(entry) = listed
                    && entry.spot == spot
                {
                    entry.last = pos;
                    continue;
                }
                if self.entries.len() - base == MAX_ENTRIES {
                    return false;
                }
                seen[spot.index()] = self.entries.len() as u32;
                self.entries.push(Entry {
                    spot,
                    first: pos,
                    last: pos,
                    may_begin,
                    may_end,
                    is_exposed: false,
                });
            }
        }
        true
    }

    /// Where a unit is in the program, as far as its accesses tell: the first and the last instruction.
    pub(super) fn code(&self, spots: &Spots, unit: u32) -> (u64, u64) {
        let entries = self.of(unit as usize);
        let source = |entry: Option<&Entry>| entry.map_or(0, |it| spots.get(it.spot).source);
        (source(entries.first()), source(entries.last()))
    }

    /// The spots of a unit.
    pub(super) fn of(&self, unit: usize) -> &[Entry] {
        let (start, end) = (self.starts[unit], self.starts[unit + 1]);
        &self.entries[start as usize..end as usize]
    }
}
