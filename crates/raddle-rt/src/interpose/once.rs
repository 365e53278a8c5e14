//! `pthread_once` and the guards of C++ local statics.
//!
//! An initialiser may throw; then the exception unwinds past this file's frames and libc (or
//! `__cxa_guard_abort`) clears the mark of work under way. Waiters therefore watch that mark itself
//! instead of waiting to be told.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};

use raddle_trace::wire::Mark;

use crate::call::Call;
use crate::real::{self, OnceControl};
use crate::stack::caller;
use crate::thread::Wait;

/// Bits of glibc's `pthread_once_t`.
const IN_PROGRESS: u32 = 1;
const DONE: u32 = 2;

unsafe fn word<'a>(object: u64) -> &'a AtomicU32 {
    // SAFETY: the caller's object is at least four bytes long and lives while it waits.
    unsafe { AtomicU32::from_ptr(object as *mut u32) }
}

/// Waits until the bits `mask` of the object's first word are no longer `busy`.
fn wait_while_busy(call: &mut Call, object: u64, mask: u32, busy: u32) {
    let wait = Wait {
        word: Some((object, mask, busy)),
        ..Wait::new(Mark::OnceDone, object)
    };
    // SAFETY: the program's object.
    call.acquire(wait, || {
        unsafe { word(object) }.load(Ordering::Acquire) & mask != busy
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_once(once: *mut OnceControl, init: extern "C" fn()) -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::pthread_once(once, init);
    };
    let object = once as u64;
    call.point(object);
    wait_while_busy(&mut call, object, IN_PROGRESS | DONE, IN_PROGRESS);
    // SAFETY: the program's once-control.
    if unsafe { word(object) }.load(Ordering::Acquire) & DONE != 0 {
        call.mark(Mark::OncePass, object, 0);
        call.leave();
        return 0;
    }
    call.mark(Mark::OnceStart, object, 0);
    let result = call.in_program(|| real::pthread_once(once, init));
    call.mark(Mark::OnceDone, object, 1);
    call.leave();
    result
}

/// Byte 0 of a guard says that the static is initialised, byte 1 that somebody is at it.
const INITIALISED: u32 = 1;
const BUSY: u32 = 1 << 8;

#[unsafe(no_mangle)]
unsafe extern "C" fn __cxa_guard_acquire(guard: *mut u64) -> c_int {
    let object = guard as u64;
    // SAFETY: the compiler's guard object, eight bytes long.
    let state = unsafe { word(object) };
    let Some(mut call) = Call::enter(caller()) else {
        return acquire_unscheduled(state);
    };
    call.point(object);
    wait_while_busy(&mut call, object, BUSY, BUSY);
    let first = state.load(Ordering::Acquire) & INITIALISED == 0;
    if first {
        state.fetch_or(BUSY, Ordering::AcqRel);
        call.mark(Mark::OnceStart, object, 0);
    } else {
        call.mark(Mark::OncePass, object, 0);
    }
    call.leave();
    first.into()
}

fn acquire_unscheduled(state: &AtomicU32) -> c_int {
    while state.load(Ordering::Acquire) & INITIALISED == 0 {
        if state.fetch_or(BUSY, Ordering::AcqRel) & BUSY == 0 {
            return 1;
        }
        real::sched_yield();
    }
    0
}

fn finish_guard(pc: u64, guard: *mut u64, done: bool) {
    let object = guard as u64;
    if let Some(mut call) = Call::enter(pc) {
        call.mark(Mark::OnceDone, object, done.into());
        call.leave();
    }
    let result = if done { INITIALISED } else { 0 };
    // SAFETY: the compiler's guard object.
    unsafe { word(object) }.store(result, Ordering::Release);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __cxa_guard_release(guard: *mut u64) {
    finish_guard(caller(), guard, true);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __cxa_guard_abort(guard: *mut u64) {
    finish_guard(caller(), guard, false);
}
