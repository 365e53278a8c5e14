//! Who holds what a blocked thread waits for, as far as libc's objects tell.

use raddle_trace::wire::Mark;

use crate::sched::Scheduler;
use crate::sys;
use crate::thread::{NOBODY, Tid, Wait};

/// Offset of the owner's kernel id in glibc's `pthread_mutex_t`.
const MUTEX_OWNER: u64 = 8;
/// Offset of the writer's kernel id in glibc's `pthread_rwlock_t`.
const RWLOCK_WRITER: u64 = 24;

/// The thread that holds the object of `wait`, or [`NOBODY`].
pub fn of(s: &Scheduler, wait: &Wait) -> Tid {
    let owner = match wait.kind {
        Mark::Join => return wait.object as Tid,
        Mark::Lock => MUTEX_OWNER,
        Mark::ReadLock | Mark::WriteLock => RWLOCK_WRITER,
        _ => return NOBODY,
    };
    sys::peek(wait.object + owner, 4).map_or(NOBODY, |os_tid| match os_tid as u32 {
        0 => NOBODY,
        os_tid => s.by_os_tid(os_tid),
    })
}
