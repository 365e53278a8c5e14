//! POSIX semaphores, unnamed and named: both are `sem_t` once opened.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};

use libc::{EAGAIN, EINVAL, ETIMEDOUT, clockid_t, sem_t, timespec};
use raddle_trace::wire::Mark;

use super::{deadline, valid};
use crate::call::{Call, errno};
use crate::real;
use crate::stack::caller;
use crate::thread::Wait;

/// A wait for the semaphore's value, the first word of glibc's `sem_t`, to be other than 0. It sees
/// a post from a signal handler too, which does not come through the scheduler.
fn wait_for(sem: *mut sem_t, until_ns: Option<u64>) -> Wait {
    let word = Some((sem as u64, u32::MAX, 0));
    Wait {
        word,
        ..Wait::new(Mark::SemWait, sem as u64)
    }
    .until(until_ns)
}

/// Takes one, waiting until `until_ns`; 0 or an errno.
fn take(call: &mut Call, sem: *mut sem_t, until_ns: Option<u64>) -> c_int {
    let mut error = EAGAIN;
    let mut requested = false;
    loop {
        call.test_cancel();
        if real::sem_trywait(sem) == 0 {
            return 0;
        }
        error = if errno() == EAGAIN { error } else { errno() };
        if error != EAGAIN {
            return error;
        }
        if !requested {
            call.mark(Mark::Request, sem as u64, Mark::SemWait as u64);
            requested = true;
        }
        if call.block(wait_for(sem, until_ns)).timed_out() {
            return ETIMEDOUT;
        }
    }
}

/// The value of a semaphore: the first word of glibc's `sem_t`.
fn value_of(sem: *mut sem_t) -> u64 {
    // SAFETY: libc has just changed the semaphore at the program's request.
    unsafe { AtomicU32::from_ptr(sem.cast()) }
        .load(Ordering::Relaxed)
        .into()
}

fn finish(mut call: Call, sem: *mut sem_t, error: c_int) -> c_int {
    if error == 0 {
        call.mark(Mark::SemWait, sem as u64, value_of(sem));
        call.leave();
        return 0;
    }
    call.mark_failed_try(sem as u64, Mark::SemWait);
    call.leave_with_errno(error);
    -1
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sem_wait(sem: *mut sem_t) -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::sem_wait(sem);
    };
    call.point(sem as u64);
    let error = take(&mut call, sem, None);
    finish(call, sem, error)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sem_trywait(sem: *mut sem_t) -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::sem_trywait(sem);
    };
    call.point(sem as u64);
    let error = if real::sem_trywait(sem) == 0 {
        0
    } else {
        errno()
    };
    finish(call, sem, error)
}

unsafe fn timed(pc: u64, sem: *mut sem_t, clock: clockid_t, at: *const timespec) -> Option<c_int> {
    let mut call = Call::enter(pc)?;
    call.point(sem as u64);
    // SAFETY: the program passed a timespec.
    let error = unsafe {
        if valid(at) {
            take(&mut call, sem, deadline(clock, at))
        } else {
            EINVAL
        }
    };
    Some(finish(call, sem, error))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sem_timedwait(sem: *mut sem_t, at: *const timespec) -> c_int {
    // SAFETY: as the program called.
    unsafe { timed(caller(), sem, libc::CLOCK_REALTIME, at) }
        .unwrap_or_else(|| real::sem_timedwait(sem, at))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sem_clockwait(
    sem: *mut sem_t,
    clock: clockid_t,
    at: *const timespec,
) -> c_int {
    // SAFETY: as the program called.
    unsafe { timed(caller(), sem, clock, at) }
        .unwrap_or_else(|| real::sem_clockwait(sem, clock, at))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sem_post(sem: *mut sem_t) -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::sem_post(sem);
    };
    call.point(sem as u64);
    let result = real::sem_post(sem);
    call.mark(Mark::SemPost, sem as u64, value_of(sem));
    call.leave_keeping_errno();
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sem_destroy(sem: *mut sem_t) -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::sem_destroy(sem);
    };
    call.mark(Mark::Destroy, sem as u64, 0);
    let result = real::sem_destroy(sem);
    call.leave_keeping_errno();
    result
}
