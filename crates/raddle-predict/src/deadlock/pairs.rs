//! Circles of two threads: most deadlocks are such, so they are found before longer ones and by themselves.
//!
//! A wish for a lock under others has its opposites among the wishes for one of these under that lock, which are
//! looked up. Of circles at the same two places some are kept; the others are counted.

use std::collections::BTreeMap;

use super::circles::excludes;
use super::wishes::{Wanted, Wish};
use crate::findings::source_number;
use crate::locksets::Exclusions;
use crate::table::Table;
use crate::view::{SyncId, View};

/// How many circles of the same two places are kept: the threads may all execute the same code.
const MOST_ALIKE: u32 = 64;
/// How many pairs of wishes are looked at.
const MOST_LOOKS: u64 = 1 << 24;

/// Circles of two, by the numbers of their wishes.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    pub(super) circles: Vec<[usize; 2]>,
    /// By places, the smaller first: circles beyond those kept.
    pub(super) left_out: BTreeMap<Vec<u64>, u64>,
    pub(super) is_cut: bool,
}

/// The circles of two wishes for locks.
pub(super) fn pairs(view: &View, wishes: &[Wish]) -> Pairs {
    // By a lock that is held and the one that is wanted: the wishes.
    let mut index: Table<(SyncId, SyncId), Vec<usize>> = Table::default();
    for (number, wish) in wishes.iter().enumerate() {
        if let Wanted::Lock(wanted, _) = wish.wanted {
            for (held, _) in view.lockset(wish.held) {
                let known = index.entry((*held, wanted)).or_default();
                if known.last() != Some(&number) {
                    known.push(number);
                }
            }
        }
    }
    let source = |wish: &Wish| source_number(view.source(wish.instances[0]));
    let mut exclusions = Exclusions::default();
    let mut found = Pairs::default();
    let mut alike: Table<(u64, u64), u32> = Table::default();
    let mut looks = 0;
    for (number, wish) in wishes.iter().enumerate() {
        let Wanted::Lock(wanted, mode) = wish.wanted else {
            continue;
        };
        for &(held, held_mode) in view.lockset(wish.held) {
            let opposite = index.get(&(wanted, held)).map_or(&[][..], Vec::as_slice);
            let later = opposite.partition_point(|other| *other <= number);
            for &other in &opposite[later..] {
                looks += 1;
                if looks > MOST_LOOKS {
                    found.is_cut = true;
                    return found;
                }
                let against = &wishes[other];
                let Wanted::Lock(_, other_mode) = against.wanted else {
                    continue;
                };
                let holds = |(lock, of): &(SyncId, _)| *lock == wanted && excludes(*of, mode);
                if against.lane == wish.lane
                    || !excludes(held_mode, other_mode)
                    || !view.lockset(against.held).iter().any(holds)
                    || exclusions.exclude(view, wish.held, against.held)
                {
                    continue;
                }
                let (one, two) = (source(wish), source(against));
                let places = (one.min(two), one.max(two));
                let count = alike.entry(places).or_default();
                if *count == MOST_ALIKE {
                    let key = vec![places.0, places.1];
                    *found.left_out.entry(key).or_default() += 1;
                    continue;
                }
                *count += 1;
                if found.circles.last() != Some(&[number, other]) {
                    found.circles.push([number, other]);
                }
            }
        }
    }
    found
}
