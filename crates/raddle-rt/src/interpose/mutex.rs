//! Mutexes and spin locks.

use core::ffi::c_int;

use libc::{EBUSY, EDEADLK, EINVAL, ETIMEDOUT, clockid_t, pthread_mutex_t, timespec};
use raddle_trace::wire::Mark;

use super::{deadline, valid};
use crate::call::Call;
use crate::real;
use crate::sched;
use crate::stack::caller;
use crate::thread::Wait;

/// Offset of the owner's kernel id in glibc's `pthread_mutex_t`, and what stands there instead when
/// a robust mutex is beyond recovery.
const OWNER_OFFSET: usize = 8;
const NOT_RECOVERABLE: u32 = i32::MAX as u32 - 1;
/// Offset of the kind in glibc's `pthread_mutex_t`, and what its bits mean.
const KIND_OFFSET: usize = 16;
const KIND_MASK: c_int = 3;
const KIND_ERRORCHECK: c_int = 2;
const KIND_ROBUST: c_int = 16;

/// Waits for a mutex; the result is libc's, or ETIMEDOUT.
pub(super) fn acquire(
    call: &mut Call,
    mutex: *mut pthread_mutex_t,
    until_ns: Option<u64>,
) -> c_int {
    let object = mutex as u64;
    let kind = kind_of(mutex);
    let mut wait = Wait::new(Mark::Lock, object).until(until_ns);
    wait.robust = kind & KIND_ROBUST != 0;
    let errorcheck = kind & KIND_MASK == KIND_ERRORCHECK;
    let mut result = EBUSY;
    let got = call.acquire(wait, || {
        result = try_lock(mutex);
        if result == EBUSY && errorcheck && is_mine(mutex) {
            result = EDEADLK;
        }
        result != EBUSY
    });
    if !got {
        return ETIMEDOUT;
    }
    note_locked(call, mutex, result, false);
    result
}

fn kind_of(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the program passed a mutex.
    unsafe { *mutex.byte_add(KIND_OFFSET).cast::<c_int>() }
}

fn owner_of(mutex: *mut pthread_mutex_t) -> u32 {
    // SAFETY: the program passed a mutex.
    unsafe { *mutex.byte_add(OWNER_OFFSET).cast::<u32>() }
}

/// Tries a mutex. The kernel marks a robust one of a thread that ended, so it must have done that
/// first; and glibc's `trylock` of one that is beyond recovery leaves it locked, unlike its `lock`.
fn try_lock(mutex: *mut pthread_mutex_t) -> c_int {
    if kind_of(mutex) & KIND_ROBUST != 0 {
        sched::settle_exits();
        if owner_of(mutex) == NOT_RECOVERABLE {
            return libc::ENOTRECOVERABLE;
        }
    }
    real::pthread_mutex_trylock(mutex)
}

fn is_mine(mutex: *mut pthread_mutex_t) -> bool {
    owner_of(mutex) == crate::sys::gettid()
}

fn note_locked(call: &mut Call, mutex: *mut pthread_mutex_t, result: c_int, tried: bool) {
    if result == 0 || result == libc::EOWNERDEAD {
        sched::set_woken(mutex as u64, &[Mark::Lock], false);
        call.mark(Mark::Lock, mutex as u64, tried.into());
    } else {
        call.mark_failed_try(mutex as u64, Mark::Lock);
    }
}

/// Gives a mutex back; the result is libc's.
pub(super) fn release(call: &mut Call, mutex: *mut pthread_mutex_t) -> c_int {
    let result = real::pthread_mutex_unlock(mutex);
    if result == 0 {
        sched::set_woken(mutex as u64, &[Mark::Lock], true);
        call.mark(Mark::Unlock, mutex as u64, 0);
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_mutex_lock(mutex: *mut pthread_mutex_t) -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::pthread_mutex_lock(mutex);
    };
    call.point(mutex as u64);
    let result = acquire(&mut call, mutex, None);
    call.leave();
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_mutex_trylock(mutex: *mut pthread_mutex_t) -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::pthread_mutex_trylock(mutex);
    };
    call.point(mutex as u64);
    let result = try_lock(mutex);
    note_locked(&mut call, mutex, result, true);
    call.leave();
    result
}

unsafe fn timed(
    pc: u64,
    mutex: *mut pthread_mutex_t,
    clock: clockid_t,
    at: *const timespec,
) -> Option<c_int> {
    let mut call = Call::enter(pc)?;
    call.point(mutex as u64);
    // SAFETY: the program passed a valid timespec.
    let result = unsafe {
        if valid(at) {
            acquire(&mut call, mutex, deadline(clock, at))
        } else {
            EINVAL
        }
    };
    call.leave();
    Some(result)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_mutex_timedlock(
    mutex: *mut pthread_mutex_t,
    at: *const timespec,
) -> c_int {
    // SAFETY: as the program called.
    unsafe { timed(caller(), mutex, libc::CLOCK_REALTIME, at) }
        .unwrap_or_else(|| real::pthread_mutex_timedlock(mutex, at))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_mutex_clocklock(
    mutex: *mut pthread_mutex_t,
    clock: clockid_t,
    at: *const timespec,
) -> c_int {
    // SAFETY: as the program called.
    unsafe { timed(caller(), mutex, clock, at) }
        .unwrap_or_else(|| real::pthread_mutex_clocklock(mutex, clock, at))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_mutex_unlock(mutex: *mut pthread_mutex_t) -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::pthread_mutex_unlock(mutex);
    };
    let result = release(&mut call, mutex);
    call.leave();
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_mutex_destroy(mutex: *mut pthread_mutex_t) -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::pthread_mutex_destroy(mutex);
    };
    call.mark(Mark::Destroy, mutex as u64, 0);
    let result = real::pthread_mutex_destroy(mutex);
    call.leave();
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_spin_lock(lock: *mut c_int) -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::pthread_spin_lock(lock);
    };
    call.point(lock as u64);
    let mut result = EBUSY;
    call.acquire(Wait::new(Mark::Lock, lock as u64), || {
        result = real::pthread_spin_trylock(lock);
        result != EBUSY
    });
    sched::set_woken(lock as u64, &[Mark::Lock], false);
    call.mark(Mark::Lock, lock as u64, 0);
    call.leave();
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_spin_trylock(lock: *mut c_int) -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::pthread_spin_trylock(lock);
    };
    call.point(lock as u64);
    let result = real::pthread_spin_trylock(lock);
    if result == 0 {
        sched::set_woken(lock as u64, &[Mark::Lock], false);
        call.mark(Mark::Lock, lock as u64, 1);
    } else {
        call.mark_failed_try(lock as u64, Mark::Lock);
    }
    call.leave();
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_spin_unlock(lock: *mut c_int) -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::pthread_spin_unlock(lock);
    };
    let result = real::pthread_spin_unlock(lock);
    sched::set_woken(lock as u64, &[Mark::Lock], true);
    call.mark(Mark::Unlock, lock as u64, 0);
    call.leave();
    result
}
