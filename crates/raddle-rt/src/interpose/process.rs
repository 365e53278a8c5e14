//! Start, end and assertions of the process.
//!
//! Threads that are alive when the process ends may come before it, in part, or not at all. So there is
//! a scheduling point where a thread starts to end the process (`main` returns, `exit`, `_exit`,
//! `quick_exit`), before each exit handler, and after the last destructor ([`come_to_end`]). Each is
//! followed by a mark, so that no two of them are at the same tick.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use raddle_trace::wire::{Mark, OutcomeKind};

use crate::call::Call;
use crate::hooks;
use crate::real;
use crate::sched::{self, SCHED};
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
    tls::forget_arguments();
    let status = main(argc, argv, environment);
    note_exit(0, status);
    status
}

/// Whether a thread has started to end the process by `exit`.
static ENDING: AtomicBool = AtomicBool::new(false);

/// A thread starts to end the process; the other threads may come first.
fn start_exit(pc: u64, status: c_int) -> Option<Call> {
    let mut call = Call::enter(pc)?;
    call.me.ends_process = true;
    call.point(0);
    call.mark(Mark::Exit, 0, status as u64);
    Some(call)
}

fn note_exit(pc: u64, status: c_int) {
    let Some(call) = start_exit(pc, status) else {
        return;
    };
    // Of two threads that end the process at the same time the second one may find no handler left,
    // not even `finish`.
    if ENDING.swap(true, Ordering::Relaxed) {
        sched::conclude(call.me);
    }
    call.leave();
}

/// The same for an end that runs no destructors.
fn note_last_exit(pc: u64, status: c_int) {
    if let Some(call) = start_exit(pc, status) {
        sched::conclude(call.me);
        call.leave();
    }
}

/// All handlers and destructors have run: the last point of the process.
pub(crate) extern "C" fn come_to_end() {
    if let Some(mut call) = Call::enter_hook(0) {
        call.point(0);
        sched::conclude(call.me);
        call.leave();
    }
}

/// Runs before each handler.
extern "C" fn before_handler(_argument: *mut c_void) {
    if let Some(mut call) = Call::enter(0) {
        if SCHED.lock().has_company() {
            call.point(0);
            call.mark(Mark::Yield, 0, 0);
        }
        call.leave();
    }
}

/// Has [`come_to_end`] called as the last handler of `quick_exit`. The first one registered is it.
pub(crate) fn watch_quick_exit() {
    real::__cxa_at_quick_exit(come_to_end, core::ptr::null_mut());
}

/// Handlers run in reverse order, so [`before_handler`] is registered after the handler.
#[unsafe(no_mangle)]
unsafe extern "C" fn __cxa_atexit(
    handler: *mut c_void,
    argument: *mut c_void,
    image: *mut c_void,
) -> c_int {
    let result = real::__cxa_atexit(handler, argument, image);
    let before = before_handler as extern "C" fn(*mut c_void);
    real::__cxa_atexit(before as *mut c_void, core::ptr::null_mut(), image);
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn on_exit(handler: *mut c_void, argument: *mut c_void) -> c_int {
    let result = real::on_exit(handler, argument);
    let before = before_handler as extern "C" fn(*mut c_void);
    let nothing = core::ptr::null_mut();
    real::__cxa_atexit(before as *mut c_void, nothing, nothing);
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __cxa_at_quick_exit(handler: extern "C" fn(), image: *mut c_void) -> c_int {
    let result = real::__cxa_at_quick_exit(handler, image);
    real::__cxa_at_quick_exit(before_quick_handler, image);
    result
}

/// The same as [`before_handler`] for handlers of `quick_exit`, which have no argument.
extern "C" fn before_quick_handler() {
    before_handler(core::ptr::null_mut());
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

#[unsafe(no_mangle)]
unsafe extern "C" fn abort() -> ! {
    hooks::fail(OutcomeKind::Abort, 0, caller(), b"");
    real::abort();
    unreachable!("abort returned")
}

/// Images stay loaded: recorded events, sites and stacks point into them.
#[unsafe(no_mangle)]
unsafe extern "C" fn dlclose(_handle: *mut c_void) -> c_int {
    0
}
