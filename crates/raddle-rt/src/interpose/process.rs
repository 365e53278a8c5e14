//! Start, end and assertions of the process.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};

use raddle_trace::wire::{Mark, OutcomeKind};

use crate::call::Call;
use crate::hooks;
use crate::real;
use crate::sched;
use crate::stack::{self, caller};
use crate::sys;
use crate::tls;

type Main = extern "C" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;

static MAIN: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());

#[unsafe(no_mangle)]
unsafe extern "C" fn __libc_start_main(
    main: *mut c_void,
    argc: c_int,
    argv: *mut *mut c_char,
    init: *mut c_void,
    fini: *mut c_void,
    rtld_fini: *mut c_void,
    stack_end: *mut c_void,
) -> c_int {
    MAIN.store(main, Ordering::Relaxed);
    let wrapped = main_then_exit as Main as *mut c_void;
    if !tls::me().is_null() {
        stack::clear_below();
    }
    real::__libc_start_main(wrapped, argc, argv, init, fini, rtld_fini, stack_end)
}

/// The program's `main`, with its return recorded like a call of `exit`.
extern "C" fn main_then_exit(
    argc: c_int,
    argv: *mut *mut c_char,
    environment: *mut *mut c_char,
) -> c_int {
    // SAFETY: `__libc_start_main` was given the program's main.
    let main: Main = unsafe { core::mem::transmute(MAIN.load(Ordering::Relaxed)) };
    let status = main(argc, argv, environment);
    note_exit(0, status);
    status
}

fn note_exit(pc: u64, status: c_int) {
    if let Some(mut call) = Call::enter(pc) {
        call.mark(Mark::Exit, 0, status as u64);
        call.leave();
    }
}

/// The same for an end that runs no destructors.
fn note_last_exit(pc: u64, status: c_int) {
    note_exit(pc, status);
    if let Some(call) = Call::enter(pc) {
        sched::conclude(call.me);
        call.leave();
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn exit(status: c_int) -> ! {
    note_exit(caller(), status);
    real::exit(status);
    unreachable!("exit returned")
}

#[unsafe(no_mangle)]
unsafe extern "C" fn _exit(status: c_int) -> ! {
    note_last_exit(caller(), status);
    sys::exit_process(status)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn _Exit(status: c_int) -> ! {
    note_last_exit(caller(), status);
    sys::exit_process(status)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn quick_exit(status: c_int) -> ! {
    note_exit(caller(), status);
    real::quick_exit(status);
    unreachable!("quick_exit returned")
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __assert_fail(
    what: *const c_char,
    file: *const c_char,
    line: u32,
    function: *const c_char,
) -> ! {
    // SAFETY: the compiler passes the text of the assertion.
    let text = unsafe { CStr::from_ptr(what) };
    hooks::fail(OutcomeKind::Assertion, 0, caller(), text.to_bytes());
    real::__assert_fail(what, file, line, function);
    unreachable!("__assert_fail returned")
}

/// Images stay loaded: recorded events, sites and stacks point into them.
#[unsafe(no_mangle)]
unsafe extern "C" fn dlclose(_handle: *mut c_void) -> c_int {
    0
}
