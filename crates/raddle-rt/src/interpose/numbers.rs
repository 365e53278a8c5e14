//! Numbers that the kernel draws, and those that the program is shown in their place.
//!
//! The kernel's differ from run to run; what is shown follows from the order in which they came up.

use core::ffi::c_int;

use crate::lock::Lock;

/// Most numbers of one table that are translated; others are shown as they are.
const MOST: usize = 1024;

/// A translation. `K` is what the kernel tells one thing from others by.
pub(super) struct Numbers<K: 'static> {
    /// What the program sees in the place of the first.
    first: c_int,
    known: Lock<([Option<K>; MOST], usize)>,
}

impl<K: Copy + PartialEq> Numbers<K> {
    /// Nothing is known yet.
    pub const fn from(first: c_int) -> Self {
        Numbers {
            first,
            known: Lock::new(([None; MOST], 0)),
        }
    }

    /// Takes up something new; returns what it is shown as, if there is room.
    pub fn add(&self, key: K) -> Option<c_int> {
        let mut known = self.known.lock();
        let (table, count) = &mut *known;
        let at = *count;
        *table.get_mut(at)? = Some(key);
        *count += 1;
        Some(self.first + at as c_int)
    }

    /// What something that was taken up is shown as.
    pub fn shown(&self, key: K) -> Option<c_int> {
        let known = self.known.lock();
        let at = known.0[..known.1].iter().position(|it| *it == Some(key))?;
        Some(self.first + at as c_int)
    }

    /// What is shown as this number.
    pub fn actual(&self, shown: c_int) -> Option<K> {
        let at = usize::try_from(shown.wrapping_sub(self.first)).ok()?;
        *self.known.lock().0.get(at)?
    }
}
