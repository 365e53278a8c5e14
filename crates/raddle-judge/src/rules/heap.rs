//! The heap: memory is accessed between its allocation and its freeing, and its addresses are
//! reused only after that.
//!
//! What an event touches is the object that it touched in the trace. An access that went to freed
//! memory in the trace belongs to no object, and is not judged here.

use std::collections::BTreeMap;

use raddle_trace::action::Action;

use super::{Rule, Step};
use crate::objection::Objection;
use crate::recording::AllocationIndex;
use crate::table::Table;

/// What is allocated.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heap {
    /// By allocation: whether it was freed.
    made: Table<AllocationIndex, bool>,
    /// By first address: one past the last, and which.
    live: BTreeMap<u64, (u64, AllocationIndex)>,
}

impl Heap {
    /// Whether an allocation was made and freed.
    pub(crate) fn is_freed(&self, index: AllocationIndex) -> bool {
        self.made.get(&index) == Some(&true)
    }

    /// The live allocation that starts at an address.
    pub(crate) fn live_at(&self, address: u64) -> Option<AllocationIndex> {
        self.live.get(&address).map(|&(_, index)| index)
    }

    fn check_live(&self, step: &Step<'_, '_>, index: AllocationIndex) -> Result<(), Objection> {
        let recording = step.recording;
        let allocation = recording.places.allocation(index);
        match self.made.get(&index) {
            None => Err(Objection::NotAllocated {
                event: step.name(),
                alloc: recording.name(allocation.alloc),
            }),
            Some(true) => Err(Objection::Freed {
                event: step.name(),
                free: match allocation.free {
                    Some(free) => recording.name(free).to_string(),
                    None => format!("the next allocation at {}", allocation.addr),
                },
            }),
            Some(false) => Ok(()),
        }
    }

    /// The live allocation that overlaps a range.
    fn overlapping(&self, start: u64, end: u64) -> Option<AllocationIndex> {
        let (_, &(last, index)) = self.live.range(..end).next_back()?;
        (last > start).then_some(index)
    }
}

impl Rule for Heap {
    fn check(&self, step: &Step<'_, '_>) -> Result<(), Objection> {
        let places = &step.recording.places;
        let touched = places.segments(step.at).iter();
        touched
            .filter_map(|segment| segment.allocation)
            .try_for_each(|index| self.check_live(step, index))?;
        match step.action() {
            Some(Action::Alloc { addr, size, .. }) => {
                let end = addr.0.saturating_add(size.max(1));
                match self.overlapping(addr.0, end) {
                    Some(other) => Err(Objection::AddressInUse {
                        event: step.name(),
                        alloc: step.recording.name(places.allocation(other).alloc),
                    }),
                    None => Ok(()),
                }
            }
            Some(Action::Free { .. }) => match places.about(step.at) {
                Some(index) => self.check_live(step, index),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn apply(&mut self, step: &Step<'_, '_>) {
        let Some(index) = step.recording.places.about(step.at) else {
            return;
        };
        let allocation = step.recording.places.allocation(index);
        let (start, end) = (allocation.addr.0, allocation.addr.0 + allocation.size);
        match step.action() {
            Some(Action::Alloc { .. }) => {
                while let Some(other) = self.overlapping(start, end) {
                    let other_start = step.recording.places.allocation(other).addr.0;
                    self.live.remove(&other_start);
                    self.made.insert(other, true);
                }
                self.made.insert(index, false);
                self.live.insert(start, (end, index));
            }
            _ => {
                self.made.insert(index, true);
                self.live.remove(&start);
            }
        }
    }
}
