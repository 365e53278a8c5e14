//! `pthread_once` and the guards of C++ local statics.
//!
//! An initialiser may throw; then the exception unwinds past this file's frames and libc (or
//! `__cxa_guard_abort`) clears the mark of work under way. Waiters therefore watch that mark itself
//! instead of waiting to be told.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU8, Ordering};

use raddle_trace::wire::Mark;

use crate::call::Call;
use crate::real::{self, OnceControl};
use crate::stack::caller;
use crate::thread::Wait;

/// Bits of glibc's `pthread_once_t`.
const IN_PROGRESS: u8 = 1;
const DONE: u8 = 2;

unsafe fn byte<'a>(address: u64) -> &'a AtomicU8 {
    // SAFETY: the caller's object is at least eight bytes long and lives while it waits.
    unsafe { AtomicU8::from_ptr(address as *mut u8) }
}

/// Waits until the bits `mask` of the byte at `at` are no longer `busy`.
fn wait_while_busy(call: &mut Call, object: u64, at: u64, mask: u8, busy: u8) {
    let wait = Wait { word: Some((at, mask, busy)), ..Wait::new(Mark::OnceDone, object) };
    // SAFETY: `at` lies within the program's object.
    call.acquire(wait, || unsafe { byte(at) }.load(Ordering::Acquire) & mask != busy);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_once(once: *mut OnceControl, init: extern "C" fn()) -> c_int {
    let Some(mut call) = Call::enter(caller()) else { return real::pthread_once(once, init) };
    let object = once as u64;
    call.point(object);
    wait_while_busy(&mut call, object, object, IN_PROGRESS | DONE, IN_PROGRESS);
    // SAFETY: the program's once-control.
    if unsafe { byte(object) }.load(Ordering::Acquire) & DONE != 0 {
        call.mark(Mark::OncePass, object, 0);
        call.leave();
        return 0;
    }
    call.mark(Mark::OnceStart, object, 0);
    let result = call.in_program(|| real::pthread_once(once, init));
    call.mark(Mark::OnceDone, object, 0);
    call.leave();
    result
}

/// Byte 0 of a guard says that the static is initialised, byte 1 that somebody is at it.
const GUARD_BUSY: u64 = 1;

#[unsafe(no_mangle)]
unsafe extern "C" fn __cxa_guard_acquire(guard: *mut u64) -> c_int {
    let object = guard as u64;
    // SAFETY: the compiler's guard object, eight bytes long.
    let (done, busy) = unsafe { (byte(object), byte(object + GUARD_BUSY)) };
    if done.load(Ordering::Acquire) != 0 {
        return 0;
    }
    let call = Call::enter(caller());
    let Some(mut call) = call else {
        while done.load(Ordering::Acquire) == 0 {
            if busy.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                return 1;
            }
            real::sched_yield();
        }
        return 0;
    };
    call.point(object);
    wait_while_busy(&mut call, object, object + GUARD_BUSY, 1, 1);
    let first = done.load(Ordering::Acquire) == 0;
    if first {
        busy.store(1, Ordering::Release);
        call.mark(Mark::OnceStart, object, 0);
    } else {
        call.mark(Mark::OncePass, object, 0);
    }
    call.leave();
    first.into()
}

fn finish_guard(pc: u64, guard: *mut u64, done: bool) {
    let object = guard as u64;
    if let Some(mut call) = Call::enter(pc) {
        call.mark(Mark::OnceDone, object, done.into());
        call.leave();
    }
    // SAFETY: the compiler's guard object.
    unsafe {
        byte(object).store(done.into(), Ordering::Release);
        byte(object + GUARD_BUSY).store(0, Ordering::Release);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __cxa_guard_release(guard: *mut u64) {
    finish_guard(caller(), guard, true);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __cxa_guard_abort(guard: *mut u64) {
    finish_guard(caller(), guard, false);
}
