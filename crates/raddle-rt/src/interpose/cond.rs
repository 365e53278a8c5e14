//! Condition variables.
//!
//! Waiting is the scheduler's own: a waiter is queued, woken in order of arrival, and takes its
//! mutex again through the mutex's own path. The program's `pthread_cond_t` is left untouched but
//! for the clock that its attributes chose.

use core::ffi::c_int;

use libc::{
    CLOCK_MONOTONIC, CLOCK_REALTIME, EINVAL, ETIMEDOUT, clockid_t, pthread_cond_t, pthread_mutex_t,
    timespec,
};
use raddle_trace::wire::Mark;

use super::{deadline, mutex, valid};
use crate::call::Call;
use crate::real;
use crate::sched;
use crate::stack::caller;
use crate::thread::{NOBODY, Wait};

/// Offset of the word in glibc's `pthread_cond_t` whose bit 1 says that the clock is monotonic.
const FLAGS_OFFSET: usize = 36;
const MONOTONIC_BIT: u32 = 2;

unsafe fn clock_of(cond: *mut pthread_cond_t) -> clockid_t {
    // SAFETY: the program passed a condition variable.
    let flags = unsafe { *cond.byte_add(FLAGS_OFFSET).cast::<u32>() };
    if flags & MONOTONIC_BIT != 0 {
        CLOCK_MONOTONIC
    } else {
        CLOCK_REALTIME
    }
}

fn wait(
    mut call: Call,
    cond: *mut pthread_cond_t,
    lock: *mut pthread_mutex_t,
    until: Option<u64>,
) -> c_int {
    call.point(cond as u64);
    call.test_cancel();
    let unlocked = mutex::release(&mut call, lock);
    if unlocked != 0 {
        call.leave();
        return unlocked;
    }
    call.mark(Mark::CondWait, cond as u64, lock as u64);
    let woken = call.block(Wait::new(Mark::CondWake, cond as u64).until(until));
    let by = if woken.waker == NOBODY {
        u64::MAX
    } else {
        woken.waker.into()
    };
    call.mark_with(Mark::CondWake, cond as u64, woken.timed_out().into(), by);
    let locked = mutex::acquire(&mut call, lock, None);
    call.test_cancel();
    call.leave();
    match locked {
        0 if woken.timed_out() => ETIMEDOUT,
        result => result,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_cond_wait(
    cond: *mut pthread_cond_t,
    lock: *mut pthread_mutex_t,
) -> c_int {
    match Call::enter(caller()) {
        Some(call) => wait(call, cond, lock, None),
        None => real::pthread_cond_wait(cond, lock),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_cond_timedwait(
    cond: *mut pthread_cond_t,
    lock: *mut pthread_mutex_t,
    at: *const timespec,
) -> c_int {
    let Some(call) = Call::enter(caller()) else {
        return real::pthread_cond_timedwait(cond, lock, at);
    };
    // SAFETY: as the program called.
    unsafe { timed(call, cond, lock, clock_of(cond), at) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_cond_clockwait(
    cond: *mut pthread_cond_t,
    lock: *mut pthread_mutex_t,
    clock: clockid_t,
    at: *const timespec,
) -> c_int {
    match Call::enter(caller()) {
        // SAFETY: as the program called.
        Some(call) => unsafe { timed(call, cond, lock, clock, at) },
        None => real::pthread_cond_clockwait(cond, lock, clock, at),
    }
}

unsafe fn timed(
    call: Call,
    cond: *mut pthread_cond_t,
    lock: *mut pthread_mutex_t,
    clock: clockid_t,
    at: *const timespec,
) -> c_int {
    // SAFETY: the program passed a timespec.
    unsafe {
        if !valid(at) {
            call.leave();
            return EINVAL;
        }
        let until = deadline(clock, at);
        wait(call, cond, lock, until)
    }
}

fn notify(mut call: Call, cond: *mut pthread_cond_t, most: u64) -> c_int {
    call.point(cond as u64);
    let woken = sched::wake_waiters(cond as u64, Mark::CondWake, most, u32::MAX);
    call.mark_with(Mark::CondNotify, cond as u64, woken, most);
    call.leave();
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_cond_signal(cond: *mut pthread_cond_t) -> c_int {
    match Call::enter(caller()) {
        Some(call) => notify(call, cond, 1),
        None => real::pthread_cond_signal(cond),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_cond_broadcast(cond: *mut pthread_cond_t) -> c_int {
    match Call::enter(caller()) {
        Some(call) => notify(call, cond, u64::MAX),
        None => real::pthread_cond_broadcast(cond),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_cond_destroy(cond: *mut pthread_cond_t) -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::pthread_cond_destroy(cond);
    };
    call.mark(Mark::Destroy, cond as u64, 0);
    let result = real::pthread_cond_destroy(cond);
    call.leave();
    result
}
