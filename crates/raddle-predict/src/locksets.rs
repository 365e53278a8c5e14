//! Whether two locksets exclude each other, worked out once for each pair of larger ones.

use raddle_trace::event::LockMode;

use crate::table::Table;
use crate::view::{Lockset, LocksetId, View};

/// Answers, remembered.
#[derive(Debug, Default)]
pub(crate) struct Exclusions {
    known: Table<(LocksetId, LocksetId), bool>,
}

impl Exclusions {
    /// Whether they have a lock in common that at least one of them holds exclusively.
    #[inline]
    pub(crate) fn exclude(&mut self, view: &View, a: LocksetId, b: LocksetId) -> bool {
        if a == LocksetId(0) || b == LocksetId(0) {
            return false;
        }
        let (left, right) = (view.lockset(a), view.lockset(b));
        if left.len() * right.len() <= CHEAP {
            return have_in_common(left, right);
        }
        let known = self.known.entry((a.min(b), a.max(b)));
        *known.or_insert_with(|| have_in_common(left, right))
    }
}

/// Comparisons that take no longer than to remember their result.
const CHEAP: usize = 4;

#[inline]
fn have_in_common(left: &Lockset, right: &Lockset) -> bool {
    left.iter().any(|(lock, mode)| {
        right.iter().any(|(other, other_mode)| {
            lock == other && (*mode == LockMode::Exclusive || *other_mode == LockMode::Exclusive)
        })
    })
}
