//! Read/write locks.

use core::ffi::c_int;

use libc::{EBUSY, EINVAL, ETIMEDOUT, clockid_t, pthread_rwlock_t, timespec};
use raddle_trace::wire::Mark;

use super::{deadline, valid};
use crate::call::Call;
use crate::real;
use crate::sched;
use crate::stack::caller;
use crate::thread::Wait;

const SIDES: [Mark; 2] = [Mark::ReadLock, Mark::WriteLock];
/// The byte range of the writer's kernel id in glibc's `pthread_rwlock_t`.
const WRITER_OFFSET: usize = 24;

fn try_side(lock: *mut pthread_rwlock_t, side: Mark) -> c_int {
    match side {
        Mark::ReadLock => real::pthread_rwlock_tryrdlock(lock),
        _ => real::pthread_rwlock_trywrlock(lock),
    }
}

fn is_writer(lock: *mut pthread_rwlock_t) -> bool {
    // SAFETY: the program passed a read/write lock.
    unsafe { *lock.byte_add(WRITER_OFFSET).cast::<u32>() == crate::sys::gettid() }
}

fn note(call: &mut Call, lock: *mut pthread_rwlock_t, side: Mark, result: c_int, tried: bool) {
    if result == 0 {
        let hopeless = if side == Mark::ReadLock {
            &SIDES[1..]
        } else {
            &SIDES[..]
        };
        sched::set_woken(lock as u64, hopeless, false);
        call.mark(side, lock as u64, tried.into());
    } else {
        call.mark_failed_try(lock as u64, side);
    }
}

unsafe fn acquire(
    pc: u64,
    lock: *mut pthread_rwlock_t,
    side: Mark,
    clock: clockid_t,
    at: *const timespec,
) -> Option<c_int> {
    let mut call = Call::enter(pc)?;
    call.point(lock as u64);
    // SAFETY: the program passed a valid timespec or none.
    let (valid, until) = unsafe { (valid(at), deadline(clock, at)) };
    let mut result = if valid { EBUSY } else { EINVAL };
    if valid {
        let got = call.acquire(Wait::new(side, lock as u64).until(until), || {
            result = try_side(lock, side);
            if result == EBUSY && is_writer(lock) {
                result = libc::EDEADLK;
            }
            result != EBUSY
        });
        if got {
            note(&mut call, lock, side, result, false);
        } else {
            result = ETIMEDOUT;
        }
    }
    call.leave();
    Some(result)
}

unsafe fn try_lock(pc: u64, lock: *mut pthread_rwlock_t, side: Mark) -> c_int {
    let Some(mut call) = Call::enter(pc) else {
        return try_side(lock, side);
    };
    call.point(lock as u64);
    let result = try_side(lock, side);
    note(&mut call, lock, side, result, true);
    call.leave();
    result
}

macro_rules! lock_side {
    ($side:expr, $plain:ident, $try_it:ident, $timed:ident, $clocked:ident) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $plain(lock: *mut pthread_rwlock_t) -> c_int {
            // SAFETY: as the program called.
            unsafe { acquire(caller(), lock, $side, 0, core::ptr::null()) }
                .unwrap_or_else(|| real::$plain(lock))
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $try_it(lock: *mut pthread_rwlock_t) -> c_int {
            // SAFETY: as the program called.
            unsafe { try_lock(caller(), lock, $side) }
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $timed(lock: *mut pthread_rwlock_t, at: *const timespec) -> c_int {
            // SAFETY: as the program called.
            unsafe { acquire(caller(), lock, $side, libc::CLOCK_REALTIME, at) }
                .unwrap_or_else(|| real::$timed(lock, at))
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $clocked(
            lock: *mut pthread_rwlock_t,
            clock: clockid_t,
            at: *const timespec,
        ) -> c_int {
            // SAFETY: as the program called.
            unsafe { acquire(caller(), lock, $side, clock, at) }
                .unwrap_or_else(|| real::$clocked(lock, clock, at))
        }
    };
}

lock_side!(
    Mark::ReadLock,
    pthread_rwlock_rdlock,
    pthread_rwlock_tryrdlock,
    pthread_rwlock_timedrdlock,
    pthread_rwlock_clockrdlock
);
lock_side!(
    Mark::WriteLock,
    pthread_rwlock_wrlock,
    pthread_rwlock_trywrlock,
    pthread_rwlock_timedwrlock,
    pthread_rwlock_clockwrlock
);

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_rwlock_unlock(lock: *mut pthread_rwlock_t) -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::pthread_rwlock_unlock(lock);
    };
    let side = if is_writer(lock) {
        Mark::WriteUnlock
    } else {
        Mark::ReadUnlock
    };
    let result = real::pthread_rwlock_unlock(lock);
    sched::set_woken(lock as u64, &SIDES, true);
    call.mark(side, lock as u64, 0);
    call.leave();
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_rwlock_destroy(lock: *mut pthread_rwlock_t) -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::pthread_rwlock_destroy(lock);
    };
    call.mark(Mark::Destroy, lock as u64, 0);
    let result = real::pthread_rwlock_destroy(lock);
    call.leave();
    result
}
