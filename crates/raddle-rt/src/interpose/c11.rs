//! C11 threads: glibc's types are the pthread ones under other names.

use core::ffi::{c_int, c_void};

use libc::{EBUSY, ENOMEM, ETIMEDOUT, pthread_cond_t, pthread_mutex_t, timespec};

use super::thread::create;
use crate::call::Call;
use crate::real::{OnceControl, Start};
use crate::stack::caller;

unsafe extern "C" {
    fn pthread_create(
        handle: *mut u64,
        attr: *const c_void,
        start: Start,
        arg: *mut c_void,
    ) -> c_int;
    fn pthread_join(handle: u64, value: *mut *mut c_void) -> c_int;
    fn pthread_detach(handle: u64) -> c_int;
    fn pthread_mutex_lock(mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_mutex_trylock(mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_mutex_timedlock(mutex: *mut pthread_mutex_t, at: *const timespec) -> c_int;
    fn pthread_mutex_unlock(mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_cond_wait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_cond_timedwait(
        cond: *mut pthread_cond_t,
        mutex: *mut pthread_mutex_t,
        at: *const timespec,
    ) -> c_int;
    fn pthread_cond_signal(cond: *mut pthread_cond_t) -> c_int;
    fn pthread_cond_broadcast(cond: *mut pthread_cond_t) -> c_int;
    fn pthread_once(once: *mut OnceControl, init: extern "C" fn()) -> c_int;
    fn sched_yield() -> c_int;
    fn nanosleep(time: *const timespec, left: *mut timespec) -> c_int;
}

/// `thrd_*` results.
const SUCCESS: c_int = 0;
const BUSY: c_int = 1;
const ERROR: c_int = 2;
const NO_MEMORY: c_int = 3;
const TIMED_OUT: c_int = 4;

fn result(error: c_int) -> c_int {
    match error {
        0 => SUCCESS,
        EBUSY => BUSY,
        ENOMEM => NO_MEMORY,
        ETIMEDOUT => TIMED_OUT,
        _ => ERROR,
    }
}

/// The start routine returns an `int`: on this machine the low half of the register in which a
/// pthread's start routine returns its pointer.
#[unsafe(no_mangle)]
unsafe extern "C" fn thrd_create(handle: *mut u64, start: Start, arg: *mut c_void) -> c_int {
    // SAFETY: as the program called.
    result(unsafe {
        match Call::enter(caller()) {
            Some(call) => create(call, handle, core::ptr::null(), start, arg),
            None => pthread_create(handle, core::ptr::null(), start, arg),
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn thrd_join(handle: u64, value: *mut c_int) -> c_int {
    let mut pointer = core::ptr::null_mut();
    // SAFETY: as the program called.
    let error = unsafe { pthread_join(handle, &raw mut pointer) };
    if error == 0 && !value.is_null() {
        // SAFETY: the program passed a place for the result.
        unsafe { *value = pointer as usize as c_int };
    }
    result(error)
}

macro_rules! same {
    ($(fn $c11:ident => $pthread:ident($($arg:ident: $type:ty),*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $c11($($arg: $type),*) -> c_int {
            // SAFETY: as the program called; the types are the same in glibc.
            result(unsafe { $pthread($($arg),*) })
        }
    )*};
}

same! {
    fn thrd_detach => pthread_detach(handle: u64);
    fn mtx_lock => pthread_mutex_lock(mutex: *mut pthread_mutex_t);
    fn mtx_trylock => pthread_mutex_trylock(mutex: *mut pthread_mutex_t);
    fn mtx_timedlock => pthread_mutex_timedlock(mutex: *mut pthread_mutex_t, at: *const timespec);
    fn mtx_unlock => pthread_mutex_unlock(mutex: *mut pthread_mutex_t);
    fn cnd_wait => pthread_cond_wait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t);
    fn cnd_timedwait => pthread_cond_timedwait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, at: *const timespec);
    fn cnd_signal => pthread_cond_signal(cond: *mut pthread_cond_t);
    fn cnd_broadcast => pthread_cond_broadcast(cond: *mut pthread_cond_t);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn call_once(once: *mut OnceControl, init: extern "C" fn()) {
    // SAFETY: as the program called.
    unsafe { pthread_once(once, init) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn thrd_yield() {
    // SAFETY: takes no arguments.
    unsafe { sched_yield() };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn thrd_sleep(time: *const timespec, left: *mut timespec) -> c_int {
    // SAFETY: as the program called.
    unsafe { nanosleep(time, left) }
}
